"""What is counted of a list or search result that a client was shown."""

import hashlib
from collections.abc import Sequence
from typing import Any

from mcpguard.codec.messages import dumps
from mcpguard.domain.calls.calls import Face
from mcpguard.domain.json import Json
from mcpguard.gateway.clients import Client
from mcpguard.guard.guard import Guard


def count_list(guard: Guard, client: Client, method: str, names: Sequence[str], shown: Json) -> None:
    """Count a list for the audit log; and one of the guard's own tools for what it spares of reading all others."""
    guard.tallies.count_disclosure(**disclosed_fields(client, method, names))
    if method == "tools/list" and client.face.word is Face.GUARD:
        guard.searching.count_list(client.caller.scope, len(dumps(shown)))


def disclosed_fields(client: Client, method: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a `disclosed` record: who was shown how many names, and a digest of them."""
    return {
        "caller": client.caller.id,
        "face": client.face.word.value,
        "method": method,
        "names": len(names),
        "digest": hashlib.sha256("\0".join(names).encode()).hexdigest(),
    }
