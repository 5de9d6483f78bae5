"""The facets of the audit page: which verdicts, servers, tools, callers and reasons were counted, each a link that adds
it to the query, or removes it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from mcpguard.codec.filters import written_term
from mcpguard.domain.filters import FilterKey
from mcpguard.guard.audit.histogram import PARTS
from mcpguard.web.pages.audit.log_queries import LogQuery, is_term

SHOWN: Final = 5
MOST: Final = 50
_GROUPS: Final = {
    "Verdict": (FilterKey.OUTCOME, FilterKey.VERDICT),
    "Server": (FilterKey.SERVER,),
    "Tool": (FilterKey.TOOL, FilterKey.RESOURCE, FilterKey.TEMPLATE, FilterKey.PROMPT, FilterKey.NAME),
    "Caller": (FilterKey.CALLER,),
    "Reason": (FilterKey.REASON,),
}
VERDICTS: Final = {
    "answered": "sent",
    "refused": "denied",
    "allow": "allowed",
    "hold": "held",
    "deny": "denied",
}
"""The words for outcomes and verdicts, where they have another."""
_TONES: Final = {"denied": "denied", "held": "held"}


@dataclass(frozen=True, slots=True)
class Facet:
    """A value. `share`: its number in percent of the group's largest; `here`: the query has it."""

    label: str
    number: int
    share: float
    link: str
    here: bool
    tone: str = ""


@dataclass(frozen=True, slots=True)
class FacetGroup:
    """The facets of one kind, the most frequent first: the first few, and the rest."""

    title: str
    first: tuple[Facet, ...]
    more: tuple[Facet, ...]


def facet_groups(query: LogQuery, terms: Mapping[tuple[FilterKey, str], int]) -> Iterator[FacetGroup]:
    """Yield the groups in which something was counted, or of which the query has a term."""
    for title, keys in _GROUPS.items():
        numbers = {(key, value): number for (key, value), number in terms.items() if key in keys and is_term(value)}
        asked = ((term.key, term.value) for term in query.terms if term.key in keys and not term.without)
        numbers |= {(FilterKey(key), value): terms.get((FilterKey(key), value), 0) for key, value in asked}
        order = sorted(numbers, key=lambda each: (not query.has(*each), -numbers[each], each))[:MOST]
        found = tuple(_facet(query, each, numbers[each], max(numbers.values())) for each in order)
        if found:
            yield FacetGroup(title, found[:SHOWN], found[SHOWN:])


def part_links(query: LogQuery, terms: Mapping[tuple[FilterKey, str], int]) -> dict[str, str]:
    """Return the address of the calls that each part of the histogram counts."""
    numbers = {key: sum(number for (of, _), number in terms.items() if of is key) for key in _GROUPS["Verdict"]}
    key = max(numbers, key=lambda key: numbers[key])
    links = {}
    for part in dict.fromkeys(PARTS.values()):
        words = [word for (of, word) in terms if of is key and PARTS.get(word) == part]
        links[part] = query.link_with(*(written_term(key, word) for word in words), without=_GROUPS["Verdict"])
    return links


def _facet(query: LogQuery, term: tuple[FilterKey, str], number: int, largest: int) -> Facet:
    key, value = term
    result = key in _GROUPS["Verdict"]
    label = VERDICTS.get(value, value) if result else value
    share = round(100 * number / largest, 1) if largest else 0
    tone = _TONES.get(label, "") if result else "denied" if key is FilterKey.REASON else ""
    return Facet(label, number, share, query.toggle_link(key, value), query.has(key, value), tone)
