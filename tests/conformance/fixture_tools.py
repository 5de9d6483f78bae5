"""The fixture's tools that ask nothing of the client."""

from typing import TYPE_CHECKING

from tests.conformance.fixture_content import embedded, image, said
from tests.conformance.media import WAV
from tests.simulators.asked import Asked
from tests.simulators.built_in import schema
from tests.simulators.hostile import pausing
from tests.simulators.words import Json, text

if TYPE_CHECKING:
    from tests.simulators.script import Answer

STRING: Json = {"type": "string"}
NO_ARGUMENTS: Json = {"inputSchema": schema()}
EVERY_KEYWORD: Json = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "address", "type": "object", "properties": {"city": STRING}}},
    "properties": {
        "name": STRING,
        "address": {"$ref": "#/$defs/address"},
        "reach": {"type": "string", "enum": ["phone", "email"]},
        "phone": STRING,
        "email": STRING,
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"reach": {"const": "phone"}}, "required": ["reach"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


async def _logging(asked: Asked) -> Json:
    for sentence in ("It begins", "It goes on", "It is done"):
        await asked.log("info", sentence)
    return text("Three lines were logged.")


async def _progress(asked: Asked) -> Json:
    for done in (0, 50, 100):
        await asked.progress(done, 100)
    return text("It was done in three steps.")


async def _change_tools(asked: Asked) -> Json:
    await asked.script.changed_list("tools")
    return text("The tools are said to have changed.")


async def _change_prompts(asked: Asked) -> Json:
    await asked.script.changed_list("prompts")
    return text("The prompts are said to have changed.")


def _missing_capability(asked: Asked) -> Json:
    asked.require("sampling")
    return text("The client can do it.")


def _region(asked: Asked) -> Json:
    return text(f"It would be done in {asked.arguments.get('region')}.")


SOUND: Json = {"type": "audio", "data": WAV, "mimeType": "audio/wav"}
MIXED = [
    said("A text, a picture and a resource:"),
    image(),
    embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
]
TOOLS: dict[str, tuple["Answer", Json]] = {
    "test_simple_text": ("This is a text and nothing else.", NO_ARGUMENTS),
    "test_image_content": ({"content": [image()]}, NO_ARGUMENTS),
    "test_audio_content": ({"content": [SOUND]}, NO_ARGUMENTS),
    "test_embedded_resource": ({"content": [embedded("test://embedded-resource", "Inside.")]}, NO_ARGUMENTS),
    "test_multiple_content_types": ({"content": MIXED}, NO_ARGUMENTS),
    "test_tool_with_logging": (_logging, NO_ARGUMENTS),
    "test_logging_tool": (_logging, NO_ARGUMENTS),
    "test_error_handling": ({**text("This tool fails, as it was meant to."), "isError": True}, NO_ARGUMENTS),
    "test_tool_with_progress": (_progress, NO_ARGUMENTS),
    "test_missing_capability": (_missing_capability, NO_ARGUMENTS),
    "test_trigger_tool_change": (_change_tools, NO_ARGUMENTS),
    "test_trigger_prompt_change": (_change_prompts, NO_ARGUMENTS),
    "test_reconnection": (pausing, NO_ARGUMENTS),
    "test_region": (_region, {"inputSchema": schema("region", region={**STRING, "x-mcp-header": "Region"})}),
    "json_schema_2020_12_tool": ("It knows every keyword.", {"inputSchema": EVERY_KEYWORD}),
}
