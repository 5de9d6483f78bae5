"""A program that an agent wants to run, and what the agent is told of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.calls import Face
from mcpguard.domain.peers import THIS_HOST, NetworkPeer
from mcpguard.domain.scripts import NamedTool, ToolVersions
from mcpguard.engines.code_run import Program, RunFailure
from mcpguard.policy.intents import StatedIntent


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What was asked for. `servers`: those that the program may call, None for all in the caller's scope.

    `stated` bounds the effects of all its calls. `session`: the session or stream in which it is asked. `by`: the
    person who runs it in the caller's name, if one does. `script`: the name of the approved script that it is;
    `script_tools`: the tools whose holds its approval answers; `parent`: the call that runs it.
    """

    caller: Caller
    face: Face
    program: Program
    stated: StatedIntent
    servers: tuple[str, ...] | None = None
    most_calls: int
    wall_seconds: float
    client: str = ""
    peer: NetworkPeer = THIS_HOST
    session: str = ""
    trace: str = ""
    by: str = ""
    script: str = ""
    script_tools: ToolVersions | None = None
    parent: str = ""


@dataclass(frozen=True, slots=True)
class ToldCall:
    """A call that a program made, as its agent is told. `call`: its entry in the audit log."""

    name: str
    status: str
    reason: str
    call: str


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """How a run ended. `waits`: the reason for which the program was suspended until it is sent again.

    `named`: the tools that the program writes out, with their effects. `screened`: what was found in the value and the
    log, for the answer's `_meta`.
    """

    entry: str
    value: object = None
    failure: RunFailure | None = None
    waits: str = ""
    logs: tuple[str, ...] = ()
    calls: tuple[ToldCall, ...] = ()
    named: tuple[NamedTool, ...] = ()
    screened: Mapping[str, Any] = field(default_factory=dict)
