"""What the audit log counts of a list or search result that a client was shown."""

import hashlib
from collections.abc import Sequence
from typing import Any

from mcpguard.gateway.clients import Client


def disclosed_fields(client: Client, method: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a `disclosed` record: who was shown how many names, and a digest of them."""
    return {
        "caller": client.caller.id,
        "face": client.face.word.value,
        "method": method,
        "names": len(names),
        "digest": hashlib.sha256("\0".join(names).encode()).hexdigest(),
    }
