"""What belongs to one leg of a message's way, and is taken off and put on again at each end.

Rules kept here:
1. Revisions up to 2025-11-25 begin with a handshake (`legacy`); from 2026-07-28 on each request says for itself which
   revision it speaks, who asks and what they can do (`modern`).
2. Only what is reserved for that is touched. Everything else that a message carries, in `_meta` too, goes on as it is.
"""

from collections.abc import Mapping
from typing import Any, Final

HANDSHAKE: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN: Final = ("2026-07-28",)

RESERVED: Final = "io.modelcontextprotocol/"
OURS: Final = "mcpguard/"
SCREENED: Final = OURS + "screened"
PROTOCOL: Final = RESERVED + "protocolVersion"
CLIENT: Final = RESERVED + "clientInfo"
CAPABILITIES: Final = RESERVED + "clientCapabilities"
LOG_LEVEL: Final = RESERVED + "logLevel"
SERVER: Final = RESERVED + "serverInfo"
SUBSCRIPTION: Final = RESERVED + "subscriptionId"
PROGRESS: Final = "progressToken"

LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""Of messages, the least severe first."""

CACHEABLE: Final = frozenset(
    {"server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list"}
)
_OF_ONE_LEG: Final = ("resultType", "ttlMs", "cacheScope")


def meta(params: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The `_meta` of parameters; empty where there is none that could be read."""
    found = params.get("_meta") if params else None
    return found if isinstance(found, dict) else {}


def is_modern(params: Mapping[str, Any] | None) -> bool:
    return PROTOCOL in meta(params)


def less_severe(level: str, than: str | None) -> bool:
    """Whether this level lets more messages through; none lets none through."""
    return than is None or LEVELS.index(level) < LEVELS.index(than)


def bare(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters without what the sender's own leg needed."""
    given = meta(params)
    kept = {key: value for key, value in given.items() if not key.startswith(RESERVED) and key != PROGRESS}
    if len(kept) == len(given):
        return dict(params)
    rest = {key: value for key, value in params.items() if key != "_meta"}
    return rest | {"_meta": kept} if kept else rest


def with_meta(params: Mapping[str, Any], added: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with more in `_meta`."""
    return {**params, "_meta": {**meta(params), **added}} if added else dict(params)


def bare_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a modern server without what was said for its own leg."""
    rest = {key: value for key, value in result.items() if key not in _OF_ONE_LEG}
    given = meta(result)
    if SERVER in given:
        rest["_meta"] = {key: value for key, value in given.items() if key != SERVER}
        if not rest["_meta"]:
            del rest["_meta"]
    return rest


def theirs(result: Mapping[str, Any]) -> dict[str, Any]:
    """What a server answers, without what in `_meta` is ours to say, but for what we said when it was screened."""
    given = meta(result)
    kept = {key: value for key, value in given.items() if key == SCREENED or not key.startswith(OURS)}
    return dict(result) if len(kept) == len(given) else {**result, "_meta": kept}


def modern_result(method: str, result: Mapping[str, Any], server: Mapping[str, Any]) -> dict[str, Any]:
    """A result as a modern client gets it. Nothing may be kept for others, and nothing longer than this moment."""
    hints = {"ttlMs": 0, "cacheScope": "private"} if method in CACHEABLE else {}
    return {**with_meta(result, {SERVER: server}), "resultType": "complete", **hints}


def input_required(wanted: Mapping[str, Any], state: str, server: Mapping[str, Any]) -> dict[str, Any]:
    """What a modern client gets that has to answer something first."""
    said = {"resultType": "input_required", "inputRequests": dict(wanted), "requestState": state}
    return with_meta(said, {SERVER: server})
