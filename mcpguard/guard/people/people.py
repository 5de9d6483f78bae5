"""The users, sessions and API tokens that the guard knows, in memory: requests are authenticated from it.

Every change to it changes the store too (`users`, `sign_in`, `operators`, `first_user`).

Rules kept here:
1. Tokens and session secrets are kept as digests; the guard cannot reproduce one. They are too long to be guessed, so a
   plain digest reveals nothing.
2. A lookup never waits, and reflects the current state: a disabled user or an ended session authenticates nobody, and a
   new role applies at once.
3. The last use of a session is written once a minute, not for each request.
4. If a failed write may have reached the store after all, memory is reloaded before anything else changes.
"""

import hashlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Final

import anyio
import structlog

from mcpguard.domain.clock import Clock
from mcpguard.domain.errors import LedgerUnavailable, StoreUnavailable
from mcpguard.domain.people import OperatorToken, Principal, Session, User
from mcpguard.settings.guard_groups import PeopleSettings
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.store import Store
from mcpguard.store.rows import people, sessions

PERIOD_SECONDS: Final = 60.0
_SECOND: Final = 1_000_000
log = structlog.get_logger("mcpguard.guard")
Read = tuple[list[User], list[tuple[Session, bytes]], list[tuple[OperatorToken, bytes]], bool]


class People:
    """Authenticates requests by their session or token."""

    def __init__(self, store: Store, clock: Clock, limits: PeopleSettings) -> None:
        self.limits = limits
        self.was_set_up = False
        """Whether there ever was a user."""
        self._stale = False
        """Whether the store may be ahead of memory."""
        self._changing = anyio.Lock()
        self._store = store
        self._clock = clock
        self._users: dict[str, User] = {}
        """Users by their ids; lookups by name are rare."""
        self._sessions: dict[bytes, Session] = {}
        self._shown: dict[str, bytes] = {}
        """The digest of what is shown, by the id of a session or token."""
        self._tokens: dict[bytes, OperatorToken] = {}
        self._used: dict[str, int] = {}

    def by_token(self, token: str) -> Principal | None:
        """The program whose token this is, if it is valid now."""
        found = self._tokens.get(digest_of("operator", token))
        if found is None or not found.holds(self._clock.now()):
            return None
        return Principal(found.id, found.name, found.role, "token")

    def by_session(self, shown: str) -> Principal | None:
        """The user whose browser shows this session, if it is still valid. The session counts as used."""
        session = self._sessions.get(digest_of("session", shown))
        now = self._clock.now()
        user = self._of(session, now)
        if session is None or user is None:
            return None
        self._used[session.id] = now
        recent = 0 <= now - session.password_at < self.limits.recent_seconds * _SECOND
        return Principal(user.id, user.name, user.role, "user", session.id, recent)

    def holds(self, principal: Principal) -> bool:
        """Tell whether a principal is still valid: the same session or token, and the same role."""
        # Looked up again, not remembered: a page that stays open must notice that its user was disabled or has another
        # role.
        digest = self._shown.get(principal.session if principal.kind == "user" else principal.id, b"")
        now = self._clock.now()
        if principal.kind == "token":
            token = self._tokens.get(digest)
            return token is not None and token.holds(now) and token.role is principal.role
        user = self._of(self._sessions.get(digest), now)
        return user is not None and (user.id, user.role) == (principal.id, principal.role)

    def user(self, name: str) -> User | None:
        return next((user for user in self._users.values() if user.name == name), None)

    def user_of(self, id_: str) -> User | None:
        return self._users.get(id_)

    def users(self) -> Iterator[User]:
        """All users, disabled ones included, by name."""
        return iter(sorted(self._users.values(), key=lambda user: user.name))

    def sessions(self, user: User | None = None) -> Iterator[Session]:
        """The sessions that have not ended, of all users or of one, the oldest first."""
        now = self._clock.now()
        for session in sorted(self._sessions.values(), key=lambda session: (session.created_at, session.id)):
            if (user is None or session.user == user.id) and self._of(session, now) is not None:
                yield self._as_used(session)

    def tokens(self) -> Iterator[OperatorToken]:
        """The API tokens that were not revoked, by name."""
        return iter(sorted(self._tokens.values(), key=lambda token: token.name))

    def token(self, id_: str) -> tuple[OperatorToken, bytes] | None:
        """An API token that was not revoked, with its digest."""
        digest = self._shown.get(id_, b"")
        token = self._tokens.get(digest)
        return None if token is None else (token, digest)

    def session(self, id_: str) -> tuple[Session, bytes] | None:
        """A session that was not ended, with its digest."""
        digest = self._shown.get(id_, b"")
        session = self._sessions.get(digest)
        return None if session is None else (session, digest)

    def session_shown(self, shown: str) -> Session | None:
        """The session that a browser shows. It does not count as used."""
        return self._sessions.get(digest_of("session", shown))

    def keep(self, user: User) -> None:
        """Add or replace a user."""
        self._users[user.id] = user
        self.was_set_up = True

    def add_session(self, session: Session, digest: bytes) -> None:
        self._sessions[digest], self._shown[session.id] = session, digest

    def end_session(self, id_: str) -> None:
        self._sessions.pop(self._shown.pop(id_, b""), None)
        self._used.pop(id_, None)

    def add_token(self, token: OperatorToken, digest: bytes) -> None:
        self._tokens[digest], self._shown[token.id] = token, digest

    def remove_token(self, id_: str) -> None:
        self._tokens.pop(self._shown.pop(id_, b""), None)

    async def load(self) -> None:
        """Replace everything with what the store has."""
        everybody, signed_in, tokens, self.was_set_up = await self._store.readers.run(_read)
        self._users = {user.id: user for user in everybody}
        self._sessions = {digest: session for session, digest in signed_in}
        self._tokens = {digest: token for token, digest in tokens}
        self._shown = {session.id: digest for session, digest in signed_in}
        self._shown |= {token.id: digest for token, digest in tokens}
        self._stale = False

    @asynccontextmanager
    async def changing(self) -> AsyncIterator[None]:
        """Make a change while the block runs: one at a time, and never abandoned half way. Raises LedgerUnavailable."""
        with anyio.CancelScope(shield=True):
            async with self._changing:
                await self._catch_up()
                try:
                    yield
                except LedgerUnavailable:
                    self._stale = True  # the failure can come too late: it was stored then
                    raise

    async def run(self) -> None:
        """Write down once a minute which sessions were used, and remove those that are over."""
        while True:
            await self._clock.sleep(PERIOD_SECONDS)
            await self.tidy()

    async def tidy(self) -> None:
        """Write down which sessions were used, and end expired ones. What cannot be written now is written later."""
        now = self._clock.now()
        over = [session.id for session in self._sessions.values() if self._is_over(session, now)]
        used = {id_: moment for id_, moment in self._used.items() if id_ not in over}
        try:
            async with self.changing():
                if used or over:
                    await self._store.writer.submit(lambda connection: _tidied(connection, used, over))
        except (StoreUnavailable, LedgerUnavailable) as error:
            log.warning("sessions.unwritten", why=str(error))
            return
        for id_ in over:
            self.end_session(id_)
        for id_, moment in used.items():
            if (found := self.session(id_)) is not None:
                self.add_session(self._as_used(found[0]), found[1])
                # Not if it was used again meanwhile.
                if self._used.get(id_) == moment:
                    del self._used[id_]

    async def _catch_up(self) -> None:
        if self._stale:
            try:
                await self.load()
            except StoreUnavailable as error:
                raise LedgerUnavailable(str(error)) from error

    def _of(self, session: Session | None, now: int) -> User | None:
        """The user of a session, if it has not expired and they are not disabled."""
        if session is None or self._is_over(session, now):
            return None
        user = self._users.get(session.user)
        return None if user is None or user.disabled else user

    def _is_over(self, session: Session, now: int) -> bool:
        idle = now - self._as_used(session).used_at
        return (
            idle >= self.limits.idle_seconds * _SECOND
            or now - session.created_at >= self.limits.session_seconds * _SECOND
        )

    def _as_used(self, session: Session) -> Session:
        return session.with_last_use(self._used.get(session.id, session.used_at))


def digest_of(what: str, shown: str) -> bytes:
    """The digest of a secret that somebody shows: an `operator`'s token, a `session`, a `setup` link."""
    return hashlib.sha256(f"mcpguard/{what}/1\0".encode() + shown.encode(errors="replace")).digest()


def _read(connection: Connection) -> Read:
    return (
        people.list_users(connection),
        sessions.list_sessions(connection),
        people.active_tokens(connection),
        sessions.was_set_up(connection),
    )


def _tidied(connection: Connection, used: dict[str, int], over: list[str]) -> None:
    sessions.use(connection, used)
    sessions.end(connection, over)
