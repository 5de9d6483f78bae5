"""Programs of agents: the tools that they name, and scripts, which a person approves like the tools of a server."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from mcpguard.domain.capabilities import Effect, Fingerprint

SCRIPTS: Final = "scripts"
"""The name of the server whose tools are scripts."""
META: Final = "mcpguard/script"
"""The member of `_meta` that has the program of a script."""
ToolVersions = Mapping[tuple[str, str], Fingerprint]
"""Tools by server and name, each in one version of its definition."""


@dataclass(frozen=True, slots=True)
class NamedTool:
    """A tool that a program writes out. `effect`: None where the tool is not approved."""

    server: str
    tool: str
    effect: Effect | None

    def as_json(self) -> dict[str, Any]:
        """Return what people are shown of it."""
        return {"name": f"{self.server}:{self.tool}", "effect": self.effect and self.effect.value}


@dataclass(frozen=True, slots=True)
class Script:
    """A program with a name. `tools`: those that it may call without a hold of its own for each call.

    `schema`: the input that it takes; `effect`: the worst effect of its tools.
    """

    name: str
    source: str = field(repr=False)
    tools: ToolVersions
    effect: Effect = Effect.READ
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object"})

    def as_definition(self) -> dict[str, Any]:
        """Return the definition of a tool under which the script is listed: what a person approves is all that runs."""
        tools = [{"server": server, "tool": tool, "definition": of.text} for (server, tool), of in self.tools.items()]
        program = {"language": "python", "source": self.source, "tools": tools, "effect": self.effect.value}
        hints = {
            "readOnlyHint": self.effect is Effect.READ,
            "destructiveHint": self.effect is Effect.DESTRUCTIVE,
        }
        said = {"name": self.name, "description": self.description, "inputSchema": dict(self.schema)}
        return said | {"annotations": hints, "_meta": {META: program}}

    @classmethod
    def from_definition(cls, definition: Mapping[str, Any]) -> Self:
        """Return the script of a definition that `as_definition` made."""
        program = definition["_meta"][META]
        return cls(
            definition["name"],
            program["source"],
            {(tool["server"], tool["tool"]): Fingerprint(tool["definition"]) for tool in program["tools"]},
            Effect(program["effect"]),
            definition["description"],
            definition["inputSchema"],
        )


@dataclass(frozen=True, slots=True)
class StoredScript:
    """A script as it was written down last. The revision changes with every edit; `at` in microseconds of UTC."""

    script: Script
    revision: int
    at: int
    by: str
