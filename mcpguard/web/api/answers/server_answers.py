"""Answers about servers."""

from typing import Annotated, Literal

from pydantic import Field

from mcpguard.domain.asks import AskKind
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.screening import Screening
from mcpguard.domain.servers.inspections import InspectionStage
from mcpguard.domain.servers.needs import Need
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.web.api.answers.answer import ApiAnswer, Fingerprint, Moment, Next
from mcpguard.web.api.answers.capability_answers import CapabilityListedAnswer
from mcpguard.web.api.answers.finding_answers import FindingAnswer


class FailedInspectionAnswer(ApiAnswer):
    """How the last inspection of a server failed. It goes with the next one that succeeds, and when the server is
    launched otherwise. `started`: whether anything of the server may have run, or was contacted."""

    at: Moment
    by: str
    error: str
    started: bool


class FailedInspectionWholeAnswer(FailedInspectionAnswer):
    """The same, with what the server wrote."""

    wrote: Annotated[
        list[str],
        Field(description="The last lines of its standard error meanwhile, without what looks like a secret."),
    ]


class ServerListedAnswer(ApiAnswer):
    """A server and the connection to it. `risk` is the highest of what it is and what it lists.

    `present`: how many capabilities it lists; `approved_now`: how many of these are as a person approved them. `found`:
    how many findings there are in its launch and in what it lists; `grave`: how many of these are hard, critical or
    high.
    """

    name: str
    transport: str
    standing: UpstreamStanding
    enabled: bool
    origin: str
    requester: str
    revision: int
    fingerprint: Annotated[str, Field(description="Of its launch: what would run, or be contacted.")]
    sandbox: Annotated[str, Field(description="The profile it runs with; empty where the guard does not start it.")]
    waiting: Annotated[int, Field(description="How many of its capabilities wait for a person.")]
    present: int
    approved_now: int
    unread: Annotated[
        int,
        Field(description="How much is approved with grave findings that nobody confirmed reading."),
    ]
    inspected: bool
    inspecting: Annotated[Moment | None, Field(description="Since when it is being inspected.")]
    inspection_stage: Annotated[
        InspectionStage | None, Field(description="What is being done in the inspection that is under way.")
    ]
    failed_inspection: FailedInspectionAnswer | None
    risk: int
    flagged: bool
    found: int
    grave: int
    state: Annotated[
        str,
        Field(
            description="Of the connection: `starting` (for the first time since its approval or the guard's start;"
            " calls wait for that), `connecting` (again), `ready`, `error`, `authenticating` (it wants credentials), or"
            " `disconnected`."
        ),
    ]
    since: Moment
    error: str
    next_try: Moment | None
    protocol: str
    server: Annotated[str, Field(description="What it calls itself.")]
    tools: Annotated[int, Field(description="How many agents can find now; so are the next three.")]
    resources: int
    templates: int
    prompts: int
    left_out: list[str]


class ServersAnswer(ApiAnswer):
    """Some of the servers, by name."""

    servers: list[ServerListedAnswer]
    next: Next


class IdentityAnswer(ApiAnswer):
    """Two fingerprints: of the launch, and of what the server says of itself."""

    launch: Fingerprint
    observed: Fingerprint | None


class VariableAnswer(ApiAnswer):
    """A variable or a header. The value is null where it was written out: then it may be a secret."""

    name: str
    value: str | None
    code: bool


class ProcessAnswer(ApiAnswer):
    """What would be started."""

    command: str
    arguments: list[str]
    folder: str | None
    framing: str
    environment: list[VariableAnswer]


class RemoteAnswer(ApiAnswer):
    """What would be contacted."""

    url: str
    headers: list[VariableAnswer]


class UnmetNeedAnswer(ApiAnswer):
    """What it probably needs and does not get: `seen` says what suggests that, `remedy` what a person can choose."""

    need: Need
    seen: str
    remedy: str


class ConfinementAnswer(ApiAnswer):
    """How it is confined."""

    profile: str
    means: str
    declared: str
    chosen: Annotated[bool, Field(description="Whether a person decided on it, instead of what is declared.")]
    mounts: list[str]
    unseen: list[str]
    needs: list[UnmetNeedAnswer]
    impossible: str | None


class RequestedAnswer(ApiAnswer):
    """What a caller asks of people beside how it declares the server; nothing of it is in force. `said`: JSON, in
    ASCII; a caller wrote it. `by` and `label`: the id of the caller who asked last, and what it is called."""

    about: Literal["isolation", "oauth"]
    said: str
    by: str
    label: str
    at: Moment


class ServerAnswer(ServerListedAnswer):
    """Everything about one server. Its `ETag` stands for what can be decided about it, not for the connection."""

    id: str
    label: str
    generation: int
    observed: Fingerprint | None
    artifact: str | None
    approved: IdentityAnswer | None
    launch: ProcessAnswer | RemoteAnswer
    confinement: ConfinementAnswer | None
    requested: list[RequestedAnswer]
    may_ask: list[AskKind]
    screening: Annotated[Screening, Field(description="How what it says is screened now.")]
    screening_decided: Annotated[bool, Field(description="Whether a person has said so; else it is the setting's.")]
    prefixes: list[str]
    failed_inspection: FailedInspectionWholeAnswer | None
    unread_itself: Annotated[
        list[str],
        Field(
            description="Where it is approved: the rules of grave findings in its launch that nobody confirmed reading."
        ),
    ]
    findings: list[FindingAnswer]
    capabilities: list[CapabilityListedAnswer]


class DescriptionsAnswer(ApiAnswer):
    """What a server says of what it lists now. Its server wrote all of it."""

    descriptions: Annotated[
        dict[str, str],
        Field(description="By `kind:name`: the beginning of each description, and of its instructions."),
    ]


class NewServerAnswer(ServerAnswer):
    """A server that was added or changed. `notices`: what of its entry was not read."""

    notices: list[str]


class InspectedAnswer(ApiAnswer):
    """What an inspection came to. `started`: whether the server was started or contacted for it."""

    started: bool
    capabilities: int
    new: int
    changed: int
    gone: int
    left_out: int
    profile: str
    error: str


class ApprovedOneAnswer(ApiAnswer):
    """A capability that was approved. `given`: whether its effect was named by whoever approved it."""

    kind: CapabilityKind
    name: str
    fingerprint: Fingerprint
    effect: Effect
    given: bool


class ApprovedAnswer(ApiAnswer):
    """What an approval came to. `waiting`: what of the server is listed and not approved, as `kind:name`; `unread`:
    what was left out because nobody confirmed reading its grave findings, with their rules."""

    approved: list[ApprovedOneAnswer]
    waiting: list[str]
    unread: dict[str, list[str]]
