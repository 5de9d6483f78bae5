"""Signs users in and out.

Rules kept here:
1. Every sign-in creates a new session, and ends the one that the browser had (against session fixation). The session
   secret is made here, sent once, and stored nowhere.
2. Starting or ending a session is one transaction with its record. A sign-out takes effect before it is stored; a new
   session after.
3. Every failed attempt is counted in the records by address and cause, and by user if the name exists. The typed name
   is not recorded, as it may be a password. The client is not told what was wrong.
4. The number of sessions of one user is bounded; beyond it the oldest ends.
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

import structlog

from mcpguard.domain.clock import Clock, Ids
from mcpguard.domain.decisions import Actor
from mcpguard.domain.people import NotProven, Session, TooManyTries, User
from mcpguard.guard.people import people_facts
from mcpguard.guard.people.passwords import Passwords
from mcpguard.guard.people.people import People, digest_of
from mcpguard.guard.people.proof import IdentityClaim, Proof
from mcpguard.guard.people.throttle import Throttle
from mcpguard.guard.traffic.tallies import Tallies
from mcpguard.ledger.ledger import Append, Ledger
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import people as stored
from mcpguard.store.rows import sessions

MOST_SESSIONS: Final = 20
"""Sessions of one user."""
SHOWN_BYTES: Final = 32
LONGEST_PEER: Final = 64
WRONG: Final = "wrong name or password, or this user may not sign in"
log = structlog.get_logger("mcpguard.guard")


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A user who has just signed in. `shown` is the secret that their browser shows from now on."""

    user: User
    session: Session
    shown: str = field(repr=False)


class SignIns:
    """Signs users in and out: begins and ends their sessions."""

    def __init__(
        self, people: People, passwords: Passwords, ledger: Ledger, clock: Clock, new_id: Ids, tallies: Tallies
    ) -> None:
        self.throttle = Throttle(clock)
        self._people = people
        self._passwords = passwords
        self._ledger = ledger
        self._clock = clock
        self._new_id = new_id
        self._tallies = tallies

    async def with_password(self, name: str, password: str, peer: str, before: str = "") -> SignedIn:
        """Sign a user in. `before`: the session that their browser has shown until now, which ends.

        Raises NotProven, TooManyTries or LedgerUnavailable; then nobody has signed in, and what was is so still.
        """
        claim = IdentityClaim(name, password)
        user = await self._proven(self._passwords, claim, peer)
        kept = await self._passwords.rehash_if_outdated(user, password)
        return await self._begin(user, kept, self._passwords.method, peer, before)

    async def prove(self, user: User, password: str, peer: str) -> User:
        """Verify a user's password without signing them in. Counts as a try. Raises NotProven or TooManyTries."""
        return await self._proven(self._passwords, IdentityClaim(user.name, password), peer)

    async def sign_out(self, session: str, by: Actor) -> None:
        """End a session. Raises LedgerUnavailable; then it has not ended."""
        async with self._people.changing():
            await self._end([session], "asked", by)

    async def sign_out_everywhere(self, user: User, by: Actor) -> int:
        """End all sessions of a user; return how many. Raises LedgerUnavailable; then they have not ended."""
        async with self._people.changing():
            mine = [session.id for session in self._people.sessions(user)]
            await self._end(mine, "everywhere", by)
        return len(mine)

    def new_session(self, user: User, peer: str) -> SignedIn:
        """A new session for a user, which is not stored yet."""
        now = self._clock.now()
        session = Session(self._new_id(), user.id, now, now, now, peer[:LONGEST_PEER])
        return SignedIn(user, session, secrets.token_urlsafe(SHOWN_BYTES))

    async def _proven(self, proof: Proof, claim: IdentityClaim, peer: str) -> User:
        try:
            self.throttle.begin(claim.name, peer)
            user = await self._looked_at(proof, claim, peer)
        except TooManyTries:
            self._refused(claim, peer, "too many tries")
            raise
        # The same sentence for an unknown name, a wrong password and a disabled user: nobody learns which names exist.
        if user is None:
            self._refused(claim, peer, proof.method)
            raise NotProven(WRONG)
        self.throttle.forgive_success(claim.name, peer)
        return user

    async def _looked_at(self, proof: Proof, claim: IdentityClaim, peer: str) -> User | None:
        try:
            return await proof.user_of(claim)
        except TooManyTries:
            self.throttle.withdraw_try(claim.name, peer)
            raise

    async def _begin(self, proven: User, kept: str, method: str, peer: str, before: str) -> SignedIn:
        async with self._people.changing():
            now = self._people.user_of(proven.id)
            if now is None or now.disabled or now.password != proven.password:  # since the password was looked at
                raise NotProven(WRONG)
            done = self.new_session(replace(now, password=kept), peer)
            # The session that the browser had ends: whoever planted it there (session fixation) gains nothing.
            over = self._over(now, before)
            fact = people_facts.sign_in_fact(done.user, done.session, method)

            def begin(connection: Connection, append: Append) -> None:
                if done.user != now:
                    stored.change(connection, done.user)
                self._ending(connection, append, over, "signed in again", None)
                sessions.put(connection, done.session, digest_of("session", done.shown))
                append(fact.kind, fact.fields)

            await self._ledger.transact(begin)
            for session in over:
                self._people.end_session(session.id)
            self._people.keep(done.user)
            self._people.add_session(done.session, digest_of("session", done.shown))
        log.info("user.signed_in", user=done.user.id, session=done.session.id, method=method)
        return done

    def _over(self, user: User, before: str) -> list[Session]:
        """The sessions that end when a user signs in: the one that the browser had, whoever's it was, and the oldest
        ones beyond the limit."""
        theirs = self._people.session_shown(before)
        mine = [session for session in self._people.sessions(user) if session != theirs]
        return [*([theirs] if theirs else []), *mine[: max(0, len(mine) - MOST_SESSIONS + 1)]]

    async def _end(self, ids: Iterable[str], why: str, by: Actor) -> None:
        found = [each for each in map(self._people.session, ids) if each is not None]
        for session, _ in found:
            self._people.end_session(session.id)
        done = False
        try:
            ended = [session for session, _ in found]
            await self._ledger.transact(lambda connection, append: self._ending(connection, append, ended, why, by))
            done = True
        finally:
            if not done:
                for session, digest in found:
                    self._people.add_session(session, digest)

    def _ending(self, connection: Connection, append: Append, ended: list[Session], why: str, by: Actor | None) -> None:
        there = sessions.end(connection, [session.id for session in ended])
        for session in ended:
            user = self._people.user_of(session.user)
            if user is not None and session.id in there:
                fact = people_facts.sign_out_fact(user, session, why, by)
                append(fact.kind, fact.fields)

    def _refused(self, claim: IdentityClaim, peer: str, why: str) -> None:
        user = self._people.user(claim.name)
        about = {} if user is None else {"user": user.id, "user_name": user.name}
        self._tallies.count_refused_sign_in(peer=peer[:LONGEST_PEER], why=why, **about)
