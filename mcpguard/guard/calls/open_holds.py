"""The held calls that are not over: the memory that calls are judged with.

Rules kept here:
1. Two calls are the same one if one caller makes them, in one session where nobody knows who that is, of one capability
   by one definition, with the same arguments and the same `_meta`. What the agent says of its reasons does not count,
   nor does which trace it belongs to, where that has the form of one.
2. A hold is worth something only as long as everything that it rests on is as it was.
3. One that is used is nobody else's from that moment on, before the store knows.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import orjson

from mcpguard.codec import envelope
from mcpguard.codec.messages import dumps
from mcpguard.codec.traces import parent
from mcpguard.domain.calls.holds import HeldCall, HoldMove, HoldState, Rests
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.decisions import Unknown
from mcpguard.domain.grants import ANONYMOUS
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.upstreams import Upstream
from mcpguard.guard.calls.subject import CallSubject
from mcpguard.ledger.digests import Digests
from mcpguard.policy.arguments.call_arguments import Arguments

LIVE = frozenset({HoldState.WAITING, HoldState.ALLOWED, HoldState.DENIED})


@dataclass(slots=True, eq=False)
class Ticket:
    """A hold, and the requests that wait for what becomes of it.

    `stored`: whether the store has it; until then nobody is shown it. `owed`: how it stood, and what happened to it,
    where the store has not been told yet.
    """

    hold: HeldCall
    stored: bool = True
    waiters: set[anyio.Event] = field(default_factory=set)
    owed: tuple[HoldState, HoldMove] | None = None

    @property
    def state(self) -> HoldState:
        return self.hold.state

    @property
    def shown(self) -> bool:
        """Whether people see it, and can answer it or take their answer back."""
        return self.stored and self.state in LIVE

    def become(self, hold: HeldCall) -> None:
        """From here on it stands so; whoever waits looks again."""
        self.hold = hold
        self.wake()

    def move(self, state: HoldState) -> None:
        self.become(replace(self.hold, state=state))

    def wake(self) -> None:
        for waiter in self.waiters:
            waiter.set()


class Tickets:
    """All of them."""

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
        if self._by_same.get(ticket.hold.same) is ticket:
            del self._by_same[ticket.hold.same]

    def get(self, id_: str) -> Ticket:
        """Raises Unknown."""
        found = self._by_id.get(id_)
        if found is None or not found.shown:
            raise Unknown("no call waits under this ticket; mcpguard held list shows those that do")
        return found

    def find(self, same: bytes, rests: Rests) -> Ticket | None:
        """The one for this call, if it is worth anything now."""
        found = self._by_same.get(same)
        return found if found is not None and found.hold.rests == rests and found.state in LIVE else None

    def waiting(self, caller: str | None = None) -> int:
        """How many calls wait for a person in all, or of one caller, with those that begin to."""
        if caller is None:
            return sum(each.state is HoldState.WAITING and each.stored for each in self)
        return sum(each.state is HoldState.WAITING and each.hold.caller == caller for each in self)

    def same(self, subject: CallSubject, given: Arguments, by: Fingerprint | None) -> bytes:
        """What a call has in common with those that are the same one."""
        caller, named = subject.caller.id, subject.capability
        who = [caller, subject.session if caller == ANONYMOUS else ""]
        what = [given.method, named.server, named.kind.value, named.name, by.text if by else ""]
        params = {"arguments": {}, **_untraced(given.params)}  # to give none is to give nothing
        return self._digests.body(dumps([who, what]) + b"\0" + _sorted(params)).digest.encode()


def rests(upstream: Upstream, pin: Pin | None) -> Rests:
    """What a verdict rests on at this moment."""
    return Rests((upstream.id, upstream.generation), (pin.id, pin.generation) if pin else None)


def _untraced(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without the id of a trace, which is another one each time that something is tried.

    Only in the version whose form is known: a later one may end with any text.
    """
    said = envelope.meta(params)
    trace = said.get("traceparent")
    if not isinstance(trace, str) or not trace.startswith("00-") or parent(trace) is None:
        return params
    kept = {key: value for key, value in said.items() if key != "traceparent"}
    rest = {key: value for key, value in params.items() if key != "_meta"}
    return rest | {"_meta": kept} if kept else rest


def _sorted(params: Mapping[str, Any]) -> bytes:
    """Agents may write the same arguments in another order."""
    try:
        return orjson.dumps(params, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # integers beyond 64 bits, which JSON has and orjson has not
        return json.dumps(params, sort_keys=True).encode()
