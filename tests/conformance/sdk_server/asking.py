"""The tools that ask the client in the middle of a call, in the way of the revisions up to 2025-11-25."""

from typing import Annotated, Literal, TypeVar

from mcp.server.mcpserver import AcceptedElicitation, Context, Elicit, ElicitationResult, Resolve
from mcp_types import SamplingMessage, TextContent
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from tests.conformance.sdk_server.app import server

Form = TypeVar("Form", bound=BaseModel)


class Contact(BaseModel):
    """Who somebody is, as the suite's client fills it in."""

    username: str = ""
    email: str = ""


class Defaults(BaseModel):
    """A field of each primitive type, with what it is when nobody says otherwise."""

    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: Literal["active", "inactive", "pending"] = "active"
    verified: bool = True


TITLED: list[JsonValue] = [{"const": "value1", "title": "One"}, {"const": "value2", "title": "Two"}]


class Choices(BaseModel):
    """Every way to let somebody choose."""

    model_config = ConfigDict(alias_generator=to_camel)

    untitled_single: Literal["option1", "option2", "option3"]
    titled_single: str = Field(json_schema_extra={"oneOf": TITLED})
    legacy_enum: Literal["opt1", "opt2", "opt3"] = Field(json_schema_extra={"enumNames": ["One", "Two", "Three"]})
    untitled_multi: list[Literal["option1", "option2", "option3"]]
    titled_multi: list[str] = Field(json_schema_extra={"items": {"anyOf": TITLED}})


class Name(BaseModel):
    """What somebody is called."""

    name: str


@server.tool()
async def test_sampling(prompt: str, ctx: Context) -> str:
    """Ask the client's model."""
    answer = await ctx.session.create_message(
        [SamplingMessage(role="user", content=TextContent(text=prompt))],
        max_tokens=100,
        related_request_id=ctx.request_id,
    )
    return f"The model says: {answer.content.text if isinstance(answer.content, TextContent) else 'no text'}"


@server.tool()
async def test_elicitation(message: str, ctx: Context) -> str:
    """Ask the person at the client who they are."""
    return _told(await ctx.elicit(message, Contact))


@server.tool()
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Ask with a form that is filled in already."""
    return _told(await ctx.elicit("Is this right?", Defaults))


@server.tool()
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Ask with a form in which everything is chosen."""
    return _told(await ctx.elicit("Choose.", Choices))


def _whose_name() -> Elicit[Name]:
    return Elicit("What is your name?", Name)


@server.tool()
async def test_streaming_elicitation(name: Annotated[Name, Resolve(_whose_name)]) -> str:
    """Greet somebody. The SDK asks for the name, in the way of the client's revision."""
    return f"Good day, {name.name}!"


def _told(result: ElicitationResult[Form]) -> str:
    content = result.data.model_dump_json() if isinstance(result, AcceptedElicitation) else "{}"
    return f"action={result.action}, content={content}"
