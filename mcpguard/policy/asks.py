"""Requests from servers to clients: which of them are permitted, and which a client supports.

Rules kept here:
1. A request is permitted only if a reviewer permitted its kind for this server.
2. A client receives only requests that it declares to support, in the modes that it declares.
3. No request may give a server what other servers sent to the client.
"""

from collections.abc import Mapping
from typing import Any, Final

from mcpguard.domain.asks import KINDS, Ask, AskKind, Capabilities
from mcpguard.domain.reasons import Reason

_MODES: Final[Mapping[AskKind, frozenset[str]]] = {
    AskKind.ROOTS: frozenset(),
    AskKind.SAMPLING: frozenset({"tools"}),
    AskKind.ELICITATION: frozenset({"form", "url"}),
}
"""Modes of each kind that servers may learn about. The context of a client is not among them."""
_OF_OTHERS: Final = "includeContext"


def objection(ask: Ask, permitted: frozenset[AskKind], capabilities: Capabilities) -> Reason | None:
    """Return why the request must not be made; None if it may."""
    if ask.kind not in permitted:
        return Reason.UPSTREAM_REQUEST_DENIED
    return None if _can(ask, capabilities) else Reason.CLIENT_UNABLE


def client_capabilities(capabilities: Capabilities, permitted: frozenset[AskKind]) -> dict[str, Any]:
    """Return the client's capabilities as the server is told: only those that it may use."""
    return {kind.value: _modes(kind, capabilities) for kind in sorted(permitted) if _has(kind, capabilities)}


def without_other_context(ask: Ask) -> Ask:
    """Return the request without asking for the context of other servers."""
    # With `includeContext` a client would send this server what other servers told it.
    if _OF_OTHERS not in ask.params:
        return ask
    return Ask(ask.method, {key: value for key, value in ask.params.items() if key != _OF_OTHERS})


def askable_kinds(capabilities: Capabilities) -> frozenset[AskKind]:
    """Return the kinds of request that a client supports."""
    return frozenset(kind for kind in KINDS.values() if _has(kind, capabilities))


def _has(kind: AskKind, capabilities: Capabilities) -> bool:
    return isinstance(capabilities.get(kind.value), dict)


def _modes(kind: AskKind, capabilities: Capabilities) -> dict[str, Any]:
    declared = capabilities[kind.value]
    return {mode: {} for mode in sorted(_MODES[kind]) if isinstance(declared.get(mode), dict)}


def _can(ask: Ask, capabilities: Capabilities) -> bool:
    if not _has(ask.kind, capabilities):
        return False
    modes = _modes(ask.kind, capabilities)
    match ask.kind:
        case AskKind.ROOTS:
            return True
        case AskKind.SAMPLING:
            return "tools" in modes or not ask.params.keys() & {"tools", "toolChoice"}
        case AskKind.ELICITATION:
            mode = ask.params.get("mode", "form")
            if not isinstance(mode, str):
                return False
            return mode in modes or (mode == "form" and not modes)  # a client that declares no mode supports forms
