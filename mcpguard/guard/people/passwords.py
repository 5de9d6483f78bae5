"""Passwords: what may be one, how it is kept, and whether somebody has given theirs.

Rules kept here:
1. Of a password an argon2id hash is kept, dearer than OWASP asks for (19 MiB, 2 passes, or the like of it).
2. Hashing happens in a few threads of its own. Of those who wait for one, too many are sent away, so that a crowd at
   the door costs nobody else.
3. For a name that is nobody's, or somebody's who is disabled, as much is computed as for any other.
4. A password is a text: the same one whatever the keyboard makes of its accents (NFKC). Long is good, nothing else is
   asked, but that it is not what everybody would try first.
"""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from anyio import CapacityLimiter, to_thread
from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from mcpguard.domain.decisions import Undecidable
from mcpguard.domain.people import TooManyTries, User
from mcpguard.guard.people.common_passwords import COMMON
from mcpguard.guard.people.people import People
from mcpguard.guard.people.proof import IdentityClaim

SHORTEST: Final = 12
LONGEST_BYTES: Final = 1024
MOST_AT_ONCE: Final = 2
MOST_WAITING: Final = 32
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cost:
    """What one try of a password costs whoever makes it: passes over so much memory."""

    passes: int
    kibibytes: int

    def hasher(self) -> PasswordHasher:
        return PasswordHasher(self.passes, self.kibibytes, parallelism=1, hash_len=32, salt_len=16, type=Type.ID)

    def nobodys(self) -> str:
        """A hash of the same form and cost, of which nobody knows a password."""
        return f"$argon2id$v=19$m={self.kibibytes},t={self.passes},p=1${'A' * 22}${'A' * 43}"


USUAL: Final = Cost(passes=3, kibibytes=64 * 1024)


class Passwords:
    """Hashes passwords, and is a `Proof`."""

    method = "password"

    def __init__(self, people: People, cost: Cost = USUAL) -> None:
        self._people = people
        self._hasher = cost.hasher()
        self._nobodys = cost.nobodys()
        self._limiter = CapacityLimiter(MOST_AT_ONCE)
        self._here = 0

    async def hashed(self, name: str, password: str) -> str:
        """What is kept of a new password of this user. Raises Undecidable, or TooManyTries."""
        checked(name, password)
        return await self._aside(lambda: self._hasher.hash(_bytes(password)))

    async def user_of(self, claim: IdentityClaim) -> User | None:
        """Whoever has this name, if this is their password and they may sign in. Raises TooManyTries."""
        user = self._people.user(claim.name)
        kept, can = (user.password, not user.disabled) if user is not None else ("", False)
        if not is_one(claim.secret):  # it is nobody's, so all the same whose it is not
            claim, can = IdentityClaim(claim.name, ""), False
        secret = _bytes(claim.secret)
        right = await self._aside(lambda: _is_right(self._hasher, kept or self._nobodys, secret))
        return user if right and can else None

    async def renewed(self, user: User, password: str) -> str:
        """What is kept of this user's password, which this is; made anew where it would be made dearer now."""
        if not self._hasher.check_needs_rehash(user.password):
            return user.password
        return await self._aside(lambda: self._hasher.hash(_bytes(password)))

    async def _aside(self, work: Callable[[], T]) -> T:
        if self._here >= MOST_AT_ONCE + MOST_WAITING:
            raise TooManyTries(1)
        self._here += 1
        try:
            return await to_thread.run_sync(work, limiter=self._limiter)
        finally:
            self._here -= 1


def checked(name: str, password: str) -> None:
    """Raises Undecidable for what cannot be this user's password."""
    plain = unicodedata.normalize("NFKC", password)
    if len(plain) < SHORTEST:
        raise Undecidable(f"a password has at least {SHORTEST} characters; a few words are easy to keep in mind")
    if not is_one(password):
        raise Undecidable(f"a password has at most {LONGEST_BYTES} bytes, all of them characters")
    if plain.casefold() == name or plain.casefold() in COMMON:
        raise Undecidable("this password is among the first that anybody would try")


def is_one(password: str) -> bool:
    """Whether anybody's could be this long."""
    try:
        return len(password) <= LONGEST_BYTES and len(_bytes(password)) <= LONGEST_BYTES
    except UnicodeEncodeError:
        return False


def _bytes(password: str) -> bytes:
    return unicodedata.normalize("NFKC", password).encode()


def _is_right(hasher: PasswordHasher, kept: str, password: bytes) -> bool:
    try:
        return hasher.verify(kept, password)
    except (VerificationError, InvalidHashError):
        return False
