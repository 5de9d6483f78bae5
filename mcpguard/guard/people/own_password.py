"""Lets users change their own password.

Rules kept here:
1. The current password is required, so an unattended browser is not enough. Each attempt counts as a sign-in attempt,
   with the same delays and the same records.
2. No right is needed, as nobody can do more than before. Programs have tokens, and no password.
3. The session that makes the change continues, and all others end.
"""

from mcpguard.domain.decisions import Actor, Decision, Forbidden, Undecidable
from mcpguard.domain.people import NotProven, Principal, User
from mcpguard.guard.people.people import People
from mcpguard.guard.people.sign_in import SignIns
from mcpguard.guard.people.users import NOT_YOURS, Users


class OwnPassword:
    """Changes a user's own password."""

    def __init__(self, people: People, users: Users, signing_in: SignIns) -> None:
        self._people = people
        self._users = users
        self._signing_in = signing_in

    async def change(self, me: Principal, present: str, password: str, peer: str, by: Actor) -> User:
        """Change the password of a signed-in user, who gives the current one. `peer`: the address that they come from.

        Raises Forbidden, NotProven, Undecidable, TooManyTries or LedgerUnavailable; then they have the one before.
        """
        user = self._people.user_of(me.id) if me.kind == "user" else None
        if user is None:
            raise Forbidden("only a signed-in user can change a password")
        try:
            proven = await self._signing_in.prove(user, present, peer)
        except NotProven:
            raise NotProven(NOT_YOURS) from None
        if password == present:
            raise Undecidable("this is your current password; nothing was changed")
        return await self._users.own_password(proven, password, Decision(by, ""), me.session)
