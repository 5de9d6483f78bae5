"""What a script offers before a test changes anything."""

from typing import TYPE_CHECKING, Any

from tests.simulators.asked import Asked
from tests.simulators.words import Json, text

if TYPE_CHECKING:
    from tests.simulators.script import Answer


def schema(*required: str, **properties: Json) -> Json:
    """The schema of an object with these members."""
    said: Json = {"type": "object", "properties": properties}
    return said | ({"required": list(required)} if required else {})


def elicitation(message: str, *required: str, **properties: Json) -> Json:
    """The request that asks a person to fill in a form."""
    params = {"mode": "form", "message": message, "requestedSchema": schema(*required, **properties)}
    return {"method": "elicitation/create", "params": params}


def echo(asked: Asked) -> Json:
    return {"content": [{"type": "text", "text": repr(asked.arguments)}], "structuredContent": asked.arguments}


def add(asked: Asked) -> Json:
    total = asked.arguments["a"] + asked.arguments["b"]
    return {**text(str(total)), "structuredContent": {"sum": total}}


async def slow(asked: Asked) -> Json:
    await asked.script.hold()
    return text("at last")


def fail(asked: Asked) -> Json:
    return {**text(asked.arguments.get("message", "it failed")), "isError": True}


async def progress(asked: Asked) -> Json:
    steps = asked.arguments.get("steps", 3)
    for step in range(1, steps + 1):
        await asked.progress(step, steps, f"step {step}")
    return text(f"{steps} steps")


def big(asked: Asked) -> Json:
    return text("x" * asked.arguments.get("bytes", 1_000_000))


async def ask(asked: Asked) -> Json:
    """Asks the client who it is, in the way of its era, and says what it heard."""
    question = elicitation(asked.arguments.get("message", "Your name?"), "name", name={"type": "string"})
    said = (await asked.need({"who": question}, "asked once"))["who"]
    return text(f"{said['action']}: {said.get('content', {}).get('name', '')}")


def read_note(asked: Asked) -> Json:
    return {"contents": [{"uri": asked.name, "mimeType": "text/plain", "text": "a note"}]}


def read_numbered(asked: Asked) -> Json:
    number = asked.variables["number"]
    return {"contents": [{"uri": asked.name, "mimeType": "text/plain", "text": f"note {number}"}]}


def greet(asked: Asked) -> Json:
    said = f"Greet {asked.arguments.get('name', 'everybody')}."
    return {"messages": [{"role": "user", "content": {"type": "text", "text": said}}]}


def _tool(name: str, description: str, input_schema: Json | None = None, **more: Any) -> Json:  # noqa: ANN401 - JSON
    return {"name": name, "description": description, "inputSchema": input_schema or schema(), **more}


NUMBER: Json = {"type": "number"}
COUNT: Json = {"type": "integer", "minimum": 0}
TOOLS: list[Json] = [
    _tool("echo", "Returns its arguments.", {"type": "object"}, annotations={"readOnlyHint": True}),
    _tool(
        "add",
        "Adds two numbers.",
        schema("a", "b", a=NUMBER, b=NUMBER),
        outputSchema=schema("sum", sum=NUMBER),
        annotations={"readOnlyHint": True, "idempotentHint": True},
    ),
    _tool("slow", "Answers when it is told to."),
    _tool("fail", "Fails.", schema(message={"type": "string"})),
    _tool("progress", "Says how far it is.", schema(steps=COUNT)),
    _tool("big", "Returns that many bytes.", schema(bytes=COUNT)),
    _tool("ask", "Asks who you are.", schema(message={"type": "string"})),
]
RESOURCES: list[Json] = [{"uri": "note://first", "name": "first", "mimeType": "text/plain"}]
TEMPLATES: list[Json] = [{"uriTemplate": "note://{number}/text", "name": "numbered", "mimeType": "text/plain"}]
GREETED: Json = {"name": "name", "description": "Whom", "required": False}
PROMPTS: list[Json] = [{"name": "greet", "description": "Greets.", "arguments": [GREETED]}]
ANSWERS: dict[str, "Answer"] = {
    **{f"tools/call {each.__name__}": each for each in (echo, add, slow, fail, progress, big, ask)},
    "resources/read note://first": read_note,
    "resources/read note://{number}/text": read_numbered,
    "prompts/get greet": greet,
}
