"""Decides when new findings in an unchanged listing are recorded.

The findings in one server's definitions may depend on what others list, which those may change as often as they like.
So they are compared with the last recorded ones, and recorded only once per interval: the ledger is never outdated for
longer than that, and no server can fill it.
"""

from dataclasses import dataclass
from typing import Final

from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.clock import Clock
from mcpguard.guard.servers.facts import Fact, Fields

PAUSE_SECONDS: Final = 600.0
_FIELDS: Final = ("findings", "hard", "grave", "risk", "rules", "more_rules")
_COUNTS: Final = ("new", "changed", "returned", "gone")


@dataclass(frozen=True, slots=True)
class _Told:
    upstream: str
    found: Fields
    rests: float


class RepeatedFindings:
    """The findings that were recorded last of each server."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._told: dict[str, _Told] = {}

    def is_due(self, server: str, upstream: str, before: Fields, now: Fields) -> bool:
        """Tell whether the findings `now` are to be recorded. `before`: the last ones, where nothing was recorded
        since.
        """
        told = self._told.get(server)
        # A server that was removed and added again under the same name starts anew.
        if told is None or told.upstream != upstream:
            return before != now
        return told.found != now and self._clock.monotonic() >= told.rests

    def note_recorded(self, facts: tuple[Fact, ...]) -> None:
        """Take note of the listings among these records, which were stored."""
        for fact in facts:
            if fact.kind is RecordKind.LISTED:
                server, upstream = str(fact.fields["server"]), str(fact.fields["upstream"])
                before = self._told.get(server)
                alone = "by" not in fact.fields and not any(fact.fields[name] for name in _COUNTS)
                rests = self._clock.monotonic() + PAUSE_SECONDS if alone else before.rests if before else 0.0
                found = {name: fact.fields[name] for name in _FIELDS if name in fact.fields}
                self._told[server] = _Told(upstream, found, rests)

    def forget(self, server: str) -> None:
        """Forget a server that was removed."""
        self._told.pop(server, None)
