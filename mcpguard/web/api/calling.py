"""The body of a call, and the call that it describes."""

from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, Field, StrictStr, model_validator
from pydantic_core import PydanticCustomError

from mcpguard.codec.names import parse_reference
from mcpguard.codec.uris import LONGEST_URI
from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.calls import Face, Sensitivity
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.domain.errors import InvalidName
from mcpguard.guard.calls.request import CallRequest
from mcpguard.guard.servers.argument_checks import Arguments
from mcpguard.policy.intents import LONGEST_REASON, read_intent
from mcpguard.web.api.bodies import ApiBody, WhyBody, example

LONGEST_CALLER: Final = 100
LONGEST_NAME: Final = 64 + LONGEST_URI
_METHODS: Final = {
    CapabilityKind.TOOL: "tools/call",
    CapabilityKind.RESOURCE: "resources/read",
    CapabilityKind.PROMPT: "prompts/get",
}


def _placed(text: str) -> str:
    try:
        parse_reference(text)
    except InvalidName:
        raise PydanticCustomError("name", "must be server:name") from None
    if "\0" in text:  # no server has such a name, and some databases cannot store it
        raise PydanticCustomError("name", "must not contain a NUL character")
    return text


ToolName = Annotated[StrictStr, Field(min_length=3, max_length=LONGEST_NAME), AfterValidator(_placed)]


class MeantBody(ApiBody):
    """The declared intent of a call: its effect and the reason for it. Left out: implied by the tool."""

    operation_type: Effect
    data_sensitivity: Sensitivity = Sensitivity.UNKNOWN
    reason: Annotated[StrictStr, Field(max_length=LONGEST_REASON)] = ""


class WantedBody(ApiBody):
    """A call. `caller`: an id or a name; `name`: `server:tool`, or `server:` with a URI or the name of a prompt."""

    model_config = example(
        {
            "caller": "builder",
            "name": "files:read_file",
            "arguments": {"path": "notes.txt"},
            "intent": {"operation_type": "read", "reason": "to see what the agent saw"},
        }
    )

    caller: Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_CALLER)]
    name: ToolName
    kind: Literal["tool", "resource", "prompt"] = "tool"
    arguments: dict[str, Any] | None = None
    intent: MeantBody | None = None

    @model_validator(mode="after")
    def _has_what_it_takes(self) -> Self:
        if self.kind == "resource" and self.arguments is not None:
            raise PydanticCustomError("arguments", "a resource takes no arguments")
        return self

    def call_request(self, caller: Caller, by: str) -> CallRequest:
        """Make the request that calls in the name of this caller."""
        server, name = parse_reference(self.name)
        kind, intent = CapabilityKind(self.kind), self.intent
        params: dict[str, Any] = {"uri" if kind is CapabilityKind.RESOURCE else "name": name}
        if self.arguments is not None:
            params["arguments"] = self.arguments
        said = (
            None if intent is None else read_intent(intent.operation_type, {"intent": intent.model_dump(mode="json")})
        )
        return CallRequest(
            caller=caller,
            face=Face.API,
            capability=Capability(server, kind, name),
            given=Arguments(_METHODS[kind], params),
            stated=said,
            by=by,
        )


class ForgottenToolBody(WhyBody):
    """A tool, as `server:tool`, of which search is to forget what it has learned."""

    model_config = example({"name": "files:read_file", "why": "a test taught it"})

    name: ToolName

    @property
    def tool(self) -> tuple[str, str]:
        """The name of the server, and the tool's own."""
        return parse_reference(self.name)
