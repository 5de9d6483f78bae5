"""What an attack on the quarantine is looked at with: where things stand, and that nothing came of it."""

import subprocess
from collections.abc import Callable
from typing import Any

import anyio
from anyio.lowlevel import checkpoint

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.servers.connections import Condition, ConnectionState
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Upstream
from tests.gate import Gate
from tests.gateway.speaking import refused_once
from tests.patience import PATIENCE
from tests.review import in_force
from tests.simulators.client import RawClient
from tests.simulators.script import Script

TOOL = CapabilityKind.TOOL


def upstream(guard: Gate, name: str = "web") -> Upstream:
    known = guard.now.guard.servers.find(name)
    assert known is not None
    return known.upstream


def standing(guard: Gate, name: str = "web") -> UpstreamStanding:
    return upstream(guard, name).standing


def pin(guard: Gate, name: str, kind: CapabilityKind = TOOL, server: str = "web") -> Pin:
    """Where a capability stands."""
    known = guard.now.guard.servers.find(server)
    assert known is not None
    return known.pins[kind, name]


def connection(guard: Gate, name: str = "web") -> Condition:
    """The condition of the connection to a server."""
    return guard.now.fleet.condition(name) or Condition(ConnectionState.DISCONNECTED, 0)


async def until(guard: Gate, condition: Callable[[], object]) -> None:
    """Let time pass until it holds."""
    with anyio.fail_after(PATIENCE):
        while not condition():
            if guard.clock.due_within(1):  # something lets a moment pass
                await guard.clock.advance(1)
            await checkpoint()


async def exit_code(process: subprocess.Popen[str]) -> int:
    """Wait for the end of a process without letting time pass. The guard goes on: the process may wait for it."""
    with anyio.fail_after(PATIENCE):
        while (code := process.poll()) is None:
            await checkpoint()
    return code


async def let_time_pass(guard: Gate, seconds: int = 600) -> None:
    """Long enough for whatever was to be tried again, with pauses in which it can be."""
    for _ in range(seconds // 10):
        guard.clock.tick(10)
        for _ in range(3):
            await guard.now.store.writer.submit(lambda _: None)


async def doubted(guard: Gate, name: str = "web") -> None:
    """Wait until the guard has heard that what this server lists may be something else."""
    with anyio.fail_after(PATIENCE):
        while in_force(guard.now, name):
            await checkpoint()


async def refused(guard: Gate, client: RawClient, reason: str, script: Script, tool: str = "echo") -> None:
    """A call of it is refused for this reason, no server is asked, and one entry says why."""
    with refused_once(guard, reason, script) as entry:
        reply = await client.call(f"web::{tool}", {"n": 1})
    said = reply.result["_meta"]["mcpguard/refusal"]
    assert (said["status"], said["executed"], said["reason"]) == ("refused", "no", reason)
    assert entry["verdict"] == "deny"


def moves(guard: Gate, **wanted: object) -> list[dict[str, Any]]:
    """The records of what the guard moved by itself."""
    return records(guard, "moved", **wanted)


def records(guard: Gate, kind: str, **wanted: object) -> list[dict[str, Any]]:
    return [
        each
        for each in guard.said()
        if each["kind"] == kind and all(each.get(name) == value for name, value in wanted.items())
    ]
