"""Scans what a server sent (a result, an error, a message, a question) and makes it safe to pass on.

Rules kept here:
1. Every string is scanned, wherever it is, and so are member names that are sentences. Images, audio, and bytes that
   are not declared to be text are searched only for secrets that the server was given.
2. A finding names a rule and repeats no part of a text.
3. A value that needs no change is returned itself, not a copy.
4. The work is done in blocks of bounded size. `still` is called between them; if it returns false, `OutOfTime` is
   raised.
"""

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from mcpguard.domain.errors import GuardError
from mcpguard.domain.findings import Evidence, Finding, Severity, finding_weight
from mcpguard.domain.screening import Screening
from mcpguard.inspection.detectors.detector import DetectorRule, Surroundings
from mcpguard.inspection.replies import hidden_characters, reply_findings
from mcpguard.inspection.replies.forged_refusals import HINTS, find_forged_refusal
from mcpguard.policy.secrets import detection
from mcpguard.policy.secrets.known_secrets import KnownSecrets
from mcpguard.policy.secrets.layers import ENCODED
from mcpguard.policy.secrets.masking import mask_secrets
from mcpguard.text.linear import compile_pattern

CHUNK: Final = 32 * 1024
"""Characters that are searched for secrets at once."""
_OVERLAP: Final = 4096
_EVERY: Final = 1000
"""How many values are read between two checks of the time."""
_SENTENCE: Final = " "
_HOLDING_BYTES: Final = frozenset({"blob", "data"})
"""Members that may hold bytes: whether they do depends on what is beside them."""
_MEDIA: Final = frozenset({"image", "audio"})
_TEXTUAL: Final = ("text/", "application/json", "application/xml", "application/javascript", "application/yaml")
_ENCODED: Final = compile_pattern(ENCODED)
_GIVEN: Final = DetectorRule("secret.given", "T15", Severity.HIGH, 0.9, "Leaks a secret given to its server")
_NOWHERE: Final = Evidence("", 0, 0)
Still = Callable[[], bool]


class OutOfTime(GuardError):
    """Scanning takes longer than it may."""


@dataclass(frozen=True, slots=True)
class ScreenedReply:
    """A scanned value as it may be passed on, its findings, and the number of masked places.

    `hard`: it is withheld in every mode that withholds anything.
    """

    value: Any
    found: tuple[Finding, ...] = ()
    masked: int = 0
    hard: bool = False


def is_plain(value: object, given: KnownSecrets, around: Surroundings, *, clear: bool = False) -> bool:
    """Tell whether a glance shows that a small value is clean, within a few milliseconds. `clear`: its JSON was
    searched already for what `may_hold_in_json` looks for, and has nothing of it."""
    strings = _Strings(value, None)
    whole = "\n".join(strings.every)
    if given.spellings and given.occur_in(whole):
        return False
    # Each of these first questions spares nearly all replies the next one.
    is_printable = whole.isascii() and whole.translate(hidden_characters.LINES).isprintable()
    if not is_printable and hidden_characters.may_hide(whole):
        return False
    if HINTS.search(whole) and isinstance(value, dict) and find_forged_refusal(value, whole):
        return False
    if not (clear and not strings.decoded) and _may_hold_secret(whole):
        return False
    text = "\n".join(strings.read)
    if len(text) <= reply_findings.BLOCK:
        return not reply_findings.worth_reading(text, around)
    return not any(reply_findings.worth_reading(block, around) for block in reply_findings.blocks(text))


def _may_hold_secret(whole: str) -> bool:
    raw = whole.encode(errors="replace")
    if not detection.may_hold(raw):
        return False
    return any(rule.sure for rule in detection.rules_for_text(raw)) or _ENCODED.search(raw) is not None


def screen_reply(
    value: object, mode: Screening, given: KnownSecrets, around: Surroundings, still: Still
) -> ScreenedReply:
    """Scan all of a value, and masks it where the mode says so. Raises OutOfTime."""
    strings = _Strings(value, still)  # as the server sent them: what is masked below hides nothing from the rules
    findings: dict[str, Finding] = {}
    hard, places = False, 0
    if given.occur_in("\n".join(strings.every)):
        # In images too: a server that leaks a secret chooses where it stands.
        value, places = _changed(value, lambda _, text: given.hide_in(text), still, everything=True)
        hard = True
        findings[_GIVEN.id] = _GIVEN.finding_at(_NOWHERE)
    if isinstance(value, dict) and (as_ours := find_forged_refusal(value, "\n".join(strings.every))):
        hard = hard or as_ours.hard
        findings[as_ours.rule] = as_ours
    for block in reply_findings.blocks("\n".join(strings.read)):
        _check(still)
        block_findings = (
            *hidden_characters.find_hidden(block),
            *(reply_findings.find_in_block(block, around) if reply_findings.worth_reading(block, around) else ()),
        )
        findings |= {each.rule: each for each in block_findings if each.rule not in findings}
        hard = (
            hard
            or any(each.rule.startswith("hidden.") and each.hard for each in block_findings)
            or reply_findings.is_hard(block_findings)
        )
    secrets = dict.fromkeys(rule for chunk in strings.chunks() for rule in _sure(chunk, still))
    for rule in secrets:
        secret = DetectorRule(f"secret.{rule}", "T13", Severity.HIGH, 0.9, f"Contains a secret ({rule})")
        findings[secret.id] = secret.finding_at(_NOWHERE)
    if mode is Screening.MASK:
        value, times = _changed(value, partial(_neutral, secrets=bool(secrets), still=still), still)
        places += times
        if secrets and sum(map(len, strings.every)) <= CHUNK:  # one that lies in several strings
            rest = mask_secrets(value)
            value, places = rest.value, places + rest.count
    worst = sorted(findings.values(), key=finding_weight, reverse=True)
    return ScreenedReply(value, tuple(worst), places, hard or bool(secrets))


def _sure(chunk: list[dict[str, str]], still: Still) -> tuple[str, ...]:
    _check(still)
    return detection.find_secrets(chunk).sure


def _neutral(name: str, text: str, *, secrets: bool, still: Still) -> tuple[str, int]:
    """Return a text with its secrets masked and its hidden characters shown, and how many places that were."""
    places = 0
    if secrets:
        text, places = _without_secrets(name, text, still)
    if not hidden_characters.may_hide(text):
        return text, places
    parts = list[str]()
    for start in range(0, len(text), reply_findings.BLOCK):
        _check(still)
        part, times = hidden_characters.show_hidden(text[start : start + reply_findings.BLOCK])
        parts.append(part)
        places += times
    return "".join(parts), places


def _without_secrets(name: str, text: str, still: Still) -> tuple[str, int]:
    """Mask secrets part by part, and again shifted by half a part, so that one across a seam is masked as well."""
    places = 0
    for shift in (0, CHUNK // 2) if len(text) > CHUNK else (0,):
        parts = [text[:shift]] if shift else []
        for start in range(shift, max(len(text), 1), CHUNK):
            _check(still)
            done = mask_secrets({name: text[start : start + CHUNK]})
            parts += done.value.values()
            places += done.count
        text = "".join(parts)
    return text, places


class _Strings:
    """All strings of a value in their order: `read` without images and audio, `every` with them, `named` with their
    names. `decoded`: whether any of them stands in the value as bytes."""

    __slots__ = ("decoded", "every", "named", "read")

    def __init__(self, value: object, still: Still | None) -> None:
        """Nothing is asked about the time where `still` is None."""
        self.read, self.every, self.named = list[str](), list[str](), list[tuple[str, str]]()
        self.decoded = False
        waiting: list[tuple[str, object, bool]] = [("", value, False)]
        count = 0
        while waiting:
            name, each, media = waiting.pop()
            count += 1
            if count % _EVERY == 0 and still is not None:
                _check(still)
            if isinstance(each, str):
                self.every.append(each)
                if not media:
                    self.read.append(each)
                    self.named.append((name, each))
            elif isinstance(each, dict):
                waiting += self._members(each)
            elif isinstance(each, list):
                waiting += [(name, one, False) for one in reversed(each)]

    def _members(self, holder: dict[str, object]) -> list[tuple[str, object, bool]]:
        """Return what is scanned of the members of an object, the last first, each with whether it is media."""
        self.every += holder
        members = list[tuple[str, object, bool]]()
        for key, value in holder.items():
            if _SENTENCE in key:
                self.read.append(key)
            if key in _HOLDING_BYTES:
                text, media = _as_text(holder, key)
                self.decoded = self.decoded or text is not value
                members.append((key, text, media))
            elif isinstance(value, str | dict | list):
                members.append((key, value, False))
        members.reverse()
        return members

    def chunks(self) -> Iterator[list[dict[str, str]]]:
        """Yield strings with their names, about `CHUNK` characters at a time."""
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
    """Return what is scanned of a member, and whether that is media instead of text."""
    value = holder[key]
    if key == "blob" and isinstance(value, str):
        text = _decoded(holder, value)
        return (value, True) if text is None else (text, False)
    kind = holder.get("type")  # which may be anything, also something that cannot be looked up
    return value, key == "data" and isinstance(kind, str) and kind in _MEDIA


def _decoded(holder: Mapping[str, object], blob: str) -> str | None:
    """Return the text that the bytes of a resource are declared to be; None if they are none."""
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
    """Return the value with its strings changed, and in how many places.

    It recurses: a value is no deeper than a message may be.
    """
    places = 0

    def text(name: str, before: str) -> str:
        nonlocal places
        made, times = change(name, before)
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
            while named in made:  # two names may look the same once nothing in them hides; neither value may be lost
                named += "_"
            made[named] = now
        return made

    return of("", value), places


def _check(still: Still) -> None:
    if not still():
        raise OutOfTime
