"""The holds that have not ended, in memory: calls are judged with them.

Rules kept here:
1. Two calls are the same if they have the same caller (and session, if the caller is anonymous), capability,
   definition, arguments and `_meta`. The agent's stated reason does not count, nor does a well-formed trace id.
2. A hold counts only as long as the server and the capability that it rests on are unchanged.
3. A call that uses an approval takes it from all other calls at once, before the store is updated.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import anyio

from mcpguard.codec.messages import dumps
from mcpguard.domain.calls.holds import HeldCall, HoldBasis, HoldMove, HoldState
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.decisions import Unknown
from mcpguard.domain.grants import ANONYMOUS
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.upstreams import Upstream
from mcpguard.guard.calls.holds.call_parts import TellableParts, call_parts, sorted_json, without_trace
from mcpguard.guard.calls.kept_bodies import Digests
from mcpguard.guard.servers.argument_checks import Arguments
from mcpguard.guard.servers.registry import Registry

if TYPE_CHECKING:
    from mcpguard.guard.calls.request import CallSubject

LIVE = frozenset({HoldState.WAITING, HoldState.ALLOWED, HoldState.DENIED})


@dataclass(slots=True, eq=False)
class Ticket:
    """A hold, and the requests that wait for its answer.

    `stored`: whether the store has it; until then nobody is shown it. `owed`: its last state and the move that ended
    it, where that is not recorded yet.
    """

    hold: HeldCall
    stored: bool = True
    waiters: set[anyio.Event] = field(default_factory=set)
    owed: tuple[HoldState, HoldMove] | None = None

    @property
    def state(self) -> HoldState:
        return self.hold.state

    @property
    def is_shown(self) -> bool:
        """Whether reviewers see it, and can answer it or revoke their answer."""
        return self.stored and self.state in LIVE

    def become(self, hold: HeldCall) -> None:
        """Replace the hold, and wake everybody who waits for it."""
        self.hold = hold
        self.wake()

    def move(self, state: HoldState) -> None:
        self.become(replace(self.hold, state=state))

    def wake(self) -> None:
        for waiter in self.waiters:
            waiter.set()


class Tickets:
    """All holds that have not ended, by ticket and by call."""

    def __init__(self, digests: Digests) -> None:
        self._digests = digests
        self._by_id: dict[str, Ticket] = {}
        self._by_same: dict[bytes, Ticket] = {}

    def __iter__(self) -> Iterator[Ticket]:
        return iter(tuple(self._by_id.values()))

    def add(self, ticket: Ticket) -> None:
        self._by_id[ticket.hold.id] = ticket
        self._by_same[ticket.hold.same] = ticket

    def drop(self, ticket: Ticket) -> None:
        self._by_id.pop(ticket.hold.id, None)
        # A newer hold of the same call may have taken its place.
        if self._by_same.get(ticket.hold.same) is ticket:
            del self._by_same[ticket.hold.same]

    def get(self, id_: str) -> Ticket:
        """The hold with this ticket, if reviewers are shown it. Raises Unknown."""
        found = self._by_id.get(id_)
        if found is None or not found.is_shown:
            raise Unknown("no held call has this ticket; it may have expired")
        return found

    def find(self, same: bytes, rests: HoldBasis) -> Ticket | None:
        """The hold for the same call, if it counts now."""
        found = self._by_same.get(same)
        return found if found is not None and found.hold.rests == rests and found.state in LIVE else None

    def waiting(self, caller: str | None = None) -> int:
        """How many calls wait in all; or how many of one caller do, those included that are not stored yet."""
        if caller is None:
            return sum(each.state is HoldState.WAITING and each.stored for each in self)
        return sum(each.state is HoldState.WAITING and each.hold.caller == caller for each in self)

    def parts(self, subject: "CallSubject", by: Fingerprint | None) -> TellableParts | None:
        """The parts of a tool's call, which are compared with those of an allowance; None where it has none."""
        return call_parts(self._digests, subject, by)

    def same_call(self, subject: "CallSubject", given: Arguments, by: Fingerprint | None) -> bytes:
        """A digest that is the same for every repetition of the same call."""
        caller, named = subject.caller.id, subject.capability
        # Anonymous callers share one id: without the session one of them could use the approval of another.
        who = [caller, subject.session if caller == ANONYMOUS else ""]
        what = [given.method, named.server, named.kind.value, named.name, by.text if by else ""]
        params = {"arguments": {}, **without_trace(given.params)}  # `arguments: {}` and no arguments are the same call
        # A keyed digest: whoever reads the database cannot test guesses of the arguments.
        return self._digests.keyed_digest(dumps([who, what]) + b"\0" + sorted_json(params)).encode()


def rests(upstream: Upstream, pin: Pin | None) -> HoldBasis:
    """The generations of the server and of the approval that a verdict rests on."""
    return HoldBasis((upstream.id, upstream.generation), (pin.id, pin.generation) if pin else None)


def is_unchanged(registry: Registry, server: str, rests: HoldBasis) -> bool:
    """Tell whether the server and the capability are in these generations, as far as memory knows."""
    known = registry.find(server)
    if known is None or (known.upstream.id, known.upstream.generation) != rests.upstream:
        return False
    return rests.pin is None or rests.pin in {(pin.id, pin.generation) for pin in known.pins.values()}
