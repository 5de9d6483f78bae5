"""Says in plain English why a tool is found: its words that count, where it has them, and why it stands where it does.

Rule kept here: of a server's text there are only single words, of tools that a reviewer approved.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from mcpguard.catalog.search.fields import ToolPart
from mcpguard.catalog.search.match_explanation import MatchedWord
from mcpguard.catalog.search.ranking import MatchKind
from mcpguard.catalog.search.word_places import WordPlaces, find_places
from mcpguard.domain.json import Json
from mcpguard.guard.search.tool_search import ExplainedHit

_PLACES: Final = 3
_PARTS: Final[Mapping[ToolPart, str]] = {
    ToolPart.SERVER: "server's name",
    ToolPart.NAME: "name",
    ToolPart.TITLE: "title",
    ToolPart.FIRST_SENTENCE: "first sentence",
    ToolPart.DESCRIPTION: "description",
    ToolPart.PARAMETERS: "parameters",
}
_MATCHES: Final[Mapping[MatchKind, str]] = {
    MatchKind.SAME: "for",
    MatchKind.NEAR: "near",
    MatchKind.TRANSLATION: "translated from",
    MatchKind.REPAIR: "corrected from",
    MatchKind.LEARNED: "for",
}
LEARNED: Final = "in earlier searches that led to it"


def explain_hits(hits: Iterable[ExplainedHit]) -> list[Json]:
    """Return why each tool is found, as JSON. Any thread may do this."""
    return [_explained(hit) for hit in hits]


def _explained(hit: ExplainedHit) -> Json:
    pinned, why = hit.hit.pinned, hit.why
    places = find_places(pinned.capability.server, pinned.definition, {word.term for word in why.words})
    words = [_word(word, places.get(word.term, WordPlaces((word.term,), ()))) for word in why.words]
    raised = 0.0 if math.isclose(why.points, hit.hit.score) else hit.hit.score - why.points
    said = {
        "words": words,
        "by_meaning": round(why.gained, _PLACES),
        "name_said": hit.exact,
        "repeats": [*why.repeats],
        "raised": round(raised, _PLACES),
    }
    return said | {"sentence": _sentence(said)}


def _word(word: MatchedWord, places: WordPlaces) -> Json:
    is_only_learned = word.match in (MatchKind.SAME, MatchKind.LEARNED) and not places.parts
    form = word.asked if is_only_learned or word.asked in places.forms else places.forms[0]
    parts = (*places.parts, ToolPart.SEARCHES) if word.learned else places.parts
    return {
        "asked": word.asked,
        "word": form,
        "match": word.match.value,
        "parts": [part.value for part in parts],
        "points": round(word.points, _PLACES),
        "sentence": _said(word, form, parts),
    }


def _said(word: MatchedWord, form: str, parts: Sequence[ToolPart]) -> str:
    """Say which word of the tool counts, how the query led to it, and where it is."""
    led = "" if word.asked == form else f" ({_MATCHES[word.match]} `{word.asked}`)"
    own = [_PARTS[part] for part in parts if part in _PARTS]
    where = [f"in its {_listed(own)}"] if own else []
    if ToolPart.SEARCHES in parts:
        where.append(LEARNED)
    return f"`{form}`{led} {' and '.join(where)}".rstrip()


def _sentence(said: Mapping[str, Any]) -> str:
    told = [", ".join(f"{word['sentence']} {word['points']:.2f}" for word in said["words"])]
    if said["by_meaning"]:
        told.append(f"ranked by meaning {said['by_meaning']:+.2f}")
    if said["name_said"]:
        told.append("its name is said, so it comes before others")
    elif said["raised"]:
        told.append("it comes before a later tool that repeats it")
    if said["repeats"]:
        told.append(f"it comes after {_listed(said['repeats'])}, approved earlier, which it repeats")
    return "; ".join(each for each in told if each)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(each for each in (", ".join(names[:-1]), names[-1]) if each)
