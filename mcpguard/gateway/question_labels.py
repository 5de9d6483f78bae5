"""Labels what a server says and asks with the server's name before a client sees it.

Where a client sees many servers at once, the question itself tells the user which server asks.
"""

import secrets
from collections.abc import Mapping
from typing import Any, Final

from mcpguard.codec import envelope
from mcpguard.codec.messages import dumps
from mcpguard.domain.asks import Ask, AskKind
from mcpguard.domain.calls import calls
from mcpguard.domain.servers.launches import Era
from mcpguard.gateway.clients import Client
from mcpguard.proxy.filtering import ORIGIN

LONGEST_MESSAGE: Final = 16 * 1024
_ID: Final = "elicitationId"


def labelled_question(client: Client, server: str, ask: Ask) -> Ask:
    """Return a server's question with the server's name in it."""
    params = _from(server, envelope.bare_params(ask.params))
    if ask.kind is AskKind.ELICITATION:
        if client.face.word is not calls.Face.TRANSPARENT:
            said = params.get("message", "")
            params["message"] = f"{server}: {said if isinstance(said, str) else dumps(said).decode()}"
        if params.get("mode") == "url" and client.era is Era.LEGACY:
            params.setdefault(_ID, secrets.token_urlsafe(16))  # revisions up to 2025-11-25 want one
    return Ask(ask.method, params)


def labelled_message(client: Client, server: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return a server's log message with the server's name, cut to a bounded size."""
    said = _from(server, {**params, "data": _bounded(params.get("data"))})
    return said | {"proxy": {"server": server}} if client.era is Era.LEGACY else said


def _from(server: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return envelope.with_meta(params, {ORIGIN: {"server": server}})


def _bounded(data: object) -> object:
    text = data if isinstance(data, str) else dumps(data).decode()
    return data if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}…"
