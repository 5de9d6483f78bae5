"""Checks whether the guard is the only way to MCP servers for the programs of this account.

Rules kept here:
1. What is not locked down is a notice: most guards need no lockdown. What was deployed and is other than it should be
   is a problem, because somebody relies on it.
2. Only names of programs and servers are told.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from mcpguard.agents.guard_entry import program_status
from mcpguard.agents.lockdown.deployment import LockdownWish, TargetSystem
from mcpguard.agents.lockdown.guard_address import NotExact, exact_address
from mcpguard.agents.lockdown.lockable import LOCKABLE
from mcpguard.agents.lockdown.ways_around import LockdownPlace, WayAround, ways_around, with_and_without_token
from mcpguard.agents.program import Home, Reach
from mcpguard.agents.programs import PROGRAMS
from mcpguard.cli.doctor.evidence import DoctorEvidence
from mcpguard.cli.doctor.finding import DoctorFinding, notice, ok, problem
from mcpguard.cli.shared.known_servers import guarded_by
from mcpguard.cli.shared.stdio_command import stdio_command
from mcpguard.settings.entries.entry import list_names

LOCK: Final = "mcpguard lockdown PROGRAM, as an administrator, where it should be"
ROOT: Final = Path("/")
NO_PROJECT: Final = Path(os.devnull)


def only_way(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    """Tell for which programs the guard is not the only way."""
    guarded = guarded_by(evidence.settings, None)
    home = Home(Path.home(), sys.platform, os.environ)
    system = TargetSystem.MACOS if sys.platform == "darwin" else TargetSystem.LINUX
    place = LockdownPlace(tuple(_wishes(evidence, guarded.origins)), system, ROOT)
    known = [program_status(each, home, NO_PROJECT, guarded) for each in PROGRAMS]
    ways = [each for each in ways_around(known, place, LOCKABLE) if each.installed or each.problems]
    for sentence in dict.fromkeys(sentence for each in ways for sentence in each.problems):
        yield problem("lockdown.deployed", sentence, "mcpguard lockdown PROGRAM --check, then --write again")
    if loose := [each for each in ways if not each.locked]:
        yield notice("lockdown.programs", f"the guard is not the only way for {_told(loose)}", LOCK)
    elif ways:
        yield ok("lockdown.programs", f"the guard is the only way for {list_names(each.title for each in ways)}")
    else:
        yield ok("lockdown.programs", "this account has no program that could go around the guard")


def _told(ways: list[WayAround]) -> str:
    return list_names(each.title + (f" (reaches {list_names(each.reaches)})" if each.reaches else "") for each in ways)


def _wishes(evidence: DoctorEvidence, origins: tuple[str, ...]) -> Iterator[LockdownWish]:
    """Yield every way to this guard that may be deployed."""
    for origin in origins:
        with suppress(NotExact):
            yield from with_and_without_token(LockdownWish(Reach(url=exact_address(f"{origin}/mcp"))))
    for config in (None, evidence.file):
        yield LockdownWish(Reach(stdio_command(config, evidence.settings.data_dir)))
