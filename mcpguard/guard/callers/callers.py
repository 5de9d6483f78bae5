"""The callers that the guard knows, in memory: requests are judged from it, and only `CallerGrants` changes it.

Rules kept here:
1. Tokens are kept as digests; the guard cannot reproduce one. They are too long to be guessed, so a plain digest
   reveals nothing. A caller that is known by its certificate has no token, and no token leads to it.
2. A revoked or expired caller is unknown from that moment on, and everything still open in its name is ended at once.
3. Expiry is not polled: the task that ends expired callers sleeps until the next one expires.
4. When a caller was last seen is known since the guard started; earlier calls are in the audit log.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.certificates import ClientCertificate
from mcpguard.domain.clock import Clock
from mcpguard.domain.grants import ANONYMOUS, Grant
from mcpguard.guard.traffic.events import EndedCall
from mcpguard.guard.traffic.wake import WakeTimer
from mcpguard.settings.call_groups import Anonymous
from mcpguard.store.engine.readers import Readers
from mcpguard.store.rows import callers as stored

Lost = Callable[[str], None]


class Callers:
    """Looks callers up by their tokens. `given` are known besides those that the store has.

    `cut` ends the calls of a caller. It is called before any subscriber, which may end the caller's streams.
    """

    def __init__(
        self,
        clock: Clock,
        anonymous: Caller | None,
        given: Mapping[str, Caller] | None,
        cut: Lost,
    ) -> None:
        self.anonymous = anonymous
        self._cut = cut
        self._clock = clock
        self._given = {digest_of(token): caller for token, caller in (given or {}).items()}
        self.unstored = frozenset(caller.id for caller in (anonymous, *self._given.values()) if caller is not None)
        """The ids of callers that are known without the store."""
        self._grants: dict[str, tuple[Grant, bytes]] = {}
        self._shown: dict[bytes, Grant] = {}
        self._ended: set[str] = set()
        self._came: dict[str, int] = {}
        self._subscribers: dict[Lost, None] = {}
        self._waking = WakeTimer(clock)
        self._readers: Readers | None = None

    def __iter__(self) -> Iterator[Grant]:
        """The grants that were not revoked, by label."""
        return iter(sorted((grant for grant, _ in self._grants.values()), key=lambda grant: grant.caller.label))

    def find(self, id_: str) -> tuple[Grant, bytes] | None:
        """The grant of a caller that was not revoked, with the digest of its token."""
        return self._grants.get(id_)

    def find_by_label(self, label: str) -> Grant | None:
        return next((grant for grant in self if grant.caller.label == label), None)

    def caller_of_token(self, token: str) -> Caller | None:
        """The caller whose token this is, if it is valid now."""
        digest = digest_of(token)
        grant = self._shown.get(digest)
        if grant is None:
            return self._given.get(digest)
        if not grant.holds(now := self._clock.now()):
            return None
        self._came[grant.caller.id] = now
        return grant.caller

    def note_call(self, ended: EndedCall) -> None:
        """Take note of when a caller made a call. A stream shows its token once, and may go on to call for days."""
        if (id_ := ended.opening.caller.id) in self._grants or id_ in self.unstored:
            self._came[id_] = max(ended.began, self._came.get(id_, 0))

    def last_seen(self, id_: str) -> int | None:
        """When a caller showed its token or called last; None: not since the guard started."""
        return self._came.get(id_)

    def expiring(self, within: int) -> list[int]:
        """When the valid tokens expire that do so within these microseconds, the first one first."""
        now = self._clock.now()
        found = (grant.expires_at for grant in self if grant.expires_at is not None and grant.holds(now))
        return sorted(at for at in found if at <= now + within)

    def holds(self, caller: Caller | str) -> bool:
        """Tell whether this caller, or the one with this id, is still one, neither revoked nor expired."""
        id_ = caller if isinstance(caller, str) else caller.id
        found = self._grants.get(id_)
        return found[0].holds(self._clock.now()) if found is not None else id_ in self.unstored

    def scope_of(self, id_: str) -> Scope | None:
        """The scope of a caller, which is neither revoked nor expired; None of any other."""
        if not self.holds(id_):
            return None
        unstored = (caller for caller in (self.anonymous, *self._given.values()) if caller is not None)
        found = self._grants.get(id_)
        return found[0].caller.scope if found else next(each.scope for each in unstored if each.id == id_)

    def callers_of_certificate(self, certificate: ClientCertificate) -> list[Caller]:
        """The callers that a client certificate names, if it and they are valid now."""
        now = self._clock.now()
        if now >= certificate.expires:
            return []
        found = [self._shown.get(_digest_of_name(name)) for name in certificate.names]
        grants = [grant for grant in found if grant is not None and grant.holds(now)]
        for grant in grants:
            self._came[grant.caller.id] = now
        return [grant.caller for grant in grants]

    async def load(self, readers: Readers) -> None:
        """Read the callers from the store, and end those that it no longer has."""
        self._readers = readers
        found = {grant.caller.id: (grant, digest) for grant, digest in await readers.run(stored.list_callers)}
        for id_ in [id_ for id_ in self._grants if id_ not in found]:
            self.remove(id_)
        for grant, digest in found.values():
            self.add(grant, digest)

    async def catch_up(self) -> None:
        """Read the callers again, as the store was found to be ahead of memory."""
        if self._readers is not None:
            await self.load(self._readers)

    def add(self, grant: Grant, digest: bytes) -> None:
        """Accept this caller's token, or its certificate, from now on."""
        self._grants[grant.caller.id] = grant, digest
        self._shown[_shown_as(grant, digest)] = grant
        self._waking.wake()

    def remove(self, id_: str) -> None:
        """Refuse this caller's token or certificate from now on, and end whatever is open in its name."""
        del self._shown[_shown_as(*self._grants.pop(id_))]
        self._ended.discard(id_)
        self._came.pop(id_, None)
        self._tell(id_)

    @contextmanager
    def subscription(self, subscriber: Lost) -> Iterator[None]:
        """While the block runs, call `subscriber`, which cannot wait, for every caller that is revoked or expires."""
        self._subscribers[subscriber] = None
        try:
            yield
        finally:
            del self._subscribers[subscriber]

    async def run(self) -> None:
        """End what is open in the name of callers as they expire, until cancelled."""
        while True:
            # Reset before looking: a token that is added during the loop is not slept through.
            self._waking.reset()
            now, times = self._clock.now(), list[int]()
            for grant in self:
                if grant.expires_at is not None and grant.holds(now):
                    times.append(grant.expires_at)
                elif grant.expires_at is not None and grant.caller.id not in self._ended:
                    self._ended.add(grant.caller.id)
                    self._tell(grant.caller.id)
            await self._waking.sleep_until(min(times, default=None))

    def _tell(self, id_: str) -> None:
        # Calls first, so that each gets a closing of its own; then what is left of the caller's streams.
        self._cut(id_)
        for subscriber in tuple(self._subscribers):
            subscriber(id_)


def digest_of(token: str) -> bytes:
    """The digest of a token, which is all that is kept of it."""
    return hashlib.sha256(b"mcpguard/token/1\0" + token.encode(errors="replace")).digest()


def _shown_as(grant: Grant, digest: bytes) -> bytes:
    """What leads to a caller: the digest of its token, or else that of its name in certificates."""
    return _digest_of_name(grant.certificate) if grant.certificate else digest


def _digest_of_name(name: str) -> bytes:
    return hashlib.sha256(b"mcpguard/certificate/1\0" + name.encode()).digest()


def anonymous(settings: Anonymous) -> Caller | None:
    """The caller for requests without a token, as the settings have it; None where tokens are required."""
    scope = Scope(settings.servers, settings.tools, frozenset(map(Effect, settings.effects)))
    return Caller(ANONYMOUS, ANONYMOUS, scope) if settings.enabled else None
