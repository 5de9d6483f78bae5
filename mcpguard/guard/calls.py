"""One call, from what a client asked to what it is told. Start reading here.

Rules kept here:
1. Every call is judged once, here, whatever way it came in, and is one entry in the ledger.
2. Nothing is sent before the verdict that allows it is stored, and nothing is answered before the closing is.
3. What the upstream says is passed on as it is: its results and its errors.
4. What it asks of the client meanwhile belongs to the same entry (`asking`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from mcpguard.codec.messages import dumps
from mcpguard.domain.asks import Declined
from mcpguard.domain.callers import Caller
from mcpguard.domain.calls import Face, Intent
from mcpguard.domain.capabilities import Capability, Effect
from mcpguard.domain.clock import Ids
from mcpguard.domain.counterpart import Counterpart
from mcpguard.domain.outcomes import Outcome, OutcomeKind
from mcpguard.domain.reasons import Reason
from mcpguard.domain.records import Opening
from mcpguard.domain.verdicts import Allow, Deny, Hold
from mcpguard.guard.asking import Asking
from mcpguard.guard.desk import Desk
from mcpguard.guard.servers import Servers
from mcpguard.ledger.digests import Digests
from mcpguard.ledger.entries import Entry
from mcpguard.ledger.ledger import Ledger
from mcpguard.policy.judge import Judgement, Situation, judge
from mcpguard.settings.model import Settings
from mcpguard.upstreams.conversation import ServerError
from mcpguard.upstreams.fleet import Fleet, Unreachable
from mcpguard.upstreams.inflight import Overdue
from mcpguard.upstreams.transports.endings import Unsent
from mcpguard.upstreams.transports.transport import TransportEnded
from mcpguard.upstreams.turns import Busy


@dataclass(frozen=True, slots=True)
class Asked:
    """What a client asked for: which capability of which server, by which method, with which parameters.

    `pinned` is the name under which the capability is found in the catalog; for a resource that a template covers it
    is the template's. The parameters are the server's own, without what belonged to the client's leg of the way. The
    watcher is who wants to hear of changes, where it is that what is asked for.
    """

    caller: Caller
    face: Face
    method: str
    capability: Capability
    params: Mapping[str, Any]
    client: str = ""
    pinned: Capability | None = None
    trace: str = ""
    watcher: object | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """How the call ended. Either the upstream's `result`, or its `error`, or a refusal of ours with its reason."""

    call: str
    outcome: Outcome
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


class Calls:
    """Carries out calls."""

    def __init__(
        self,
        servers: Servers,
        ledger: Ledger,
        fleet: Fleet,
        digests: Digests,
        new_id: Ids,
        settings: Settings,
    ) -> None:
        self._servers = servers
        self._ledger = ledger
        self._fleet = fleet
        self._digests = digests
        self._new_id = new_id
        self._settings = settings.version
        self._desk = Desk(ledger, digests, settings.asking)

    async def make(self, asked: Asked, counterpart: Counterpart) -> Told:
        """Judge, record, send, record, answer."""
        opening = self._opening(asked)
        permitted = partial(self._servers.may_ask, asked.capability.server)
        client = Asking(counterpart, opening, permitted, partial(self._objected, asked), self._desk)
        answer = _Answer()

        async def work(entry: Entry) -> Outcome:
            return await self._send(asked, entry, client, answer)

        outcome = await self._ledger.record(opening, work)
        if outcome.kind in (OutcomeKind.ANSWERED, OutcomeKind.FAILED) and outcome.reason is None:
            return Told(opening.entry, outcome, answer.result, answer.error)
        return Told(opening.entry, outcome)

    def stop_asking(self) -> None:
        """No client is asked anything any more: the guard is about to stop."""
        self._desk.close()

    def _judged(self, asked: Asked) -> tuple[Judgement, Effect | None]:
        """The verdict as things stand now, and the effect that it rests on."""
        wanted, server = asked.pinned or asked.capability, asked.capability.server
        catalog = self._servers.publisher.catalog
        pinned = catalog.find(wanted.server, wanted.kind, wanted.name)
        effect = pinned.effect if pinned else None
        situation = Situation(
            caller=asked.caller,
            capability=asked.capability,
            standing=self._servers.standing(server),
            enabled=self._servers.enabled(server),
            listed=server in catalog.shelves,
            effect=effect,
        )
        return judge(situation), effect

    def _objected(self, asked: Asked) -> Reason | None:
        """Why the call may not go on; None if it may."""
        match self._judged(asked)[0].verdict:
            case Allow():
                return None
            case Deny(reason) | Hold(reason):
                return reason

    def _opening(self, asked: Asked) -> Opening:
        judgement, effect = self._judged(asked)
        return Opening(
            entry=self._new_id(),
            caller=asked.caller,
            capability=asked.capability,
            intent=Intent(effect or Effect.READ, declared=False),
            face=asked.face,
            verdict=judgement.verdict,
            method=asked.method,
            effect=effect,
            rules=judgement.rules,
            settings=self._settings,
            client=asked.client,
            trace=asked.trace,
            arguments=self._digests.body(dumps(asked.params)),
        )

    async def _send(self, asked: Asked, entry: Entry, client: Asking, answer: "_Answer") -> Outcome:
        try:
            async with self._fleet.turn(asked.capability.server) as turn:
                turn.reachable()
                if asked.watcher is None:
                    answer.result = await turn.send(entry.permit(), asked.method, asked.params, client)
                else:
                    await turn.watch(entry.permit(), asked.params["uri"], asked.watcher)
                    answer.result = {}
        except (Busy, Unreachable) as error:
            return Outcome.refused(_reason(error))
        except Unsent:
            entry.nothing_left()
            return Outcome.refused(Reason.SERVER_UNREACHABLE)
        except (Overdue, TransportEnded, Declined) as error:
            return Outcome.unknown(_reason(error))
        except ServerError as failed:
            answer.error = failed.error
            return Outcome.failed(self._digests.body(dumps(failed.error)))
        finally:
            client.end()
        reply = self._digests.body(dumps(answer.result))
        return Outcome.failed(reply) if answer.result.get("isError") is True else Outcome.answered(reply)


@dataclass(slots=True)
class _Answer:
    """What the upstream said, on its way out of the work to whoever asked."""

    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


def _reason(error: Exception) -> Reason:
    match error:
        case Declined(reason=reason):
            return reason
        case Busy():
            return Reason.SERVER_BUSY
        case Overdue():
            return Reason.REPLY_TIMEOUT
        case TransportEnded():
            return Reason.SERVER_LOST
        case _:
            return Reason.SERVER_UNREACHABLE
