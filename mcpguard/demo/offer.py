"""What a demonstration server offers, free of the protocol's envelopes."""

import re
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]


class NotOffered(Exception):
    """There is no such tool, resource or prompt, or it was requested in the wrong form. The client is told so."""


class ToolFailed(Exception):
    """A tool cannot do what it was asked to. The sentence tells the agent why."""


class Offer:
    """A server that offers nothing; each kind of server adds to it."""

    tells = False
    """Whether its tools may become others while it runs."""

    def __init__(self, name: str, title: str, instructions: str) -> None:
        self.info: Json = {"name": name, "title": title, "version": "1.0.0"}
        self.instructions = instructions
        self.tools: list[Json] = []
        self.resources: list[Json] = []
        self.templates: list[Json] = []
        self.prompts: list[Json] = []

    def call(self, name: str, arguments: Mapping[str, str]) -> Json:
        """Call a listed tool with arguments that its schema allows, and return structured content."""
        raise NotImplementedError

    def read(self, uri: str) -> Json:
        """Return the content of a resource."""
        raise NotOffered(f"There is no resource {uri!a}.")

    def prompt(self, name: str, arguments: Json) -> str:  # noqa: ARG002 - it has none
        """Return the text that the prompt gives the user to send."""
        raise NotOffered(f"There is no prompt {name!a}.")


def words(description: str, **more: Any) -> Json:  # noqa: ANN401 - JSON
    """Return the schema of a text."""
    return {"type": "string", "description": description, **more}


def members(**properties: Json) -> Json:
    """Return the schema of an object. Every member without a default is required."""
    required = [name for name, schema in properties.items() if "default" not in schema]
    said: Json = {"type": "object", "properties": properties, "additionalProperties": False}
    return said | ({"required": required} if required else {})


def mistake(schema: Json, arguments: Json) -> str | None:
    """Return what is wrong with the arguments, by a schema that `words` and `members` have made."""
    properties: Json = schema["properties"]
    missing = [f"The argument {name} is missing." for name in schema.get("required", ()) if name not in arguments]
    unknown = [f"There is no argument {name!a}." for name in arguments if name not in properties]
    wrong = [
        f"The argument {name} is not as the schema wants it."
        for name, value in arguments.items()
        if name in properties and not _allowed(properties[name], value)
    ]
    return next(iter(missing + unknown + wrong), None)


def _allowed(schema: Json, value: object) -> bool:
    return (
        isinstance(value, str)
        and len(value) <= schema.get("maxLength", len(value))
        and value in schema.get("enum", [value])
        and re.fullmatch(schema.get("pattern", "(?s:.*)"), value) is not None
    )
