"""The callers that the guard knows. Until they are kept in the store there is anonymous, and who the app names."""

import hashlib
from collections.abc import Mapping

from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.capabilities import Effect

EVERYTHING = Scope(("*",), ("*",), frozenset(Effect))


class Callers:
    """Looks callers up by what they show."""

    def __init__(self, tokens: Mapping[str, Caller] | None = None) -> None:
        self.anonymous = Caller("anonymous", "anonymous", EVERYTHING)
        self._known = {_digest(token): caller for token, caller in (tokens or {}).items()}

    def named_by(self, token: str) -> Caller | None:
        return self._known.get(_digest(token))


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="replace")).digest()
