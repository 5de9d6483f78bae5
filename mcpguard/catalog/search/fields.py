"""The searchable fields of a tool's definition, and the weight of each.

Rules kept here:
1. However large a definition is, only a bounded part of it is read. What is cut off still counts towards the length of
   its field, so that a server gains nothing by writing more.
2. A definition is untrusted: a value of an unexpected type is skipped.
3. The weight of a text depends on its place, never on what it claims about itself.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any, Final

_LOUDER: Final = 2.0
"""How much louder than another word one is that a field does not need."""


class ToolPart(StrEnum):
    """A part of a tool that a reader tells from the others."""

    SERVER = "server"
    NAME = "name"
    TITLE = "title"
    FIRST_SENTENCE = "first_sentence"
    DESCRIPTION = "description"
    PARAMETERS = "parameters"
    SEARCHES = "searches"


@dataclass(frozen=True, slots=True)
class Field:
    """A text of a definition: the part that it belongs to, its weight, its usual number of words, and how many
    characters of it are read.

    One of less than `fewest` words counts as if it had so many: a word gains nothing by standing alone. Where an honest
    one has at most `honest` words, each further one is as loud as three.
    """

    part: ToolPart
    weight: float
    usual: float
    longest: int
    fewest: int = 0
    honest: float = math.inf

    def loudness(self, length: float) -> float:
        """Return how loud so many words are in this field."""
        return self.weight * (length + _LOUDER * max(0.0, length - self.honest))


SERVER: Final = Field(ToolPart.SERVER, 3, 2, 128)
NAME: Final = Field(ToolPart.NAME, 3, 3, 256)
TITLE: Final = Field(ToolPart.TITLE, 2, 3, 256, honest=6)
FIRST: Final = Field(ToolPart.FIRST_SENTENCE, 2, 9, 600, 4)
REST: Final = Field(ToolPart.DESCRIPTION, 0.5, 25, 6_000, 25)
PARAMETERS: Final = Field(ToolPart.PARAMETERS, 0.5, 5, 3_000)
ABOUT_PARAMETERS: Final = Field(ToolPart.PARAMETERS, 0.5, 30, 6_000)
SEARCHES: Final = Field(ToolPart.SEARCHES, 1.5, 15, 200, 8)
"""The words of searches after which a tool was called: not of its definition, and the only field that use changes."""

_SENTENCE_END: Final = re.compile("[.!?](?=\\s)|[\u3002\uff01\uff1f]|\n[^\\S\n]*\n|\n(?=[^\\S\n]*[-*#])")
_MOST_PARAMETERS: Final = 200
_DEEPEST: Final = 4


def first_sentence(description: str) -> str:
    """Return the text before the first full stop or blank line; all of it if that is too far away."""
    start = description[: FIRST.longest].lstrip()
    end = _SENTENCE_END.search(start)
    return start[: end.end()].strip() if end else description.strip()


def texts(server: str, tool: Mapping[str, Any]) -> Iterator[tuple[Field, str]]:
    """Yield the searchable parts of a tool, the weightiest first. They may have any length."""
    yield SERVER, server
    yield NAME, _text(tool.get("name"))
    yield TITLE, title(tool)
    description = _text(tool.get("description"))
    first = first_sentence(description)
    yield FIRST, first
    names, about = _of_schema(tool.get("inputSchema"))
    yield PARAMETERS, names
    yield REST, description.strip()[len(first) :]
    yield ABOUT_PARAMETERS, about


def title(tool: Mapping[str, Any]) -> str:
    """Return the title for people, from either of the places where revisions of the protocol have it."""
    if own_title := _text(tool.get("title")):
        return own_title
    annotations = tool.get("annotations")
    return _text(annotations.get("title")) if isinstance(annotations, Mapping) else ""


def _of_schema(schema: object) -> tuple[str, str]:
    names: list[str] = []
    about: list[str] = []
    for name, parameter in islice(_parameters(schema, _DEEPEST), _MOST_PARAMETERS):
        names.append(name[:64])
        if isinstance(parameter, Mapping):
            about.append(_text(parameter.get("description"))[:500])
            about.extend(choice[:64] for choice in _choices(parameter))
    return " ".join(names), ". ".join(about)


def _parameters(schema: object, depth: int) -> Iterator[tuple[str, object]]:
    """Yield the parameters of a schema and those within them, the outer ones first."""
    if not isinstance(schema, Mapping) or not depth:
        return
    properties = schema.get("properties")
    inner = list(islice(properties.items(), _MOST_PARAMETERS)) if isinstance(properties, Mapping) else []
    yield from ((name, parameter) for name, parameter in inner if isinstance(name, str))
    for _, parameter in inner:
        yield from _parameters(parameter, depth - 1)
        if isinstance(parameter, Mapping):
            yield from _parameters(parameter.get("items"), depth - 1)


def _choices(parameter: Mapping[str, Any]) -> Iterator[str]:
    choices = parameter.get("enum")
    if isinstance(choices, list):
        yield from (choice for choice in choices[:20] if isinstance(choice, str))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
