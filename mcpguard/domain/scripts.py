"""Programs of agents: the tools that they name, and scripts, which a person approves like the tools of a server."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mcpguard.domain.capabilities import Effect, Fingerprint

SCRIPTS: Final = "scripts"
"""The name of the server whose tools are scripts."""
ToolVersions = Mapping[tuple[str, str], Fingerprint]
"""Tools by server and name, each in one version of its definition."""


@dataclass(frozen=True, slots=True)
class NamedTool:
    """A tool that a program writes out. `effect`: None where the tool is not approved."""

    server: str
    tool: str
    effect: Effect | None


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


@dataclass(frozen=True, slots=True)
class StoredScript:
    """A script as it was written down last. The revision changes with every edit; `at` in microseconds of UTC."""

    script: Script
    revision: int
    at: int
    by: str
