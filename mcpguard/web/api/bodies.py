"""The request bodies and their fields. Unknown fields are rejected, and values are not converted."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, StrictInt, model_validator
from pydantic_core import PydanticCustomError

from mcpguard.codec import globs
from mcpguard.codec.canonical import LARGEST
from mcpguard.codec.capability_keys import parse_key
from mcpguard.codec.filters import LONGEST as LONGEST_FILTER
from mcpguard.domain.asks import AskKind
from mcpguard.domain.calls.allowances import LONGEST_MINUTES
from mcpguard.domain.capabilities import FINGERPRINT, CapabilityKind, Effect, Fingerprint
from mcpguard.domain.decisions import LONGEST_WHY, SERVER_ITSELF, Approval, CapabilityKey, ReviewedVersions
from mcpguard.domain.grants import USUAL_SECONDS
from mcpguard.domain.screening import Screening
from mcpguard.domain.servers.launches import Profile
from mcpguard.domain.usual_reasons import HeldReason
from mcpguard.guard.audit.exports import AuditExportRequest
from mcpguard.ledger.export.formats import WORDS
from mcpguard.ledger.export.selection import Selection


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "must not be blank")
    return text


Print = Annotated[str, Field(pattern=f"^{FINGERPRINT.pattern}$")]
Text = Annotated[str, Field(max_length=LONGEST_WHY)]
Reason = Annotated[Text, AfterValidator(_not_blank)]


Number = Annotated[StrictInt, Field(ge=0, le=LARGEST)]
_PRINT: Final = f"v1:{'0' * 64}"


class ApiBody(BaseModel):
    """The base of all bodies."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


def example(shown: dict[str, Any]) -> ConfigDict:
    """Add an example to the schema of a body."""
    return ConfigDict(json_schema_extra={"examples": [shown]})


class AddedBody(ApiBody):
    """A server to add: its name and its entry, as in `mcpServers`."""

    model_config = example({"name": "files", "config": {"command": "npx", "args": ["-y", "a-server-of-files@1.2.3"]}})

    name: str
    config: dict[str, Any]
    imported: Annotated[
        StrictBool, Field(description="Whether the entry was imported from the configuration of another program.")
    ] = False


class PatchedBody(ApiBody):
    """A change of a server's entry, as a JSON merge patch: `null` removes a key."""

    revision: StrictInt
    patch: dict[str, Any]


class RevisionBody(ApiBody):
    """The revision of the server's entry that a change is for."""

    revision: StrictInt


class WhyBody(ApiBody):
    """The reason of a decision, which is required."""

    model_config = example({"why": "nobody needs it any more"})

    why: Reason


class HeldAnswerBody(ApiBody):
    """The reason of an answer to a held call: a usual one, a text, or both."""

    model_config = example({"reason": "ticket", "why": "OPS-2291"})

    reason: Annotated[
        HeldReason | None,
        Field(description="A usual reason. It is recorded as the first words of the reason, before `why`."),
    ] = None
    why: Text = ""

    @model_validator(mode="after")
    def _is_said(self) -> Self:
        if self.reason is None:
            _not_blank(self.why)
        return self


class AllowForBody(HeldAnswerBody):
    """How long a held call and its like are allowed, what must stay the same, and the reason."""

    model_config = example({"reason": "expected", "minutes": 10, "same": ["channel"]})

    minutes: Annotated[StrictInt, Field(ge=1, le=LONGEST_MINUTES)] = LONGEST_MINUTES
    same: Annotated[
        list[str] | None,
        Field(
            description="The names of the arguments whose values must stay the same; null: all but those with free "
            "text.",
            max_length=1000,
        ),
    ] = None


class InspectionBody(ApiBody):
    """What an inspection may do. `consent`: run or contact a server that is not approved; `give`: the variables or
    headers that are passed to it; `seen`: the fingerprint of the launch that the reviewer saw.
    """

    why: Text = ""
    seen: Print | None = None
    consent: StrictBool = False
    give: list[str] = []


class PermissionBody(WhyBody):
    """The kinds of requests that a server may send to clients; all others are denied."""

    model_config = example({"why": "it has to know the folders", "kinds": ["roots"]})

    kinds: list[AskKind]


class ScreenedBody(WhyBody):
    """The mode of the scan of a server's responses; `default`: as the setting `screening.mode` says."""

    model_config = example({"why": "it reads what anybody may write", "mode": "mask"})

    mode: Screening | Literal["default"]


class LookedBody(ApiBody):
    """The fingerprints that the reviewer saw, with every capability as `kind:name`."""

    launch: Print
    observed: Print | None
    capabilities: Mapping[str, Print | None]


class ApprovingBody(WhyBody):
    """What is approved of a server: the capabilities in `only`, or all of them if that is left out."""

    model_config = example(
        {
            "why": "read all of it",
            "seen": {"launch": _PRINT, "observed": _PRINT, "capabilities": {"tool:read_file": _PRINT}},
            "only": ["tool:read_file"],
            "effects": {"read_file": "read"},
        }
    )

    seen: LookedBody
    only: list[str] | None = None
    left_out: Annotated[
        list[str], Field(description="Capabilities that are rejected: calls are denied, and they leave the inbox.")
    ] = []
    effects: dict[str, Effect] = {}
    prefixes: Annotated[
        list[str] | None, Field(description="Prefixes of resource URIs that can be read. Left out: unchanged.")
    ] = None
    may_ask: Annotated[
        list[AskKind] | None, Field(description="What the server may request from clients. Left out: unchanged.")
    ] = None
    sandbox: Annotated[
        Profile | None, Field(description="The sandbox from now on: strict or contained. Left out: unchanged.")
    ] = None
    mounts: Annotated[
        list[str] | None,
        Field(description="All folders that it can access, as `PATH` or `PATH:rw`. Left out: unchanged."),
    ] = None
    findings_read: Annotated[
        dict[str, list[str]],
        Field(
            description="The rules of the grave findings (hard, critical or high) that were read, by `kind:name`, "
            "or `server` for those in the launch. A capability with others is left out of the approval."
        ),
    ] = {}

    @property
    def approval(self) -> Approval:
        """The approval that the body describes. Raises InvalidName."""
        observed = self.seen.observed
        return Approval(
            ReviewedVersions(
                Fingerprint(self.seen.launch),
                None if observed is None else Fingerprint(observed),
                {parse_key(text): fingerprint_of(each) for text, each in self.seen.capabilities.items()},
            ),
            None if self.only is None else frozenset(map(parse_key, self.only)),
            self.effects,
            None if self.prefixes is None else tuple(self.prefixes),
            None if self.may_ask is None else frozenset(self.may_ask),
            {
                None if name == SERVER_ITSELF else parse_key(name): frozenset(rules)
                for name, rules in self.findings_read.items()
            },
            frozenset(map(parse_key, self.left_out)),
            self.sandbox,
            None if self.mounts is None else tuple(self.mounts),
        )


class AboutBody(WhyBody):
    """A decision about one capability. `seen`: the fingerprint of the definition that the reviewer saw."""

    model_config = example({"why": "read it", "kind": "tool", "name": "read_file", "seen": _PRINT})

    kind: CapabilityKind
    name: str
    seen: Print | None = None

    @property
    def key(self) -> CapabilityKey:
        return self.kind, self.name


class ApprovingOneBody(AboutBody):
    """The approval of one capability. `effect`: left out, the most harmful of the declared and suggested effects."""

    effect: Effect | None = None
    findings_read: Annotated[
        list[str],
        Field(description="The rules of the grave findings (hard, critical or high) that the reviewer has read."),
    ] = []


class GrantedBody(ApiBody):
    """A caller to add. `expires_in`: seconds until its token expires; left out: 90 days; null: never. `certificate`:
    the name in client certificates by which it is known instead, such as `dns:agent.example`.
    """

    model_config = example({"name": "builder", "servers": ["files"], "effects": ["read"], "expires_in": 86400})

    name: str
    servers: list[str] = [globs.EVERYTHING]
    tools: list[str] = [globs.EVERYTHING]
    effects: list[Effect] = [Effect.READ]
    expires_in: StrictInt | None = USUAL_SECONDS
    must_declare: StrictBool = False
    manage: StrictBool = False
    certificate: Annotated[str, Field(max_length=510)] = ""
    why: Text = ""


class ExportingBody(ApiBody):
    """An export that the sender makes from the store itself. `q`: a filter; left out: all records."""

    model_config = example({"forms": ["jsonl"], "after": 1000, "bundle": True})

    forms: Annotated[list[Annotated[str, Field(pattern=f"^({'|'.join(WORDS)})$")]], Field(min_length=1, max_length=10)]
    after: Number = 0
    upto: Number | None = None
    q: Annotated[str, Field(max_length=LONGEST_FILTER)] = ""
    chain: Annotated[str, Field(max_length=36)] = ""
    compressed: StrictBool = False
    bundle: StrictBool = False
    bodies: StrictBool = False

    def wanted_export(self, selection: Selection) -> AuditExportRequest:
        return AuditExportRequest(
            tuple(dict.fromkeys(self.forms)),
            selection,
            self.after,
            self.upto,
            self.compressed,
            self.bundle,
            self.bodies,
            self.chain,
        )


class SigningBody(ApiBody):
    """An empty object: a checkpoint always covers the whole log."""

    model_config = example({})


class RevokedBody(ApiBody):
    """The reason for revoking a caller, which may be left out."""

    why: Text = ""


def fingerprint_of(text: str | None) -> Fingerprint | None:
    return None if text is None else Fingerprint(text)
