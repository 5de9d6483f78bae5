"""Requests that come again: `Idempotency-Key`.

Rules kept here:
1. A key belongs to whoever sent it. What was done under it is not done again for a day: the same request gets the same
   answer, another one under that key is refused, and so is one that comes while the first is in progress.
2. What was refused was not done, and its key is free again. What ended in a failure of ours may have been done; that
   is all that is said of it then.
3. An answer that says of itself that it must not be stored (it holds a token), or that is very long, is not kept; that
   it was given is.
4. All of it is kept in memory, and is forgotten with the process. It is bounded, for each principal and in all; beyond
   that the oldest is forgotten first. Of a request only a keyed digest is kept.
"""

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from mcpguard.domain.clock import Clock
from mcpguard.domain.errors import GuardError
from mcpguard.domain.people import Principal

KEY: Final = "idempotency-key"
REPEATED: Final = "idempotency-replayed"
LONGEST_KEY: Final = 200
SECONDS: Final = 86_400.0
MOST: Final = 2000
MOST_OF_ONE: Final = 200
MOST_BYTES: Final = 32 * 1024 * 1024
LARGEST: Final = 1024 * 1024
"""Bytes of one answer that is kept."""
_KEPT_HEADERS: Final = ("content-type", "location", "etag")
Who = tuple[str, str]


class KeyUnreadable(GuardError):
    """What was given as a key is none."""


class KeyReused(GuardError):
    """The key was used for another request."""


class InProgress(GuardError):
    """The request came before, and is being worked on."""


class AnswerGone(GuardError):
    """The request was done before, and what was answered was not kept, or may have been done."""


class TooManyAtOnce(GuardError):
    """One principal has very many requests with keys in progress."""


@dataclass(slots=True)
class _Kept:
    digest: bytes
    until: float
    status: int = 0
    """0 while it is in progress."""
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    why: str = ""
    """Why there is no answer to give, once it is not in progress."""

    @property
    def is_over(self) -> bool:
        """Whether it is not in progress any more."""
        return bool(self.status or self.why)

    @property
    def size(self) -> int:
        return len(self.body or b"")


class Repeats:
    """Knows what was done under which key."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._secret = secrets.token_bytes(32)
        self._of: dict[Who, OrderedDict[str, _Kept]] = {}

    async def once(self, by: Principal, request: Request, work: Callable[[], Awaitable[Response]]) -> Response:
        """The answer to the request: what `work` makes of it, or what it made of it before."""
        given = request.headers.getlist(KEY)
        if not given:
            return await work()
        key = given[0]
        if len(given) > 1 or not key.isascii() or not key.isprintable() or not 0 < len(key) <= LONGEST_KEY:
            raise KeyUnreadable(f"Idempotency-Key is there once, with 1 to {LONGEST_KEY} visible ASCII characters")
        digest = self._digest(request, await request.body())
        self._forget()
        mine = self._of.setdefault((by.kind, by.id), OrderedDict())
        if (before := mine.get(key)) is not None:
            return _again(before, digest)
        kept = _Kept(digest, self._clock.monotonic() + SECONDS)
        self._make_room(mine)
        mine[key] = kept
        return await self._done(mine, key, kept, work)

    async def _done(
        self, mine: OrderedDict[str, _Kept], key: str, kept: _Kept, work: Callable[[], Awaitable[Response]]
    ) -> Response:
        refused, response = False, None
        try:
            response = await work()
            refused = response.status_code >= HTTPStatus.BAD_REQUEST
        except (GuardError, HTTPException, RequestValidationError):
            refused = True
            raise
        finally:
            if refused:
                mine.pop(key, None)
            elif response is None:
                kept.why = "it ended in a failure, and may have been done"
        if not refused:
            _keep(kept, response)
        return response

    def _digest(self, request: Request, body: bytes) -> bytes:
        said = (request.method, request.url.path, request.url.query)
        head = "\0".join(said).encode()
        return hashlib.blake2b(len(head).to_bytes(8, "big") + head + body, key=self._secret).digest()

    def _forget(self) -> None:
        """What is older than a day, and the oldest beyond what is kept in all."""
        now = self._clock.monotonic()
        for who, mine in list(self._of.items()):
            for key in [key for key, kept in mine.items() if kept.until <= now and kept.is_over]:
                del mine[key]
            if not mine:
                del self._of[who]
        done = [(kept.until, who, key) for who, mine in self._of.items() for key, kept in mine.items() if kept.is_over]
        size = sum(kept.size for mine in self._of.values() for kept in mine.values())
        for beyond, (_, who, key) in enumerate(sorted(done)):
            if len(done) - beyond < MOST and size <= MOST_BYTES:
                break
            size -= self._of[who].pop(key).size

    def _make_room(self, mine: OrderedDict[str, _Kept]) -> None:
        if len(mine) < MOST_OF_ONE:
            return
        oldest = next((key for key, kept in mine.items() if kept.is_over), None)
        if oldest is None:
            raise TooManyAtOnce(f"{MOST_OF_ONE} requests with an Idempotency-Key are in progress; wait for one of them")
        del mine[oldest]


def _again(before: _Kept, digest: bytes) -> Response:
    if not secrets.compare_digest(before.digest, digest):
        raise KeyReused("another request came with this Idempotency-Key; choose a new one")
    if before.why:
        raise AnswerGone(f"this came before, and {before.why}; look at what stands now")
    if not before.status or before.body is None:
        raise InProgress("this came before, and is being worked on; ask again later")
    return Response(before.body, before.status, {**dict(before.headers), REPEATED: "true"})


def _keep(kept: _Kept, response: Response) -> None:
    kept.status, body = response.status_code, bytes(response.body)
    if response.headers.get("cache-control") == "no-store" or len(body) > LARGEST:
        kept.why = "was done; its answer is given once and not kept"
        return
    kept.headers = tuple((name, response.headers[name]) for name in _KEPT_HEADERS if name in response.headers)
    kept.body = body
