"""The rest of replies that were cut, until it has been read.

Rules kept here:
1. A key is random, and worth something only to the caller that it was given to, at the same door and face and in the
   same session or stream.
2. Kept text has a time and a size limit. When it grows too large, the oldest text of the caller with most goes; that
   may be the newest reply, if it alone is more than anybody else has.
"""

import secrets
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from mcpguard.domain.capabilities import Capability
from mcpguard.domain.clock import Clock
from mcpguard.gateway.clients import Client
from mcpguard.policy.intents import StatedIntent

KEY_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Rest:
    """The whole text of a reply, with the call that it answers: its record, what was called, and with which intent."""

    call: str
    capability: Capability
    stated: StatedIntent | None
    text: str
    shown: int


@dataclass(frozen=True, slots=True)
class _Kept:
    rest: Rest
    holder: tuple[str, ...]
    until: float


class KeptReplies:
    """All replies that are kept for agents."""

    def __init__(self, clock: Clock, seconds: float, most: int) -> None:
        """Keep texts for so many seconds, and so many characters in all."""
        self._clock = clock
        self._seconds = seconds
        self._most = most
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._sizes: dict[str, int] = {}

    def keep(self, client: Client, rest: Rest) -> str | None:
        """Keep a reply and return its key; None if it is too long to be kept."""
        self._tidy()
        key = secrets.token_urlsafe(KEY_BYTES)
        self._kept[key] = _Kept(rest, _holder(client), self._clock.monotonic() + self._seconds)
        self._count(client.caller.id, len(rest.text))
        while sum(self._sizes.values()) > self._most:
            greediest = max(self._sizes, key=self._sizes.__getitem__)
            self._drop(next(key for key, kept in self._kept.items() if kept.holder[0] == greediest))
        return key if key in self._kept else None

    def find(self, client: Client, key: str) -> Rest | None:
        self._tidy()
        kept = self._kept.get(key)
        return kept.rest if kept is not None and kept.holder == _holder(client) else None

    def end_caller(self, caller: str) -> None:
        """Drop what is kept for a caller that was revoked."""
        for key in [key for key, kept in self._kept.items() if kept.holder[0] == caller]:
            self._drop(key)

    def end_session(self, session: str) -> None:
        """Drop what is kept for a session or stream that has ended."""
        for key in [key for key, kept in self._kept.items() if kept.holder[-1] == session]:
            self._drop(key)

    def _tidy(self) -> None:
        """Drop expired replies. All are kept for the same time, so the oldest come first."""
        now = self._clock.monotonic()
        while self._kept and next(iter(self._kept.values())).until <= now:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: str) -> None:
        kept = self._kept.pop(key)
        self._count(kept.holder[0], -len(kept.rest.text))

    def _count(self, caller: str, characters: int) -> None:
        size = self._sizes.pop(caller, 0) + characters
        if size > 0:
            self._sizes[caller] = size


def _holder(client: Client) -> tuple[str, ...]:
    return client.caller.id, client.face.key, client.door, client.session
