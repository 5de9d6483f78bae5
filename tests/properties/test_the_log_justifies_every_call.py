"""Whatever happens, and whatever happens at once: the ledger alone shows that every call that was allowed was approved.

Servers change what they offer, come and go; people approve, revoke, block, quarantine, switch off and on; agents call
all the while. Then the ledger is read from its first record on, as an auditor would read it: at each call that was
allowed, the records before it must say that a person had approved exactly the definition that the call rests on.
"""

import random
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpguard.domain.decisions import Answer
from mcpguard.domain.errors import GuardError
from tests.attacks.quarantined import TOOL
from tests.gate import Gate
from tests.gateway.speaking import guarded
from tests.review import DECISION, approved
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
STEPS = 40
TOOLS = ("echo", "add")


class Justified:
    """What the records up to here say."""

    def __init__(self) -> None:
        self.servers: dict[str, str] = {}
        self.off: set[str] = set()
        self.approved: dict[tuple[str, str, str], str] = {}
        self.allowed = 0

    def read(self, record: dict[str, Any]) -> None:
        match record:
            case {"kind": "opened", "verdict": "allow"}:
                key = record["server"], record["capability"], record["name"]
                assert self.servers[record["server"]] == "approved", record
                assert record["server"] not in self.off, record
                assert self.approved.get(key) == record["fingerprint"], record
                self.allowed += 1
            case {"kind": "decided" | "moved", "server": server, "capability": kind, "name": name, "after": after}:
                if after == "approved":
                    self.approved[server, kind, name] = record["fingerprint"]
                else:
                    self.approved.pop((server, kind, name), None)
            case {"kind": "admitted" | "decided" | "moved", "server": server, "after": after}:
                self.servers[server] = after
                if record.get("answer") == "disable":
                    self.off.add(server)
                elif record.get("answer") == "enable":
                    self.off.discard(server)
            case _:
                pass


class World:
    """Everybody who does something."""

    def __init__(self, guard: Gate, script: Script, seed: int) -> None:
        self.guard, self.script, self.random = guard, script, random.Random(seed)  # noqa: S311 - no secret
        self.honest = {tool["name"]: dict(tool) for tool in script.tools}

    async def step(self) -> None:
        """Something happens. What cannot be done now is refused, and that is all right."""
        steps = (self.change, self.come_back, self.decide, self.about_the_server, self.approve_all, self.approve_all)
        try:
            await self.random.choice(steps)()
        except GuardError:
            await checkpoint()

    async def change(self) -> None:
        tool = self.random.choice([tool for tool in self.script.tools if tool["name"] in TOOLS])
        tool["description"] = f"version {self.random.randrange(3)}"
        await self.script.changed_list()

    async def come_back(self) -> None:
        for tool in self.script.tools:
            tool.update(self.honest[tool["name"]])
        await self.script.changed_list()

    async def decide(self) -> None:
        name, answer = (
            self.random.choice(TOOLS),
            self.random.choice([Answer.APPROVE, Answer.REVOKE, Answer.BLOCK, Answer.UNBLOCK]),
        )
        known = self.guard.now.guard.servers.find("web")
        assert known is not None
        listed = known.pins[TOOL, name].listed
        await checkpoint()
        await self.guard.now.guard.decisions.decide("web", (TOOL, name), answer, listed, DECISION)

    async def about_the_server(self) -> None:
        decisions = self.guard.now.guard.decisions
        acts = (decisions.quarantine, decisions.disable, decisions.enable, decisions.enable, decisions.block)
        await self.random.choice(acts)("web", DECISION)

    async def approve_all(self) -> None:
        await approved(self.guard.now, "web")


@pytest.mark.parametrize("seed", range(6))
async def test_at_every_call_a_person_had_approved_what_it_rests_on(seed: int, tmp_path: Path) -> None:
    script = Script()
    given: dict[str, Any] = {
        "definitions__confirm_seconds": 0.2,
        "upstreams__retry_seconds": 0.1,
        "upstreams__health_seconds": 3600,
    }
    async with guarded(tmp_path, script, **given) as guard:
        world, clients = World(guard, script, seed), [await guard.legacy() for _ in range(4)]
        for _ in range(STEPS):
            async with anyio.create_task_group() as tasks:
                for number, client in enumerate(clients):
                    tasks.start_soon(client.call, f"web::{TOOLS[number % 2]}", {"a": 1, "b": 2})
                tasks.start_soon(world.step)
            for seconds in world.random.choice([(), (), (1,), (1, 1), (301, 1)]):
                guard.clock.tick(seconds)
                await checkpoint()
        records, justified = guard.said(), Justified()
    for record in records:
        justified.read(record)
    closed = [each for each in records if each["kind"] == "closed"]
    opened = [each for each in records if each["kind"] == "opened"]
    assert len(closed) == len(opened)
    sent = len([each for each in script.calls if each.get("method") == "tools/call"])
    assert sent <= justified.allowed, "nothing has reached the server without a verdict that allowed it"
    assert justified.allowed, "and some has"
