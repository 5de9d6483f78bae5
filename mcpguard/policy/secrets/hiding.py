"""Texts without the secrets in them: those that are known by their values, and those that are known by their form."""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote

from mcpguard.policy.secrets.finding import secrets, sure_places

HIDDEN: Final = "(hidden)"
SHORTEST: Final = 8
"""Of what was given to a server and is hidden in what it answers; shorter values are in ordinary words."""
_SHORTEST_PART: Final = 8
_RUN: Final = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_NAMED: Final = re.compile(
    r"token|secret|passw|pwd|passphrase|api_?key|access_?key|private|credential|auth|cookie|dsn|signature",
    re.IGNORECASE,
)
_PLAIN: Final = re.compile(
    r"[A-Za-z]+(?:[ _-][A-Za-z]+)*|[\d., :-]+|(?:/|~|\.{1,2}/|[A-Za-z]:\\).*|[a-z][a-z0-9+.-]*://[^@\s]*|[^@\s]+@[^@\s]+"
    r"|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::\d+)?",
    re.DOTALL,
)
"""A word or a few, a number, a path, an address: what is often in an environment, and is no secret by its form."""


class Values:
    """Values that are hidden wherever they stand, in the usual ways to write them."""

    def __init__(self, values: Iterable[str]) -> None:
        self._ways = sorted({way for value in values for way in _ways(value)}, key=len, reverse=True)

    def within(self, text: str) -> bool:
        return any(way in text for way in self._ways)

    def hidden(self, text: str) -> tuple[str, int]:
        """The text without them, and in how many places they were."""
        places = 0
        for way in self._ways:
            if way in text:
                places += text.count(way)
                text = text.replace(way, HIDDEN)
        return text, places


def telling(name: str, value: str, *, referenced: bool) -> bool:
    """Whether a value that a server is given tells a secret. `referenced`: it was kept elsewhere, as secrets are."""
    if len(value) < SHORTEST:
        return False
    if _NAMED.search(name):
        return True
    if referenced:
        return _PLAIN.fullmatch(value) is None
    return bool(secrets({name: value}).sure)


def masked(name: str, text: str) -> tuple[str, int]:
    """The value of a member of this name, without what surely is a secret, and how many there were.

    What is a secret only after it was decoded goes with the run that it is encoded in, or with all of the text.
    """
    before = f'{name}="'.encode(errors="replace")
    raw = text.encode(errors="replace")
    kept, after, times = list[bytes](), 0, 0
    for start, end in _within(sure_places(before + raw + b'"'), len(before), len(raw)):
        if end > after:
            kept += (raw[after : max(start, after)], HIDDEN.encode() if start >= after else b"")
            times += start >= after
            after = end
    found = b"".join([*kept, raw[after:]]).decode(errors="replace") if times else text
    if not secrets({name: found}).sure:
        return found, times
    found = _RUN.sub(lambda run: HIDDEN if secrets({name: run[0]}).sure else run[0], found)
    return (HIDDEN if secrets({name: found}).sure else found), times + 1


def _within(places: Iterable[tuple[int, int]], offset: int, size: int) -> Iterator[tuple[int, int]]:
    for start, end in places:
        first, last = max(start - offset, 0), min(end - offset, size)
        if first < last:
            yield first, last


def _ways(value: str) -> Iterator[str]:
    """How a value may stand in a text: as it is, written as other programs write it, or a line of it."""
    yield value
    yield quote(value, safe="")
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield base64.b64encode(value.encode(errors="replace")).decode().rstrip("=")
    yield from (line for line in map(str.strip, value.splitlines()) if len(line) >= _SHORTEST_PART)
