"""A call that is held and allowed for some minutes, together with its like, in tests of what that lets through."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcpguard.domain.capabilities import Effect
from mcpguard.guard.calls.holds.allowances import AllowanceWish
from tests.gate import Gate
from tests.gateway.granting import Granted, granted
from tests.gateway.holding import HELD, refusal
from tests.gateway.speaking import guarded
from tests.review import DECISION
from tests.simulators.client import RawClient, Reply
from tests.simulators.script import Script
from tests.simulators.words import Json

AT_ONCE: dict[str, Any] = {"holds__wait_seconds": 0, "store__busy_timeout": 0.1, **HELD}
TEXT = "a text that is long enough to be free text: at least forty characters"
GIVEN: Json = {"channel": "#releases", "urgent": False, "text": TEXT}


@dataclass
class Allowing:
    """A guard, a caller with a token, and an allowance for the like of a call that is not made yet."""

    guard: Gate
    script: Script
    caller: Granted
    client: RawClient
    allowance: Json

    async def call(self, client: RawClient | None = None, /, **arguments: Any) -> Reply:  # noqa: ANN401 - JSON
        """The like of the call that was allowed, but for these arguments."""
        return await (client or self.client).call("web::echo", GIVEN | arguments)

    def used(self) -> list[Json]:
        """The openings of the calls that the allowance let through."""
        return [entry for entry in self.guard.entries() if entry.get("allowance") == self.allowance["id"]]

    def ends(self) -> list[tuple[str, int]]:
        """Why allowances ended, and with how many calls left."""
        return [
            (record["cause"], record["calls"])
            for record in self.guard.said()
            if record["kind"] == "allowance" and record["change"] == "ended"
        ]


async def waiting_ticket(client: RawClient, arguments: Json) -> str:
    """The ticket of a call that is held."""
    said = refusal(await client.call("web::echo", arguments))
    assert said["reason"] == "hold:waiting"
    return str(said["detail"]["ticket"])


@asynccontextmanager
async def allowing(
    folder: Path,
    wish: AllowanceWish | None = None,
    seconds: int | None = None,
    **settings: Any,  # noqa: ANN401 - settings
) -> AsyncIterator[Allowing]:
    script = Script()
    async with guarded(folder, script, **AT_ONCE | settings) as guard:
        caller = await granted(guard, "desk", "*", "*", *Effect, seconds=seconds)
        client = guard.client(token=caller.token)
        ticket = await waiting_ticket(client, GIVEN)
        allowance = await guard.now.guard.held.allow_for(ticket, DECISION, wish or AllowanceWish())
        yield Allowing(guard, script, caller, client, allowance)
