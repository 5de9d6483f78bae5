"""The methods of both eras: lists, calls, resources, prompts. Parameters in, results out, no envelopes."""

import json
from collections.abc import Callable
from typing import Final

from mcpguard.demo.offer import Json, NotOffered, Offer, ToolFailed, mistake

INVALID_PARAMS: Final = -32602
Method = Callable[[Json], Json]


class ErrorAnswer(Exception):
    """The request is answered with an error."""

    def __init__(self, code: int, message: str, **data: object) -> None:
        super().__init__(message)
        self.error: Json = {"code": code, "message": message} | ({"data": data} if data else {})


def methods(offer: Offer) -> dict[str, Method]:
    """Return the methods by name. Each raises ErrorAnswer or NotOffered."""
    return {
        "tools/list": _listed("tools", lambda: offer.tools),
        "resources/list": _listed("resources", lambda: offer.resources),
        "resources/templates/list": _listed("resourceTemplates", lambda: offer.templates),
        "prompts/list": _listed("prompts", lambda: offer.prompts),
        "tools/call": lambda params: _called(offer, _text(params, "name"), _arguments(params)),
        "resources/read": lambda params: {"contents": [offer.read(_text(params, "uri"))]},
        "prompts/get": lambda params: _prompted(offer.prompt(_text(params, "name"), _arguments(params))),
    }


def introduction(offer: Offer) -> Json:
    """Return the server's name, version and capabilities, in either era."""
    has: Json = {"tools": {"listChanged": True} if offer.tells else {}}
    if offer.resources:
        has["resources"] = {}
    if offer.prompts:
        has["prompts"] = {}
    return {"capabilities": has, "instructions": offer.instructions}


def _listed(key: str, what: Callable[[], list[Json]]) -> Method:
    def answer(params: Json) -> Json:
        if params.get("cursor") is not None:
            raise ErrorAnswer(INVALID_PARAMS, "There is one page only.")
        return {key: what()}

    return answer


def _called(offer: Offer, name: str, arguments: Json) -> Json:
    tool = next((tool for tool in offer.tools if tool["name"] == name), None)
    if tool is None:
        raise NotOffered(f"There is no tool {name!a}.")
    if found := mistake(tool["inputSchema"], arguments):
        return _failed(found)
    try:
        said = offer.call(name, arguments)
    except ToolFailed as error:
        return _failed(str(error))
    return {"content": [{"type": "text", "text": json.dumps(said)}], "structuredContent": said, "isError": False}


def _failed(why: str) -> Json:
    return {"content": [{"type": "text", "text": why}], "isError": True}


def _prompted(text: str) -> Json:
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


def _text(params: Json, name: str) -> str:
    found = params.get(name)
    if not isinstance(found, str):
        raise ErrorAnswer(INVALID_PARAMS, f"The parameter {name} must be a text.")
    return found


def _arguments(params: Json) -> Json:
    found = params.get("arguments", {})
    if not isinstance(found, dict):
        raise ErrorAnswer(INVALID_PARAMS, "The arguments must be an object.")
    return found
