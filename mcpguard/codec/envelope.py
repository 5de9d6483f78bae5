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

from mcpguard.text.confusable import LATIN_OF
from mcpguard.text.visible import hides

HANDSHAKE: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN: Final = ("2026-07-28",)

RESERVED: Final = "io.modelcontextprotocol/"
OURS: Final = "mcpguard/"
SCREENED: Final = OURS + "screened"
SANDBOX: Final = OURS + "sandbox"
"""What of its sandbox stands in a server's way: in `_meta` of a result that failed, or in that of an error's `data`."""
SPEAKER: Final = OURS + "speaker"
"""Who speaks: in `_meta` of a result and of an item of one, and of an error in that of its `data`. Only the guard can
say it, because what servers say in its name is taken out."""
BY_GUARD: Final = {SPEAKER: "guard"}
BY_SERVER: Final = {SPEAKER: "server"}
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
_HOLDERS: Final = frozenset(
    {"content", "contents", "messages", "resource", "completion", "data", "annotations", "tools", "elicitations"}
)
"""Where in results, errors, messages and questions further objects lie to which the protocol gives a meaning."""
_SLASHES: Final = frozenset("\u2044\u2215\u27cb\u29f8\u2571\u3033\u30ce\u4e3f\u1735")
"""What looks like the one that ends our name, and is another character also when it is normalized."""
_DEEPEST: Final = 8
_LONGEST_LOOKED_AT: Final = 256
"""Characters of a key."""
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
    """What a server says (a result, an error, a definition, a message, a question) without what is ours to say: among
    its members, in its `_meta`, and in those of whatever it holds. What has nothing of that is not copied."""
    kept: dict[str, Any] = _theirs(said if isinstance(said, dict) else dict(said), _DEEPEST)
    return kept


def _theirs(said: Any, left: int) -> Any:  # noqa: ANN401 - JSON
    if isinstance(said, list):
        changed = [_theirs(each, left - 1) if isinstance(each, dict) else each for each in said] if left else said
        return said if all(map(is_, changed, said)) else changed
    said = _without_ours(said)
    if isinstance(meta_ := said.get("_meta"), dict) and (kept := _without_ours(meta_)) is not meta_:
        said = {key: value for key, value in said.items() if key != "_meta"} | ({"_meta": kept} if kept else {})
    for name in _HOLDERS if left and not _HOLDERS.isdisjoint(said) else ():
        held = said.get(name)
        if isinstance(held, dict | list) and (changed := _theirs(held, left - 1)) is not held:
            said = {**said, name: changed}
    return said


def _without_ours(said: dict[str, Any]) -> dict[str, Any]:
    keys = "".join(said)
    if "/" not in keys and keys.isascii():  # nearly always so, and ours have a slash
        return said
    return {key: value for key, value in said.items() if not is_ours(key)} if any(map(is_ours, said)) else said


def is_ours(key: str) -> bool:
    """Whether a key is ours, or looks like one that is."""
    if key.isascii() and key.isprintable():
        return "/" in key and key.strip().lower().startswith(OURS)
    return _looks_like_ours(key)


def _looks_like_ours(key: str) -> bool:
    """Read letter by letter as a person sees it: in Latin letters, and without marks and what is not seen. A key that
    shows nothing else for very long is taken for one of ours."""
    at = 0
    for char in key[:_LONGEST_LOOKED_AT]:
        for each in unicodedata.normalize("NFKD", char).lower():
            if hides(each) or each.isspace() or unicodedata.category(each) == "Mn":
                continue
            if LATIN_OF.get(ord(each), "/" if each in _SLASHES else each) != OURS[at]:
                return False
            at += 1
            if at == len(OURS):
                return True
    return len(key) > _LONGEST_LOOKED_AT


def from_server(error: Mapping[str, Any]) -> dict[str, Any]:
    """An error of a server, with who says it. Where its `data` is no object there is no place for that."""
    return _said_by(error, BY_SERVER)


def from_guard(error: Mapping[str, Any]) -> dict[str, Any]:
    """An error of the guard's own, with who says it."""
    return _said_by(error, BY_GUARD)


def _said_by(error: Mapping[str, Any], speaker: Mapping[str, str]) -> dict[str, Any]:
    data = error.get("data", {})
    return {**error, "data": with_meta(data, speaker)} if isinstance(data, dict) else dict(error)


def modern_result(method: str, result: Mapping[str, Any], server: Mapping[str, Any]) -> dict[str, Any]:
    """A result as a modern client gets it. Nothing may be kept for others, and nothing longer than this moment."""
    hints = {"ttlMs": 0, "cacheScope": "private"} if method in CACHEABLE else {}
    return {**with_meta(result, {SERVER: server}), "resultType": "complete", **hints}


def input_required(wanted: Mapping[str, Any], state: str, server: Mapping[str, Any]) -> dict[str, Any]:
    """What a modern client gets that has to answer something first."""
    said = {"resultType": "input_required", "inputRequests": dict(wanted), "requestState": state}
    return with_meta(said, {SERVER: server, **BY_SERVER})
