"""Runs the scripts that agents call: exactly the program that a person approved, with its calls judged one by one.

Rules kept here:
1. What is run is the definition that the call was judged by, never what was written down since.
2. The calls of a script may have no worse effect than the one that the script was approved with.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from mcpguard.codec.messages import dumps
from mcpguard.domain.calls.calls import IMPLIED
from mcpguard.domain.calls.counterpart import CallingClient
from mcpguard.domain.calls.records import Permit
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.scripts import Script
from mcpguard.engines.code_run import FailureCode, Program
from mcpguard.guard.calls.request import CallRequest
from mcpguard.guard.programs.programs import Programs
from mcpguard.guard.programs.run_request import RunAnswer, RunRequest
from mcpguard.policy.intents import StatedIntent

_WAITS: Final = (
    "A call waits for the approval of a person. Call this again with the same arguments once it is approved."
)


class ScriptRuns:
    """Runs approved scripts."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs

    async def run(self, asked: CallRequest, effect: Effect, permit: Permit, client: CallingClient) -> dict[str, Any]:
        """Run the script that is called, and return the result of the call. `effect`: the approved one of the script.

        Nothing is awaited before the program is read, so that it is the one which was judged.
        """
        script, settings = self._script(asked), self._programs.settings
        stated = asked.stated.intent if asked.stated is not None else IMPLIED[effect]
        wanted = RunRequest(
            caller=asked.caller,
            face=asked.face,
            program=Program(script.source, asked.given.params.get("arguments") or {}),
            stated=StatedIntent(replace(stated, operation=effect)),
            most_calls=settings.calls,
            wall_seconds=settings.wall_seconds,
            client=asked.client,
            peer=asked.peer,
            session=asked.session,
            trace=asked.trace,
            by=asked.by,
            script=script.name,
            script_tools=script.tools,
            parent=permit.entry,
        )
        return _result(await self._programs.run(wanted, client))

    def _script(self, asked: CallRequest) -> Script:
        known = self._programs.servers.find(asked.capability.server)
        definition = known.definition(CapabilityKind.TOOL, asked.capability.name) if known is not None else None
        if definition is None:
            raise LookupError("a script that is allowed is listed")
        return Script.from_definition(definition)


def _result(answer: RunAnswer) -> dict[str, Any]:
    """Return the result of a call: the value as structure where it is an object, else as text."""
    if answer.failure is not None:
        line = f" (line {answer.failure.line})" if answer.failure.line else ""
        return _failed(answer.failure.code, f"{answer.failure.message}{line}")
    if answer.waits:
        return _failed(FailureCode.HOLD_WAITING, _WAITS)
    text = answer.value if isinstance(answer.value, str) else dumps(answer.value).decode()
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
    return result | {"structuredContent": answer.value} if isinstance(answer.value, Mapping) else result


def _failed(code: FailureCode, message: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": f"{code.value}: {message}"}], "isError": True}
