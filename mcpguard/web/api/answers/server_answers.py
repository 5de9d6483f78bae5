"""Answers about servers."""

from typing import Annotated, Literal

from pydantic import Field

from mcpguard.domain.asks import AskKind
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.findings import Severity
from mcpguard.domain.screening import Screening
from mcpguard.domain.servers.inspections import InspectionStage
from mcpguard.domain.servers.needs import Need
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.guard.servers.review_advice import Recommendation
from mcpguard.web.api.answers.answer import ApiAnswer, Fingerprint, Moment, Next
from mcpguard.web.api.answers.capability_answers import CapabilityListedAnswer
from mcpguard.web.api.answers.finding_answers import FindingShownAnswer


class FailedInspectionAnswer(ApiAnswer):
    """How the last inspection of a server failed. It is cleared by the next successful inspection, and when the launch
    changes. `started`: whether the server may have run, or was contacted."""

    at: Moment
    by: str
    error: str
    started: bool


class FailedInspectionWholeAnswer(FailedInspectionAnswer):
    """How the last inspection of a server failed, with the output of the server."""

    wrote: Annotated[
        list[str],
        Field(description="The last lines of its standard error, with detected secrets masked."),
    ]


class ServerListedAnswer(ApiAnswer):
    """A server and the connection to it. `risk`: the highest risk of its launch and its capabilities.

    `present`: how many capabilities it lists; `approved_now`: how many of them are as approved; `found`: how many
    findings its launch and its definitions have; `grave`: how many of them are hard, critical or high.
    """

    name: str
    transport: str
    standing: UpstreamStanding
    enabled: bool
    origin: str
    requester: str
    revision: int
    fingerprint: Annotated[str, Field(description="The fingerprint of its launch.")]
    sandbox: Annotated[str, Field(description="The profile of its sandbox; empty for a remote server.")]
    waiting: Annotated[int, Field(description="How many of its capabilities need review.")]
    present: int
    approved_now: int
    unread: Annotated[
        int,
        Field(description="How many approvals have grave findings that no reviewer has confirmed reading."),
    ]
    inspected: bool
    inspecting: Annotated[Moment | None, Field(description="When the inspection in progress began.")]
    inspection_stage: Annotated[InspectionStage | None, Field(description="The stage of the inspection in progress.")]
    failed_inspection: FailedInspectionAnswer | None
    risk: int
    flagged: bool
    found: int
    grave: int
    state: Annotated[
        str,
        Field(
            description="The state of the connection: `starting` (first time since its approval or the guard's start;"
            " calls wait for that), `connecting` (again), `ready`, `error`, `authenticating` (it requires credentials),"
            " or `disconnected`."
        ),
    ]
    since: Moment
    error: str
    next_try: Moment | None
    protocol: str
    server: Annotated[str, Field(description="The name that it gives itself.")]
    tools: Annotated[int, Field(description="How many tools agents can find now; likewise the next three.")]
    resources: int
    templates: int
    prompts: int
    left_out: list[str]


class ServersAnswer(ApiAnswer):
    """A page of servers, by name."""

    servers: list[ServerListedAnswer]
    next: Next


class IdentityAnswer(ApiAnswer):
    """Two fingerprints: of the launch, and of the identity that the server reports."""

    launch: Fingerprint
    observed: Fingerprint | None


class VariableAnswer(ApiAnswer):
    """A variable or a header. `value`: a reference; null for a literal value, which may be a secret."""

    name: str
    value: str | None
    code: bool


class ProcessAnswer(ApiAnswer):
    """The launch of a local server: the command that is started."""

    command: str
    arguments: list[str]
    folder: str | None
    framing: str
    environment: list[VariableAnswer]


class RemoteAnswer(ApiAnswer):
    """The launch of a remote server: the URL that is contacted."""

    url: str
    headers: list[VariableAnswer]


class UnmetNeedAnswer(ApiAnswer):
    """A permission that a server probably needs and does not have. `seen`: the evidence; `remedy`: what to choose."""

    need: Need
    seen: str
    remedy: str


class ConfinementAnswer(ApiAnswer):
    """The sandbox of a server."""

    profile: str
    means: str
    declared: str
    chosen: Annotated[bool, Field(description="Whether a reviewer chose it, in place of the declared one.")]
    mounts: list[str]
    unseen: list[str]
    needs: list[UnmetNeedAnswer]
    impossible: str | None


class RequestedAnswer(ApiAnswer):
    """A request of a caller beyond its declaration of the server; not in effect. `said`: the request as ASCII JSON,
    untrusted; `by` and `label`: the id and the name of the caller that sent it last."""

    about: Literal["isolation", "oauth"]
    said: str
    by: str
    label: str
    at: Moment


class AdviceKindAnswer(ApiAnswer):
    """What findings of one kind are about, the worst of them, and in how many places they are: capabilities, launch."""

    kind: str
    worst: Severity
    places: int


class AdviceAnswer(ApiAnswer):
    """What the findings of a server advise a reviewer to do, and what they are about, the worst first."""

    recommendation: Recommendation
    about: list[AdviceKindAnswer]


class ServerAnswer(ServerListedAnswer):
    """Everything about one server. Its `ETag` changes with everything that a decision can depend on, not with the
    connection."""

    id: str
    label: str
    generation: int
    observed: Fingerprint | None
    artifact: str | None
    pinned_arguments: Annotated[
        list[str] | None,
        Field(description="Its arguments with the exact version that was inspected, where they leave that open."),
    ]
    approved: IdentityAnswer | None
    launch: ProcessAnswer | RemoteAnswer
    confinement: ConfinementAnswer | None
    requested: list[RequestedAnswer]
    may_ask: list[AskKind]
    screening: Annotated[Screening, Field(description="The mode of the scan of its responses.")]
    screening_decided: Annotated[
        bool, Field(description="Whether a reviewer chose the mode; otherwise it is the setting's.")
    ]
    prefixes: list[str]
    failed_inspection: FailedInspectionWholeAnswer | None
    advice: Annotated[AdviceAnswer, Field(description="What its findings advise. Nothing is decided by it.")]
    unread_itself: Annotated[
        list[str],
        Field(description="Where it is approved: the rules of grave findings in its launch that no reviewer has read."),
    ]
    findings: list[FindingShownAnswer]
    capabilities: list[CapabilityListedAnswer]


class DescriptionsAnswer(ApiAnswer):
    """The descriptions of a server's capabilities. Untrusted: written by the server."""

    descriptions: Annotated[
        dict[str, str],
        Field(description="The beginning of each description, and of the instructions, by `kind:name`."),
    ]


class NewServerAnswer(ServerAnswer):
    """A server that was added or changed. `notices`: what was ignored in its entry."""

    notices: list[str]


class InspectedAnswer(ApiAnswer):
    """The result of an inspection. `started`: whether the server was started or contacted for it."""

    started: bool
    capabilities: int
    new: int
    changed: int
    gone: int
    left_out: int
    profile: str
    error: str


class ApprovedOneAnswer(ApiAnswer):
    """A capability that was approved. `given`: whether the reviewer named its effect."""

    kind: CapabilityKind
    name: str
    fingerprint: Fingerprint
    effect: Effect
    given: bool


class ApprovedAnswer(ApiAnswer):
    """The result of an approval. `waiting`: capabilities that are listed and not approved, as `kind:name`; `unread`:
    those left out because no reviewer confirmed reading their grave findings, with the rules of these."""

    approved: list[ApprovedOneAnswer]
    waiting: list[str]
    unread: dict[str, list[str]]
