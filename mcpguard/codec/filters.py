"""Reads and writes filters of the audit log: `server:files -caller:desk verdict:deny since:2h invoice`.

Rules kept here:
1. The command line, the API and the console share one language. A written filter reads back as the same filter.
2. Terms with the same key are alternatives, and terms with different keys must all match; a minus before a term
   excludes. What has no key is a text, and all texts must match.
3. A value with spaces stands in double quotes, in which a backslash escapes a quote or a backslash.
4. `since` and `until` are a time in UTC, such as `2026-11-20` or `2026-11-20T14:00` and finer, or a time ago, such as
   `90s`, `15m`, `2h`, `7d`, `4w`.
5. A term that looks like one with a key, but has an unknown key or no value, is a text too, and `misread` names it.
   Where nobody looks at what is found, it is refused (`parse_strictly`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Final

from mcpguard.domain.filters import BadFilter, Filter, FilterKey, FilterTerm

LONGEST: Final = 1000
MOST_TERMS: Final = 20
MOST_WILD: Final = 4
"""Wildcards in a value: a database tries every way in which they could fit."""
SINCE, UNTIL = "since", "until"
_QUOTED: Final = r'"(?P<{}>(?:[^"\\]|\\.)*)"'
_TOKEN: Final = re.compile(
    rf"""\s*(?:
    (?P<minus>-?) (?: (?P<key>[A-Za-z_]+): (?: {_QUOTED.format("quoted")} | (?P<bare>[^\s"]+) )
                    | {_QUOTED.format("phrase")} ) (?=\s|$)
    | (?P<without>-(?=\S))? (?P<word>\S+) )""",
    re.VERBOSE,
)
_KEYED: Final = re.compile(r'([A-Za-z_]+):"?')
_AGO: Final = re.compile(r"([1-9][0-9]{0,8})([smhdw])")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_MICRO: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class WrittenTerm:
    """A term of a filter as it is written, and how it is read: `key` is "text" for what has none or an unknown one."""

    written: str
    key: str
    value: str
    without: bool
    misread: str = ""
    """Why a term that looks like one with a key is read as a text."""


def parse(text: str, now: int) -> Filter:
    """Return the filter in a text. `now`: the moment from which times ago count. Raises BadFilter."""
    if len(text) > LONGEST:
        raise BadFilter(f"a filter has at most {LONGEST} characters")
    alternatives: dict[tuple[FilterKey, bool, str], list[str]] = {}
    times: dict[str, int] = {}
    for term in split_terms(text):
        if term.key in (SINCE, UNTIL):
            if term.without or term.key in times:
                raise BadFilter(f"{term.key}: can be given only once, and cannot be excluded")
            times[term.key] = moment(term.value, now)
        else:
            value = _value(term.key, term.value)
            apart = value if term.key == FilterKey.TEXT else ""
            alternatives.setdefault((FilterKey(term.key), term.without, apart), []).append(value)
    if sum(map(len, alternatives.values())) > MOST_TERMS:
        raise BadFilter(f"a filter has at most {MOST_TERMS} terms")
    terms = tuple(
        FilterTerm(key, tuple(dict.fromkeys(values)), without) for (key, without, _), values in alternatives.items()
    )
    return Filter(terms, times.get(SINCE), times.get(UNTIL))


def parse_strictly(text: str, now: int) -> Filter:
    """Return the filter in a text without a term that is misread. Raises BadFilter."""
    wanted = parse(text, now)
    for sentence in misread(text):
        raise BadFilter(f"{sentence}; keys are {_KEYS}; write a text with a colon in double quotes")
    return wanted


def misread(text: str) -> list[str]:
    """Say of each term that looks like one with a key why it is read as a text."""
    return [term.misread for term in split_terms(text) if term.misread]


def split_terms(text: str) -> Iterator[WrittenTerm]:
    """Yield the terms of a filter."""
    for token in _TOKEN.finditer(text.strip()):
        written, key = token.group().strip(), (token["key"] or "").lower()
        if token["word"] is not None:
            without, value = bool(token["without"]), token["word"]
            keyed = _KEYED.match(value)
            why = f"{keyed[1].lower()}: has no value" if keyed and keyed[1].lower() in _KNOWN else ""
            yield WrittenTerm(written, FilterKey.TEXT, value, without, why)
        elif token["phrase"] is not None:
            yield WrittenTerm(written, FilterKey.TEXT, _unquoted(token["phrase"]), bool(token["minus"]))
        else:
            value = token["bare"] if token["quoted"] is None else _unquoted(token["quoted"])
            if key in _KNOWN:
                yield WrittenTerm(written, key, value, bool(token["minus"]))
            else:
                value = f"{token['key']}:{value}"
                yield WrittenTerm(written, FilterKey.TEXT, value, bool(token["minus"]), _unknown(key))


def written_term(key: FilterKey, value: str, *, without: bool = False) -> str:
    """Return a term as text."""
    minus = "-" if without else ""
    if key is FilterKey.TEXT and re.fullmatch(r'[^\s":-][^\s":]*', value):
        return minus + value
    return f"{minus}{_in_quotes(value)}" if key is FilterKey.TEXT else f"{minus}{key}:{_quoted(value)}"


def write(wanted: Filter) -> str:
    """Return the filter as text, with absolute times; "" for a filter that lets everything through."""
    parts = [written_term(term.key, value, without=term.without) for term in wanted.terms for value in term.values]
    times = ((SINCE, wanted.since), (UNTIL, wanted.until))
    return " ".join([*parts, *(f"{word}:{_written(at)}" for word, at in times if at is not None)])


def moment(text: str, now: int) -> int:
    """Return a time as microseconds since 1970. Raises BadFilter."""
    if ago := _AGO.fullmatch(text):
        return max(0, now - int(ago[1]) * _SECONDS[ago[2]] * _MICRO)
    try:
        at = datetime.fromisoformat(text)
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadFilter(_NO_TIME) from None
    since = at - datetime(1970, 1, 1, tzinfo=UTC)
    return max(0, (since.days * 86_400 + since.seconds) * _MICRO + since.microseconds)


def _unknown(key: str) -> str:
    near = get_close_matches(key, _KNOWN, 1)
    return f"{key}: is not a key{f'; did you mean {near[0]}:?' if near else ''}"


def _value(word: str, value: str) -> str:
    if not value or "\0" in value or not value.isprintable():
        raise BadFilter(f"{word}: needs a value of visible characters; * is a wildcard")
    if value.count("*") + value.count("?") > MOST_WILD:
        raise BadFilter(f"{word}: a value has at most {MOST_WILD} wildcards (* and ?)")
    return value


def _quoted(value: str) -> str:
    return value if re.fullmatch(r'[^\s"]+', value) else _in_quotes(value)


def _in_quotes(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value)


def _written(at: int) -> str:
    return f"{datetime.fromtimestamp(at // _MICRO, UTC).replace(microsecond=at % _MICRO, tzinfo=None).isoformat()}Z"


_KNOWN: Final = (*FilterKey, SINCE, UNTIL)
_KEYS: Final = ", ".join(_KNOWN)
_NO_TIME: Final = "write a time as 2026-11-20 or 2026-11-20T14:00, or as a time ago: 15m, 2h, 7d"
