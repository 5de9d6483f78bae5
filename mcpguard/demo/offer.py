"""What a demonstration server has to offer, without a word about the protocol's envelopes."""

import re
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]


class NotOffered(Exception):
    """There is no such tool, resource or prompt, or it cannot be asked for like this. Says so to the client."""


class Failed(Exception):
    """A tool cannot do what it is asked. Says why, to the agent."""


class Offer:
    """A server with nothing to offer; each kind adds to it."""

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
        """Call a tool that is listed, with arguments that its schema allows. Returns structured content."""
        raise NotImplementedError

    def read(self, uri: str) -> Json:
        """The content of a resource."""
        raise NotOffered(f"There is no resource {uri!a}.")

    def prompt(self, name: str, arguments: Json) -> str:  # noqa: ARG002 - it has none
        """What the prompt lets the person say."""
        raise NotOffered(f"There is no prompt {name!a}.")


def words(description: str, **more: Any) -> Json:  # noqa: ANN401 - JSON
    """The schema of a text."""
    return {"type": "string", "description": description, **more}


def members(**properties: Json) -> Json:
    """The schema of an object. No member may be missing that has no default."""
    required = [name for name, schema in properties.items() if "default" not in schema]
    said: Json = {"type": "object", "properties": properties, "additionalProperties": False}
    return said | ({"required": required} if required else {})


def mistake(schema: Json, arguments: Json) -> str | None:
    """What is wrong with the arguments, by a schema of texts that `words` and `members` have made."""
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
