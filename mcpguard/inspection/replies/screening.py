"""One thing that a server said, looked at and made fit to be passed on: a result, an error, a message, a question.

Rules kept here:
1. Every string counts, in whatever it stands; of names of members those that are sentences. Pictures and sounds do not,
   and of other bytes those that are said to be text.
2. What is found is told by rules of ours, and no part of a text.
3. What is not to be changed stays the very value that came.
4. It is done in pieces of a bounded size, and `still` is asked between them; where it says no, `OutOfTime` is raised.
"""

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from mcpguard.domain.errors import GuardError
from mcpguard.domain.findings import Evidence, Finding, Severity, weight
from mcpguard.domain.screening import Screening
from mcpguard.inspection.detectors.detector import DetectorRule, Surroundings
from mcpguard.inspection.diff import hidden_characters
from mcpguard.inspection.diff.forged_marks import forged
from mcpguard.inspection.replies import reply_findings
from mcpguard.policy.secrets import finding
from mcpguard.policy.secrets.hiding import Values
from mcpguard.policy.secrets.masking import masked
from mcpguard.text.linear import compiled

CHUNK: Final = 32 * 1024
"""Characters in which secrets are looked for at once."""
_OVERLAP: Final = 4096
_EVERY: Final = 1000
"""Values between two looks at the time."""
_SENTENCE: Final = " "
_MEDIA: Final = frozenset({"image", "audio"})
_TEXTUAL: Final = ("text/", "application/json", "application/xml", "application/javascript", "application/yaml")
_ENCODED: Final = compiled(r"[A-Za-z0-9+/_-]{24,}|%[0-9A-Fa-f]{2}|\\[nrt\"]")
_SECRET: Final = "It has what surely is a secret"  # noqa: S105
_GIVEN: Final = DetectorRule("secret.given", "T15", Severity.HIGH, 0.9, "It has a secret that its server was given")
_NOWHERE: Final = Evidence("", 0, 0)
Still = Callable[[], bool]


class OutOfTime(GuardError):
    """It takes longer than it may."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What is passed on, what was found, and in how many places it differs. `hard`: withheld where anything is."""

    value: Any
    found: tuple[Finding, ...] = ()
    masked: int = 0
    hard: bool = False


def is_plain(value: object, given: Values, around: Surroundings) -> bool:
    """Whether a glance shows that there is nothing in it. It takes a few milliseconds at most, if it is small."""
    strings = _Strings(value, lambda: True)
    whole = "\n".join(strings.every)
    if given.within(whole) or hidden_characters.hides(whole) or (isinstance(value, dict) and forged(value, whole)):
        return False
    raw = whole.encode(errors="replace")
    if any(rule.sure for rule in finding.asked(raw)) or _ENCODED.search(raw):
        return False
    return not any(
        reply_findings.worth_reading(block, around) for block in reply_findings.pieces("\n".join(strings.read))
    )


def looked_at(value: object, mode: Screening, given: Values, around: Surroundings, still: Still) -> Looked:
    """All of it. Raises OutOfTime."""
    strings = _Strings(value, still)
    found: dict[str, Finding] = {}
    hard, places = False, 0
    if given.within("\n".join(strings.every)):
        value, places = _changed(value, lambda _, text: given.hidden(text), still, everything=True)
        hard = True
        found[_GIVEN.id] = _GIVEN.at(_NOWHERE)
    if isinstance(value, dict) and (as_ours := forged(value, "\n".join(strings.every))):
        hard = hard or as_ours.hard
        found[as_ours.rule] = as_ours
    for block in reply_findings.pieces("\n".join(strings.read)):
        _check(still)
        said = (
            *hidden_characters.hidden(block),
            *(reply_findings.read(block, around) if reply_findings.worth_reading(block, around) else ()),
        )
        found |= {each.rule: each for each in said if each.rule not in found}
        hard = (
            hard or any(each.rule.startswith("hidden.") and each.hard for each in said) or reply_findings.is_hard(said)
        )
    secrets = dict.fromkeys(rule for chunk in strings.chunks() for rule in _sure(chunk, still))
    for rule in secrets:
        found[f"secret.{rule}"] = DetectorRule(f"secret.{rule}", "T13", Severity.HIGH, 0.9, _SECRET).at(_NOWHERE)
    if mode is Screening.MASK:
        value, times = _changed(value, partial(_neutral, secrets=bool(secrets), still=still), still)
        places += times
        if secrets and sum(map(len, strings.every)) <= CHUNK:  # one that lies in several strings
            rest = masked(value)
            value, places = rest.value, places + rest.count
    worst = sorted(found.values(), key=weight, reverse=True)
    return Looked(value, tuple(worst), places, hard or bool(secrets))


def _sure(chunk: list[dict[str, str]], still: Still) -> tuple[str, ...]:
    _check(still)
    return finding.secrets(chunk).sure


def _neutral(name: str, text: str, *, secrets: bool, still: Still) -> tuple[str, int]:
    """A text without secrets, and with what hides in it shown."""
    places = 0
    if secrets:
        text, places = _without_secrets(name, text, still)
    if not hidden_characters.hides(text):
        return text, places
    parts = list[str]()
    for start in range(0, len(text), reply_findings.BLOCK):
        _check(still)
        part, times = hidden_characters.shown(text[start : start + reply_findings.BLOCK])
        parts.append(part)
        places += times
    return "".join(parts), places


def _without_secrets(name: str, text: str, still: Still) -> tuple[str, int]:
    """Part by part, and then shifted by half of one, so that what lies at a seam goes as well."""
    places = 0
    for shift in (0, CHUNK // 2) if len(text) > CHUNK else (0,):
        parts = [text[:shift]] if shift else []
        for start in range(shift, max(len(text), 1), CHUNK):
            _check(still)
            done = masked({name: text[start : start + CHUNK]})
            parts += done.value.values()
            places += done.count
        text = "".join(parts)
    return text, places


@dataclass(slots=True)
class _Strings:
    """All strings of a value in their order."""

    value: object
    still: Still
    read: list[str] = field(default_factory=list)
    every: list[str] = field(default_factory=list)
    named: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        waiting: list[tuple[str, object, bool]] = [("", self.value, False)]
        count = 0
        while waiting:
            name, each, media = waiting.pop()
            count += 1
            if count % _EVERY == 0:
                _check(self.still)
            if isinstance(each, str):
                self._take(name, each, media=media)
            elif isinstance(each, dict):
                self.every += each.keys()
                self.read += (key for key in each if _SENTENCE in key)
                waiting += reversed([(key, *_as_text(each, key)) for key in each])
            elif isinstance(each, list):
                waiting += [(name, one, False) for one in reversed(each)]

    def _take(self, name: str, text: str, *, media: bool) -> None:
        self.every.append(text)
        if not media:
            self.read.append(text)
            self.named.append((name, text))

    def chunks(self) -> Iterator[list[dict[str, str]]]:
        """Strings with their names, about so many characters at a time."""
        some, size = list[dict[str, str]](), 0
        for name, text in self.named:
            for start in range(0, max(len(text) - _OVERLAP, 1), CHUNK - _OVERLAP):
                part = text[start : start + CHUNK]
                some.append({name: part})
                size += len(part) + len(name)
                if size >= CHUNK or len(some) >= _EVERY:
                    yield some
                    some, size = [], 0
        if some:
            yield some


def _as_text(holder: Mapping[str, object], key: str) -> tuple[object, bool]:
    """What is read of a member, and whether it is no text."""
    value = holder[key]
    if key == "blob" and isinstance(value, str):
        text = _decoded(holder, value)
        return (value, True) if text is None else (text, False)
    return value, key == "data" and holder.get("type") in _MEDIA


def _decoded(holder: Mapping[str, object], blob: str) -> str | None:
    """The text that the bytes of a resource are said to be."""
    kind = holder.get("mimeType")
    if not isinstance(kind, str) or not kind.startswith(_TEXTUAL):
        return None
    try:
        return base64.b64decode(blob, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _changed(
    value: object, change: Callable[[str, str], tuple[str, int]], still: Still, *, everything: bool = False
) -> tuple[Any, int]:
    """The value with its strings changed, and in how many places. It is no deeper than a message may be."""
    places = 0

    def text(name: str, said: str) -> str:
        nonlocal places
        made, times = change(name, said)
        places += times
        return made

    def of(name: str, each: object, *, media: bool = False) -> object:
        if isinstance(each, str):
            return text(name, each) if everything or not media else each
        if isinstance(each, list):
            _check(still)
            return [of(name, one) for one in each]
        return members(each) if isinstance(each, dict) else each

    def members(holder: dict[str, Any]) -> dict[str, Any]:
        _check(still)
        made: dict[str, Any] = {}
        for key, before in holder.items():
            read, media = _as_text(holder, key)
            now = of(key, read, media=media)
            if read is not before:  # bytes that are text
                now = before if now == read else base64.b64encode(str(now).encode()).decode()
            named = text("", key)
            while named in made:
                named += "_"
            made[named] = now
        return made

    return of("", value), places


def _check(still: Still) -> None:
    if not still():
        raise OutOfTime
