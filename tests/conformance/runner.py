"""Runs the public conformance suite, and reads what it found.

    outcome = await run_suite(url, "2026-07-28", tmp_path)
    assert not outcome.failing, str(outcome)

The suite is a process of its own, with a time limit; when the caller is cancelled it is ended, with all that it
started. What it printed is in `suite.log` in the folder, and what each scenario found under `results`.
"""

import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import anyio
from anyio import to_thread

from tests.conformance import tools

REQUIREMENTS = ("2025-11-25", "2026-07-28")
PATIENCE = 300.0
_WHEN = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z$")


@dataclass(frozen=True)
class Check:
    """One thing that a scenario looked at."""

    id: str
    status: str
    why: str


@dataclass(frozen=True)
class Scenario:
    """What came of a scenario. One that left no results has failed."""

    name: str
    checks: tuple[Check, ...] = ()

    def having(self, status: str) -> list[Check]:
        return [check for check in self.checks if check.status == status]

    @property
    def passed(self) -> bool:
        return bool(self.checks) and not self.having("FAILURE")


@dataclass(frozen=True)
class Outcome:
    """What came of a run: the scenarios that the revision requires, and those that are run and do not count."""

    required: tuple[Scenario, ...]
    optional: tuple[Scenario, ...]
    code: int | None
    log: Path = field(repr=False)

    @property
    def failing(self) -> list[str]:
        """The required scenarios that did not pass, with what they say."""
        return [_told(scenario, "FAILURE") for scenario in self.required if not scenario.passed]

    @property
    def warnings(self) -> list[str]:
        return [_told(scenario, "WARNING") for scenario in self.required if scenario.having("WARNING")]

    def warned_beyond(self, other: "Outcome") -> list[str]:
        """The warnings of required scenarios that the other run does not have."""
        known = {(scenario.name, check.id) for scenario in other.required for check in scenario.having("WARNING")}
        return [
            f"{scenario.name}: {check.id}: {check.why}"
            for scenario in self.required
            for check in scenario.having("WARNING")
            if (scenario.name, check.id) not in known
        ]

    @property
    def checks(self) -> int:
        """How many checks the required scenarios passed."""
        return sum(len(scenario.having("SUCCESS")) for scenario in self.required)

    def __str__(self) -> str:
        passed = sum(scenario.passed for scenario in self.required)
        lines = [f"{passed} of {len(self.required)} required scenarios passed ({self.checks} checks)", *self.failing]
        lines += [f"warning: {warning}" for warning in self.warnings]
        return "\n".join([*lines, f"what the suite said is in {self.log}"])


async def run_suite(url: str, requirements: str, cwd: Path, patience: float = PATIENCE) -> Outcome:
    """The server scenarios of a revision, against the server at `url`."""
    arguments = ["server", "--url", url, "--requirements", requirements]
    code = await _run(arguments, cwd, patience)
    found = _found(cwd / "results", "server-")
    return _outcome(await to_thread.run_sync(required, requirements, "server"), found, code, cwd)


async def run_clients(
    command: Sequence[str], requirements: str, cwd: Path, only: Iterable[str] = (), patience: float = PATIENCE
) -> Outcome:
    """The client scenarios of a revision (or `only` these of them), each with a process of `command` and a URL.

    Without `only` the suite runs all of them at once. The client finds the scenario's name in MCP_CONFORMANCE_SCENARIO,
    the revision in MCP_CONFORMANCE_PROTOCOL_VERSION, and more, in some scenarios, in MCP_CONFORMANCE_CONTEXT.
    """
    code: int | None
    wanted = list(only)
    given = ["client", "--command", shlex.join(command)]
    if wanted:
        codes = [
            await _run([*given, "--scenario", name, "--spec-version", requirements], cwd, patience) for name in wanted
        ]
        code = max(each if each is not None else 1 for each in codes)
    else:
        wanted = await to_thread.run_sync(required, requirements, "client")
        code = await _run([*given, "--requirements", requirements], cwd, patience)
    return _outcome(wanted, _found(cwd / "results", ""), code, cwd)


def required(revision: str, leg: str) -> list[str]:
    """The names of the scenarios that a revision requires: of a plain list in a YAML file of the suite."""
    path = tools.package("conformance") / "requirements" / f"{revision}.yaml"
    names: list[str] = []
    current = ""
    for line in path.read_text().splitlines():
        if line and not line.startswith((" ", "#")):
            current = line.removesuffix(":")
        elif current == leg and line.startswith("  - "):
            names.append(line.removeprefix("  - ").strip())
    assert names, f"{path} does not look as it did"
    return names


async def _run(arguments: Sequence[str], cwd: Path, patience: float) -> int | None:
    """The suite's exit code; None when it was ended because it took too long."""
    suite = await to_thread.run_sync(tools.package, "conformance")
    command = [str(tools.node()), str(suite / "dist" / "index.js"), *arguments, "--output-dir", str(cwd / "results")]
    with (cwd / "suite.log").open("ab") as log:
        started = _start(command, cwd, log)
        try:
            with anyio.move_on_after(patience):
                return await to_thread.run_sync(started.wait, abandon_on_cancel=True)
            return None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)
            started.wait()


def _start(command: Sequence[str], cwd: Path, log: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        cwd=cwd,
        env=tools.environment(),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )


def _found(results: Path, prefix: str) -> dict[str, Scenario]:
    """Every scenario that left its checks behind."""
    found = {}
    for path in sorted(results.rglob("checks.json")):
        name = _WHEN.sub("", path.parent.relative_to(results).as_posix()).removeprefix(prefix)
        found[name] = Scenario(name, tuple(_check(each) for each in json.loads(path.read_text())))
    return found


def _check(said: dict[str, Any]) -> Check:
    return Check(said["id"], said["status"], said.get("errorMessage") or said.get("description") or "")


def _outcome(wanted: Iterable[str], found: dict[str, Scenario], code: int | None, cwd: Path) -> Outcome:
    counted = tuple(found.get(name, Scenario(name)) for name in wanted)
    others = tuple(scenario for name, scenario in found.items() if name not in {each.name for each in counted})
    return Outcome(counted, others, code, cwd / "suite.log")


def _told(scenario: Scenario, status: str) -> str:
    said = [f"{check.id}: {check.why}" for check in scenario.having(status)]
    return f"{scenario.name}: {'; '.join(said) or 'left no results'}"
