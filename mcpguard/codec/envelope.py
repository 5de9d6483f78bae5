"""What belongs to one leg of a message's way, and is taken off and put on again at each end.

Rules kept here:
1. Revisions up to 2025-11-25 begin with a handshake (`legacy`); from 2026-07-28 on each request says for itself which
   revision it speaks, who asks and what they can do (`modern`).
2. Only what is reserved for that is touched. Everything else that a message carries, in `_meta` too, goes on as it is.
"""

import unicodedata
from collections.abc import Mapping
from operator import is_
from typing import Any, Final

HANDSHAKE: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN: Final = ("2026-07-28",)

RESERVED: Final = "io.modelcontextprotocol/"
OURS: Final = "mcpguard/"
SCREENED: Final = OURS + "screened"
SPEAKER: Final = {OURS + "speaker": "guard"}
"""In `_meta` of what the guard itself answers. Nobody else can say it: what servers say in our name is taken out."""
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
_HOLDERS: Final = ("content", "contents", "messages", "resource", "completion", "data")
"""Where in results, errors, messages and questions further objects with `_meta` lie."""
_DEEPEST: Final = 8
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


def theirs(said: Mapping[str, Any]) -> dict[str, Any]:
    """What a server says (a result, an error, a definition, a message, a question) without what is ours to say, in its
    `_meta` and in that of whatever it holds. What has nothing of that is not copied."""
    kept: dict[str, Any] = _theirs(said if isinstance(said, dict) else dict(said), _DEEPEST)
    return kept


def _theirs(said: Any, left: int) -> Any:  # noqa: ANN401 - JSON
    if isinstance(said, list):
        changed = [_theirs(each, left - 1) if isinstance(each, dict) else each for each in said] if left else said
        return said if all(map(is_, changed, said)) else changed
    if _speaks_as_us(said.get("_meta")):
        meta_ = {key: value for key, value in said["_meta"].items() if not is_ours(key)}
        said = {key: value for key, value in said.items() if key != "_meta"} | ({"_meta": meta_} if meta_ else {})
    for name in _HOLDERS if left else ():
        held = said.get(name)
        if isinstance(held, dict | list) and (changed := _theirs(held, left - 1)) is not held:
            said = {**said, name: changed}
    return said


def _speaks_as_us(meta_: object) -> bool:
    return isinstance(meta_, dict) and any(map(is_ours, meta_))


def is_ours(key: str) -> bool:
    """Whether a key of `_meta` is ours, or looks like one that is."""
    if not key.isascii():
        key = "".join(each for each in unicodedata.normalize("NFKC", key) if unicodedata.category(each) != "Cf")
    return key.strip().lower().startswith(OURS)


def modern_result(method: str, result: Mapping[str, Any], server: Mapping[str, Any]) -> dict[str, Any]:
    """A result as a modern client gets it. Nothing may be kept for others, and nothing longer than this moment."""
    hints = {"ttlMs": 0, "cacheScope": "private"} if method in CACHEABLE else {}
    return {**with_meta(result, {SERVER: server}), "resultType": "complete", **hints}


def input_required(wanted: Mapping[str, Any], state: str, server: Mapping[str, Any]) -> dict[str, Any]:
    """What a modern client gets that has to answer something first."""
    said = {"resultType": "input_required", "inputRequests": dict(wanted), "requestState": state}
    return with_meta(said, {SERVER: server})
