"""Converts a script to the definition of a tool and back: what a person approves is all that is run."""

from collections.abc import Mapping
from typing import Any, Final

from mcpguard.domain.capabilities import Effect, Fingerprint
from mcpguard.domain.scripts import Script

META: Final = "mcpguard/script"
"""The member of `_meta` that has the program."""


def script_definition(script: Script) -> dict[str, Any]:
    """Return the definition under which a script is listed."""
    tools = [
        {"server": server, "tool": tool, "definition": version.text} for (server, tool), version in script.tools.items()
    ]
    return {
        "name": script.name,
        "description": script.description,
        "inputSchema": dict(script.schema),
        "annotations": {
            "readOnlyHint": script.effect is Effect.READ,
            "destructiveHint": script.effect is Effect.DESTRUCTIVE,
        },
        "_meta": {META: {"language": "python", "source": script.source, "tools": tools, "effect": script.effect.value}},
    }


def read_script(definition: Mapping[str, Any]) -> Script:
    """Return the script that `script_definition` wrote. Raises KeyError or ValueError for any other definition."""
    own = definition["_meta"][META]
    return Script(
        definition["name"],
        own["source"],
        {(tool["server"], tool["tool"]): Fingerprint(tool["definition"]) for tool in own["tools"]},
        Effect(own["effect"]),
        definition["description"],
        definition["inputSchema"],
    )
