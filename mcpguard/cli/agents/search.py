"""`mcpguard search`: searches for tools as an agent does."""

from typing import Annotated

import typer

from mcpguard.cli.agents.agent_client import Agent, answer_facts
from mcpguard.cli.shared.common import As, Config, DataDir, Output, print_json, print_table

SECONDS = 30.0
MOST_FOUND = 100
"""As for agents, whose own tool takes too long to load for this."""
HEAD = ("tool", "effect", "call with", "score", "what it does")


def search(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="What to look for: service, verb and object.")],
    limit: Annotated[int, typer.Option(min=1, max=MOST_FOUND, help="The most results to print.")] = 15,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Find approved tools as an agent does: with the token in MCPGUARD_TOKEN, or anonymously."""
    said = Agent(config, data_dir, SECONDS).call("retrieve_tools", {"query": " ".join(query), "limit": limit})
    answer = answer_facts(said)
    if output is Output.JSON or said.get("isError"):
        print_json(answer)
        raise typer.Exit(1 if said.get("isError") else 0)
    if not answer["tools"]:
        typer.echo(f"No match among the {answer['total']} tools you can see.", err=True)
    else:
        print_table(HEAD, (_row(each) for each in answer["tools"]))
    if "notice" in answer:
        typer.echo(answer["notice"], err=True)


def _row(tool: dict[str, object]) -> tuple[str, ...]:
    return str(tool["name"]), str(tool["effect"]), str(tool["call_with"]), str(tool["score"]), str(tool["description"])
