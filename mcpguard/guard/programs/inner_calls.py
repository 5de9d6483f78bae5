"""The calls of one program: each is a call like any other, and the program gets what an agent would get.

Rules kept here:
1. There is no second way in: a program's call goes through the same judgement, budgets, holds and screening, and has an
   entry of its own that names the run.
2. What the run declares bounds its calls: a call with a worse effect is refused. So is one to a server that the run
   does not name.
3. A call that waits for a person suspends the program. Calls that were made beside it keep their answers.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import anyio

from mcpguard.codec.messages import dumps
from mcpguard.domain.calls.counterpart import CallingClient
from mcpguard.domain.calls.outcomes import OutcomeKind
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.engines.code_run import FailureCode, InnerCall, MustWait, RunFailed
from mcpguard.guard.calls.refusals import refusal
from mcpguard.guard.calls.request import CallRequest, CallResult
from mcpguard.guard.programs.program_check import approved_definition, named_tools
from mcpguard.guard.programs.run_request import RunRequest, ToldCall
from mcpguard.guard.servers.argument_checks import Arguments
from mcpguard.guard.servers.servers import Servers
from mcpguard.policy.arguments.argument_checks import CALL
from mcpguard.policy.scopes import is_in_scope

Handle = Callable[[CallRequest, CallingClient], Awaitable[CallResult]]
"""Handles one call, as `Calls.handle` does."""
MOST_RESULT: Final = 2 * 1024 * 1024
"""Bytes of one result that a program is given."""
TOOL_ERROR: Final = "TOOL_ERROR"


@dataclass(frozen=True, slots=True)
class PendingCalls:
    """The calls for which a program is suspended, with the answers that there are; None for each that waits."""

    calls: Sequence[InnerCall]
    answers: Sequence[object | None]


class InnerCalls:
    """Makes the calls of one run, and remembers what became of them."""

    def __init__(
        self, servers: Servers, asked: RunRequest, entry: str, counterpart: CallingClient, handle: Handle
    ) -> None:
        self.told: list[ToldCall] = []
        self.pending: PendingCalls | None = None
        """The calls for which the program is suspended, if it is."""
        self.named = named_tools(servers, ())
        """The tools that the program names literally."""
        self.touched: dict[str, None] = {}
        """The servers that were called."""
        self._servers = servers
        self._asked = asked
        self._entry = entry
        self._counterpart = counterpart
        self._handle = handle

    async def check(self, names: Sequence[tuple[str, str]]) -> Mapping[int, object]:
        """Return the schemas of the approved tools among those that a program names, by place. Raises RunFailed."""
        self.named = named_tools(self._servers, names)
        found: dict[int, object] = {}
        for place, (server, tool) in enumerate(names):
            self._refuse_server(server)
            if not is_in_scope(self._asked.caller.scope, Capability(server, CapabilityKind.TOOL, tool)):
                continue  # the call itself says why, if it is made
            if (definition := approved_definition(self._servers, server, tool)) is not None:
                found[place] = definition.get("inputSchema")
        return found

    async def call(self, calls: Sequence[InnerCall], parallel: int) -> Sequence[object]:
        """Make calls, and return an answer for each. Raises RunFailed, and MustWait where one waits for a person."""
        return await self.finish(PendingCalls(calls, [None] * len(calls)), parallel)

    async def finish(self, pending: PendingCalls, parallel: int) -> list[object]:
        """Make those of the calls that have no answer yet. Raises RunFailed and MustWait."""
        for call in pending.calls:
            self._refuse_server(call.server)
        given, places = [*pending.answers], anyio.CapacityLimiter(parallel)

        async def make(place: int) -> None:
            async with places:
                given[place] = await self._answer(pending.calls[place])

        async with anyio.create_task_group() as tasks:
            for place, answer in enumerate(pending.answers):
                if answer is None:
                    tasks.start_soon(make, place)
        if None in given:
            self.pending = PendingCalls(pending.calls, given)
            raise MustWait("a call waits for a person")
        return [*given]

    async def _answer(self, call: InnerCall) -> object | None:
        """Make a call; return what the program gets, or None where the call waits for a person."""
        self.touched[call.server] = None
        made = await self._handle(self._request(call), self._counterpart.for_call(call.server))
        outcome, name = made.outcome, f"{call.server}:{call.tool}"
        reason = outcome.reason.value if outcome.reason else ""
        self.told.append(ToldCall(name, outcome.kind.value, reason, made.call))
        if outcome.kind is OutcomeKind.HELD:
            return None
        if made.error is not None:
            return _failed(TOOL_ERROR, str(made.error.get("message", "")))
        if made.result is None:
            said = refusal(made)
            return _failed(said["reason"], f"{said['message']} {said['next']}")
        value = _value(made.result)
        if len(dumps(value)) > MOST_RESULT:
            return _failed(TOOL_ERROR, f"the result has more than {MOST_RESULT} bytes, which is too much for a program")
        if made.result.get("isError") is True:
            return _failed(TOOL_ERROR, value if isinstance(value, str) else dumps(value).decode())
        return {"ok": True, "result": value}

    def _request(self, call: InnerCall) -> CallRequest:
        asked = self._asked
        return CallRequest(
            caller=asked.caller,
            face=asked.face,
            given=Arguments(CALL, {"name": call.tool, "arguments": dict(call.arguments)}),
            capability=Capability(call.server, CapabilityKind.TOOL, call.tool),
            client=asked.client,
            peer=asked.peer,
            trace=asked.trace,
            stated=asked.stated,
            session=asked.session,
            by=asked.by,
            script_tools=asked.script_tools,
            program=self.named,
            parent=self._entry,
        )

    def _refuse_server(self, server: str) -> None:
        allowed, known = self._asked.servers, self._servers.find(server)
        if allowed is not None and server not in allowed:
            raise RunFailed(FailureCode.SERVER_NOT_ALLOWED, f"the run may not call the server {server[:200]}")
        if known is not None and known.upstream.transport is Transport.OWN:
            raise RunFailed(FailureCode.SERVER_NOT_ALLOWED, "a program cannot run a script")


def _failed(code: str, message: str) -> dict[str, object]:
    return {"ok": False, "error": {"code": code, "message": message}}


def _value(result: Mapping[str, Any]) -> object:
    """Return what a program gets of a result: its structure, else its text, else its content."""
    if "structuredContent" in result:
        return result["structuredContent"]
    content = result.get("content")
    if isinstance(content, list) and all(isinstance(each, dict) and each.get("type") == "text" for each in content):
        return "\n".join(str(each.get("text", "")) for each in content)
    return content
