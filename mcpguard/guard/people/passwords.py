"""Passwords: which are allowed, how they are stored, and how they are verified.

Rules kept here:
1. Of a password only an argon2id hash is stored, with a higher cost than OWASP requires (19 MiB, 2 passes, or
   equivalent).
2. Hashing has a few dedicated threads and a bounded queue, so that a flood of sign-ins slows down nothing else.
3. An unknown name and a disabled user cost as much computation as any other, so that timing reveals no names.
4. A password is normalized text (NFKC), so accents match on every keyboard. It must be long and not a common first
   guess; there are no other requirements.
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
    """What one guess of a password costs: so many passes over so much memory."""

    passes: int
    kibibytes: int

    def hasher(self) -> PasswordHasher:
        return PasswordHasher(self.passes, self.kibibytes, parallelism=1, hash_len=32, salt_len=16, type=Type.ID)

    def nobodys(self) -> str:
        """A hash of the same form and cost for which nobody knows a password."""
        return f"$argon2id$v=19$m={self.kibibytes},t={self.passes},p=1${'A' * 22}${'A' * 43}"


USUAL: Final = Cost(passes=3, kibibytes=64 * 1024)


class Passwords:
    """Hashes and verifies passwords; a `Proof`."""

    method = "password"

    def __init__(self, people: People, cost: Cost = USUAL) -> None:
        self._people = people
        self._hasher = cost.hasher()
        self._nobodys = cost.nobodys()
        self._limiter = CapacityLimiter(MOST_AT_ONCE)
        self._here = 0

    async def hash_new(self, name: str, password: str) -> str:
        """The hash of a new password for this user. Raises Undecidable, or TooManyTries."""
        check_new_password(name, password)
        return await self._aside(lambda: self._hasher.hash(_bytes(password)))

    async def user_of(self, claim: IdentityClaim) -> User | None:
        """The user of this name, if the password is theirs and they may sign in. Raises TooManyTries."""
        user = self._people.user(claim.name)
        kept, can = (user.password, not user.disabled) if user is not None else ("", False)
        if not fits_limits(claim.secret):  # it is nobody's, so all the same whose it is not
            claim, can = IdentityClaim(claim.name, ""), False
        secret = _bytes(claim.secret)
        # Hashed for an unknown name, too: otherwise the time of an answer would tell which names exist.
        right = await self._aside(lambda: _is_right(self._hasher, kept or self._nobodys, secret))
        return user if right and can else None

    async def rehash_if_outdated(self, user: User, password: str) -> str:
        """The stored hash of this user's password, made again from `password` where the cost was raised since."""
        if not self._hasher.check_needs_rehash(user.password):
            return user.password
        return await self._aside(lambda: self._hasher.hash(_bytes(password)))

    async def _aside(self, work: Callable[[], T]) -> T:
        # Each hash takes much memory and time on purpose: a flood of tries must not exhaust them.
        if self._here >= MOST_AT_ONCE + MOST_WAITING:
            raise TooManyTries(1)
        self._here += 1
        try:
            return await to_thread.run_sync(work, limiter=self._limiter)
        finally:
            self._here -= 1


def check_new_password(name: str, password: str) -> None:
    """Raise Undecidable for a password that this user may not have."""
    plain = unicodedata.normalize("NFKC", password)
    if len(plain) < SHORTEST:
        raise Undecidable(f"a password must have at least {SHORTEST} characters; a few words are easy to remember")
    if not fits_limits(password):
        raise Undecidable(f"a password may have at most {LONGEST_BYTES} bytes of valid text")
    if plain.casefold() == name or plain.casefold() in COMMON:
        raise Undecidable("this password is too common or is the user name; choose another")


def fits_limits(password: str) -> bool:
    """Tell whether a text is short enough, and valid enough, to be anybody's password."""
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
