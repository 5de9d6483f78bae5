"""The tools, and the prompt, that ask the client by an answer which requires input, as of the revision 2026-07-28.

Each runs anew when the client comes back: with the client's answers, and with the state that was given along, which the
SDK seals on the way out and opens on the way in.
"""

from typing import TypeVar

from mcp.server.mcpserver import Context
from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
)
from pydantic import BaseModel, ValidationError

from tests.conformance.sdk_server.app import server
from tests.conformance.sdk_server.asking import Name

Form = TypeVar("Form", bound=BaseModel)


class Consent(BaseModel):
    """Whether somebody agrees."""

    ok: bool


class Colour(BaseModel):
    """Which colour somebody likes."""

    color: str


class Subject(BaseModel):
    """What something is about."""

    context: str


class Progress(BaseModel):
    """The state between the rounds: what was asked last, and what is known."""

    asked: str
    name: str = ""


def form(message: str, model: type[BaseModel]) -> ElicitRequest:
    """The question to a person."""
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=model.model_json_schema()))


def filled_in(ctx: Context, name: str, model: type[Form]) -> Form | None:
    """What a person answered; None where they have not, or with something else."""
    answer = (ctx.input_responses or {}).get(name)
    if not isinstance(answer, ElicitResult) or answer.action != "accept":
        return None
    try:
        return model.model_validate(answer.content)
    except ValidationError:
        return None


def sampling(question: str) -> CreateMessageRequest:
    """The question to the client's model."""
    messages = [SamplingMessage(role="user", content=TextContent(text=question))]
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=messages, max_tokens=100))


@server.tool()
async def test_input_required_result_elicitation(ctx: Context) -> str | InputRequiredResult:
    """Greet somebody by the name that they give."""
    if name := filled_in(ctx, "user_name", Name):
        return f"Good day, {name.name}!"
    return InputRequiredResult(input_requests={"user_name": form("What is your name?", Name)})


@server.tool()
async def test_input_required_result_sampling(ctx: Context) -> str | InputRequiredResult:
    """Tell what the client's model says."""
    answer = (ctx.input_responses or {}).get("capital_question")
    if isinstance(answer, CreateMessageResult) and isinstance(answer.content, TextContent):
        return f"The model says: {answer.content.text}"
    return InputRequiredResult(input_requests={"capital_question": sampling("What is the capital of France?")})


@server.tool()
async def test_input_required_result_list_roots(ctx: Context) -> str | InputRequiredResult:
    """Name the client's roots."""
    answer = (ctx.input_responses or {}).get("client_roots")
    if isinstance(answer, ListRootsResult):
        return f"The roots are {', '.join(str(root.uri) for root in answer.roots)}."
    return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})


@server.tool()
async def test_input_required_result_request_state(ctx: Context) -> str | InputRequiredResult:
    """Ask for consent, and look at the state that comes back with it."""
    return _consented(ctx)


@server.tool()
async def test_input_required_result_tampered_state(ctx: Context) -> str | InputRequiredResult:
    """Ask for consent. The SDK refuses a state that is not what was given."""
    return _consented(ctx)


def _consented(ctx: Context) -> str | InputRequiredResult:
    if ctx.request_state == "asked for consent" and filled_in(ctx, "confirm", Consent):
        return "state-ok"
    return InputRequiredResult(
        input_requests={"confirm": form("Is it so?", Consent)}, request_state="asked for consent"
    )


@server.tool()
async def test_input_required_result_multiple_inputs(ctx: Context) -> str | InputRequiredResult:
    """Ask for three things at once."""
    requests: dict[str, InputRequest] = {
        "user_name": form("What is your name?", Name),
        "greeting": sampling("Greet somebody."),
        "client_roots": ListRootsRequest(),
    }
    if requests.keys() <= (ctx.input_responses or {}).keys():
        return f"Heard: {', '.join(sorted(requests))}."
    return InputRequiredResult(input_requests=requests, request_state="asked for three things")


@server.tool()
async def test_input_required_result_multi_round(ctx: Context) -> str | InputRequiredResult:
    """Ask for a name, and then for a colour."""
    state = Progress.model_validate_json(ctx.request_state) if ctx.request_state else Progress(asked="nothing")
    if state.asked == "colour" and (colour := filled_in(ctx, "step2", Colour)):
        return f"{state.name} likes {colour.color}."
    if state.asked == "name" and (name := filled_in(ctx, "step1", Name)):
        return InputRequiredResult(
            input_requests={"step2": form("2: your colour?", Colour)},
            request_state=Progress(asked="colour", name=name.name).model_dump_json(),
        )
    return InputRequiredResult(
        input_requests={"step1": form("1: your name?", Name)},
        request_state=Progress(asked="name").model_dump_json(),
    )


@server.tool()
async def test_input_required_result_capabilities(ctx: Context) -> str | InputRequiredResult:
    """Ask for whatever the client can give."""
    can = ctx.client_capabilities
    requests: dict[str, InputRequest] = {}
    if can is not None and can.sampling is not None:
        requests["question"] = sampling("Are you there?")
    if can is not None and can.elicitation is not None:
        requests["form"] = form("Are you there?", Consent)
    if requests.keys() <= (ctx.input_responses or {}).keys():
        return f"Heard: {', '.join(sorted(requests))}."
    return InputRequiredResult(input_requests=requests, request_state="asked for what it can give")


@server.prompt()
async def test_input_required_result_prompt(ctx: Context) -> str | InputRequiredResult:
    """Asks what it is about."""
    if subject := filled_in(ctx, "user_context", Subject):
        return f"It is about {subject.context}."
    return InputRequiredResult(input_requests={"user_context": form("What is it about?", Subject)})
