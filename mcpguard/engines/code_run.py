"""A program of an agent, its limits, what it asks of the guard while it runs, and how it ends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Protocol

from mcpguard.domain.errors import GuardError

KIB: Final = 1024
MIB: Final = 1024 * KIB
LONGEST_PROGRAM: Final = 64 * KIB


class FailureCode(StrEnum):
    """Why a program ended without a value."""

    SYNTAX_ERROR = "SYNTAX_ERROR"
    RUNTIME_ERROR = "RUNTIME_ERROR"
    TIMEOUT = "TIMEOUT"
    MAX_TOOL_CALLS_EXCEEDED = "MAX_TOOL_CALLS_EXCEEDED"
    SERVER_NOT_ALLOWED = "SERVER_NOT_ALLOWED"
    SERIALIZATION_ERROR = "SERIALIZATION_ERROR"
    INVALID_ARGS = "INVALID_ARGS"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    ENGINE_UNAVAILABLE = "ENGINE_UNAVAILABLE"
    HOLD_WAITING = "HOLD_WAITING"
    ANSWER_WITHHELD = "ANSWER_WITHHELD"


@dataclass(frozen=True, slots=True)
class RunFailure:
    """Why a program ended without a value, and the line at fault if one is."""

    code: FailureCode
    message: str
    line: int | None = None


class RunFailed(GuardError):
    """The program cannot go on. Raised by whoever is asked for something by it."""

    def __init__(self, code: FailureCode, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.failure = RunFailure(code, message, line)


class MustWait(GuardError):
    """A call waits for a person, and the program with it: it is to be suspended."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program with its input, which may be any JSON value."""

    source: str
    input: object = None


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What one run may use at most, however often it is suspended in between.

    `seconds` is the time of its engine, `wall_seconds` all of its time but that in which it is suspended. `log` bounds
    what is kept of its log, `state` what is kept of it while it is suspended.
    """

    wall_seconds: float = 120.0
    seconds: float = 10.0
    memory: int = 64 * MIB
    depth: int = 200
    calls: int = 100
    parallel: int = 8
    value: int = 256 * KIB
    log: int = 64 * KIB
    arguments: int = 4 * MIB
    state: int = MIB


@dataclass(frozen=True, slots=True)
class InnerCall:
    """A call that a program makes."""

    server: str
    tool: str
    arguments: Mapping[str, Any] = field(repr=False)


class RunHost(Protocol):
    """What a program can ask for."""

    async def check(self, names: Sequence[tuple[str, str]]) -> Mapping[int, object]:
        """Take note of the tools that a program names literally, before anything of it runs. Returns the input schemas
        with which its calls are to be compared, by the place among the names. Raises RunFailed."""
        ...

    async def call(self, calls: Sequence[InnerCall], parallel: int) -> Sequence[object]:
        """Make calls, and return an answer for each. Raises RunFailed, and MustWait."""
        ...


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a program ended: with a value, or with a failure; and what it logged."""

    value: object = field(default=None, repr=False)
    failure: RunFailure | None = None
    logs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SuspendedRun:
    """A program that waits for the answer to a call. `state` means something to the engine alone.

    What it has used up counts when it goes on: its time, its log, its calls and the bytes of their arguments.
    """

    state: str = field(repr=False)
    logs: tuple[str, ...] = ()
    logged: int = 0
    calls: int = 0
    argument_bytes: int = 0
    seconds: float = 0.0
