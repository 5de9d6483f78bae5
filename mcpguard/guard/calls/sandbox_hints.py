"""Hints about a server's sandbox, added to an error that the sandbox seems to have caused.

Rules kept here:
1. Only errors get a hint, and only if their text looks like a denial (`denials`). All others stay as they are.
2. The server's words stay unchanged. The added text is the guard's, is marked as such, and names no folder.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from mcpguard.codec import envelope
from mcpguard.domain.calls.objections import Detail
from mcpguard.domain.json import Json
from mcpguard.domain.servers.launches import Launch, StdioLaunch
from mcpguard.domain.servers.needs import CONFINED, Need
from mcpguard.policy.denials import need_phrases, texts_of_error, texts_of_result


def with_hint_in_result(result: Mapping[str, Any], launch: Launch) -> Json:
    """The result of a failed call, with a hint where the sandbox of this launch may be the cause."""
    needs = need_phrases(texts_of_result(result), launch)
    if not needs:
        return dict(result)
    block = {"type": "text", "text": f"[mcpguard: {sentence(needs)}]", "_meta": dict(envelope.BY_GUARD)}
    return envelope.with_meta({**result, "content": [*result["content"], block]}, _said(needs, launch))


def with_hint_in_error(error: Mapping[str, Any], launch: Launch) -> Json:
    """The error of a call, with a hint where the sandbox of this launch may be the cause. `data` must be an object."""
    needs, data = need_phrases(texts_of_error(error), launch), error.get("data", {})
    if not needs or not isinstance(data, dict):
        return dict(error)
    return {**error, "data": envelope.with_meta(data, _said(needs, launch))}


def hint_after_end(why: str, launch: Launch) -> Detail | None:
    """A hint where the sandbox of this launch may have ended the server; `why` is how it ended, with its last words."""
    needs = need_phrases([why], launch)
    return Detail(sandbox=sentence(needs)) if needs else None


def sentence(needs: Iterable[Need]) -> str:
    """Tell what a server seems to need that its sandbox keeps from it."""
    return " ".join((*(need.fact for need in needs), CONFINED))


def _said(needs: Iterable[Need], launch: Launch) -> Json:
    profile = launch.profile.value if isinstance(launch, StdioLaunch) else ""
    said = {"profile": profile, "needs": [need.value for need in needs], "message": sentence(needs)}
    return {envelope.SANDBOX: said}
