"""Secrets that are planted, and looked for in every way in which they might have been written."""

import base64
import random
import string
from collections.abc import Iterator
from itertools import count
from urllib.parse import quote

_DICE = random.Random(20)  # noqa: S311 - made-up secrets
_LETTERS = string.ascii_letters + string.digits
_numbers = count(1)
WORD = "beside-the-canary"
"""No secret: stands beside each of them, and shows that what was kept was looked at."""


def some(length: int, of: str = _LETTERS) -> str:
    return "".join(_DICE.choice(of) for _ in range(length))


class Canaries:
    """All that were planted, by the place and the kind. What is looked for of each is long enough to be no chance."""

    def __init__(self) -> None:
        self.planted: dict[str, str] = {}
        self._forms: dict[str, tuple[bytes, ...]] = {}

    def value(self, place: str) -> str:
        """A value that looks like nothing: only who was told that it is secret can know."""
        return self._new(place, "value", f"{some(6)}-{some(6)}!{some(8)}")

    def text(self, place: str, *known: str) -> str:
        """A text with a secret of each kind, and these, in all the ways in which one may come along."""
        token, percent, coded, key = (
            self._new(place, kind, "ghp_" + some(36)) for kind in ("pat", "url", "b64", "two")
        )
        access = self._new(place, "aws id", "AKIA" + some(16, string.ascii_uppercase + "234567"))
        secret = self._new(place, "aws secret", some(40))
        lines = [self._new(place, f"pem {number}", some(64)) for number in range(4)]
        parts = [
            f"{WORD} a token {token}",
            f"[default]\naws_access_key_id = {access}\naws_secret_access_key = {secret}",
            "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *lines, "-----END RSA PRIVATE KEY-----"]),
            "https://example.org/?next=" + "".join(f"%{ord(each):02X}" for each in f"a b {percent}"),
            "data " + _base64(f"some {coded} more"),
            "data " + _base64(_base64(f"it was {key} twice")),
            *(f"it is {each}, {quote(each, safe='')}, {_base64('user:' + each)} {_base64(each)}" for each in known),
            f"{WORD} and done",
        ]
        return "\n".join(parts)

    def one(self, place: str) -> str:
        """A token alone, where there is no room for more."""
        return self._new(place, "one", "ghp_" + some(36))

    def found_in(self, data: bytes) -> list[str]:
        """Which of them are in there in some form."""
        return [name for name, known in self._forms.items() if any(form in data for form in known)]

    def _new(self, place: str, kind: str, secret: str) -> str:
        name = f"{next(_numbers)}: {kind} in {place}"
        self.planted[name] = secret
        self._forms[name] = tuple(forms(secret, twice=kind in ("two", "one")))
        return secret


def forms(secret: str, *, twice: bool = True) -> Iterator[bytes]:
    """A secret as it is, and as others write it: hex, URL, base64 wherever it lies in what was encoded, also twice."""
    data = secret.encode()
    yield data[4:]
    yield data.hex().encode()
    yield data.hex().upper().encode()
    yield quote(secret, safe="").encode()
    yield "".join(f"%{byte:02x}" for byte in data).encode()
    yield "".join(f"%{byte:02X}" for byte in data).encode()
    for once in aligned(data):
        yield once
        if twice:
            yield from aligned(once)


def aligned(data: bytes) -> Iterator[bytes]:
    """What all base64 of something with this in it has in common, for each of the three places where it may lie."""
    for before in range(3):
        coded = base64.b64encode(bytes(before) + data)
        first = -(-before * 8 // 6)
        yield coded[first : (before + len(data)) * 8 // 6]


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
