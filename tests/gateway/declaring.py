"""Calls made of the guard itself, as a face with variants will make them, for a client that is asked nothing."""

from collections.abc import Mapping
from typing import Any

from mcpguard.domain.asks import Answers, Asks, Capabilities
from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.calls import Face
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.domain.servers.launches import Era
from mcpguard.guard.calls.request import CallRequest, CallResult
from mcpguard.guard.servers.argument_checks import Arguments
from mcpguard.policy.intents import StatedIntent
from tests.gate import Gate


class Alone:
    """Wants to know of nothing meanwhile, and can be asked for nothing."""

    name = "alone"
    era = Era.MODERN
    wants_progress = False
    log_level = None

    def __init__(self) -> None:
        self.capabilities: Capabilities = {}

    def progress(self, params: Mapping[str, Any]) -> None:
        raise AssertionError(params)

    def for_call(self, server: str) -> "Alone":  # noqa: ARG002 - it says nothing to any
        return self

    def log(self, params: Mapping[str, Any]) -> None:
        raise AssertionError(params)

    async def ask(self, asks: Asks) -> Answers:
        raise AssertionError(asks)


async def call(
    guard: Gate, caller: Caller, tool: str, said: StatedIntent | None = None, /, **arguments: object
) -> CallResult:
    """A call of a tool of `web`."""
    capability = Capability("web", CapabilityKind.TOOL, tool)
    asked = CallRequest(
        caller=caller,
        face=Face.GUARD,
        capability=capability,
        given=Arguments("tools/call", {"name": tool, "arguments": arguments}),
        stated=said,
    )
    return await guard.now.guard.calls.handle(asked, Alone())
