"""PostgreSQL and MariaDB servers for tests, in temporary folders and not as root."""

from __future__ import annotations

import csv
import io
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_SECONDS = 60


def _find(*names: str) -> str:
    folders = [str(path) for path in Path("/usr/lib/postgresql").glob("*/bin")]
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", *folders])
    for name in names:
        if (found := shutil.which(name, path=path)) is not None:
            return found
    pytest.skip(f"{names[0]} is not installed: this database is not tested")


def _user() -> str | None:
    """The user of a server; servers refuse to run as root."""
    return "nobody" if os.geteuid() == 0 else None


@contextmanager
def _server(command: list[str], folder: Path, is_ready: list[str]) -> Iterator[None]:
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, user=_user(), cwd=folder)
        try:
            end = time.monotonic() + _SECONDS
            while subprocess.run(is_ready, capture_output=True, user=_user()).returncode:
                if process.poll() is not None or time.monotonic() > end:
                    pytest.skip(f"{command[0]} does not start here: this database is not tested")
                time.sleep(0.2)
            yield
        finally:
            process.terminate()
            process.wait(_SECONDS)


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="pellucid-"))
    try:
        if (user := _user()) is not None:
            os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _prepare(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, capture_output=True, user=_user(), cwd=folder, text=True)
    if done.returncode:
        pytest.skip(f"{command[0]} fails here: {done.stderr.strip()[-200:]}")


class Postgres:
    """A running server; `rows` returns text, and None for NULL."""

    dialect = "postgres"

    def __init__(self, client: list[str]) -> None:
        self.client = client

    def run(self, script: str) -> str:
        """The output of a script."""
        done = subprocess.run(self.client, input=script, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    def load(self, name: str, columns: list[tuple[str, str]], rows: list[list]) -> None:
        """Make a table; `columns` are quoted names and types."""
        text = io.StringIO()
        for row in rows:  # every text is quoted, NULL is an empty field
            fields = ("" if v is None else '"' + str(v).replace('"', '""') + '"' for v in row)
            text.write(",".join(fields) + "\n")
        defined = ", ".join(f"{column} {kind}" for column, kind in columns)
        self.run(
            f"DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({defined});\n"
            f"COPY {name} FROM STDIN (FORMAT csv);\n{text.getvalue()}\\.\n"
        )

    def last_column(self, query: str) -> list[str | None]:
        """The last column of the result."""
        output = self.run(f"COPY ({query}) TO STDOUT (FORMAT csv, FORCE_QUOTE *);")
        return [row[-1] for row in csv.reader(io.StringIO(output, newline=""))]


class MariaDB(Postgres):
    """The same for MariaDB."""

    dialect = "mysql"

    def load(self, name: str, columns: list[tuple[str, str]], rows: list[list]) -> None:
        """Make a table; text is given as bytes, which need no quotes."""
        defined = ", ".join(f"{column} {kind}" for column, kind in columns)
        values = ",\n".join(f"({', '.join(map(_bytes, row))})" for row in rows)
        self.run(
            f"DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({defined}) CHARSET utf8mb4 "
            f"COLLATE utf8mb4_bin;\nINSERT INTO {name} VALUES {values};"
        )

    def last_column(self, query: str) -> list[str | None]:
        """The column ``the cluster`` of the result."""
        output = self.run(f"SELECT HEX(`the cluster`) FROM ({query}) AS answers;")
        return [bytes.fromhex(line).decode() for line in output.splitlines()]


def _bytes(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return f"CONVERT(0x{value.encode().hex()} USING utf8mb4)" if value else "''"
    return repr(value)


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server."""
    server, prepare, client = _find("postgres"), _find("initdb"), _find("psql")
    with _folder() as folder:
        data = str(folder / "data")
        options = ["-A", "trust", "-U", "tester", "-E", "UTF8", "--locale=C", "--no-sync"]
        _prepare([prepare, "-D", data, *options], folder)
        command = [server, "-D", data, "-k", str(folder), "-F", "-c", "listen_addresses="]
        call = [client, "-h", str(folder), "-U", "tester", "-d", "postgres", "-X", "-q"]
        call += ["-v", "ON_ERROR_STOP=1"]
        with _server(command, folder, [*call, "-c", "SELECT 1"]):
            yield Postgres(call)


@contextmanager
def mariadb() -> Iterator[MariaDB]:
    """A MariaDB server."""
    server, prepare = _find("mariadbd", "mysqld"), _find("mariadb-install-db", "mysql_install_db")
    client = _find("mariadb", "mysql")
    with _folder() as folder:
        data, socket = f"--datadir={folder / 'data'}", f"--socket={folder / 'socket'}"
        options = ["--auth-root-authentication-method=normal", "--skip-test-db"]
        _prepare([prepare, "--no-defaults", data, *options], folder)
        pid = f"--pid-file={folder / 'pid'}"
        command = [server, "--no-defaults", data, socket, pid, "--skip-networking"]
        call = [client, "--no-defaults", socket, "-u", "root", "--batch", "--skip-column-names"]
        call += ["--default-character-set=utf8mb4"]
        with _server(command, folder, [*call, "-e", "SELECT 1"]):
            MariaDB(call).run("CREATE DATABASE tests CHARACTER SET utf8mb4;")
            yield MariaDB([*call, "tests"])
