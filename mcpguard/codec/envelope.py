"""The parts of a message that belong to one connection, and are removed and added at each end.

Rules kept here:
1. Revisions up to 2025-11-25 begin with a handshake (`legacy`); from 2026-07-28 on each request names its revision, its
   client and the client's capabilities (`modern`).
2. Only keys that belong to one connection or are reserved for the guard (`mcpguard/`) are changed. Everything else in a
   message, in `_meta` too, is passed on unchanged.
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
"""What in its sandbox hindered a server: in `_meta` of a failed result, or in that of an error's `data`."""
SPEAKER: Final = OURS + "speaker"
"""Who speaks: in `_meta` of a result and of its items, and in that of an error's `data`. Only the guard can set it: the
key is removed from whatever a server sends."""
BY_GUARD: Final = {SPEAKER: "guard"}
BY_SERVER: Final = {SPEAKER: "server"}
CUT: Final = OURS + "cut"
"""In `_meta`: which part of a reply this is."""
MORE: Final = "read_more"
PROTOCOL: Final = RESERVED + "protocolVersion"
CLIENT: Final = RESERVED + "clientInfo"
CAPABILITIES: Final = RESERVED + "clientCapabilities"
LOG_LEVEL: Final = RESERVED + "logLevel"
SERVER: Final = RESERVED + "serverInfo"
SUBSCRIPTION: Final = RESERVED + "subscriptionId"
PROGRESS: Final = "progressToken"

LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""Levels of log messages, the least severe first."""

CACHEABLE: Final = frozenset(
    {"server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list"}
)
_HOLDERS: Final = frozenset(
    {"content", "contents", "messages", "resource", "completion", "data", "annotations", "tools", "elicitations"}
)
"""Members of results, errors, messages and questions that hold further objects with a meaning in the protocol."""
_SLASHES: Final = frozenset("\u2044\u2215\u27cb\u29f8\u2571\u3033\u30ce\u4e3f\u1735")
"""Look-alikes of the slash that ends our prefix, which stay other characters when they are normalized."""
_DEEPEST: Final = 8
_LONGEST_LOOKED_AT: Final = 256
"""Characters of a key that are compared with our prefix."""
_OF_ONE_LEG: Final = ("resultType", "ttlMs", "cacheScope")


def meta(params: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the `_meta` of parameters; empty if there is none, or if it is no object."""
    value = params.get("_meta") if params else None
    return value if isinstance(value, dict) else {}


def is_modern(params: Mapping[str, Any] | None) -> bool:
    """Tell whether a request names its revision itself."""
    return PROTOCOL in meta(params)


def less_severe(level: str, than: str | None) -> bool:
    """Tell whether a level lets more messages through than another; None lets none through."""
    return than is None or LEVELS.index(level) < LEVELS.index(than)


def bare_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters without what belongs to the sender's connection."""
    rest, sent = dict(params), params.get("_meta")
    if isinstance(sent, dict) and sent:
        kept = {key: value for key, value in sent.items() if key != PROGRESS and not key.startswith(RESERVED)}
        if kept:
            rest["_meta"] = kept
        else:
            del rest["_meta"]
    return rest


def with_meta(params: Mapping[str, Any], added: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with more in `_meta`."""
    if not added:
        return dict(params)
    sent = params.get("_meta")
    return {**params, "_meta": {**sent, **added} if isinstance(sent, dict) else dict(added)}


def bare_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a modern server without what belongs to its connection."""
    rest, sent = dict(result), result.get("_meta")
    for key in _OF_ONE_LEG:
        rest.pop(key, None)
    if isinstance(sent, dict) and SERVER in sent:
        kept = rest["_meta"] = dict(sent)
        del kept[SERVER]
        if not kept:
            del rest["_meta"]
    return rest


def without_our_keys(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a server says without keys that only the guard may use.

    They are removed from its members, from its `_meta`, and from whatever it holds, so that no server can speak as the
    guard. A value without such keys is not copied.
    """
    cleaned: dict[str, Any] = _theirs(value if isinstance(value, dict) else dict(value), _DEEPEST)
    return cleaned


def _theirs(content: Any, left: int) -> Any:  # noqa: ANN401 - JSON
    if isinstance(content, list):
        changed = [_theirs(each, left - 1) if isinstance(each, dict) else each for each in content] if left else content
        return content if all(map(is_, changed, content)) else changed
    keys = "".join(content)
    if "/" in keys or not keys.isascii():  # nearly never so; ours have a slash, and look-alikes may have another one
        content = _without_ours(content)
    if isinstance(meta_ := content.get("_meta"), dict) and (kept := _without_ours(meta_)) is not meta_:
        content = {key: value for key, value in content.items() if key != "_meta"} | ({"_meta": kept} if kept else {})
    for name in _HOLDERS.intersection(content) if left else ():
        held = content[name]
        if isinstance(held, dict | list) and (changed := _theirs(held, left - 1)) is not held:
            content = {**content, name: changed}
    return content


def _without_ours(members: dict[str, Any]) -> dict[str, Any]:
    keys = "".join(members)
    if "/" not in keys and keys.isascii():  # nearly always so, and ours have a slash
        return members
    return {key: value for key, value in members.items() if not is_ours(key)} if any(map(is_ours, members)) else members


def is_ours(key: str) -> bool:
    """Tell whether a key is ours, or looks as if it were."""
    if key.isascii() and key.isprintable():
        return "/" in key and key.strip().lower().startswith(OURS)
    return _looks_like_ours(key)


def _looks_like_ours(key: str) -> bool:
    """Tell whether a person would read a key as ours: in Latin letters, without accents and invisible characters.

    A key that is too long to compare counts as ours.
    """
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


def as_server_error(error: Mapping[str, Any]) -> dict[str, Any]:
    """Return a server's error, marked as such. Where its `data` is no object, there is no place for the mark."""
    return _said_by(error, BY_SERVER)


def as_guard_error(error: Mapping[str, Any]) -> dict[str, Any]:
    """Return an error of the guard, marked as such."""
    return _said_by(error, BY_GUARD)


def _said_by(error: Mapping[str, Any], speaker: Mapping[str, str]) -> dict[str, Any]:
    data = error.get("data", {})
    return {**error, "data": with_meta(data, speaker)} if isinstance(data, dict) else dict(error)


def modern_result(method: str, result: Mapping[str, Any], server: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result for a modern client. It may be cached for nobody else, and for no time at all."""
    hints = {"ttlMs": 0, "cacheScope": "private"} if method in CACHEABLE else {}
    return {**with_meta(result, {SERVER: server}), "resultType": "complete", **hints}


def input_required(wanted: Mapping[str, Any], state: str, server: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result for a modern client that has to answer a question first."""
    result = {"resultType": "input_required", "inputRequests": dict(wanted), "requestState": state}
    return with_meta(result, {SERVER: server, **BY_SERVER})
