"""Why a capability can be called, or why not: the same rules as for a call, asked on behalf of nobody in particular.

`ready`: a call would go out, or wait for the person who allows calls like it one by one. `retry`: it may soon, without
anybody doing anything. `blocked`: a person has to do something first. `unknown`: there is no such thing.

Asked on behalf of a caller, the answer is theirs: out of their reach is `unknown`. What a call would say it means to do
and carry is judged with it, where it is given. Budgets are not asked about: they are another moment's.
"""

from typing import Any, Final

from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.calls.objections import Detail
from mcpguard.domain.calls.verdicts import Allow
from mcpguard.domain.capabilities import Capability, Effect
from mcpguard.domain.decisions import Key
from mcpguard.domain.reasons import Reason
from mcpguard.guard.calls.judgement import PASSING, Judged, Judging
from mcpguard.guard.calls.refusals import beside, helps
from mcpguard.guard.calls.request import CallRequest
from mcpguard.guard.calls.subject import CallSubject
from mcpguard.guard.servers.registry import ServerState
from mcpguard.ledger.format import verdict_fields
from mcpguard.policy.arguments.call_arguments import Arguments
from mcpguard.policy.intents import Stated
from mcpguard.policy.judge import RULES
from mcpguard.policy.scopes import within

_ANYBODY: Final = Caller("", "", Scope(("*",), ("*",), frozenset(Effect)))


async def explained(
    known: ServerState,
    key: Key,
    judging: Judging,
    caller: Caller = _ANYBODY,
    stated: Stated | None = None,
    given: Arguments | None = None,
) -> dict[str, Any]:
    """The answer for one capability, with the rules that were asked. As for a call, the server is asked again first
    where it has not been for long; so the answer may take its time. A first connection is not waited for."""
    subject = CallSubject(caller, Capability(known.name, *key), stated=stated, given=given)
    judged = judging.now(subject)
    if judged.reason is not Reason.SERVER_STARTING:
        judged = await judging.confirmed(subject)
    reason = judged.reason
    reached = within(caller.scope, subject.capability)
    pin = known.pins.get(key) if reached else None
    return {
        "server": known.name,
        "kind": key[0].value,
        "name": key[1],
        "callable": reason is None,
        "held": judged.look.demand,
        "answer": _answer(reason),
        "rules": list(judged.rules),
        "effect": judged.effect.value if judged.effect and reached else None,
        "fingerprint": pin.listed.text if pin and pin.listed else None,
        "approved": pin.approved.text if pin and pin.approved else None,
        "reasons": [_said(reason, judged.detail)] if reason else [],
    }


def explained_to(caller: Caller, capability: Capability, judging: Judging) -> dict[str, Any]:
    """For an agent: the answer, and of the reason what a refusal would say. Nothing that a server wrote."""
    subject = CallSubject(caller, capability)
    reason = judging.now(subject).reason
    said: dict[str, Any] = {"answer": _answer(reason)}
    if reason is not None:
        said |= {"reason": reason.value, "message": reason.sentence, "next": reason.next}
        detail = Detail(helps=helps(reason, capability))
        said |= beside(detail, judging.found(subject, reason), judging.unseen(subject, reason))
    return said


def foreseen(asked: CallRequest, judged: Judged) -> dict[str, Any]:
    """For people: what would become of a call, and what each rule would say of it."""
    verdict = judged.verdict
    last = len(judged.rules) - 1
    outcomes = [
        {"rule": rule, "outcome": "objected" if not isinstance(verdict, Allow) and place == last else "passed"}
        for place, rule in enumerate(judged.rules)
    ]
    unasked = [{"rule": rule, "outcome": "not_asked"} for rule, _ in RULES if rule not in judged.rules]
    stated = asked.stated
    operation = stated.intent.operation if stated else judged.effect
    return {
        "caller": {"id": asked.caller.id, "name": asked.caller.label},
        "server": asked.capability.server,
        "kind": asked.capability.kind.value,
        "name": asked.capability.name,
        "verdict": verdict_fields(verdict)["verdict"],
        "effect": judged.effect.value if judged.effect else None,
        "intent": {"operation": operation.value if operation else None, "declared": stated is not None},
        "reason": _said(judged.reason, judged.detail) if judged.reason else None,
        "rules": outcomes + unasked,
    }


def _answer(reason: Reason | None) -> str:
    match reason:
        case None | Reason.HOLD_WAITING:
            return "ready"
        case Reason.CAPABILITY_UNKNOWN:
            return "unknown"
        case _:
            return "retry" if reason in PASSING else "blocked"


def _said(reason: Reason, detail: Detail) -> dict[str, Any]:
    said: dict[str, Any] = {"reason": reason.value, "message": reason.sentence, "next": reason.next}
    return said | {"detail": detail.said} if detail.said else said
