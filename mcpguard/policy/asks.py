"""What a server may ask of a client, and what a client can be asked.

Rules kept here:
1. Nothing is permitted unless a person permitted it, for this server and this kind.
2. A client is asked only for what it says it can do, in the way in which it can.
3. Nothing is asked with which a server would get what other servers said to the client.
"""

from collections.abc import Mapping
from typing import Any, Final

from mcpguard.domain.asks import KINDS, Ask, AskKind, Capabilities
from mcpguard.domain.reasons import Reason

_WAYS: Final[Mapping[AskKind, frozenset[str]]] = {
    AskKind.ROOTS: frozenset(),
    AskKind.SAMPLING: frozenset({"tools"}),
    AskKind.ELICITATION: frozenset({"form", "url"}),
}
"""What clients say of a kind that servers may know. A client's whole context is not among it."""
_OF_OTHERS: Final = "includeContext"


def objection(ask: Ask, permitted: frozenset[AskKind], capabilities: Capabilities) -> Reason | None:
    """Why this may not be asked; None if it may."""
    if ask.kind not in permitted:
        return Reason.UPSTREAM_REQUEST_DENIED
    return None if _can(ask, capabilities) else Reason.CLIENT_UNABLE


def offered(capabilities: Capabilities, permitted: frozenset[AskKind]) -> dict[str, Any]:
    """What a server is told that the client can do: nothing that it may not ask for."""
    return {kind.value: _ways(kind, capabilities) for kind in sorted(permitted) if _has(kind, capabilities)}


def passed_on(ask: Ask) -> Ask:
    """What is asked, without the context of others."""
    if _OF_OTHERS not in ask.params:
        return ask
    return Ask(ask.method, {key: value for key, value in ask.params.items() if key != _OF_OTHERS})


def askable(capabilities: Capabilities) -> frozenset[AskKind]:
    """What a client can be asked for at all."""
    return frozenset(kind for kind in KINDS.values() if _has(kind, capabilities))


def _has(kind: AskKind, capabilities: Capabilities) -> bool:
    return isinstance(capabilities.get(kind.value), dict)


def _ways(kind: AskKind, capabilities: Capabilities) -> dict[str, Any]:
    said = capabilities[kind.value]
    return {way: {} for way in sorted(_WAYS[kind]) if isinstance(said.get(way), dict)}


def _can(ask: Ask, capabilities: Capabilities) -> bool:
    if not _has(ask.kind, capabilities):
        return False
    ways = _ways(ask.kind, capabilities)
    match ask.kind:
        case AskKind.ROOTS:
            return True
        case AskKind.SAMPLING:
            return "tools" in ways or not ask.params.keys() & {"tools", "toolChoice"}
        case AskKind.ELICITATION:
            mode = ask.params.get("mode", "form")
            if not isinstance(mode, str):
                return False
            return mode in ways or (mode == "form" and not ways)  # who says no way can do the first one
