"""The allowances that have not ended, in memory: calls are judged with them.

Rules kept here:
1. An allowance counts only as long as it lasts, has calls left, and the server and the tool that it rests on are
   unchanged.
2. A call that uses one takes its place from all other calls at once, before the store is updated.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpguard.domain.calls.allowances import Allowance, AllowanceEnd
from mcpguard.domain.calls.holds import HoldBasis
from mcpguard.domain.clock import Clock
from mcpguard.domain.decisions import Unknown
from mcpguard.domain.servers.pins import Pin
from mcpguard.guard.calls.holds.call_parts import call_parts
from mcpguard.guard.calls.kept_bodies import Digests
from mcpguard.guard.traffic.wake import WakeTimer

if TYPE_CHECKING:
    from mcpguard.guard.calls.request import CallSubject


@dataclass(slots=True, eq=False)
class OpenAllowance:
    """An allowance as memory has it. `using`: how many calls have taken their place and are not stored yet; `ended`:
    why it counts no more, though that may not be recorded yet."""

    allowance: Allowance
    using: int = 0
    ended: AllowanceEnd | None = None

    def take(self) -> bool:
        """Take the place of one call. Returns whether there was one left."""
        if self.ended is not None or self.allowance.left <= 0:
            return False
        self.using += 1
        self.allowance = replace(self.allowance, left=self.allowance.left - 1)
        return True

    def keep(self) -> None:
        """Take note that the call is stored."""
        self.using -= 1

    def give_back(self) -> None:
        """Give back the place of a call that could not be stored."""
        self.using -= 1
        self.allowance = replace(self.allowance, left=self.allowance.left + 1)


class OpenAllowances:
    """All allowances that have not ended, by id."""

    def __init__(self, digests: Digests, clock: Clock) -> None:
        self.clock = clock
        self.waking = WakeTimer(clock)
        self._digests = digests
        self._by_id: dict[str, OpenAllowance] = {}

    def __iter__(self) -> Iterator[OpenAllowance]:
        return iter(tuple(self._by_id.values()))

    def add(self, allowance: Allowance) -> None:
        self._by_id[allowance.id] = OpenAllowance(allowance)
        self.waking.wake()

    def drop(self, open_: OpenAllowance) -> None:
        self._by_id.pop(open_.allowance.id, None)

    def get(self, id_: str) -> OpenAllowance:
        """The allowance with this id that still counts. Raises Unknown."""
        found = self._by_id.get(id_)
        if found is None or found.ended is not None:
            raise Unknown("there is no such allowance; it may have ended")
        return found

    def find(self, subject: "CallSubject", pin: Pin | None, rests: HoldBasis) -> OpenAllowance | None:
        """The allowance that covers a call now, if there is one."""
        mine = [each for each in self._by_id.values() if self._may_cover(each, subject, rests)]
        parts = call_parts(self._digests, subject, pin.approved if pin else None) if mine else None
        if parts is None:
            return None
        return next((each for each in mine if each.allowance.covers(parts.same)), None)

    def _may_cover(self, each: OpenAllowance, subject: "CallSubject", rests: HoldBasis) -> bool:
        allowance = each.allowance
        return (
            each.ended is None
            and allowance.left > 0
            and allowance.until > self.clock.now()
            and allowance.caller == subject.caller.id
            and allowance.capability == subject.capability
            and allowance.rests == rests
        )
