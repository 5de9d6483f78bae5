"""The request of a client for one call, and its result."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.calls import Face
from mcpguard.domain.calls.objections import NOTHING_MORE, Detail
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.capabilities import Capability
from mcpguard.domain.findings import Finding
from mcpguard.guard.calls.uninspected_server import UninspectedServer
from mcpguard.policy.intents import StatedIntent


@dataclass(frozen=True, slots=True)
class ReplyPage:
    """A page of the kept reply to the call `of`."""

    of: str
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallRequest:
    """What a client asked for: which capability of which server, by which method, with which parameters.

    `pinned` is the name under which the capability is found in the catalog; for a resource that a template covers it
    is the template's. The parameters are the server's own, without what belonged to the client's leg of the way. The
    watcher is who wants to hear of changes, where it is that what is asked for. `stated` is what the agent says it
    means to do; None where that is implied by what is called. `page`: what of an earlier reply is asked for; then
    nothing is sent. `session`: the session or stream in which it is asked, if there is one. `by`: the person who calls
    in the caller's name, if one does.
    """

    caller: Caller
    face: Face
    method: str
    capability: Capability
    params: Mapping[str, Any]
    client: str = ""
    pinned: Capability | None = None
    trace: str = ""
    watcher: object | None = None
    stated: StatedIntent | None = None
    page: ReplyPage | None = None
    session: str = ""
    by: str = ""


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
