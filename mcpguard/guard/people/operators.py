"""Creates and revokes API tokens, for programs that act for people.

Rules kept here:
1. A token is created here, shown once to its requester, and stored nowhere.
2. Creating or revoking a token is one transaction with its record. A revocation takes effect before storing; a new
   token after.
3. An actor limited to tightening protection may only revoke tokens.
"""

import secrets
from typing import Final

import structlog

from mcpguard.domain.clock import Clock, Ids
from mcpguard.domain.decisions import Decision, Undecidable
from mcpguard.domain.people import OperatorToken, Role, UserTaken, UserUnknown
from mcpguard.guard.people import people_facts
from mcpguard.guard.people.people import People, digest_of
from mcpguard.guard.people.users import check_name, check_reason
from mcpguard.ledger.ledger import Append, Ledger
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import people as stored

MOST_TOKENS: Final = 1000
LONGEST_SECONDS: Final = 10 * 366 * 86_400
TOKEN_BYTES: Final = 32
PREFIX: Final = "mcpo_"
log = structlog.get_logger("mcpguard.guard")


class OperatorTokens:
    """Creates and revokes API tokens."""

    def __init__(self, people: People, ledger: Ledger, clock: Clock, new_id: Ids) -> None:
        self._people = people
        self._ledger = ledger
        self._clock = clock
        self._new_id = new_id

    async def add(self, name: str, role: Role, seconds: int | None, decision: Decision) -> tuple[OperatorToken, str]:
        """Create a token that expires after `seconds`, None: never. Returns it with its text, which is never shown
        again.

        Raises Forbidden, Undecidable, UserTaken or LedgerUnavailable; then nothing has changed.
        """
        decision.by.check_widening()
        check_reason(decision)
        check_name(name)
        if seconds is not None and not 0 < seconds <= LONGEST_SECONDS:
            raise Undecidable("a token must expire within one second to ten years, or be null for never")
        async with self._people.changing():
            decision.by.check()
            token = self._made(name, role, seconds, decision)
            shown = PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
            digest = digest_of("operator", shown)

            def keep(connection: Connection, append: Append) -> None:
                if stored.token_is_taken(connection, name):
                    raise _taken(name)
                stored.put_token(connection, token, digest)
                fact = people_facts.token_fact("added", token, decision)
                append(fact.kind, fact.fields)

            await self._ledger.transact(keep)
            self._people.add_token(token, digest)
        log.info("operator.added", token=token.id, name=name, role=role.value, by=decision.by.id)
        return token, shown

    async def revoke(self, id_: str, decision: Decision) -> OperatorToken:
        """Revoke a token. Raises UserUnknown, Undecidable or LedgerUnavailable; then it is not revoked."""
        check_reason(decision)
        async with self._people.changing():
            decision.by.check()
            found = self._people.token(id_)
            if found is None:
                raise UserUnknown("there is no such API token; it may have been revoked")
            token, digest = found

            def revoke(connection: Connection, append: Append) -> None:
                if stored.revoke_token(connection, id_, self._clock.now(), decision.by.id):
                    fact = people_facts.token_fact("revoked", token, decision)
                    append(fact.kind, fact.fields)

            # From memory first: the token is worth nothing while its end is being stored.
            self._people.remove_token(id_)
            done = False
            try:
                await self._ledger.transact(revoke)
                done = True
            finally:
                if not done:
                    self._people.add_token(token, digest)
        log.info("operator.revoked", token=id_, name=token.name, by=decision.by.id)
        return token

    def _made(self, name: str, role: Role, seconds: int | None, decision: Decision) -> OperatorToken:
        there = list(self._people.tokens())
        if any(token.name == name for token in there):
            raise _taken(name)
        if len(there) >= MOST_TOKENS:
            raise Undecidable(f"there are {MOST_TOKENS} tokens, the maximum; revoke one first")
        now = self._clock.now()
        until = None if seconds is None else now + seconds * 1_000_000
        return OperatorToken(self._new_id(), name, role, now, decision.by.id, until)


def _taken(name: str) -> UserTaken:
    return UserTaken(f"a token named {name} exists already; revoke it first, or choose another name")
