"""`mcpguard code`: programs that call many tools, as an agent runs them."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer

from mcpguard.cli.agents import scripts
from mcpguard.cli.agents.agent_client import Agent, answer_facts
from mcpguard.cli.agents.program_file import CHECKING, ProgramFile, read_program, show_named
from mcpguard.cli.shared.common import As, Config, DataDir, Output, print_json, print_lines
from mcpguard.cli.shared.guard_client import API, GuardClient
from mcpguard.cli.shared.options import json_value
from mcpguard.domain.calls.calls import CODE_EXECUTION
from mcpguard.domain.capabilities import Effect
from mcpguard.text.visible import visible

LONGEST_SECONDS: Final = 3630.0
"""A little more than any setting lets a program run."""
app = typer.Typer(help="Programs that call many tools, as an agent runs them.", no_args_is_help=True)
app.add_typer(scripts.app, name="scripts")


@app.callback()
def _group() -> None:
    """Programs that call many tools, as an agent runs them."""


@app.command()
def run(
    file: ProgramFile,
    given: Annotated[str, typer.Option("--input", metavar="JSON", help="What the program sees as `input`.")] = "null",
    effect: Annotated[Effect, typer.Option(help="The worst effect that its calls may have.")] = Effect.READ,
    server: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A server that it may call; repeat it. All, if left out.")
    ] = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="The reason, which goes into the audit log.")] = "",
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Run a program as an agent does: with the token in MCPGUARD_TOKEN, or anonymously. Exit code 1 if it fails."""
    options = {"allowed_servers": server} if server else {}
    intent = {"operation_type": effect.value} | ({"reason": reason} if reason else {})
    wanted = {"code": read_program(file), "input": json_value(given, "--input"), "options": options, "intent": intent}
    result = Agent(config, data_dir, LONGEST_SECONDS).call(CODE_EXECUTION, wanted)
    said = answer_facts(result)
    if output is Output.JSON:
        print_json(said)
    elif "ok" not in said:
        print_lines(str(result.get("content", [{}])[0].get("text", "")))
    else:
        _show(said)
    raise typer.Exit(0 if said.get("ok") else 1)


@app.command()
def check(file: ProgramFile, config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """Show which tools a program names, with their effects, and what is wrong with it. Nothing of it runs."""
    guard = GuardClient.from_options(config, data_dir)
    said = guard.send("POST", f"{API}/programs/check", {"code": read_program(file)}, CHECKING)
    if output is Output.JSON:
        print_json(said)
    else:
        show_named(said["named"])
        _show_failure(said)
    raise typer.Exit(0 if said["error"] is None else 1)


def _show_failure(said: Mapping[str, Any]) -> None:
    """Print the error of a program, if it has one."""
    if (error := said.get("error")) is not None:
        line = f", line {error['line']}" if "line" in error else ""
        typer.echo(visible(f"{error['code']}{line}: {error['message']}"), err=True)


def _show(said: Mapping[str, Any]) -> None:
    for line in said["logs"]:
        print_lines(line)
    for call in said["calls"]:
        why = f" ({call['reason']})" if call["reason"] else ""
        typer.echo(visible(f"{call['status']}  {call['name']}{why}  {call['call_id']}"), err=True)
    _show_failure(said)
    if said["ok"]:
        print_json(said["value"])
