"""Why a capability can be called, or why not: the same rules as for a call, asked on behalf of nobody.

`ready`: a call would go out. `retry`: it may soon, without anybody doing anything. `blocked`: a person has to do
something first. `unknown`: there is no such thing.
"""

from typing import Any, Final

from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.capabilities import Capability, Effect
from mcpguard.domain.decisions import Key
from mcpguard.domain.reasons import Reason
from mcpguard.guard.judging import Judging, Subject
from mcpguard.guard.known import Known
from mcpguard.guard.servers import Servers

_ANYBODY: Final = Caller("", "", Scope(("*",), ("*",), frozenset(Effect)))
_SOON: Final = {Reason.SERVER_UNREACHABLE, Reason.CAPABILITY_UNCONFIRMED}


def explained(known: Known, key: Key, servers: Servers) -> dict[str, Any]:
    """The answer for one capability, with the rules that were asked."""
    judged = Judging(servers).now(Subject(_ANYBODY, Capability(known.name, *key)))
    reason = judged.reason
    match reason:
        case None:
            answer = "ready"
        case Reason.CAPABILITY_UNKNOWN:
            answer = "unknown"
        case _:
            answer = "retry" if reason in _SOON else "blocked"
    pin = known.pins.get(key)
    return {
        "server": known.name,
        "kind": key[0].value,
        "name": key[1],
        "callable": reason is None,
        "answer": answer,
        "rules": list(judged.rules),
        "effect": judged.effect.value if judged.effect else None,
        "fingerprint": pin.listed.text if pin and pin.listed else None,
        "approved": pin.approved.text if pin and pin.approved else None,
        "reasons": [{"reason": reason.value, "message": reason.sentence, "next": reason.next}] if reason else [],
    }
