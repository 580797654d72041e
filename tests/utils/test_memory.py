"""Memory that is free: of the system, and of the container."""

from pellucid._utils import memory


def test_available_memory_is_the_minimum_of_system_and_container(tmp_path, monkeypatch):
    assert memory.available_memory() is None or memory.available_memory() > 0
    system, limit, used = (tmp_path / name for name in ("meminfo", "max", "current"))
    system.write_text("MemTotal: 9 kB\nMemAvailable:    2000 kB\n")
    monkeypatch.setattr(memory, "_MEMINFO", system)
    monkeypatch.setattr(memory, "_GROUP_LIMITS", ((limit, used),))
    assert memory.available_memory() == 2000 * 1024
    limit.write_text("1000000\n")
    used.write_text("400000\n")
    assert memory.available_memory() == 600_000
    limit.write_text("max\n")
    assert memory.available_memory() == 2000 * 1024
    system.unlink()
    assert memory.available_memory() is None
