"""What can be sent: every body with its fields. A field that is not known is refused, and nothing is converted."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, StrictInt
from pydantic_core import PydanticCustomError

from mcpguard.codec import globs
from mcpguard.codec.canonical import LARGEST
from mcpguard.codec.capability_keys import parse_key
from mcpguard.codec.filters import LONGEST as LONGEST_FILTER
from mcpguard.domain.asks import AskKind
from mcpguard.domain.capabilities import FINGERPRINT, CapabilityKind, Effect, Fingerprint
from mcpguard.domain.decisions import LONGEST_WHY, SERVER_ITSELF, Approval, CapabilityKey, ReviewedVersions
from mcpguard.domain.grants import USUAL_SECONDS
from mcpguard.domain.screening import Screening
from mcpguard.domain.servers.launches import Profile
from mcpguard.guard.audit.exports import AuditExportRequest
from mcpguard.ledger.export.formats import WORDS
from mcpguard.ledger.export.selection import Selection


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "must say why")
    return text


Print = Annotated[str, Field(pattern=f"^{FINGERPRINT.pattern}$")]
Text = Annotated[str, Field(max_length=LONGEST_WHY)]
Reason = Annotated[Text, AfterValidator(_not_blank)]


Number = Annotated[StrictInt, Field(ge=0, le=LARGEST)]
_PRINT: Final = f"v1:{'0' * 64}"


class ApiBody(BaseModel):
    """What all share."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


def example(shown: dict[str, Any]) -> ConfigDict:
    """What such a body may look like."""
    return ConfigDict(json_schema_extra={"examples": [shown]})


class AddedBody(ApiBody):
    """A server, with one entry as it would stand in `mcpServers`."""

    model_config = example({"name": "files", "config": {"command": "npx", "args": ["-y", "a-server-of-files@1.2.3"]}})

    name: str
    config: dict[str, Any]
    imported: Annotated[StrictBool, Field(description="Whether it was found among those of another program.")] = False


class PatchedBody(ApiBody):
    """A change of a server's entry; `null` removes a key."""

    revision: StrictInt
    patch: dict[str, Any]


class WhyBody(ApiBody):
    """A decision that is nothing but its reason."""

    model_config = example({"why": "nobody needs it any more"})

    why: Reason


class InspectionBody(ApiBody):
    """What an inspection may do: run or contact a server that nobody approved, and which values it is given.

    `seen` is the fingerprint of the launch that the person was shown.
    """

    why: Text = ""
    seen: Print | None = None
    consent: StrictBool = False
    give: list[str] = []


class PermissionBody(WhyBody):
    """What a server may ask of clients; everything else it may not."""

    model_config = example({"why": "it has to know the folders", "kinds": ["roots"]})

    kinds: list[AskKind]


class ScreenedBody(WhyBody):
    """How what a server says is screened; `default`: as the setting says."""

    model_config = example({"why": "it reads what anybody may write", "mode": "mask"})

    mode: Screening | Literal["default"]


class LookedBody(ApiBody):
    """What a person looked at, with every capability as `kind:name`."""

    launch: Print
    observed: Print | None
    capabilities: Mapping[str, Print | None]


class ApprovingBody(WhyBody):
    """What of a server is approved."""

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
    left_out: Annotated[list[str], Field(description="What is not wanted: refused, and waits for nobody.")] = []
    effects: dict[str, Effect] = {}
    prefixes: Annotated[list[str] | None, Field(description="Left out: as they are.")] = None
    may_ask: Annotated[list[AskKind] | None, Field(description="Left out: as it is.")] = None
    sandbox: Annotated[
        Profile | None, Field(description="How it is confined from now on: strict or contained. Left out: as it is.")
    ] = None
    mounts: Annotated[
        list[str] | None,
        Field(description="All the folders that it sees then, as `PATH` or `PATH:rw`. Left out: as they are."),
    ] = None
    findings_read: Annotated[
        dict[str, list[str]],
        Field(
            description="The rules of the grave findings (hard, critical or high) that were read, by `kind:name`, or "
            "`server` for those in its launch. What has others is left out of the approval."
        ),
    ] = {}

    @property
    def approval(self) -> Approval:
        """Raises InvalidName."""
        observed = self.seen.observed
        return Approval(
            ReviewedVersions(
                Fingerprint(self.seen.launch),
                None if observed is None else Fingerprint(observed),
                {parse_key(text): printed(each) for text, each in self.seen.capabilities.items()},
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
    """A decision about one capability, as it was seen."""

    model_config = example({"why": "read it", "kind": "tool", "name": "read_file", "seen": _PRINT})

    kind: CapabilityKind
    name: str
    seen: Print | None = None

    @property
    def key(self) -> CapabilityKey:
        return self.kind, self.name


class ApprovingOneBody(AboutBody):
    """An approval says what the capability does; left out, it is the most careful of what is known."""

    effect: Effect | None = None
    findings_read: Annotated[
        list[str], Field(description="The rules of the grave findings (hard, critical or high) that were read.")
    ] = []


class GrantedBody(ApiBody):
    """A caller that is let in; `expires_in`: for how many seconds, left out: 90 days, null: until it is revoked."""

    model_config = example({"name": "builder", "servers": ["files"], "effects": ["read"], "expires_in": 86400})

    name: str
    servers: list[str] = [globs.EVERYTHING]
    tools: list[str] = [globs.EVERYTHING]
    effects: list[Effect] = [Effect.READ]
    expires_in: StrictInt | None = USUAL_SECONDS
    must_declare: StrictBool = False
    manage: StrictBool = False
    why: Text = ""


class ExportingBody(ApiBody):
    """An export that somebody makes who reads the store themselves. `q`: a filter; everything if it is left out."""

    model_config = example({"forms": ["jsonl"], "after": 1000, "bundle": True})

    forms: Annotated[list[Annotated[str, Field(pattern=f"^({'|'.join(WORDS)})$")]], Field(min_length=1, max_length=10)]
    after: Number = 0
    upto: Number | None = None
    q: Annotated[str, Field(max_length=LONGEST_FILTER)] = ""
    chain: Annotated[str, Field(max_length=36)] = ""
    compressed: StrictBool = False
    bundle: StrictBool = False
    bodies: StrictBool = False

    def wanted(self, selection: Selection) -> AuditExportRequest:
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
    """Nothing: what is signed is all that there is."""

    model_config = example({})


class RevokedBody(ApiBody):
    """A caller that is none any more."""

    why: Text = ""


def printed(text: str | None) -> Fingerprint | None:
    return None if text is None else Fingerprint(text)
