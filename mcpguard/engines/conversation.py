"""Holds the conversation with one worker: what it asks for is given, counted and bounded.

Rules kept here:
1. Whatever a worker writes is untrusted. A message that is not expected, or has more members than one of its kind, ends
   the run.
2. Nothing of a program runs before the host has seen the names in it: a call that comes sooner is none.
3. Engines count only their own time. The guard's clock bounds how long a worker may be silent, and the whole run; a
   program sleeps on it, too.
4. Calls, their arguments, the log and the value are counted here, whatever the worker claims.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any, Final

import anyio

from mcpguard.codec.messages import dumps
from mcpguard.engines.code_run import (
    KIB,
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
from mcpguard.engines.worker_lines import ODD, receive_line
from mcpguard.text.visible import visible
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.process.stdio import Stdio

ENVELOPE: Final = 256
"""Bytes of a message around the value that it carries."""
GRACE_SECONDS: Final = 2.0
"""How much longer than the engine's own limit a worker may be silent."""
LONGEST_SLEEP: Final = 86_400.0
LOG_LINE: Final = 4 * KIB
"""Bytes of one line of a log; the rest of it is cut."""
OF_LINE: Final = 64
"""What a line counts beside its bytes. Worker and guard count alike, so that none is left out without a word."""
CUT: Final = " […]"
FULL: Final = "[the log is full]"
MOST_NAMES: Final = 5000
"""More than a program can name that is no longer than it may be."""
MORE_STEPS: Final = 10_000
"""Times that a program may ask for anything else than its calls."""
LONGEST_FAILURE: Final = 2000
LONGEST_NAME: Final = 1024
_OF_WORKERS: Final = frozenset(FailureCode) - {
    FailureCode.SERVER_NOT_ALLOWED,
    FailureCode.ENGINE_UNAVAILABLE,
    FailureCode.HOLD_WAITING,
    FailureCode.ANSWER_WITHHELD,
}
"""What a worker may say; the others are the guard's own."""
_DIED: Final = "the engine has ended while the program ran"
"""No more: what a process writes at its end, and where that is kept, is for operators."""


class RunConversation:
    """One run, or the part of it that one worker does. `before`: the program as it was suspended, if it goes on."""

    def __init__(self, limits: RunLimits, host: RunHost, before: SuspendedRun | None = None) -> None:
        used = before or SuspendedRun("")
        self.logs = [*used.logs]
        self._limits = limits
        self._host = host
        self._is_named = before is not None
        self._logged = used.logged
        self._calls = used.calls
        self._argument_bytes = used.argument_bytes
        self._seconds = used.seconds
        self._since = 0.0

    async def hold(self, process: Stdio, wanted: Mapping[str, object]) -> RunEnd | SuspendedRun:
        """Run what is wanted. Raises RunFailed where the worker does not say how it ended."""
        limits, self._since = self._limits, anyio.current_time()
        if (left := limits.wall_seconds - self._seconds) > 0:
            with anyio.move_on_after(left):
                await self._say(process, {**wanted, "limits": self._for_engine()})
                return await self._answer_until_end(process)
        seconds = f"{limits.wall_seconds:g}"
        raise RunFailed(FailureCode.TIMEOUT, f"the program and its calls took longer than {seconds} seconds")

    async def _answer_until_end(self, process: Stdio) -> RunEnd | SuspendedRun:
        while True:
            said, size = await self._hear(process)
            match said:
                case {"value": value} if len(said) == 1 and self._is_named:
                    if size > self._limits.value + ENVELOPE:
                        most = self._limits.value
                        raise RunFailed(FailureCode.LIMIT_EXCEEDED, f"the value has more than {most} bytes")
                    return RunEnd(value, logs=tuple(self.logs))
                case {"failed": dict(failed)} if len(said) == 1:
                    return RunEnd(failure=_failure(failed), logs=tuple(self.logs))
                case {"names": list(names)} if len(said) == 1 and not self._is_named:
                    self._is_named = True
                    await self._say(process, await self._checked(names))
                case _ if self._is_named:
                    try:
                        await self._give(process, said)
                    except MustWait:
                        return await self._suspend(process)
                case _:
                    raise RunFailed(FailureCode.RUNTIME_ERROR, ODD)

    async def _give(self, process: Stdio, said: Mapping[str, Any]) -> None:
        """Do what a running program asks for. Raises RunFailed, and MustWait."""
        match said:
            case {"log": str(text)} if len(said) == 1:
                self._log(text)
            case {"sleep": int() | float() as seconds} if len(said) == 1:
                await anyio.sleep(min(max(0.0, seconds), LONGEST_SLEEP))
                await self._say(process, {"slept": True})
            case {"call": [*calls], "parallel": int(most), "line": line} if len(said) == 3 and calls and most >= 1:
                try:
                    answers = await self._called(calls, most)
                except RunFailed as error:
                    raise RunFailed(error.failure.code, error.failure.message, _line(line)) from error
                await self._say(process, {"answer": [*answers]})
            case _:
                raise RunFailed(FailureCode.RUNTIME_ERROR, ODD)

    async def _suspend(self, process: Stdio) -> RunEnd | SuspendedRun:
        await self._say(process, {"suspend": True})
        said, _ = await self._hear(process)
        match said:
            case {"state": str(state)} if len(said) == 1 and _is_state(state, self._limits.state):
                seconds = self._seconds + anyio.current_time() - self._since
                logs, bytes_ = tuple(self.logs), self._argument_bytes
                return SuspendedRun(state, logs, self._logged, self._calls, bytes_, seconds)
            case {"failed": dict(failed)} if len(said) == 1:
                return RunEnd(failure=_failure(failed), logs=tuple(self.logs))
            case _:
                raise RunFailed(FailureCode.RUNTIME_ERROR, ODD)

    async def _checked(self, named: list[Any]) -> dict[str, object]:
        names = [(each[0], each[1]) for each in named if isinstance(each, list) and [*map(type, each)] == [str, str]]
        if len(names) != len(named) or len(names) > MOST_NAMES:
            raise RunFailed(FailureCode.RUNTIME_ERROR, ODD)
        stubs, typed = program_stubs(await self._host.check(names))
        return {"stubs": stubs, "typed": typed}

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
        return await self._host.call(wanted, min(parallel, limits.parallel))

    def _log(self, text: str) -> None:
        limits = self._limits
        if self._logged > limits.log:  # it was told how much it may log
            raise RunFailed(FailureCode.RUNTIME_ERROR, ODD)
        written = text.encode()
        if len(written) > LOG_LINE:
            text = written[:LOG_LINE].decode(errors="ignore") + CUT
        self._logged += min(len(written), LOG_LINE) + OF_LINE
        self.logs.append(text if self._logged <= limits.log else FULL)

    async def _say(self, process: Stdio, said: Mapping[str, object]) -> None:
        # What was done for the worker is bounded by its limits. If it were charged with that, each call would wait.
        process.charge_nothing()
        try:
            await process.send(dumps(said))
        except TransportEnded as error:
            raise RunFailed(FailureCode.RUNTIME_ERROR, _DIED) from error

    async def _hear(self, process: Stdio) -> tuple[dict[str, Any], int]:
        """Return a message and its length. Raises RunFailed."""
        with anyio.move_on_after(self._limits.seconds + GRACE_SECONDS):
            try:
                return await receive_line(process)
            except TransportEnded as error:
                raise RunFailed(FailureCode.RUNTIME_ERROR, _DIED) from error
        raise RunFailed(FailureCode.TIMEOUT, f"the program ran for longer than {self._limits.seconds:g} seconds")

    def _for_engine(self) -> dict[str, object]:
        """Return what the engine and its worker are to keep themselves: what is left of the limits."""
        limits = self._limits
        return {
            "seconds": limits.seconds,
            "memory": limits.memory,
            "depth": limits.depth,
            "steps": 2 * limits.calls + MORE_STEPS,  # a call takes two where it is awaited
            "calls": limits.calls - self._calls,
            "arguments": limits.arguments - self._argument_bytes,
            "value": limits.value,
            "state": limits.state,
            "log": limits.log - self._logged,
            "log_line": LOG_LINE,
            "of_line": OF_LINE,
        }


def _inner_call(said: object) -> InnerCall:
    match said:
        case {"server": str(server), "tool": str(tool), "args": dict(arguments), **more} if not more:
            if "\0" in server + tool or max(len(server), len(tool)) > LONGEST_NAME:
                raise RunFailed(FailureCode.INVALID_ARGS, f"a name has at most {LONGEST_NAME} characters, and no NUL")
            return InnerCall(server, tool, arguments)
        case _:
            raise RunFailed(FailureCode.RUNTIME_ERROR, ODD)


def _failure(said: Mapping[str, Any]) -> RunFailure:
    match said:
        case {"code": str(code), "message": str(message), "line": line} if len(said) == 3 and code in _OF_WORKERS:
            return RunFailure(FailureCode(code), visible(message[:LONGEST_FAILURE]), _line(line))
        case _:
            raise RunFailed(FailureCode.RUNTIME_ERROR, ODD)


def _line(said: object) -> int | None:
    if said is None or (type(said) is int and said > 0):
        return said
    raise RunFailed(FailureCode.RUNTIME_ERROR, ODD)


def _is_state(said: str, most: int) -> bool:
    try:
        return len(said) <= most and bool(base64.b64decode(said, validate=True))
    except (binascii.Error, ValueError):
        return False
