"""The fixture's resources and prompts, and what it completes."""

import json
from typing import TYPE_CHECKING

from tests.conformance.media import PNG
from tests.simulators.asked import Asked
from tests.simulators.words import Json

if TYPE_CHECKING:
    from tests.simulators.script import Answer

Content = Json


def said(text: str) -> Content:
    return {"type": "text", "text": text}


def image() -> Content:
    return {"type": "image", "data": PNG, "mimeType": "image/png"}


def embedded(uri: str, text: str, kind: str = "text/plain") -> Content:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}}


def prompt(*contents: Content) -> Json:
    """What `prompts/get` returns."""
    return {"messages": [{"role": "user", "content": content} for content in contents]}


def _text(asked: Asked) -> Json:
    return {"contents": [{"uri": asked.name, "mimeType": "text/plain", "text": "A text that never changes."}]}


def _binary(asked: Asked) -> Json:
    return {"contents": [{"uri": asked.name, "mimeType": "image/png", "blob": PNG}]}


def _from_template(asked: Asked) -> Json:
    about = {"id": asked.variables["id"], "templateTest": True, "data": f"All there is about {asked.variables['id']}"}
    return {"contents": [{"uri": asked.name, "mimeType": "application/json", "text": json.dumps(about)}]}


def _with_arguments(asked: Asked) -> Json:
    first, second = asked.arguments.get("arg1"), asked.arguments.get("arg2")
    return prompt(said(f"The arguments are arg1='{first}' and arg2='{second}'."))


def _with_resource(asked: Asked) -> Json:
    uri = asked.arguments.get("resourceUri", "test://static-text")
    return prompt(embedded(uri, "What the prompt carries along."), said("Say what is in it."))


def _complete(asked: Asked) -> Json:
    given = (asked.params.get("argument") or {}).get("value", "")
    values = [each for each in ("paris", "park", "party", "rome") if each.startswith(given)]
    return {"completion": {"values": values, "total": len(values), "hasMore": False}}


def _argument(name: str, description: str) -> Json:
    return {"name": name, "description": description, "required": True}


def _resource(name: str, kind: str) -> Json:
    about = f"The resource {name}."
    return {"uri": f"test://{name}", "name": name, "description": about, "mimeType": kind}


RESOURCES = [
    _resource("static-text", "text/plain"),
    _resource("static-binary", "image/png"),
    _resource("watched-resource", "text/plain"),
]
TEMPLATES: list[Json] = [
    {
        "uriTemplate": "test://template/{id}/data",
        "name": "template",
        "description": "Something about whatever has this id.",
        "mimeType": "application/json",
    }
]
PROMPTS: list[Json] = [
    {"name": "test_simple_prompt", "description": "Takes nothing."},
    {
        "name": "test_prompt_with_arguments",
        "description": "Repeats two arguments.",
        "arguments": [_argument("arg1", "The first."), _argument("arg2", "The second.")],
    },
    {
        "name": "test_prompt_with_embedded_resource",
        "description": "Carries a resource.",
        "arguments": [_argument("resourceUri", "Which one.")],
    },
    {"name": "test_prompt_with_image", "description": "Carries a picture."},
]
ANSWERS: dict[str, "Answer"] = {
    "resources/read test://static-text": _text,
    "resources/read test://watched-resource": _text,
    "resources/read test://static-binary": _binary,
    "resources/read test://template/{id}/data": _from_template,
    "prompts/get test_simple_prompt": prompt(said("This prompt is as simple as it gets.")),
    "prompts/get test_prompt_with_arguments": _with_arguments,
    "prompts/get test_prompt_with_embedded_resource": _with_resource,
    "prompts/get test_prompt_with_image": prompt(image(), said("Say what is on it.")),
    "completion/complete": _complete,
}
