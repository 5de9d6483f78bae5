"""Makes `earlier_*.tar.gz`: the folders that the version before left, for the test of the upgrade from it.

    python -m tests.upgrade.earlier_guard MCPGUARD

MCPGUARD is the command of that version, from its wheel in an environment of its own:

    git worktree add --detach ../before 9aef346 && cd ../before && make wheel && python3 -m venv env
    env/bin/pip install -r requirements.txt && env/bin/pip install --no-deps dist/*.whl

A guard on each database lives through what operators and agents do, with nothing but that version's commands. Every
secret in it is nobody's.
"""

import json
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.people import PASSWORD
from tests.postgres import PostgresServer, fresh_database
from tests.postgres import running as postgres_runs
from tests.process import environment, serving, until

BACKENDS: Final = ("sqlite", "postgres")
HERE: Final = "@HERE@"
"""Stands in the configuration for the folder that everything is in."""
DUMP: Final = "dump.sql"
SERVER: Final = Path(__file__).with_name("notes.sh")
CONFIGURATION: Final[Mapping[str, Any]] = {
    "mcpServers": {
        "journal": {"command": "/bin/sh", "args": ["notes.sh"], "cwd": f"{HERE}/journal", "mounts": [f"{HERE}/journal"]}
    },
    "retention": {"records": 1_000_000},  # where it had no effect, and nobody was told
    "mcpguard": {
        "hosts": ["guard.example"],
        "audit": {"anchor_file": f"{HERE}/anchors", "checkpoint_records": 10},
        "holds": {"calls": ["write of notes:*"]},
        "retention": {"records": 1_000_000, "body_days": 36_000},
        "budgets": {"caller_minute": 100},
        "log": {"level": "info", "format": "json"},
    },
}


def archive_of(backend: str) -> Path:
    """Where the folder is kept of the guard on this database."""
    return Path(__file__).with_name(f"earlier_{backend}.tar.gz")


class EarlierGuard:
    """A guard of the version before, with all that it has in one folder but for a database on a server."""

    def __init__(self, mcpguard: Path, folder: Path, environ: Mapping[str, str]) -> None:
        self.folder = folder
        self._mcpguard = str(mcpguard)
        self._settings = {
            "MCPGUARD_CONFIG": str(folder / "config.json"),
            "MCPGUARD_DATA_DIR": str(folder / "data"),
            **environ,
        }
        shutil.copy(SERVER, folder)
        (folder / "journal").mkdir()
        shutil.copy(SERVER, folder / "journal")
        self.configure(str(folder))

    def configure(self, here: str) -> None:
        """Write the configuration file, with this where HERE stands."""
        (self.folder / "config.json").write_text(json.dumps(CONFIGURATION, indent=2).replace(HERE, here))

    @contextmanager
    def running(self) -> Iterator[None]:
        data, command = self.folder / "data", (self._mcpguard,)
        with serving(data, command=command, cwd=self.folder, environ=self._settings) as guard:
            yield
            guard.signal(signal.SIGTERM)
            assert guard.ended() == 0

    def __call__(self, *words: str, given: str = "", by: str = "", fails: bool = False) -> str:
        """What a command prints; `by`: the token of the agent that calls."""
        with self._started(words, by) as process:
            out, _ = process.communicate(given)
        assert (process.returncode != 0) is fails, (words, out)
        return out

    def answer(self, answer: str, by: str) -> None:
        """An agent's call waits until a person answers it."""
        with self._started(("call", "write", "notes:save_note", "--args", '{"name": "shopping"}'), by):
            (waits,) = until(lambda: [each for each in self._held() if each["state"] == "waiting"], "a call is held")
            self("held", answer, waits["id"], "--reason", "as agreed")

    def _held(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self("held", "list", "-o", "json"))
        return found

    def _started(self, words: tuple[str, ...], by: str) -> subprocess.Popen[str]:
        env = environment(self._settings | ({"MCPGUARD_TOKEN": by} if by else {}))
        told = [self._mcpguard, *words]
        return subprocess.Popen(
            told, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=self.folder, env=env
        )


def first_days(guard: EarlierGuard) -> dict[str, str]:
    """People and agents come, servers are reviewed, calls are made, refused and held; returns the tokens."""
    for name, role in (("ada", "admin"), ("bob", "viewer")):
        guard("user", "add", name, "--role", role, "--password-stdin", given=f"{PASSWORD}\n")
    tokens = {"operator": guard("operator", "add", "ci", "--role", "auditor").strip()}
    for name, effects in (("writer", "read,write"), ("reader", "read"), ("gone", "read")):
        tokens[name] = guard("caller", "add", name, "--servers", "notes,journal,open", "--effects", effects).strip()
    guard("caller", "revoke", "gone", "--reason", "it left")
    guard("server", "add", "notes", "--", "/bin/sh", "-c", SERVER.read_text())
    guard("server", "add", "open", "--sandbox", "none", "--", "/bin/sh", "notes.sh")
    guard("server", "add", "barred", "--", "/bin/sh", "notes.sh")
    guard("server", "block", "barred", "--reason", "not wanted")
    for server in ("notes", "open", "journal"):
        guard("server", "inspect", server, *(("--consent",) if server == "open" else ()))
        chosen = ("--only", "read_note", "--only", "save_note", "--effect", "save_note=write")
        guard("server", "approve", server, *chosen, "--reason", "looked at it")
        guard("call", "read", f"{server}:read_note", "--args", '{"name": "shopping"}', by=tokens["reader"])
    guard("call", "write", "notes:save_note", by=tokens["reader"], fails=True)
    guard("call", "read", "notes:share_note", by=tokens["writer"], fails=True)
    guard.answer("allow", tokens["writer"])
    guard.answer("deny", tokens["writer"])
    return tokens


def later_days(guard: EarlierGuard, tokens: Mapping[str, str]) -> None:
    """What was sent in a call is removed, and another key signs."""
    opened = json.loads(guard("audit", "list", "-o", "json", "kind:opened verdict:allow"))
    guard("audit", "redact", str(opened[0]["seq"]), "--reason", "a person asked")
    guard("audit", "key", "rotate", "--reason", "it is time")
    guard("call", "read", "notes:read_note", by=tokens["writer"])


def make(mcpguard: Path, folder: Path, environ: Mapping[str, str]) -> None:
    """A whole life of such a guard, until it was stopped."""
    guard = EarlierGuard(mcpguard, folder, environ)
    with guard.running():
        tokens = first_days(guard)
    with guard.running():
        later_days(guard, tokens)
    (folder / "checkpoint.json").write_text(guard("audit", "checkpoint"))
    (folder / "tokens.json").write_text(json.dumps(tokens))
    guard.configure(HERE)


def keep(folder: Path, archive: Path) -> None:
    with tarfile.open(archive, "w:gz") as kept:
        for path in sorted(folder.iterdir()):
            kept.add(path, path.name)


def dumped(server: PostgresServer, url: str) -> str:
    """The statements that make the database anew, without those that only psql knows."""
    command = [str(server.bin_path / "pg_dump"), "--inserts", "--no-owner", "--dbname", url]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return "\n".join(line for line in lines if not line.startswith("\\"))


def main(mcpguard: Path) -> None:
    for backend in BACKENDS:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            if backend == "sqlite":
                make(mcpguard, folder, {})
            else:
                with postgres_runs() as server:
                    url = fresh_database(server.get_uri())
                    make(mcpguard, folder, {"MCPGUARD_STORE__URL": url})
                    (folder / DUMP).write_text(dumped(server, url))
            keep(folder, archive_of(backend))


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
