"""The members that requests to a server, and clients' answers to its questions, may have.

Rules kept here:
1. The lists are closed. So everything that is sent is shown, judged and recorded, and no member is sent that no
   revision of the protocol knows.
2. A request with another member is refused, because its client would believe that the member was sent. An answer cannot
   be refused, and is passed on without such a member.
3. `_meta` is open in every revision. What remains of it is part of the call (`envelope.bare_params`).
"""

from collections.abc import Mapping
from typing import Any, Final

from mcpguard.domain.asks import AskKind

META: Final = "_meta"
TASK: Final = "task"
_AGAIN: Final = frozenset({"inputResponses", "requestState"})
_ARGUMENTS: Final = frozenset({META, "name", "arguments"})
_URI: Final = frozenset({META, "uri"})
MEMBERS: Final[Mapping[str, frozenset[str]]] = {
    "tools/call": _ARGUMENTS | _AGAIN,
    "prompts/get": _ARGUMENTS | _AGAIN,
    "resources/read": _URI | _AGAIN,
    "resources/subscribe": _URI,
    "resources/unsubscribe": _URI,
    "completion/complete": frozenset({META, "ref", "argument", "context"}),
    "subscriptions/listen": frozenset({META, "notifications"}),
}
ALWAYS_KNOWN: Final[Mapping[str, frozenset[str]]] = {
    "tools/call": _ARGUMENTS,
    "prompts/get": _ARGUMENTS,
    "resources/read": _URI,
}
"""The members that every revision has, and whose own members are not looked at: with only these, none is unknown."""
_SINCE: Final[Mapping[tuple[str, str], str]] = {
    ("completion/complete", "context"): "2025-06-18",
    **{(method, name): "2026-07-28" for method in ("tools/call", "prompts/get", "resources/read") for name in _AGAIN},
}
"""The first revision that has a member, for members that not all revisions have."""
_WITHIN: Final[Mapping[tuple[str, str], frozenset[str]]] = {
    ("completion/complete", "ref"): frozenset({"type", "name", "title", "uri"}),
    ("completion/complete", "argument"): frozenset({"name", "value"}),
    ("completion/complete", "context"): frozenset({"arguments"}),
}
_ANSWERED: Final[Mapping[AskKind, frozenset[str]]] = {
    AskKind.ELICITATION: frozenset({META, "action", "content"}),
    AskKind.SAMPLING: frozenset({META, "role", "content", "model", "stopReason"}),
    AskKind.ROOTS: frozenset({META, "roots"}),
}


def unknown_member(method: str, version: str, params: Mapping[str, Any]) -> str | None:
    """Return the path of the first member that this method does not have in this revision; None if there is none."""
    known = MEMBERS.get(method)
    if known is None:
        return None
    for name, value in params.items():
        if name not in known or version < _SINCE.get((method, name), ""):
            return name
        within = _WITHIN.get((method, name))
        if within is not None and isinstance(value, dict):
            for inner in value:
                if inner not in within:
                    return f"{name}.{inner}"
    return None


def known_members(kind: AskKind, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a client's answer that go to the server that asked."""
    return {name: value for name, value in answer.items() if name in _ANSWERED[kind]}
