"""`mcpguard call`: a call of a tool, as an agent makes it."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from mcpguard.cli.agents.agent_client import Agent
from mcpguard.cli.shared.common import As, Config, DataDir, Output, print_json, print_lines
from mcpguard.cli.shared.options import json_object
from mcpguard.domain.capabilities import Effect


def call(
    variant: Annotated[
        Effect, typer.Argument(metavar="read|write|destructive", help="The effect that the call may have.")
    ],
    name: Annotated[str, typer.Argument(metavar="SERVER:TOOL", help="The tool, as search names it.")],
    args: Annotated[str, typer.Option("--args", metavar="JSON", help="The arguments: a JSON object.")] = "{}",
    reason: Annotated[str, typer.Option(metavar="TEXT", help="The reason, which goes into the audit log.")] = "",
    timeout: Annotated[float, typer.Option(min=1, max=86_400, help="Seconds to wait for the answer.")] = 330.0,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Call a tool as an agent does: with the token in MCPGUARD_TOKEN, or anonymously. Exit code 1 if it fails."""
    given: dict[str, Any] = {"name": name, "arguments": json_object(args, "--args")}
    if reason:
        given["intent_reason"] = reason
    said = Agent(config, data_dir, timeout).call(f"call_tool_{variant.value}", given)
    if output is Output.JSON:
        print_json(said)
    else:
        for text in _texts(said.get("content")):
            print_lines(text)
    raise typer.Exit(1 if said.get("isError") else 0)


def _texts(content: object) -> Iterator[str]:
    """The texts of a reply, and the kind of whatever else is in it; a server may send anything."""
    for item in content if isinstance(content, list) else [content]:
        match item:
            case {"type": "text", "text": str(text)}:
                yield text
            case {"type": str(kind)}:
                yield f"({kind})"
            case _:
                yield "(cannot be shown; -o json has it)"
