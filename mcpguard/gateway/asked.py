"""From what a client said to what it asked for."""

from collections.abc import Mapping
from typing import Any

from mcpguard.codec import envelope
from mcpguard.gateway.exchange import Exchange
from mcpguard.gateway.faces.face import Meant
from mcpguard.gateway.parking import AGAIN
from mcpguard.guard.calls import Asked, Page
from mcpguard.policy.intents import Stated


def asked(
    exchange: Exchange,
    method: str,
    meant: Meant,
    params: Mapping[str, Any],
    watcher: object | None = None,
    stated: Stated | None = None,
    page: Page | None = None,
) -> Asked:
    """The call that a request makes. Answers to what nobody asked do not go along, and neither do arguments that are
    null, which are judged as none: a server gets what was judged."""
    client = exchange.client
    own = {key: value for key, value in envelope.bare(params).items() if key not in AGAIN}
    if own.get("arguments", ...) is None:
        del own["arguments"]
    return Asked(
        caller=client.caller,
        face=client.face.word,
        method=method,
        capability=meant.capability,
        params=own,
        client=client.name,
        pinned=meant.pinned,
        trace=exchange.trace,
        watcher=watcher,
        stated=stated,
        page=page,
    )
