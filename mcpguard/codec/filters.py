"""Reads and writes filters of the audit log: `server:files -caller:desk verdict:deny since:2h`.

Rules kept here:
1. The command line, the API and the console share one language. A written filter reads back as the same filter.
2. Terms with the same key are alternatives, and terms with different keys must all match; a minus before a term
   excludes.
3. A value with spaces stands in double quotes, in which a backslash escapes a quote or a backslash.
4. `since` and `until` are a time in UTC, such as `2026-11-20` or `2026-11-20T14:00` and finer, or a time ago, such as
   `90s`, `15m`, `2h`, `7d`, `4w`.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Final

from mcpguard.domain.filters import BadFilter, Filter, FilterKey, FilterTerm

LONGEST: Final = 1000
MOST_TERMS: Final = 20
MOST_WILD: Final = 4
"""Wildcards in a value: a database tries every way in which they could fit."""
SINCE, UNTIL = "since", "until"
_TOKEN: Final = re.compile(
    r'\s*(?:(?P<minus>-?)(?P<key>[A-Za-z_]+):(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>[^\s"]+)))(?=\s|$)'
)
_AGO: Final = re.compile(r"([1-9][0-9]{0,8})([smhdw])")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_MICRO: Final = 1_000_000


def parse(text: str, now: int) -> Filter:
    """Return the filter in a text. `now`: the moment from which times ago count. Raises BadFilter."""
    if len(text) > LONGEST:
        raise BadFilter(f"a filter has at most {LONGEST} characters")
    terms_by_key: dict[tuple[FilterKey, bool], list[str]] = {}
    times: dict[str, int] = {}
    for minus, word, value in _tokens(text):
        if word in (SINCE, UNTIL):
            if minus or word in times:
                raise BadFilter(f"{word}: can be given only once, and cannot be excluded")
            times[word] = moment(value, now)
        else:
            terms_by_key.setdefault((_key(word), minus), []).append(_value(word, value))
    if sum(map(len, terms_by_key.values())) > MOST_TERMS:
        raise BadFilter(f"a filter has at most {MOST_TERMS} terms")
    terms = tuple(
        FilterTerm(key, tuple(dict.fromkeys(values)), without) for (key, without), values in terms_by_key.items()
    )
    return Filter(terms, times.get(SINCE), times.get(UNTIL))


def split_terms(text: str) -> Iterator[tuple[str, str]]:
    """Yield the key of each term of a filter, with its minus, and the term as it is written. Raises BadFilter."""
    for token in _matches(text):
        yield f"{token['minus']}{token['key'].lower()}", token.group().strip()


def write(wanted: Filter) -> str:
    """Return the filter as text, with absolute times; "" for a filter that lets everything through."""
    parts = [
        f"{'-' if term.without else ''}{term.key}:{_quoted(value)}" for term in wanted.terms for value in term.values
    ]
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


def _tokens(text: str) -> Iterator[tuple[bool, str, str]]:
    for token in _matches(text):
        quoted = token["quoted"]
        yield bool(token["minus"]), token["key"].lower(), token["bare"] if quoted is None else _unquoted(quoted)


def _matches(text: str) -> Iterator[re.Match[str]]:
    place, text = 0, text.strip()
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            raise BadFilter(f"write each term as key:value, with double quotes around spaces; keys are {_KEYS}")
        yield token
        place = token.end()


def _key(word: str) -> FilterKey:
    if word not in FilterKey.__members__.values():
        near = get_close_matches(word, [*FilterKey, SINCE, UNTIL], 1)
        raise BadFilter(f"unknown key;{f' did you mean {near[0]}:?' if near else ''} keys are {_KEYS}")
    return FilterKey(word)


def _value(word: str, value: str) -> str:
    if not value or "\0" in value or not value.isprintable():
        raise BadFilter(f"{word}: needs a value of visible characters; * is a wildcard")
    if value.count("*") + value.count("?") > MOST_WILD:
        raise BadFilter(f"{word}: a value has at most {MOST_WILD} wildcards (* and ?)")
    return value


def _quoted(value: str) -> str:
    if re.fullmatch(r'[^\s"]+', value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value)


def _written(at: int) -> str:
    return f"{datetime.fromtimestamp(at // _MICRO, UTC).replace(microsecond=at % _MICRO, tzinfo=None).isoformat()}Z"


_KEYS: Final = ", ".join([*FilterKey, SINCE, UNTIL])
_NO_TIME: Final = "write a time as 2026-11-20 or 2026-11-20T14:00, or as a time ago: 15m, 2h, 7d"
