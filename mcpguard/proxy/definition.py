"""What the tool says of itself."""

from typing import Any, Final

from mcpguard.proxy.operations import MOST_LISTED, Action, ProxyType

NAME: Final = "proxy"


def definition(name: str = NAME) -> dict[str, Any]:
    """Under this name."""
    text = {"type": "string"}
    return {
        "name": name,
        "description": "A proxy for the tools, resources and prompts behind this server: list them, get the info of "
        "one, or call it.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "action": {**text, "enum": [each.value for each in Action]},
                "type": {**text, "enum": [each.value for each in ProxyType]},
                "path": {**text, "description": "info, call: the name or URI, as list gives it."},
                "args": {"type": ["object", "string"], "description": "call: the arguments of the tool or prompt."},
                "limit": {"type": "integer", "minimum": 1, "maximum": MOST_LISTED},
                "offset": {"type": "integer", "minimum": 0},
                "filter_server": text,
            },
            "required": ["action", "type"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": False, "destructiveHint": True},
    }
