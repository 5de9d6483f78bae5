"""The definition of the `proxy` tool."""

from typing import Any, Final

from mcpguard.proxy.operations import BATCH, MOST_LISTED, MOST_OPERATIONS, OPERATIONS, Action, ProxyType

NAME: Final = "proxy"


def definition(name: str = NAME) -> dict[str, Any]:
    """Return the definition under this name."""
    text = {"type": "string"}
    return {
        "name": name,
        "description": "A proxy for the tools, resources and prompts behind this server: list them, get the info of "
        "one, call it, or do several of these in a batch.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "action": {**text, "enum": [*(each.value for each in Action), BATCH]},
                "type": {**text, "description": "All but batch.", "enum": [each.value for each in ProxyType]},
                "path": {**text, "description": "info, call: the name or URI, as list gives it."},
                "args": {"type": ["object", "string"], "description": "call: the arguments of the tool or prompt."},
                "limit": {"type": "integer", "minimum": 1, "maximum": MOST_LISTED},
                "offset": {"type": "integer", "minimum": 0},
                "filter_server": text,
                "filter": {
                    "type": "object",
                    "properties": {"prefix": text, "tags": {"type": "array", "items": text}},
                    "additionalProperties": False,
                },
                OPERATIONS: {
                    "type": "array",
                    "items": {"type": "object"},
                    "maxItems": MOST_OPERATIONS,
                    "description": "batch: each as the arguments here.",
                },
            },
            "required": ["action"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": False, "destructiveHint": True},
    }
