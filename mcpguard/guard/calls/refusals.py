"""Messages to callers about refused, held or withheld calls, identical at every door.

A refusal says what happened, why, and what to do next, in constants of the guard. Of other text it holds only the
called name, property names on the path to a wrong argument (`domain.objections`), a reviewer's reason, and the launch
of an uninspected server.
"""

import shlex
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from mcpguard.codec.findings import titles
from mcpguard.domain.calls.objections import Detail
from mcpguard.domain.calls.outcomes import Executed, Outcome, OutcomeKind
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.domain.findings import Finding
from mcpguard.domain.reasons import Reason
from mcpguard.guard.calls.request import CallResult
from mcpguard.guard.calls.uninspected_server import UninspectedServer
from mcpguard.text.visible import visible

MOST_FINDINGS: Final = 10
LONGEST_NAME: Final = 200
"""Characters of a name that is put into a command; a URI may be longer."""
_OF_SERVER: Final = frozenset(
    {
        Reason.SERVER_QUARANTINED,
        Reason.SERVER_BLOCKED,
        Reason.SERVER_DISABLED,
        Reason.SERVER_STARTING,
        Reason.SERVER_UNREACHABLE,
        Reason.SERVER_LOST,
    }
)
_OF_CAPABILITY: Final = frozenset(
    {
        Reason.CAPABILITY_PENDING,
        Reason.CAPABILITY_CHANGED,
        Reason.CAPABILITY_BLOCKED,
        Reason.CAPABILITY_UNCONFIRMED,
        Reason.CAPABILITY_WITHDRAWN,
        Reason.SCOPE_EFFECT,
    }
)


def refusal(told: CallResult) -> dict[str, Any]:
    """What a client is told of a refused, held or withheld call. Of findings it gets the titles alone."""
    outcome = told.outcome
    reason = outcome.reason or Reason.GUARD_ERROR
    said = {
        "status": _status(outcome),
        "executed": outcome.executed.value,
        "reason": reason.value,
        "message": reason.sentence,
        "next": reason.next,
        "call_id": told.call,
    }
    detail = replace(told.detail, helps=helping_command(reason, told.capability) if told.capability else "")
    return said | reason_details(detail, told.findings, told.unseen)


def reason_details(detail: Detail, findings: Iterable[Finding], unseen: UninspectedServer | None) -> dict[str, Any]:
    """The details told beside a reason, without empty ones: the titles of findings, and what is known of a server that
    nobody has inspected."""
    more = {
        "detail": (replace(detail, uninspected=unseen.sentence, helps="") if unseen else detail).fields,
        "findings": titles(findings, MOST_FINDINGS),
        "analysis": unseen.said if unseen else {},
    }
    return {name: value for name, value in more.items() if value}


def helping_command(reason: Reason, capability: Capability) -> str:
    """The command with which an operator sees more, where the reason says that the capability is in scope; else
    empty."""
    if reason not in _OF_SERVER | _OF_CAPABILITY:
        return ""
    server, name = visible(capability.server), visible(capability.name)
    if reason in _OF_SERVER or len(name) > LONGEST_NAME:
        return f"mcpguard server show {shlex.quote(server)}"
    kind = "" if capability.kind is CapabilityKind.TOOL else f" --kind {capability.kind.value}"
    return f"mcpguard tool ready {shlex.quote(f'{server}:{name}')}{kind}"


def _status(outcome: Outcome) -> str:
    if outcome.kind is OutcomeKind.HELD:
        return "held"
    return "refused" if outcome.executed is Executed.NO else "withheld"
