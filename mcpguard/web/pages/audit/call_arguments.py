"""The arguments of a call as a table: names, values and types, exactly as they were sent."""

from dataclasses import dataclass
from typing import Any, Final

import orjson

MOST_ARGUMENTS: Final = 40
LONGEST_VALUE: Final = 500
"""Characters of a value that are shown at once."""
_REQUEST: Final = {"name", "arguments"}
"""The members of a request to call a tool: its arguments are in one of them."""
_TYPES: Final = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
)


@dataclass(frozen=True, slots=True)
class ShownArgument:
    """An argument. `more`: the rest of a value that is long."""

    name: str
    value: str
    more: str
    type: str


def argument_rows(text: str) -> list[ShownArgument]:
    """Return the rows of the table; none where a table would not say exactly what was sent, or would be too long."""
    try:
        said = orjson.loads(text)
    except ValueError:
        return []
    # A number of many digits, or a name that is there twice, would be lost.
    if not isinstance(said, dict) or orjson.dumps(said) != text.encode():
        return []
    given = said.get("arguments") if said.keys() <= _REQUEST else said
    if not isinstance(given, dict) or not 0 < len(given) <= MOST_ARGUMENTS:
        return []
    return [_row(name, value) for name, value in given.items()]


def _row(name: str, value: Any) -> ShownArgument:  # noqa: ANN401 - JSON
    written = orjson.dumps(value).decode()
    kind = next((word for type_, word in _TYPES if isinstance(value, type_)), "null")
    return ShownArgument(name, written[:LONGEST_VALUE], written[LONGEST_VALUE:], kind)
