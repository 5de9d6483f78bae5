"""Builds the call that a client's request makes.

Rule kept here: what is recorded of a call can be stored in every database. A NUL character cannot, and no server's name
for anything has one.
"""

from collections.abc import Mapping
from typing import Any

from mcpguard.codec import envelope
from mcpguard.gateway.client_request import Exchange
from mcpguard.gateway.faces.face import NamedCapability
from mcpguard.gateway.input_required import AGAIN
from mcpguard.gateway.validation import invalid_parameters
from mcpguard.guard.calls.request import CallRequest, ReplyPage
from mcpguard.policy.intents import StatedIntent


def call_request(
    exchange: Exchange,
    method: str,
    meant: NamedCapability,
    params: Mapping[str, Any],
    watcher: object | None = None,
    stated: StatedIntent | None = None,
    page: ReplyPage | None = None,
) -> CallRequest:
    """Build the call from a request. Answers to questions that nobody asked are left out, and so are arguments that
    are null, which are judged as none: a server gets exactly what was judged. Raises RequestRejected.
    """
    client, named = exchange.client, meant.capability
    if "\0" in named.server or "\0" in named.name:
        raise invalid_parameters("a name or a URI cannot contain a NUL character")
    own = {key: value for key, value in envelope.bare_params(params).items() if key not in AGAIN}
    if own.get("arguments", ...) is None:
        del own["arguments"]
    return CallRequest(
        caller=client.caller,
        face=client.face.word,
        method=method,
        capability=named,
        params=own,
        client=client.name,
        pinned=meant.pinned,
        trace=exchange.trace,
        watcher=watcher,
        stated=stated,
        page=page,
        session=client.session,
    )
