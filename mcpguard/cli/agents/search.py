"""`mcpguard search`: searches for tools as an agent does; with `--why` or `--caller`, as an operator who looks over its
shoulder.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn
from urllib.parse import urlencode

import typer

from mcpguard.cli.agents.agent_client import Agent, answer_facts
from mcpguard.cli.shared.common import As, Config, DataDir, Output, print_json, print_table
from mcpguard.cli.shared.guard_client import API, GuardClient, GuardProblem, print_problem
from mcpguard.domain.grants import ANONYMOUS
from mcpguard.relay.credential import TOKEN, TOKEN_FILE
from mcpguard.text.visible import visible

SECONDS = 30.0
MOST_FOUND = 100
"""As for agents, whose own tool takes too long to load for this."""
HEAD = ("tool", "effect", "call with", "score", "what it does")
WHOSE: Final = "--why asks as an operator, who is not known by the token of an agent; name the agent with --caller"


def search(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="What to look for: service, verb and object.")],
    limit: Annotated[int, typer.Option(min=1, max=MOST_FOUND, help="The most results to print.")] = 15,
    why: Annotated[bool, typer.Option("--why", help="Print why each tool is found and stands where it does.")] = False,
    caller: Annotated[
        str | None, typer.Option(metavar="NAME", help="Find what this caller would; needs access as an operator.")
    ] = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Find approved tools as an agent does: with the token in MCPGUARD_TOKEN, or anonymously."""
    asked: dict[str, object] = {"q": " ".join(query), "limit": limit}
    if why or caller is not None:
        answer = _as_operator(asked, why=why, caller=caller, config=config, data_dir=data_dir)
        refused = False
    else:
        said = Agent(config, data_dir, SECONDS).call("retrieve_tools", {"query": asked["q"], "limit": limit})
        answer, refused = answer_facts(said), bool(said.get("isError"))
    if output is Output.JSON or refused:
        print_json(answer)
        raise typer.Exit(1 if refused else 0)
    if not answer["tools"]:
        typer.echo(visible(f"No match among the {answer['total']} tools {caller or 'you'} can see."), err=True)
    elif why:
        for line in _explained(answer["tools"]):
            typer.echo(visible(line))
    else:
        print_table(HEAD, (_row(each) for each in answer["tools"]))
    if unmatched := answer.get("unmatched"):
        typer.echo(visible(f"No tool has: {', '.join(f'`{word}`' for word in unmatched)}."), err=True)
    if "notice" in answer:
        typer.echo(answer["notice"], err=True)


def _as_operator(
    asked: Mapping[str, object], *, why: bool, caller: str | None, config: Path | None, data_dir: Path | None
) -> Mapping[str, Any]:
    """What a caller would find, over the operator's socket: without a name, one without a token."""
    if caller is None and (TOKEN in os.environ or TOKEN_FILE in os.environ):
        raise typer.BadParameter(WHOSE, param_hint="--caller")
    given = {**asked, "caller": caller or ANONYMOUS, "why": "true" if why else "false"}
    try:
        found: Mapping[str, Any] = GuardClient.from_options(config, data_dir).request(
            "GET", f"{API}/search?{urlencode(given)}"
        )
    except GuardProblem as problem:
        _refused(problem, caller)
    return found


def _refused(problem: GuardProblem, caller: str | None) -> NoReturn:
    if problem.kind != "caller-unknown":
        print_problem(problem)
    elif caller is None:
        typer.echo("mcpguard: every agent needs a token here; name one with --caller (mcpguard caller list)", err=True)
    else:
        typer.echo(visible(f"mcpguard: there is no caller {caller}; mcpguard caller list shows them"), err=True)
    raise typer.Exit(1) from None


def _explained(tools: list[dict[str, Any]]) -> Iterator[str]:
    """Two lines for each tool: what it is, and why it is there."""
    for tool in tools:
        yield f"{tool['name']}  {tool['effect']}  {tool['score']:.2f}  {tool['description']}".rstrip()
        yield f"    {tool['why']['sentence']}"


def _row(tool: dict[str, object]) -> tuple[str, ...]:
    return str(tool["name"]), str(tool["effect"]), str(tool["call_with"]), str(tool["score"]), str(tool["description"])
