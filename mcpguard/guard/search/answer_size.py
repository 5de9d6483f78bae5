"""Bounds the size of one answer, and says what was left out.

Rules kept here:
1. The definitions in an answer have at most `MOST_BYTES` together. First every tool is shown in short form; the
   remaining room goes to full definitions, the best matches first.
2. Nothing is left out or shortened without a notice.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from mcpguard.catalog.search.compact import signature, summary
from mcpguard.catalog.shelf import CatalogEntry
from mcpguard.codec.messages import dumps
from mcpguard.domain.json import Json
from mcpguard.guard.search.tool_search import ToolHit
from mcpguard.policy.intents import call_variant

MOST_BYTES: Final = 256 * 1024
BEYOND: Final = "Shortened: the full definition does not fit into this answer. Ask for fewer tools at once."
TOO_LARGE: Final = f"Shortened: the full definition is larger than the {MOST_BYTES // 1024} KiB limit of an answer."
_WHOLE: Final = ("description", "title", "inputSchema", "outputSchema", "annotations")


class AnswerRoom:
    """The room that is left in one answer."""

    def __init__(self) -> None:
        self._left = MOST_BYTES

    def takes(self, one: Json, instead_of: Json | None = None) -> bool:
        """Tell whether a value fits, perhaps in place of one that is shown already. If it does, it is counted."""
        more = len(dumps(one)) - (len(dumps(instead_of)) if instead_of is not None else 0)
        if more > self._left:
            return False
        self._left -= more
        return True


def fit_hits(hits: Sequence[ToolHit], *, full: bool) -> tuple[list[Json], list[str]]:
    """The hits as they are shown, and sentences about what is left out."""
    room = AnswerRoom()
    tools: list[Json] = []
    for hit in hits:
        if not room.takes(short := _hit(hit) | _short(hit.pinned)):
            break
        tools.append(short)
    in_short = 0
    for number, hit in enumerate(hits[: len(tools)] if full else ()):
        whole = _hit(hit) | _whole(hit.pinned)
        if room.takes(whole, tools[number]):
            tools[number] = whole
        else:
            in_short += 1
    return tools, _said(len(hits) - len(tools), in_short)


def fit_descriptions(said: Sequence[tuple[Json, CatalogEntry | None]], instructions: Mapping[str, str]) -> Json:
    """Descriptions of tools, with their definitions where they have one to show, and those approved `instructions` of
    servers that still fit."""
    room = AnswerRoom()
    answer: Json = {"tools": _described(said, room)}
    fitting = {server: text for server, text in instructions.items() if room.takes({server: text})}
    if fitting:
        answer["instructions"] = fitting
    if left := [server for server in instructions if server not in fitting]:
        answer["notice"] = f"The instructions of {', '.join(left)} do not fit into this answer; ask for fewer tools."
    return answer


def _described(said: Sequence[tuple[Json, CatalogEntry | None]], room: AnswerRoom) -> list[Json]:
    whole = [one if pinned is None else one | _common(pinned) | _whole(pinned) for one, pinned in said]
    short = [
        one if pinned is None else one | _common(pinned) | _short(pinned) | {"note": _note(all_of_it)}
        for (one, pinned), all_of_it in zip(said, whole, strict=True)
    ]
    for one in short:
        room.takes(one)
    return [one if room.takes(one, instead) else instead for one, instead in zip(whole, short, strict=True)]


def _note(whole: Json) -> str:
    return TOO_LARGE if len(dumps(whole)) > MOST_BYTES else BEYOND


def _said(left_out: int, in_short: int) -> list[str]:
    sentences = []
    if left_out:
        sentences.append(f"{left_out} more matches do not fit into one answer; ask with a smaller limit.")
    if in_short:
        sentences.append(f"{in_short} without schemas, as they do not fit into one answer; describe_tool shows them.")
    return sentences


def _hit(hit: ToolHit) -> Json:
    return _common(hit.pinned) | {"score": round(hit.score, 3)}


def _common(pinned: CatalogEntry) -> Json:
    capability = pinned.capability
    return {
        "name": f"{capability.server}:{capability.name}",
        "server": capability.server,
        "effect": pinned.effect.value,
        "call_with": call_variant(pinned.effect),
    }


def _short(pinned: CatalogEntry) -> Json:
    return {"description": summary(pinned.definition), "signature": signature(pinned.definition)}


def _whole(pinned: CatalogEntry) -> Json:
    return {key: pinned.definition[key] for key in _WHOLE if key in pinned.definition}
