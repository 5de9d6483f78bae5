"""The request of a client for one call, and its result."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.calls import Face
from mcpguard.domain.calls.objections import NOTHING_MORE, Detail
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.capabilities import Capability
from mcpguard.domain.decisions import CapabilityKey
from mcpguard.domain.findings import Finding
from mcpguard.domain.peers import THIS_HOST, NetworkPeer
from mcpguard.domain.scripts import NamedTool, ToolVersions
from mcpguard.guard.calls.uninspected_server import UninspectedServer
from mcpguard.guard.servers.argument_checks import Arguments
from mcpguard.policy.intents import StatedIntent


@dataclass(frozen=True, slots=True)
class ReplyPage:
    """A page of the kept reply to the call `of`."""

    of: str
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSubject:
    """What the rules see of a request: who wants to call which capability of which server.

    `pinned` is the name under which the capability is found in the catalog, if it is another: for a resource that a
    template covers it is the template's. `stated` is what the agent says it means to do; None where that is implied by
    what is called. `given`: the arguments; None where they are not known yet. `page`: what of an earlier reply is asked
    for; then nothing is sent. `session`: the session or stream in which it is asked, if there is one. `ticket`: of the
    hold, or the id of the allowance, that the call has used. `script_tools`: where a script makes the call, the tools
    whose holds its approval answers; `program`: what the program that makes it names, for the reviewer of a hold.
    """

    caller: Caller
    capability: Capability
    pinned: Capability | None = None
    stated: StatedIntent | None = None
    given: Arguments | None = None
    page: ReplyPage | None = None
    session: str = ""
    ticket: str = ""
    script_tools: ToolVersions | None = None
    program: tuple[NamedTool, ...] = ()

    @property
    def key(self) -> CapabilityKey:
        """The kind and name under which its server's approvals have it."""
        found = self.pinned or self.capability
        return found.kind, found.name


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest(CallSubject):
    """What a client asked for, by which method, with which parameters.

    The parameters are the server's own, without what belonged to the client's leg of the way. The watcher is who wants
    to hear of changes, where it is that what is asked for. `by`: the person who calls in the caller's name, if one
    does. `parent`: the run of a program that makes the call.
    """

    given: Arguments
    face: Face
    client: str = ""
    peer: NetworkPeer = THIS_HOST
    trace: str = ""
    watcher: object | None = None
    by: str = ""
    parent: str = ""


@dataclass(frozen=True, slots=True)
class CallResult:
    """How the call ended. Either the upstream's `result`, or its `error`, or a refusal of ours with its reason.

    `capability`: what was refused. `findings`: what was found in what waits for a person, where that is the reason; the
    worst first. `unseen`: what is known of a server that waits and that nobody has inspected. `detail`: what is told
    beside the reason.
    """

    call: str
    outcome: Outcome
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    capability: Capability | None = None
    findings: tuple[Finding, ...] = ()
    unseen: UninspectedServer | None = None
    detail: Detail = NOTHING_MORE
