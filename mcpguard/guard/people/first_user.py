"""Creates the first user, before anybody could add one, by a setup link that is shown on the terminal.

Rules kept here:
1. A link exists only if there has never been a user; having none left is not enough. Its secret is made here, shown
   once, and stored nowhere.
2. One link is valid at a time, for half an hour and for one user. Opening it does not use it up.
3. The link is checked again in the transaction that creates the user: of two simultaneous uses, one fails.
4. An actor that may only tighten protection gets no link.
"""

import secrets
from typing import Final

import structlog

from mcpguard.domain.clock import Clock, Ids
from mcpguard.domain.decisions import Actor, Decision
from mcpguard.domain.people import Role, SetupOver
from mcpguard.guard.people import people_facts
from mcpguard.guard.people.passwords import Passwords
from mcpguard.guard.people.people import People, digest_of
from mcpguard.guard.people.sign_in import SignedIn, SignIns
from mcpguard.guard.people.users import Users, check_name, check_reason
from mcpguard.ledger.ledger import Append, Ledger
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.store import Store
from mcpguard.store.rows import sessions

SECONDS: Final = 1800
KEY_BYTES: Final = 32
OVER: Final = "this setup link is invalid or has expired; create a new one with mcpguard user setup-link"
THERE_IS_SOMEBODY: Final = "the first user was created already; an admin can add more"
log = structlog.get_logger("mcpguard.guard")


class FirstUserSetup:
    """Creates setup links, and the first user by one."""

    def __init__(
        self,
        people: People,
        users: Users,
        signing_in: SignIns,
        passwords: Passwords,
        store: Store,
        ledger: Ledger,
        clock: Clock,
        new_id: Ids,
    ) -> None:
        self.console = ""
        """The address of the pages, once they can be reached."""
        self._people = people
        self._users = users
        self._signing_in = signing_in
        self._passwords = passwords
        self._store = store
        self._ledger = ledger
        self._clock = clock
        self._new_id = new_id

    @property
    def is_needed(self) -> bool:
        """Whether there never was a user."""
        return not self._people.was_set_up

    def url(self, key: str) -> str:
        """The setup link with this key."""
        return f"{self.console}/setup?key={key}"

    async def offer(self, decision: Decision) -> str:
        """Create a setup link and return its key; an earlier one is void. Raises Forbidden, SetupOver,
        LedgerUnavailable."""
        check_reason(decision)
        decision.by.check_widening()
        key = secrets.token_urlsafe(KEY_BYTES)
        async with self._people.changing():

            def offer(connection: Connection, append: Append) -> bool:
                if sessions.was_set_up(connection):
                    return False
                until = self._clock.now() + SECONDS * 1_000_000
                sessions.offer(connection, self._new_id(), digest_of("setup", key), until)
                fact = people_facts.setup_link_fact(decision)
                append(fact.kind, fact.fields)
                return True

            if not (self.is_needed and await self._ledger.transact(offer)):
                raise SetupOver(THERE_IS_SOMEBODY)
        log.info("setup.offered", by=decision.by.id)
        return key

    async def check(self, key: str) -> None:
        """Check that a setup link can be used now. Raises SetupOver where it cannot, and StoreUnavailable."""
        digest, now = digest_of("setup", key), self._clock.now()
        good = self.is_needed and await self._store.readers.run(
            lambda connection: sessions.open_setup(connection, digest, now) is not None
        )
        if not good:
            raise SetupOver(OVER)

    async def use(self, key: str, name: str, password: str, peer: str) -> SignedIn:
        """Create the first user, an admin who is signed in at once. Raises SetupOver, Undecidable, TooManyTries,
        StoreUnavailable or LedgerUnavailable; then no user was created, and the link stays valid."""
        await self.check(key)
        check_name(name)
        kept = await self._passwords.hash_new(name, password)
        decision = Decision(Actor.with_full_rights("setup link", "network"), "")
        async with self._people.changing():
            user = self._users.new_user(name, Role.ADMIN, kept, decision)
            done = self._signing_in.new_session(user, peer)
            shown = digest_of("session", done.shown)

            def use(connection: Connection, append: Append) -> bool:
                # Asked again in the transaction: of two that use one link at once, one is late.
                good = sessions.open_setup(connection, digest_of("setup", key), self._clock.now()) is not None
                if not good or not self.is_needed:
                    return False
                self._users.admit(connection, user)
                sessions.put(connection, done.session, shown)
                for fact in (
                    people_facts.user_fact("added", user, decision),
                    people_facts.sign_in_fact(user, done.session, "setup link"),
                ):
                    append(fact.kind, fact.fields)
                return True

            if not await self._ledger.transact(use):
                raise SetupOver(OVER)
            self._people.keep(user)
            self._people.add_session(done.session, shown)
        log.info("setup.used", user=user.id)
        return done
