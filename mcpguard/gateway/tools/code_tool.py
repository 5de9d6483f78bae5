"""The tool `code_execution`: runs a program of an agent that calls many tools (docs/programs.md).

Rules kept here:
1. Every call that a program makes goes where a call of an agent goes, with the intent that was declared for the run.
2. How a program ended is the tool's answer, also when it failed: agents tell failures by their codes.
"""

from collections.abc import Mapping
from typing import Any, Final

from mcpguard.codec import envelope
from mcpguard.codec.messages import dumps
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.json import Json
from mcpguard.engines.code_run import FailureCode, Program, RunFailure
from mcpguard.gateway.client_request import Exchange
from mcpguard.gateway.tools.answers import tool_result
from mcpguard.gateway.tools.arguments import CodeArguments, UnusableArguments, read
from mcpguard.guard.guard import Guard
from mcpguard.guard.programs.answer_json import run_json
from mcpguard.guard.programs.programs import Programs
from mcpguard.guard.programs.run_request import RunAnswer, RunRequest
from mcpguard.policy.intents import StatedIntent, read_intent

NO_ENGINE: Final = "there is no engine for {language} that can be held within its limits; write the program in Python"
_OPERATION: Final = "operation_type"


class CodeTool:
    """Answers for one guard."""

    def __init__(self, guard: Guard, programs: Programs) -> None:
        self._guard = guard
        self._programs = programs

    async def answer(self, exchange: Exchange, _: Mapping[str, Any], arguments: Json) -> Json:
        """Run a program and return the tool's result. Raises UnusableArguments."""
        given, settings = read(CodeArguments, arguments), self._programs.settings
        if len(dumps(given.input)) > self._guard.settings.arguments.largest:
            raise UnusableArguments(f"input: at most {self._guard.settings.arguments.largest} bytes")
        if given.language != "python":
            message = NO_ENGINE.format(language=given.language)
            return _result(RunAnswer("", failure=RunFailure(FailureCode.ENGINE_UNAVAILABLE, message)))
        client, options = exchange.client, given.options
        wanted = RunRequest(
            caller=client.caller,
            face=client.face.word,
            program=Program(given.code, given.input),
            stated=_stated(given),
            servers=None if options.allowed_servers is None else tuple(options.allowed_servers),
            most_calls=min(options.max_tool_calls or settings.calls, settings.calls),
            wall_seconds=min((options.timeout_ms or settings.wall_seconds * 1000) / 1000, settings.wall_seconds),
            client=client.name,
            peer=exchange.peer,
            session=client.session,
            trace=exchange.trace,
        )
        return _result(await self._programs.run(wanted, exchange))


def _stated(given: CodeArguments) -> StatedIntent:
    """Return the intent of the run. Without one, the program may only read. Raises UnusableArguments."""
    said = given.intent if isinstance(given.intent, dict) else {}
    operation = said.get(_OPERATION, Effect.READ.value)
    if operation not in {effect.value for effect in Effect}:
        raise UnusableArguments("intent.operation_type: read, write or destructive")
    stated = read_intent(Effect(operation), {} if given.intent is None else {"intent": given.intent})
    if stated.wrong is not None:
        raise UnusableArguments(f"intent: {stated.wrong.sentence.rstrip('.')}")
    return stated


def _result(answer: RunAnswer) -> Json:
    result = tool_result(run_json(answer))
    return envelope.with_meta(result, {envelope.SCREENED: dict(answer.screened)}) if answer.screened else result
