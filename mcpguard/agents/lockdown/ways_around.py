"""Tells for each program on this machine whether the guard is its only way, and which servers it reaches directly."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from mcpguard.agents.guard_entry import ProgramStatus
from mcpguard.agents.lockdown.deployment import LockableProgram, LockdownWish, TargetSystem
from mcpguard.agents.lockdown.lockdown_status import LockdownState, LockdownStatus, lockdown_status
from mcpguard.agents.program import Reach

TOKEN: Final = "MCPGUARD_TOKEN"  # noqa: S105 - the name of a variable
"""The environment variable with a person's token, which an entry refers to."""


@dataclass(frozen=True, slots=True)
class LockdownPlace:
    """Where deployed files are looked for, and the ways to the guard of which any is the right one."""

    wishes: tuple[LockdownWish, ...]
    system: TargetSystem
    root: Path = Path("/")


@dataclass(frozen=True, slots=True)
class WayAround:
    """A program with what is deployed for it, and with the servers in its own files that are not the guard.

    `deployed` has an entry for each program of lockdown that it obeys.
    """

    name: str
    title: str
    installed: bool
    direct: tuple[str, ...]
    deployed: tuple[tuple[LockableProgram, LockdownStatus], ...]

    @property
    def locked(self) -> bool:
        """Whether something deployed leaves the guard as the only way."""
        return any(status.state is LockdownState.IN_FORCE for _, status in self.deployed)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is deployed and other than it should be."""
        return tuple(
            problem
            for _, status in self.deployed
            if status.state is LockdownState.DIFFERENT
            for problem in status.problems
        )

    @property
    def reaches(self) -> tuple[str, ...]:
        """The servers that the program reaches directly."""
        return () if self.locked else self.direct


def token_headers(variable: str) -> dict[str, str]:
    """Return the header with a token that the program takes from its environment."""
    return {"Authorization": f"Bearer ${{{variable}}}"} if variable else {}


def with_and_without_token(wish: LockdownWish) -> tuple[LockdownWish, ...]:
    """Return the wish with both kinds of an entry, where the guard is reached by its address."""
    if not wish.reach.url:
        return (wish,)
    return tuple(
        replace(wish, reach=Reach(url=wish.reach.url, headers=token_headers(variable))) for variable in (TOKEN, "")
    )


def ways_around(
    programs: Iterable[ProgramStatus], place: LockdownPlace, lockable: tuple[LockableProgram, ...]
) -> Iterator[WayAround]:
    """Yield what is known of each of these programs, and of what is deployed for them by these means."""
    for at in programs:
        obeyed = [each for each in lockable if at.program.name in each.reads]
        yield WayAround(
            at.program.name,
            at.program.title,
            at.installed,
            tuple(f"{each.name} ({each.item.scope})" for each in at.direct),
            tuple((each, best_status(each, place)) for each in obeyed),
        )


def best_status(program: LockableProgram, place: LockdownPlace) -> LockdownStatus:
    """Return what is deployed, compared with the way to the guard that it comes closest to."""
    return min((_status(program, wish, place) for wish in place.wishes), key=_distance)


def _status(program: LockableProgram, wish: LockdownWish, place: LockdownPlace) -> LockdownStatus:
    return lockdown_status(program.files(wish, place.system), place.root)


def _distance(status: LockdownStatus) -> int:
    return len(status.problems)
