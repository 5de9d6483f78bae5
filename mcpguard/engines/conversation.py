"""Holds the conversation with one worker: what it asks for is given, counted and bounded.

Rules kept here:
1. Whatever a worker writes is untrusted. A message that is not expected ends the run.
2. Engines count only their own time. The guard's clock bounds how long a worker may be silent, and the whole run.
3. Calls, their arguments, log lines and the value are counted here, whatever the worker claims.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import anyio

from mcpguard.codec.messages import dumps
from mcpguard.codec.strict import StrictError, parse
from mcpguard.engines.code_run import (
    MIB,
    FailureCode,
    InnerCall,
    MustWait,
    RunEnd,
    RunFailed,
    RunFailure,
    RunHost,
    RunLimits,
    SuspendedRun,
)
from mcpguard.engines.python_stubs import program_stubs
from mcpguard.text.visible import visible
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.process.stdio import Stdio

LONGEST_MESSAGE: Final = 8 * MIB
"""Bytes of one message of a worker: all calls that are made together, or a value."""
DEEPEST: Final = 64
GRACE_SECONDS: Final = 2.0
"""How much longer than the engine's own limit a worker may be silent."""
MOST_LOGS: Final = 1000
MOST_NAMES: Final = 200
LONGEST_FAILURE: Final = 2000
LONGEST_NAME: Final = 1024
_OF_WORKERS: Final = frozenset(
    {
        FailureCode.SYNTAX_ERROR,
        FailureCode.RUNTIME_ERROR,
        FailureCode.TIMEOUT,
        FailureCode.SERIALIZATION_ERROR,
        FailureCode.INVALID_ARGS,
        FailureCode.LIMIT_EXCEEDED,
    }
)
_DIED: Final = "the engine has ended while the program ran"
_ODD: Final = "the engine wrote what is no message of its own"


class RunConversation:
    """One run. `before`: the program as it was suspended, if it goes on."""

    def __init__(self, limits: RunLimits, host: RunHost, before: SuspendedRun | None = None) -> None:
        self.logs = [*before.logs] if before else []
        self._limits = limits
        self._host = host
        self._logged = sum(len(line.encode(errors="replace")) for line in self.logs)
        self._calls = before.calls if before else 0
        self._argument_bytes = before.argument_bytes if before else 0

    @staticmethod
    async def version_of(process: Stdio) -> str:
        """Return the version of the engine, with which a worker says that it is ready. Raises RunFailed."""
        match await _heard(process):
            case {"ready": str(version)}:
                return visible(version[:40])
            case _:
                raise RunFailed(FailureCode.ENGINE_UNAVAILABLE, _ODD)

    async def hold(self, process: Stdio, wanted: Mapping[str, object]) -> RunEnd | SuspendedRun:
        """Run what is wanted. Raises RunFailed where the worker does not say how it ended."""
        limits = self._limits
        with anyio.move_on_after(limits.wall_seconds):
            await self._say(process, {**wanted, "limits": _for_engine(limits)})
            return await self._answer_until_end(process)
        seconds = f"{limits.wall_seconds:g}"
        raise RunFailed(FailureCode.TIMEOUT, f"the program and its calls took longer than {seconds} seconds")

    async def _answer_until_end(self, process: Stdio) -> RunEnd | SuspendedRun:
        while True:
            match await self._hear(process):
                case {"names": list(names)}:
                    await self._say(process, await self._checked(names))
                case {"log": str(text)}:
                    self._log(text)
                case {"call": list(calls), "parallel": int(parallel)}:
                    try:
                        answers = await self._called(calls, parallel)
                    except MustWait:
                        return await self._suspend(process)
                    await self._say(process, {"answer": [*answers]})
                case {"value": value}:
                    if len(dumps(value)) > self._limits.value:
                        raise RunFailed(
                            FailureCode.LIMIT_EXCEEDED, f"the value has more than {self._limits.value} bytes"
                        )
                    return RunEnd(value, logs=tuple(self.logs))
                case {"failed": dict(failed)}:
                    return RunEnd(failure=_failure(failed), logs=tuple(self.logs))
                case _:
                    raise RunFailed(FailureCode.RUNTIME_ERROR, _ODD)

    async def _suspend(self, process: Stdio) -> SuspendedRun:
        await self._say(process, {"suspend": True})
        match await self._hear(process):
            case {"state": str(state)}:
                return SuspendedRun(state, tuple(self.logs), self._calls, self._argument_bytes)
            case _:
                raise RunFailed(FailureCode.RUNTIME_ERROR, _ODD)

    async def _checked(self, named: list[Any]) -> dict[str, object]:
        names = [(each[0], each[1]) for each in named if isinstance(each, list) and [*map(type, each)] == [str, str]]
        if len(names) != len(named) or len(names) > MOST_NAMES:
            raise RunFailed(FailureCode.LIMIT_EXCEEDED, f"the program names more than {MOST_NAMES} tools")
        schemas = await self._host.check(names)
        return {"stubs": program_stubs(schemas), "typed": [*schemas]}

    async def _called(self, calls: list[Any], parallel: int) -> Sequence[object]:
        limits = self._limits
        wanted = [_inner_call(each) for each in calls]
        self._calls += len(wanted)
        if self._calls > limits.calls:
            raise RunFailed(FailureCode.MAX_TOOL_CALLS_EXCEEDED, f"the program makes more than {limits.calls} calls")
        self._argument_bytes += sum(len(dumps(each.arguments)) for each in wanted)
        if self._argument_bytes > limits.arguments:
            raise RunFailed(
                FailureCode.LIMIT_EXCEEDED, f"the arguments of all calls have more than {limits.arguments} bytes"
            )
        return await self._host.call(wanted, max(1, min(parallel, limits.parallel)))

    def _log(self, text: str) -> None:
        self._logged += len(text.encode(errors="replace"))
        if self._logged > self._limits.log or len(self.logs) >= MOST_LOGS:
            raise RunFailed(
                FailureCode.LIMIT_EXCEEDED,
                f"the program logs more than {self._limits.log} bytes or {MOST_LOGS} lines",
            )
        self.logs.append(text)

    async def _say(self, process: Stdio, said: Mapping[str, object]) -> None:
        # What was done for the worker is bounded by its limits. If it were charged with that, each call would wait.
        process.charge_nothing()
        try:
            await process.send(dumps(said))
        except TransportEnded as error:
            raise RunFailed(FailureCode.RUNTIME_ERROR, _DIED) from error

    async def _hear(self, process: Stdio) -> dict[str, Any]:
        with anyio.move_on_after(self._limits.seconds + GRACE_SECONDS):
            return await _heard(process)
        raise RunFailed(FailureCode.TIMEOUT, f"the program ran for longer than {self._limits.seconds:g} seconds")


async def _heard(process: Stdio) -> dict[str, Any]:
    try:
        said = parse(await process.receive(), max_bytes=LONGEST_MESSAGE, max_depth=DEEPEST)
    except TransportEnded as error:
        raise RunFailed(FailureCode.RUNTIME_ERROR, _DIED) from error
    except StrictError as error:
        raise RunFailed(
            FailureCode.SERIALIZATION_ERROR, "the program's value or arguments are no plain JSON"
        ) from error
    if not isinstance(said, dict):
        raise RunFailed(FailureCode.RUNTIME_ERROR, _ODD)
    return said


def _inner_call(said: object) -> InnerCall:
    match said:
        case {"server": str(server), "tool": str(tool), "args": dict(arguments), **more} if not more:
            if "\0" in server + tool or max(len(server), len(tool)) > LONGEST_NAME:
                raise RunFailed(FailureCode.INVALID_ARGS, f"a name has at most {LONGEST_NAME} characters, and no NUL")
            return InnerCall(server, tool, arguments)
        case _:
            raise RunFailed(FailureCode.RUNTIME_ERROR, _ODD)


def _failure(said: Mapping[str, Any]) -> RunFailure:
    code, message, line = said.get("code"), said.get("message"), said.get("line")
    if code not in _OF_WORKERS or not isinstance(message, str):
        raise RunFailed(FailureCode.RUNTIME_ERROR, _ODD)
    is_line = isinstance(line, int) and not isinstance(line, bool) and line > 0
    return RunFailure(FailureCode(code), visible(message[:LONGEST_FAILURE]), line if is_line else None)


def _for_engine(limits: RunLimits) -> dict[str, object]:
    """Return what the engine is to keep itself. Each call suspends the program once, and so may a log line."""
    steps = limits.calls + 2 * MOST_LOGS
    return {"seconds": limits.seconds, "memory": limits.memory, "depth": limits.depth, "steps": steps}
