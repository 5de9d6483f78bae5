"""Checks a program without running it: which tools it names, with which effects, and whether it is well formed.

Rules kept here:
1. Nothing of the program runs: the first thing that is run is an error that was put in front of it.
2. What a program makes up while it runs cannot be told. The tools are those that are written out.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NoReturn

from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.scripts import NamedTool
from mcpguard.domain.servers.listings import Definition
from mcpguard.engines.code_run import FailureCode, InnerCall, Program, RunFailed, RunFailure, RunLimits, SuspendedRun
from mcpguard.engines.engines import CodeEngines
from mcpguard.guard.servers.servers import Servers

_STOP: Final = "mcpguard: checked"
_AHEAD: Final = f"if input is None:\n    raise ValueError({_STOP!r})\n"
_LINES_AHEAD: Final = _AHEAD.count("\n")
_LINE: Final = re.compile(r"\bline ([0-9]{1,6})\b")
_LIMITS: Final = RunLimits(wall_seconds=30.0, seconds=5.0, calls=1)


@dataclass(frozen=True, slots=True)
class CheckedProgram:
    """What a program names, and what is wrong with it, if anything is."""

    tools: tuple[NamedTool, ...]
    failure: RunFailure | None = None


def named_tools(servers: Servers, names: Sequence[tuple[str, str]]) -> tuple[NamedTool, ...]:
    """Return the tools that a program names, with their effects now, each once and in the order of the program."""
    return tuple(NamedTool(server, tool, _effect(servers, server, tool)) for server, tool in dict.fromkeys(names))


def approved_definition(servers: Servers, server: str, tool: str) -> Definition | None:
    """Return the definition of a tool, if it is approved as it is listed."""
    known = servers.find(server)
    if known is None or known.effect(CapabilityKind.TOOL, tool) is None:
        return None
    return known.definition(CapabilityKind.TOOL, tool)


async def check_program(engines: CodeEngines, servers: Servers, source: str) -> CheckedProgram:
    """Check a program, in a worker as if it were run."""
    host = _Checking(servers)
    ended = await engines.execute(Program(_AHEAD + source), _LIMITS, host)
    if isinstance(ended, SuspendedRun):
        raise TypeError("a program that does not run cannot wait")
    failure = ended.failure
    if failure is not None and failure.code is FailureCode.RUNTIME_ERROR and _STOP in failure.message:
        failure = None
    elif failure is not None:
        line = None if failure.line is None else max(1, failure.line - _LINES_AHEAD)
        failure = replace(failure, line=line, message=_LINE.sub(_moved_line, failure.message))
    return CheckedProgram(host.tools, failure)


def _moved_line(match: re.Match[str]) -> str:
    return f"line {max(1, int(match[1]) - _LINES_AHEAD)}"


class _Checking:
    """The host of a program that is only checked."""

    def __init__(self, servers: Servers) -> None:
        self.tools: tuple[NamedTool, ...] = ()
        self._servers = servers

    async def check(self, names: Sequence[tuple[str, str]]) -> Mapping[int, object]:
        """Note the names, and return the schemas of the approved tools among them."""
        self.tools = named_tools(self._servers, names)
        schemas = dict[int, object]()
        for place, (server, tool) in enumerate(names):
            if (definition := approved_definition(self._servers, server, tool)) is not None:
                schemas[place] = definition.get("inputSchema")
        return schemas

    async def call(self, _calls: Sequence[InnerCall], _parallel: int) -> NoReturn:
        """Raise RunFailed: nothing is called."""
        raise RunFailed(FailureCode.RUNTIME_ERROR, "the program is only checked")


def _effect(servers: Servers, server: str, tool: str) -> Effect | None:
    known = servers.find(server)
    return known.effect(CapabilityKind.TOOL, tool) if known is not None else None
