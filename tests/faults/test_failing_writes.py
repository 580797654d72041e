"""Writes that fail: the old file stays, nothing half-written is left, one line of error."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pellucid._utils.files import replacing

pytestmark = pytest.mark.slow

OUTPUTS = (
    "rows.csv", "rows.tsv", "rows.csv.gz", "rows.xlsx", "rows.parquet", "rows.feather",
    "rows.json", "rows.jsonl", "tree.png", "tree.svg", "tree.pdf", "tree.dot", "report.html",
    "model.json",
)  # fmt: skip

FAILING = """
import json, resource, sys
from pathlib import Path
import numpy as np, polars as pl
from pellucid import IMM, Explanation
from pellucid.cli.writing import draw_tree, write_text
from pellucid.report import write_report
from pellucid.tables.writing import write_table

folder = Path(sys.argv[1])
rng = np.random.default_rng(0)
table = pl.DataFrame({f"x{i}": rng.normal(size=1000) for i in range(4)})
model = IMM(4, random_state=0).fit(table)

def write(path):
    if path.name.startswith("rows"):
        write_table(path, table)
    elif path.name.startswith("tree"):
        draw_tree(path, model)
    elif path.suffix == ".html":
        write_report(path, model, table, trade_off=None)
    else:
        write_text(path, model.to_json())

_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
results = []
for name in sys.argv[2:]:
    path = folder / name
    write(path)
    size = path.stat().st_size
    for limit in sorted({0, size // 2, size - 1}):
        if limit >= size:
            continue
        path.write_bytes(b"precious")
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        said = None
        try:
            write(path)
        except Exception as error:
            said = [type(error).__name__, str(error), isinstance(error, OSError)]
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        results.append([name, limit, said, path.read_bytes() == b"precious",
                        sorted(p.name for p in folder.iterdir() if p.name != name)])
    path.unlink()
sys.stdout.write(json.dumps(results))
"""


def test_every_output_fails_without_harm(tmp_path):
    """The system refuses writes beyond a size: at the first byte, in the middle, at the last."""
    folder, temporary = tmp_path / "folder", tmp_path / "temporary"
    folder.mkdir()
    temporary.mkdir()
    command = [sys.executable, "-c", FAILING, str(folder), *OUTPUTS]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(temporary.iterdir()) == []
    results = json.loads(done.stdout)
    assert {name for name, *_ in results} == set(OUTPUTS)
    for name, limit, said, is_kept, others in results:
        assert said is not None, (name, limit)
        assert is_kept, (name, limit)
        assert others == [], (name, limit)
        assert said[2], (name, limit, said)
        assert name in said[1], (name, limit, said)


COMMANDS = """
import json, resource, sys
from typer.testing import CliRunner
from pellucid.cli.app import app
commands = json.loads(sys.argv[1])
# Without an output, so that the loops are loaded, or compiled and stored, before writes fail.
assert CliRunner().invoke(app, commands[0][:-2]).exit_code == 0
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
results = []
for arguments in commands:
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    result = CliRunner().invoke(app, arguments)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    results.append([result.exit_code, result.stderr])
sys.stdout.write(json.dumps(results))
"""


def test_a_command_prints_one_line(tmp_path):
    rows = "\n".join(f"{i % 7},{(i * 31) % 11},{i % 2 * 50}" for i in range(300))
    (tmp_path / "rows.csv").write_text(f"a,b,c\n{rows}\n")
    names = ("model.txt", "sql.txt", "output.csv", "output.xlsx", "report.html", "tree.png")
    targets = [tmp_path / name for name in names]
    for target in targets:
        target.write_text("precious")
    explain = ["explain", str(tmp_path / "rows.csv"), "-k", "2", "--quiet", "--method", "imm"]
    arguments = [[*explain, f"--{target.stem}", str(target)] for target in targets]
    command = [sys.executable, "-c", COMMANDS, json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    for target, (code, said) in zip(targets, json.loads(done.stdout), strict=True):
        assert code == 1, said
        errors = [line for line in said.splitlines() if line.startswith("error: ")]
        assert len(errors) == 1, said
        assert f"{target}: " in errors[0]
        assert "Traceback" not in said
        assert target.read_text() == "precious"
    assert {path.name for path in tmp_path.iterdir()} == {"rows.csv", *names}


def test_a_killed_process_leaves_the_old_file(tmp_path):
    target = tmp_path / "model.json"
    target.write_text("precious")
    code = f"""
import os, signal
from pathlib import Path
from pellucid._utils.files import replacing
with replacing(Path({str(target)!r})) as unfinished:
    unfinished.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code])
    assert done.returncode == -signal.SIGKILL
    assert target.read_text() == "precious"
    (abandoned,) = tmp_path.glob(".model.json.*.part")
    others = [tmp_path / ".model.json.other-1-x.part", tmp_path / ".other.json.part"]
    for other in others:
        other.write_text("of another computer or file")
    with replacing(target) as unfinished, replacing(target) as second:
        unfinished.write_text("whole")
        second.write_text("first")
    assert target.read_text() == "whole"
    assert not abandoned.exists()
    assert set(tmp_path.iterdir()) == {target, *others}


def test_an_interrupted_write_leaves_the_old_file(tmp_path):
    target = tmp_path / "model.json"
    target.write_text("precious")

    def write():
        with replacing(target) as unfinished:
            unfinished.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert target.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [target]


def test_a_new_file_has_the_usual_mode_and_a_long_name(tmp_path):
    target = tmp_path / ("x" * 250)
    with replacing(target) as unfinished:
        unfinished.write_text("new")
    (tmp_path / "usual").write_text("")
    assert target.stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("where", ["folder/model.json", "missing/model.json", "/sys/model.json"])
def test_folders_that_cannot_be_written(where, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o500)
    if where.startswith("folder") and os.access(folder, os.W_OK):
        pytest.skip("this user can write everywhere")
    if where.startswith("/sys") and not Path("/sys/kernel").exists():
        pytest.skip("needs /sys, where nobody can make files")
    with (
        pytest.raises(OSError, match="model.json"),
        replacing(tmp_path / where) as unfinished,
    ):
        Path(unfinished).write_text("x")
