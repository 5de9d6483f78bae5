"""The callers that the guard knows: the memory that requests are judged with. `granting` alone changes it.

Rules kept here:
1. Tokens are known by their digests, and nobody here could say one. They are too long to be guessed, so a plain digest
   gives nothing away.
2. A caller that was revoked, or whose time is over, is nobody from that moment on, whatever is still open in its name;
   what is open is ended at once.
3. Whoever waits for the next caller's time to be over sleeps until then.
4. When a caller came last is known since the guard started; what came before is in the audit log.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.clock import Clock
from mcpguard.domain.grants import ANONYMOUS, Grant
from mcpguard.guard.traffic.events import EndedCall
from mcpguard.guard.traffic.wake import Waking
from mcpguard.settings.call_groups import Anonymous
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.readers import Readers
from mcpguard.store.rows import callers as stored

Lost = Callable[[str], None]


class Callers:
    """Looks callers up by what they show. `given` are known besides those that the store has.

    `cut` ends the calls of a caller; it is told first, and what is left of the caller's streams ends after.
    """

    def __init__(
        self,
        clock: Clock,
        anonymous: Caller | None,
        given: Mapping[str, Caller] | None = None,
        cut: Lost = lambda _: None,
    ) -> None:
        self.anonymous = anonymous
        self._cut = cut
        self._clock = clock
        self._given = {digest_of(token): caller for token, caller in (given or {}).items()}
        self._others = {caller.id for caller in (anonymous, *self._given.values()) if caller is not None}
        self._grants: dict[str, tuple[Grant, bytes]] = {}
        self._shown: dict[bytes, Grant] = {}
        self._ended: set[str] = set()
        self._came: dict[str, int] = {}
        self._subscribers: dict[Lost, None] = {}
        self._waking = Waking(clock)
        self._readers: Readers | None = None

    def __iter__(self) -> Iterator[Grant]:
        """Those that were granted and not revoked, by label."""
        return iter(sorted((grant for grant, _ in self._grants.values()), key=lambda grant: grant.caller.label))

    def find(self, id_: str) -> tuple[Grant, bytes] | None:
        """One that was not revoked, with the digest of its token."""
        return self._grants.get(id_)

    def labelled(self, label: str) -> Grant | None:
        return next((grant for grant in self if grant.caller.label == label), None)

    def named_by(self, token: str) -> Caller | None:
        """Whose token this is, if it holds now."""
        digest = digest_of(token)
        grant = self._shown.get(digest)
        if grant is None:
            return self._given.get(digest)
        if not grant.holds(now := self._clock.now()):
            return None
        self._came[grant.caller.id] = now
        return grant.caller

    def called(self, ended: EndedCall) -> None:
        """A call has ended: whoever made it was here. A stream shows its token once, and calls for days."""
        if (id_ := ended.opening.caller.id) in self._grants or id_ in self._others:
            self._came[id_] = max(ended.began, self._came.get(id_, 0))

    def came(self, id_: str) -> int | None:
        """When it showed its token or called last; None: not since the guard started."""
        return self._came.get(id_)

    def holds(self, caller: Caller) -> bool:
        """Whether this is a caller still."""
        return self.is_one(caller.id)

    def is_one(self, id_: str) -> bool:
        found = self._grants.get(id_)
        return found[0].holds(self._clock.now()) if found is not None else id_ in self._others

    def still(self, connection: Connection, caller: Caller) -> bool:
        """Whether the store has it too: it was revoked there first if its answer to that has not reached us."""
        return caller.id in self._others or stored.holds(connection, caller.id)

    async def load(self, readers: Readers) -> None:
        """Know what the store has. Whoever it does not have any more is lost."""
        self._readers = readers
        found = {grant.caller.id: (grant, digest) for grant, digest in await readers.run(stored.every)}
        for id_ in [id_ for id_ in self._grants if id_ not in found]:
            self.remove(id_)
        for grant, digest in found.values():
            self.add(grant, digest)

    async def catch_up(self) -> None:
        """The same, for whoever has found the store to be ahead."""
        if self._readers is not None:
            await self.load(self._readers)

    def add(self, grant: Grant, digest: bytes) -> None:
        """From now on it is a caller."""
        self._grants[grant.caller.id] = grant, digest
        self._shown[digest] = grant
        self._waking.changed()

    def remove(self, id_: str) -> None:
        """From now on it is none, and whatever is open in its name ends."""
        _, digest = self._grants.pop(id_)
        del self._shown[digest]
        self._ended.discard(id_)
        self._came.pop(id_, None)
        self._tell(id_)

    @contextmanager
    def subscribed(self, subscriber: Lost) -> Iterator[None]:
        """While the block runs, tell `subscriber`, which cannot wait, of every caller that is one no longer."""
        self._subscribers[subscriber] = None
        try:
            yield
        finally:
            del self._subscribers[subscriber]

    async def run(self) -> None:
        """End what is open in the name of callers whose time is over, as it comes to be over."""
        while True:
            self._waking.looking()
            now, times = self._clock.now(), list[int]()
            for grant in self:
                if grant.expires_at is not None and grant.holds(now):
                    times.append(grant.expires_at)
                elif grant.expires_at is not None and grant.caller.id not in self._ended:
                    self._ended.add(grant.caller.id)
                    self._tell(grant.caller.id)
            await self._waking.until(min(times, default=None))

    def _tell(self, id_: str) -> None:
        self._cut(id_)
        for subscriber in tuple(self._subscribers):
            subscriber(id_)


def digest_of(token: str) -> bytes:
    """What is kept of a token."""
    return hashlib.sha256(b"mcpguard/token/1\0" + token.encode(errors="replace")).digest()


def anonymous(settings: Anonymous) -> Caller | None:
    """Whoever shows no token, as the settings have it; None where everybody needs one."""
    scope = Scope(settings.servers, settings.tools, frozenset(map(Effect, settings.effects)))
    return Caller(ANONYMOUS, ANONYMOUS, scope) if settings.enabled else None
