"""The resources and prompts, and what is suggested for their arguments."""

import json
from base64 import b64decode

from mcp.server.mcpserver import Image, UserMessage
from mcp_types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference

from tests.conformance.media import PNG
from tests.conformance.sdk_server.app import server
from tests.conformance.sdk_server.tools import embedded

CITIES = ("paris", "park", "party", "rome")


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """A text."""
    return "A text that never changes."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """A picture."""
    return b64decode(PNG)


@server.resource("test://watched-resource", mime_type="text/plain")
def watched_resource() -> str:
    """A text that can be subscribed to."""
    return "Nothing has happened."


@server.resource("test://template/{id}/data", mime_type="application/json")
def from_template(id: str) -> str:  # noqa: A002 - the variable is called so in the URI
    """Something about whatever has this id."""
    return json.dumps({"id": id, "templateTest": True, "data": f"All there is about {id}"})


@server.prompt()
def test_simple_prompt() -> str:
    """Takes nothing."""
    return "This prompt is as simple as it gets."


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """Repeats two arguments."""
    return f"The arguments are arg1='{arg1}' and arg2='{arg2}'."


@server.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803 - the suite's name
    """Carries a resource."""
    return [
        UserMessage(embedded(resourceUri, "What the prompt carries along.")),
        UserMessage("Say what is in it."),
    ]


@server.prompt()
def test_prompt_with_image() -> list[UserMessage]:
    """Carries a picture."""
    return [UserMessage(Image(data=b64decode(PNG), format="png")), UserMessage("Say what is on it.")]


@server.completion()  # type: ignore[no-untyped-call, untyped-decorator]  # the SDK declares no types here
async def complete(
    _ref: PromptReference | ResourceTemplateReference,
    argument: CompletionArgument,
    _context: CompletionContext | None,
) -> Completion:
    """Suggest what begins with what was typed."""
    values = [city for city in CITIES if city.startswith(argument.value)]
    return Completion(values=values, total=len(values), has_more=False)
