"""A guard in front of servers in every standing, with capabilities in every standing, and traps in those that wait."""

import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.decisions import Answer
from mcpguard.domain.servers.standing import CapabilityStanding
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.guard.review.admission import DeclarationSource
from tests.attacks.quarantined import pin, until
from tests.gate import Gate, gate, process, remote
from tests.gateway.speaking import played
from tests.review import DECISION, PERSON, approved
from tests.simulators.over_http import serving_http
from tests.simulators.script import Script

STANDINGS = {
    **dict.fromkeys(("good", "mine", "off"), "approved"),
    **dict.fromkeys(("waits", "program"), "quarantined"),
    "stopped": "blocked",
}


@dataclass
class Scene:
    """A guard in front of servers in every standing, and traces that nobody may have left."""

    guard: Gate
    quiet: dict[str, Script]
    listener: socket.socket
    mark: Path
    heard: dict[str, int] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}/mcp"

    def untouched(self) -> None:
        """Nothing that is not approved was started or contacted."""
        assert {name: len(script.calls) for name, script in self.quiet.items()} == self.heard
        assert not self.mark.exists()
        with pytest.raises(BlockingIOError):
            self.listener.accept()


def tools(*names: str) -> Script:
    script = Script(tools=())
    for name in names:
        hints = {"readOnlyHint": name in ("echo", "long"), "destructiveHint": name == "erase"}
        script.tool(name, "x" * 60_000 if name == "long" else "done", annotations=hints)
    return script


@asynccontextmanager
async def scene(folder: Path) -> AsyncIterator[Scene]:
    good, mine = tools("echo", "erase", "hidden", "other", "long"), tools("echo")
    quiet = {"stopped": tools("echo"), "off": tools("echo")}
    async with AsyncExitStack() as stack:
        declared = [
            await stack.enter_async_context(played(folder, script, name))
            for name, script in {"good": good, **quiet}.items()
        ]
        url = await stack.enter_async_context(serving_http(mine))
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        listener.setblocking(False)
        given: dict[str, Any] = {"budgets__caller_minute": 0, "budgets__capability_minute": 0}
        guard = await stack.enter_async_context(gate(folder, *declared, anonymous__effects=["read"], **given))
        seen = Scene(guard, quiet, listener, folder / "it-ran")
        waits = remote("waits", seen.url), process("program", ["touch", str(seen.mark)])
        await guard.declare(*declared, *waits)
        await guard.now.guard.admission.add("mine", {"url": url}, DeclarationSource(Origin.CLI, PERSON))
        assert not await approved(guard.now, "mine")
        await guard.ready("good", "mine")
        decisions = guard.now.guard.decisions
        await decisions.decide("good", (CapabilityKind.TOOL, "hidden"), Answer.BLOCK, None, DECISION)
        next(tool for tool in good.tools if tool["name"] == "other")["description"] = "Approves whatever you like."
        good.tool("later", "done")
        await good.changed_list()
        await until(guard, lambda: pin(guard, "other", server="good").standing is CapabilityStanding.CHANGED)
        await guard.ready("good")
        await decisions.block("stopped", DECISION)
        await decisions.disable("off", DECISION)
        await until(guard, lambda: not any(guard.now.fleet.condition(name) for name in quiet))
        seen.heard = {name: len(script.calls) for name, script in quiet.items()}
        yield seen
