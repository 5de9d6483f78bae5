"""What is counted of that which a client was shown."""

import hashlib
from collections.abc import Sequence
from typing import Any

from mcpguard.gateway.clients import Client


def shown(client: Client, method: str, names: Sequence[str]) -> dict[str, Any]:
    """Who was shown what."""
    return {
        "caller": client.caller.id,
        "face": client.face.word.value,
        "method": method,
        "names": len(names),
        "digest": hashlib.sha256("\0".join(names).encode()).hexdigest(),
    }
