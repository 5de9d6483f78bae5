"""Explains why a capability can or cannot be called, by the rules that judge calls, for no particular caller.

`ready`: a call would be sent, or held for the person who approves such calls one by one. `retry`: it may be possible
soon without anybody acting. `blocked`: a person has to act first. `unknown`: there is no such capability.

An explanation for a given caller depends on its scope: what is out of scope is `unknown`. The declared intent and the
arguments of a call are judged too, if they are given. Budgets are not considered, as they change from moment to moment.
"""

from typing import Any, Final

from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.calls.objections import Detail
from mcpguard.domain.calls.verdicts import Allow
from mcpguard.domain.capabilities import Capability, Effect
from mcpguard.domain.decisions import CapabilityKey
from mcpguard.domain.reasons import Reason
from mcpguard.guard.calls.judgement import PASSING, CallJudge, JudgedCall
from mcpguard.guard.calls.refusals import helping_command, reason_details
from mcpguard.guard.calls.request import CallRequest, CallSubject
from mcpguard.guard.servers.argument_checks import Arguments
from mcpguard.guard.servers.registry import ServerState
from mcpguard.policy.intents import StatedIntent
from mcpguard.policy.judge import RULES
from mcpguard.policy.scopes import is_in_scope

ANYBODY: Final = Caller("", "", Scope(("*",), ("*",), frozenset(Effect)))
"""Nobody in particular, with everything in scope. Has no token, so no call is ever made in this name."""


def is_anybody(caller: Caller) -> bool:
    """Tell whether this is `ANYBODY`. A judge with this check explains, and refuses every caller that there really
    is.
    """
    return caller is ANYBODY


def no_wait() -> None:
    """Nobody times an explanation."""


async def explain(
    known: ServerState,
    key: CapabilityKey,
    judging: CallJudge,
    caller: Caller,
    stated: StatedIntent | None = None,
    given: Arguments | None = None,
) -> dict[str, Any]:
    """Explain whether one capability can be called, with the rules that were asked. As for a call, the server lists
    again first where that was long ago, so this may take a while. A first connection is not waited for."""
    subject = CallSubject(caller=caller, capability=Capability(known.name, *key), stated=stated, given=given)
    judged = judging.judge(subject)
    if judged.verdict.reason is not Reason.SERVER_STARTING:
        judged = await judging.judge_confirmed(subject, None, no_wait)
    reason = judged.verdict.reason
    reached = is_in_scope(caller.scope, subject.capability)
    pin = known.pins.get(key) if reached else None
    return {
        "server": known.name,
        "kind": key[0].value,
        "name": key[1],
        "callable": reason is None,
        "held": judged.hold.demand,
        "answer": _answer(reason),
        "rules": list(judged.rules),
        "effect": judged.effect.value if judged.effect and reached else None,
        "fingerprint": pin.listed.text if pin and pin.listed else None,
        "approved": pin.approved.text if pin and pin.approved else None,
        "reasons": [_said(reason, judged.detail)] if reason else [],
    }


def explain_to_agent(caller: Caller, capability: Capability, judging: CallJudge) -> dict[str, Any]:
    """Explain to an agent whether it can call something, in the words of a refusal. Contains nothing that a server
    wrote."""
    subject = CallSubject(caller=caller, capability=capability)
    reason = judging.judge(subject).verdict.reason
    said: dict[str, Any] = {"answer": _answer(reason)}
    if reason is not None:
        said |= {"reason": reason.value, "message": reason.sentence, "next": reason.next}
        detail = Detail(helps=helping_command(reason, capability))
        said |= reason_details(
            detail, judging.findings_told(subject, reason), judging.uninspected_server(subject, reason)
        )
    return said


def preview_json(asked: CallRequest, judged: JudgedCall) -> dict[str, Any]:
    """The outcome that a call would have, and what each rule would say of it, as people are shown it."""
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
        "verdict": verdict.word,
        "effect": judged.effect.value if judged.effect else None,
        "intent": {"operation": operation.value if operation else None, "declared": stated is not None},
        "reason": _said(judged.verdict.reason, judged.detail) if judged.verdict.reason else None,
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
    return said | {"detail": detail.fields} if detail.fields else said
