"""The cache of machine code after kills, damage, renames, on a full disk, without folders."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numba
import numpy as np
import pytest

from pellucid._utils.compilation import CodeFiles

pytestmark = pytest.mark.slow

CALLER = """
from {package}.callee import STEP, add
from pellucid._utils.compilation import compiled

@compiled
def loop(x):
    for i in range(len(x)):
        x[i] = add(x[i]) * STEP
"""
CALLEE = """
from pellucid._utils.compilation import inner

STEP = {step}

@inner
def add(value):
    return value + {added}
"""
RUN = """
import sys
import numpy as np
from {package} import caller
x = np.zeros(3)
caller.loop(x)
# In one piece: several processes write to the same pipe.
sys.stdout.write(f"{{x[0]}} {{sum(caller.loop.stats.cache_hits.values())}}\\n")
"""
TOGETHER = """
import os, sys, traceback
import numpy, numba
import pellucid._utils.compilation
numba.njit(lambda x: x)(1)
for code in {codes!r}:
    if os.fork() == 0:
        status = 1
        try:
            exec(code)
            status = 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(status)
sys.exit(any(os.wait()[1] for _ in {codes!r}))
"""
"""Processes that start to compile at once: Numba is imported and ready before they are forked."""


class Loops:
    """A package of two modules, of which one compiles a function of the other."""

    def __init__(self, folder: Path, package: str = "loops") -> None:
        self.folder, self.package, self.cache = folder, package, folder / "cache"
        (folder / package).mkdir()
        (folder / package / "__init__.py").touch()
        self.write()

    def write(self, added: int = 1, step: int = 1) -> None:
        where = self.folder / self.package
        (where / "caller.py").write_text(CALLER.format(package=self.package))
        (where / "callee.py").write_text(CALLEE.format(added=added, step=step))

    def start(self, code: str | None = None, **environment) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-B", "-c", code or RUN.format(package=self.package)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(self.folder), *sys.path]),
                "NUMBA_CACHE_DIR": str(self.cache),
                **environment,
            },
        )

    def run(self, code: str | None = None, **environment) -> list[str]:
        """What a new process prints; it must end well and print no error."""
        process = self.start(code, **environment)
        printed, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        assert errors == ""
        return printed.split()

    def solve(self) -> list[str]:
        """The same as `run`, in this process, by new modules."""
        for name in [name for name in sys.modules if name.split(".")[0] == self.package]:
            del sys.modules[name]
        importlib.invalidate_caches()
        loop = importlib.import_module(f"{self.package}.caller").loop
        x = np.zeros(3)
        loop(x)
        return [str(float(x[0])), str(sum(loop.stats.cache_hits.values()))]

    def files(self, pattern: str) -> list[Path]:
        return sorted(self.cache.rglob(pattern))


@pytest.fixture
def loops(tmp_path, monkeypatch):
    made = Loops(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(made.cache))
    return made


def test_a_change_in_the_module_of_a_called_function_is_noticed(loops):
    assert loops.solve() == ["1.0", "0"]
    assert loops.solve() == ["1.0", "1"]
    loops.write(added=5)
    assert loops.solve() == ["5.0", "0"]
    loops.write(added=5, step=3)
    assert loops.solve() == ["15.0", "0"]


@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize("damage", ["empty", "truncated", "foreign"])
def test_damaged_files_are_compiled_anew(loops, pattern, damage):
    loops.solve()
    for path in loops.files(pattern):
        content = path.read_bytes()
        # A pickle of a class whose module is gone, as after a module was renamed.
        foreign = b"\x80\x04cgone_module\nName\n."
        path.write_bytes({"empty": b"", "truncated": content[:-9], "foreign": foreign}[damage])
    assert loops.solve() == ["1.0", "0"]
    assert loops.solve() == ["1.0", "1"]


def test_flipped_bits_are_compiled_anew(loops):
    """Machine code with a flipped bit could end the process, which is why one is started here."""
    loops.solve()
    rng = np.random.default_rng(0)
    for pattern, solve in (("*.nbc", loops.run), ("*.nbi", loops.solve)):
        for path in loops.files(pattern):
            content = bytearray(path.read_bytes())
            content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
            path.write_bytes(content)
        assert solve() == ["1.0", "0"]
        assert loops.solve() == ["1.0", "1"]


def test_the_index_never_names_a_file_of_another_source(loops, monkeypatch):
    """As if the process had ended between the two files of the new source."""

    def end(self, name, data):
        raise KeyboardInterrupt

    loops.solve()
    loops.write(added=5)
    with monkeypatch.context() as patch:
        patch.setattr(CodeFiles, "_save_data", end)
        with pytest.raises(KeyboardInterrupt):
            loops.solve()
    assert loops.solve() == ["5.0", "0"]


def test_two_types_at_once_do_not_take_each_others_code(loops):
    code = (
        "import sys; import numpy as np; from loops import caller\n"
        "x = np.zeros(3, dtype=sys.argv[1]); caller.loop(x); sys.stdout.write(f'{x[0]}\\n')"
    )
    codes = [code.replace("sys.argv[1]", repr(t)) for t in ("f4", "f8", "i8")]
    assert sorted(loops.run(TOGETHER.format(codes=codes))) == ["1", "1.0", "1.0"]
    both = code.replace("sys.argv[1]", "'f4'") + "; x = np.zeros(3); caller.loop(x); print(x[0])"
    assert loops.run(both) == ["1.0", "1.0"]


def test_killed_while_it_compiles(loops):
    process = loops.start()
    for _ in range(600):
        if loops.cache.exists() or process.poll() is not None:
            break
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert loops.solve()[0] == "1.0"
    assert loops.solve() == ["1.0", "1"]


def test_eight_processes_compile_at_once(loops):
    codes = [f"{RUN.format(package='loops')}\nassert x[0] == 1"] * 8
    assert len(loops.run(TOGETHER.format(codes=codes))) == 16
    assert loops.solve() == ["1.0", "1"]


def test_the_disk_is_full(loops, monkeypatch):
    def fail(self, name, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(CodeFiles, "_save_data", fail)
        assert loops.solve() == ["1.0", "0"]
    assert loops.solve() == ["1.0", "0"]


def test_no_folder_is_writable(loops, tmp_path):
    a_file = tmp_path / "file"
    a_file.touch()
    elsewhere = {
        "NUMBA_CACHE_DIR": str(a_file / "cache"),
        "HOME": str(a_file),
        "XDG_CACHE_HOME": str(a_file / "cache"),
    }
    (tmp_path / "loops" / "__pycache__").write_text("not a folder")
    assert loops.run(**elsewhere) == ["1.0", "0"]


def test_without_a_home(loops):
    code = "import os; os.environ.pop('HOME')\n" + RUN.format(package="loops")
    assert loops.run(code, HOME="/", NUMBA_CACHE_DIR="")[0] == "1.0"
