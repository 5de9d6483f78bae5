"""Adds users, and changes what they may do.

Rules kept here:
1. A change is one transaction with its record, which names the actor and the reason. A change that takes something away
   takes effect before it is stored; one that grants something, after.
2. A user who gets a new password, loses rights or is disabled is signed out everywhere.
3. An actor that may only tighten protection may disable users, sign them out and take rights away, but not let anybody
   in, nor set a password, which would allow impersonation. Users of any role may change their own password if they give
   the current one.
4. One enabled admin always remains, whoever makes the change: add another admin first. If the last admin's password has
   leaked, set a new one.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import structlog

from mcpguard.codec.canonical import Scalar
from mcpguard.domain.clock import Clock, Ids
from mcpguard.domain.decisions import LONGEST_WHY, Decision, Undecidable
from mcpguard.domain.people import NAME, LastAdmin, NotProven, Role, Session, User, UserTaken, UserUnknown
from mcpguard.guard.people import people_facts
from mcpguard.guard.people.passwords import Passwords
from mcpguard.guard.people.people import People
from mcpguard.guard.people.throttle import Throttle
from mcpguard.ledger.ledger import Append, Ledger
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import people as stored
from mcpguard.store.rows import sessions

MOST_USERS: Final = 1000
NOT_YOURS: Final = "the current password is wrong"
Over = Callable[[Session], bool]
log = structlog.get_logger("mcpguard.guard")


class Users:
    """Adds and changes users, each change with its record."""

    def __init__(
        self, people: People, passwords: Passwords, throttle: Throttle, ledger: Ledger, clock: Clock, new_id: Ids
    ) -> None:
        self._people = people
        self._passwords = passwords
        self._throttle = throttle
        self._ledger = ledger
        self._clock = clock
        self._new_id = new_id

    async def add(self, name: str, role: Role, password: str, decision: Decision) -> User:
        """Add a user. Raises Forbidden, Undecidable, UserTaken, TooManyTries or LedgerUnavailable."""
        _may_widen(decision)
        check_name(name)
        if self._people.user(name) is not None:
            raise _taken(name)
        kept = await self._passwords.hash_new(name, password)
        async with self._people.changing():
            decision.by.check()
            user = self.new_user(name, role, kept, decision)
            fact = people_facts.user_fact("added", user, decision)

            def add(connection: Connection, append: Append) -> None:
                self.admit(connection, user)
                append(fact.kind, fact.fields)

            await self._ledger.transact(add)
            self._people.keep(user)
        log.info("user.added", user=user.id, name=name, role=role.value, by=decision.by.id)
        return user

    def new_user(self, name: str, role: Role, password: str, decision: Decision) -> User:
        """A new user, who is not stored yet. Raises UserTaken or Undecidable."""
        if self._people.user(name) is not None:
            raise _taken(name)
        if sum(1 for _ in self._people.users()) >= MOST_USERS:
            raise Undecidable(f"there are {MOST_USERS} users, the maximum")
        return User(self._new_id(), name, role, password, self._clock.now(), decision.by.id)

    def admit(self, connection: Connection, user: User) -> None:
        """Store a user, and close the setup for ever. Raises UserTaken."""
        if stored.is_taken(connection, user.name):
            raise _taken(user.name)
        stored.put(connection, user)
        sessions.close(connection, self._new_id(), user.created_at)

    async def password(self, name: str, password: str, decision: Decision) -> User:
        """Set a user's password, and sign them out. Raises as `add`, and UserUnknown."""
        _may_widen(decision)
        self._known(name)
        kept = await self._passwords.hash_new(name, password)
        user = await self._change(name, "password", decision, lambda user: replace(user, password=kept))
        self._throttle.forgive(name)
        return user

    async def own_password(self, proven: User, password: str, decision: Decision, session: str) -> User:
        """Change the password of a user who has given the current one. Their other sessions end.

        Raises NotProven where it was changed meanwhile, Undecidable, TooManyTries, Lapsed or LedgerUnavailable.
        """
        kept = await self._passwords.hash_new(proven.name, password)

        def renewed(now: User) -> User:
            if now.disabled or now.password != proven.password:  # since the password was looked at
                raise NotProven(NOT_YOURS)
            return replace(now, password=kept)

        return await self._change(proven.name, "own_password", decision, renewed, lambda each: each.id != session)

    async def end_session(self, session: str, decision: Decision) -> User:
        """End a session; return its user. Raises Undecidable, UserUnknown or LedgerUnavailable."""
        found = self._people.session(session)
        user = None if found is None else self._people.user_of(found[0].user)
        if user is None:
            raise no_such_session()
        return await self._change(
            user.name, "session_ended", decision, lambda user: user, lambda each: each.id == session, session=session
        )

    async def role(self, name: str, role: Role, decision: Decision) -> User:
        """Change a user's role. Raises Forbidden, Undecidable, LastAdmin, UserUnknown, LedgerUnavailable."""
        if not role.rights <= self._known(name).role.rights:
            _may_widen(decision)
        return await self._change(name, "role", decision, lambda user: replace(user, role=role))

    async def disable(self, name: str, decision: Decision) -> User:
        """Disable a user, and sign them out. Raises Undecidable, LastAdmin, UserUnknown or LedgerUnavailable."""
        return await self._change(name, "disabled", decision, lambda user: replace(user, disabled=True))

    async def enable(self, name: str, decision: Decision) -> User:
        """Let a disabled user sign in again. Raises Forbidden, Undecidable, UserUnknown or LedgerUnavailable."""
        _may_widen(decision)
        return await self._change(name, "enabled", decision, lambda user: replace(user, disabled=False))

    async def sign_out(self, name: str, decision: Decision) -> User:
        """End all sessions of a user. Raises Undecidable, UserUnknown or LedgerUnavailable."""
        return await self._change(name, "signed_out", decision, lambda user: user)

    async def _change(
        self,
        name: str,
        what: str,
        decision: Decision,
        change: Callable[[User], User],
        which: Over | None = None,
        **said: Scalar,
    ) -> User:
        """Change a user. `which` of their sessions end; None: all, if the change ends any."""
        check_reason(decision)
        async with self._people.changing():
            decision.by.check()
            before = self._known(name)
            after = change(before)
            if not after.role.rights <= before.role.rights:
                _may_widen(decision)  # what they had may have been taken away meanwhile
            # One change at a time: two admins who disable each other at once must not both succeed.
            self._check_admins(before, after)
            ends = which is not None or _ends_sessions(what, before, after)
            over = [each for each in self._people.sessions(before) if ends and (which is None or which(each))]
            if "session" in said and not over:
                raise no_such_session()
            more = {"ended": len(over)} if ends else {}
            was = before.role.value if what == "role" else ""
            fact = people_facts.user_fact(what, after, decision, was, **more, **said)

            def work(connection: Connection, append: Append) -> None:
                stored.change(connection, after)
                sessions.end(connection, [session.id for session in over])
                append(fact.kind, fact.fields)

            # What takes something away is in force before it is stored; it is given back where that fails.
            if ends:
                self._people.keep(after)
            shown = [found for each in over if (found := self._people.session(each.id)) is not None]
            for each in over:
                self._people.end_session(each.id)
            done = False
            try:
                await self._ledger.transact(work)
                done = True
            finally:
                if not done:
                    self._people.keep(before)
                    for session, digest in shown:
                        self._people.add_session(session, digest)
            self._people.keep(after)
        log.info("user.changed", user=after.id, what=what, by=decision.by.id)
        return after

    def _check_admins(self, before: User, after: User) -> None:
        others = any(user.administers for user in self._people.users() if user.id != before.id)
        if before.administers and not after.administers and not others:
            raise LastAdmin(f"{before.name} is the last admin; make another user an admin first")

    def _known(self, name: str) -> User:
        user = self._people.user(name)
        if user is None:
            raise UserUnknown("there is no such user")
        return user


def no_such_session() -> UserUnknown:
    return UserUnknown("there is no such session; it may have ended")


def check_name(name: str) -> None:
    """Raise Undecidable for a text that cannot be a user's name."""
    if NAME.fullmatch(name) is None:
        raise Undecidable(
            "the name must have 1 to 63 of a to z, 0 to 9, `-`, `_` and `.`, and begin with a letter or digit"
        )


def check_reason(decision: Decision) -> None:
    """Raise Undecidable where the written reason is too long to be recorded."""
    if len(decision.why) > LONGEST_WHY:
        raise Undecidable(f"the reason is longer than {LONGEST_WHY} characters")


def require_reason(decision: Decision) -> None:
    """Raise Undecidable where the written reason is missing, or too long to be recorded."""
    if not decision.why.strip():
        raise Undecidable("a decision needs a reason")
    check_reason(decision)


def _may_widen(decision: Decision) -> None:
    check_reason(decision)
    decision.by.check_widening()


def _ends_sessions(what: str, before: User, after: User) -> bool:
    return what in ("password", "disabled", "signed_out") or not before.role.rights <= after.role.rights


def _taken(name: str) -> UserTaken:
    return UserTaken(f"there is, or was, a user named {name}; names are never reused")
