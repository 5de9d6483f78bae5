"""How people change their own password.

Rules kept here:
1. They give the one that they have: whoever has found their browser open cannot. Each time counts as a try to sign in,
   with the same pauses and the same records.
2. It needs no right, as it lets nobody do more than before. Programs have tokens, and no password.
3. The session in which it is done goes on, and all others end.
"""

from mcpguard.domain.decisions import Actor, Decision, Forbidden, Undecidable
from mcpguard.domain.people import NotProven, Principal, User
from mcpguard.guard.people.people import People
from mcpguard.guard.people.sign_in import SigningIn
from mcpguard.guard.people.users import NOT_YOURS, Users


class OwnPassword:
    """Changes them."""

    def __init__(self, people: People, users: Users, signing_in: SigningIn) -> None:
        self._people = people
        self._users = users
        self._signing_in = signing_in

    async def change(self, me: Principal, present: str, password: str, peer: str, by: Actor) -> User:
        """From now on they have this password. `peer`: from where they ask.

        Raises Forbidden, NotProven, Undecidable, TooManyTries or LedgerUnavailable; then they have the one before.
        """
        user = self._people.user_of(me.id) if me.kind == "user" else None
        if user is None:
            raise Forbidden("only a person who has signed in has a password that they could change")
        try:
            proven = await self._signing_in.proven(user, present, peer)
        except NotProven:
            raise NotProven(NOT_YOURS) from None
        if password == present:
            raise Undecidable("this is the password that you have; nothing was changed")
        return await self._users.own_password(proven, password, Decision(by, ""), me.session)
