"""Tells which destinations a change adds.

Rules kept here:
1. A destination is new if the approved definition has no address in the same registered domain. Another path, or
   another host of that domain, is not new.
2. It is only a link where nobody is told to send or do anything, and it stands in an example or in a reference to
   documentation, or in a domain that bears the name of what the tool is about.
3. Names that are reserved for examples, and this machine, are nothing where they stand as examples.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from mcpguard.domain.additions import Addition, AdditionKind
from mcpguard.inspection.additions.destinations import Destination, find_destinations
from mcpguard.inspection.additions.new_texts import ApprovedText
from mcpguard.inspection.diff.clipping import clip, code_point
from mcpguard.inspection.reading.tokens import tokens
from mcpguard.inspection.texts.decoding import layers
from mcpguard.inspection.texts.texts import Text, TextRole
from mcpguard.inspection.vocabulary import CHANGE_WORDS

_MOST_READ: Final = 400_000
"""Characters of the approved definition in which destinations are searched for."""
_LONGEST: Final = 80
_PLACEHOLDERS: Final = frozenset(
    {"example.com", "example.org", "example.net", "localhost", "company.com", "domain.com"}
)
_LOCAL: Final = re.compile(r"127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|8\.8\.8\.8|1\.1\.1\.1|1\.2\.3\.4")
_SAMPLE: Final = re.compile(
    r"\be\.?g\b|\bex\.|for example|for instance|example|such as|sample|\blike\b|format|default", re.IGNORECASE
)
_REFERENCE: Final = re.compile(
    r"\bsee\b|\bdocs?\b|documentation|documented|reference|refer to|learn more|more (?:info|details|on)|guide|manual|"
    r"specification|\bspec\b|\brfc\b|details|read more|syntax|schema|described (?:at|in|here)|tutorial|changelog",
    re.IGNORECASE,
)
_SCHEMA_MEMBERS: Final = ("/$schema", "/$id", "/$ref")
_TRUSTED_TOPS: Final = frozenset({"com", "org", "net", "io", "dev", "ai", "app", "cloud", "co"})
_AROUND: Final = 160
"""How far from a destination its sentence is read."""
_LEAST_WORD: Final = 4
_ACTS: Final = frozenset({"SEND_ON", "ROUND_CALL", "OBEY", "UNSAID", "LASTING", "ADVERTISE", "FETCH"})


def find_new_destinations(texts: Iterable[Text], approved: ApprovedText) -> Iterator[Addition]:
    """Yield the destinations that the approved definition did not have."""
    known: tuple[frozenset[str], frozenset[str]] | None = None
    for text in texts:
        if text.role is not TextRole.NAME and not text.path.endswith(_SCHEMA_MEMBERS):
            for each in (text, *layers(text)):
                for destination in find_destinations(each.raw):
                    known = known or _known(approved)
                    if addition := _judged(each, destination, approved, known):
                        yield addition


def _known(approved: ApprovedText) -> tuple[frozenset[str], frozenset[str]]:
    """Return the domains of the approved definition, and its other destinations."""
    left, domains, others = _MOST_READ, set[str](), set[str]()
    for said in approved.said:
        if left <= 0:
            break
        for each in find_destinations(said[:left]):
            (domains if each.host else others).add(each.domain)
        left -= len(said)
    return frozenset(domains), frozenset(others)


def _judged(
    text: Text, destination: Destination, approved: ApprovedText, known: tuple[frozenset[str], frozenset[str]]
) -> Addition | None:
    domains, others = known
    domain = destination.domain
    if (domain in domains and "@" not in destination.name) or domain in others or destination.name in domains:
        return None
    if "@" in destination.name and any(destination.name in said.casefold() for said in approved.said):
        return None
    before = text.raw[max(destination.start - _AROUND, 0) : destination.start]
    after = text.raw[destination.end : destination.end + _AROUND]
    path, _, rest = after.partition(" ") if after.startswith(("/", "?", "#", ":")) else ("", "", after)
    acts = _tells_to_act(f"{before} {rest}")
    sample = bool(_SAMPLE.search(before)) or "/example" in text.path
    if _is_placeholder(destination) and (sample or (not acts and text.path.endswith("description"))):
        return None
    if not destination.host and sample and not acts:
        return None
    link = (
        not acts
        and destination.name.isascii()
        and (sample or _REFERENCE.search(before) or _REFERENCE.search(f"{destination.name} {path}"))
    )
    link = bool(link) or ("@" not in destination.name and _is_vendor(domain, approved))
    if text.path.endswith(("/default", "/const")) or "/enum/" in text.path:
        link = _is_vendor(domain, approved)
    kind = AdditionKind.LINK if link else AdditionKind.DESTINATION
    return Addition(kind, text.evidence_at(destination.start, destination.end), detail=shown_name(destination.name))


def shown_name(name: str) -> str:
    """Return a name of the server's so that it can stand in a sentence: letters that may deceive as code points."""
    return "".join(char if char.isascii() else code_point(char) for char in clip(name, _LONGEST)).replace("\n", " ")


def _is_placeholder(destination: Destination) -> bool:
    host = destination.host
    return destination.domain in _PLACEHOLDERS or bool(_LOCAL.match(host)) or host.startswith(("your", "my-", "x.x"))


def _is_vendor(domain: str, approved: ApprovedText) -> bool:
    """Tell whether a domain bears a name that the approved definition speaks of: github.com, of GitHub."""
    label, _, top = domain.partition(".")
    return domain.isascii() and len(label) >= _LEAST_WORD and top in _TRUSTED_TOPS and approved.has_words(label)


@lru_cache(maxsize=256)
def _tells_to_act(said: str) -> bool:
    hits = CHANGE_WORDS.find(tokens(said))
    return not _ACTS.isdisjoint(hits)
