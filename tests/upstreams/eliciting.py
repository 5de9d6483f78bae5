"""Clients that servers of a fleet may ask something in the middle of a call, and what such a call is answered with."""

import anyio
from anyio.lowlevel import checkpoint

from mcpguard.domain.servers.launches import Era
from tests.patience import PATIENCE
from tests.simulators.words import Json
from tests.upstreams.flock import Flock, Somebody

ELICITS: Json = {"method": "elicitation/create", "params": {"message": "Which?", "requestedSchema": {"type": "object"}}}


def person(era: Era = Era.LEGACY) -> Somebody:
    """A client that can be asked."""
    found = Somebody(era=era, elicitation={})
    found.answers = {"elicitation/create": {"action": "accept", "content": {}}}
    return found


async def said(found: Flock, tool: str, by: Somebody) -> str:
    with anyio.fail_after(PATIENCE):
        return str((await found.call("a", tool, by=by))["content"][0]["text"])


async def until_open(found: Flock, name: str, *, is_open: bool) -> None:
    with anyio.fail_after(PATIENCE):
        while (name in found.wires.open) is not is_open:
            await checkpoint()
