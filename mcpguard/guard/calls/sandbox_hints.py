"""What agents are told of a server's sandbox beside an error that looks as if it came from there.

Rules kept here:
1. Only an error is told about, and only where its text looks like that (`denials`). Every other one is as it was.
2. What the server said stays as it is. What is added is ours, is marked as the guard's, and names no folder.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from mcpguard.codec import envelope
from mcpguard.domain.calls.objections import Detail
from mcpguard.domain.json import Json
from mcpguard.domain.servers.launches import Launch, StdioLaunch
from mcpguard.domain.servers.needs import CONFINED, Need
from mcpguard.policy.denials import phrases, texts_of_error, texts_of_result


def beside_result(result: Mapping[str, Any], launch: Launch) -> Json:
    """A result of a server that is launched so, as it is told."""
    needs = phrases(texts_of_result(result), launch)
    if not needs:
        return dict(result)
    block = {"type": "text", "text": f"[mcpguard: {sentence(needs)}]", "_meta": dict(envelope.BY_GUARD)}
    return envelope.with_meta({**result, "content": [*result["content"], block]}, _said(needs, launch))


def beside_error(error: Mapping[str, Any], launch: Launch) -> Json:
    """An error of a server that is launched so. Where its `data` is no object, there is no place for more."""
    needs, data = phrases(texts_of_error(error), launch), error.get("data", {})
    if not needs or not isinstance(data, dict):
        return dict(error)
    return {**error, "data": envelope.with_meta(data, _said(needs, launch))}


def beside_end(why: str, launch: Launch) -> Detail | None:
    """What is told beside the end of a server that is launched so; `why` is how it ended, with its last words."""
    needs = phrases([why], launch)
    return Detail(sandbox=sentence(needs)) if needs else None


def sentence(needs: Iterable[Need]) -> str:
    """How it is with a server that needs this."""
    return " ".join((*(need.fact for need in needs), CONFINED))


def _said(needs: Iterable[Need], launch: Launch) -> Json:
    profile = launch.profile.value if isinstance(launch, StdioLaunch) else ""
    said = {"profile": profile, "needs": [need.value for need in needs], "message": sentence(needs)}
    return {envelope.SANDBOX: said}
