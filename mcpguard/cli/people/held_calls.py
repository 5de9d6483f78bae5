"""`mcpguard held`: lists the calls that are held for approval, and answers them."""

import json
from collections.abc import Iterator
from typing import Annotated, Any, Final

import typer

from mcpguard.cli.servers.server_tables import finding_line
from mcpguard.cli.shared.common import As, Config, DataDir, Output, moment, print_answer, print_json, print_table
from mcpguard.cli.shared.guard_client import GuardClient
from mcpguard.cli.shared.options import Reason

app = typer.Typer(no_args_is_help=True, help="Calls held for approval: list, allow and deny them.")
HELD: Final = "/api/v1/held"
HEAD: Final = ("id", "state", "expires (UTC)", "caller", "requests", "effect", "agent's reason")
NONE: Final = "No call is held. The setting holds.calls says which calls are."
Ticket = Annotated[str, typer.Argument(metavar="ID", help="The id of the held call.")]


@app.command("list")
def list_(config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """List the calls that are held, that were allowed but not made yet, and that were denied lately."""
    calls = GuardClient.from_options(config, data_dir).get_all(HELD, "held")["held"]
    if output is Output.JSON:
        print_json(calls)
    elif calls:
        print_table(HEAD, map(_row, calls))
    else:
        typer.echo(NONE, err=True)


@app.command()
def show(ticket: Ticket, config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """Show a held call, with its arguments."""
    call = GuardClient.from_options(config, data_dir).get(f"{HELD}/{ticket}")
    if output is Output.JSON:
        print_json(call)
    else:
        print_table(("field", "value"), _rows(call))


@app.command()
def allow(
    ticket: Ticket, reason: Reason, config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE
) -> None:
    """Allow the call, once. It is made now if its agent still waits, or else when the agent repeats it."""
    call = GuardClient.from_options(config, data_dir).send("POST", f"{HELD}/{ticket}/allow", {"why": reason})
    print_answer(output, call, f"{_name(call)} may be called once, until {moment(call['until'])} UTC")


@app.command()
def deny(
    ticket: Ticket, reason: Reason, config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE
) -> None:
    """Deny the call. The agent gets the reason."""
    call = GuardClient.from_options(config, data_dir).send("POST", f"{HELD}/{ticket}/deny", {"why": reason})
    print_answer(output, call, f"{_name(call)} is denied; the same call is refused until {moment(call['until'])} UTC")


def _row(call: dict[str, Any]) -> tuple[str, ...]:
    return (
        call["id"],
        call["state"],
        moment(call["until"]),
        call["caller"]["name"],
        _name(call),
        call["effect"],
        call["agent_says"],
    )


def _rows(call: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "id", call["id"]
    yield "state", call["state"]
    yield "requested", f"{moment(call['at'])} UTC"
    yield "expires", f"{moment(call['until'])} UTC"
    yield "caller", call["caller"]["name"] + (f", with {call['client']}" if call["client"] else "")
    yield "requests", f"{_name(call)} ({call['method']})"
    yield "effect", call["effect"]
    yield "declared", call["operation"] if call["declared"] else "none"
    yield "agent's reason", call["agent_says"] or "none"
    yield "sensitivity", call["sensitivity"]
    yield "held by", call["because"]
    yield "arguments", _arguments(call["arguments"])
    if call["meta"] is not None:
        yield "_meta", _arguments(call["meta"])
    for finding in call["findings"]:
        yield "finding", finding_line(finding)
        yield "why", finding["why"]
    if call["by"]:
        yield "answered by", call["by"]
        yield "reason", call["why"]


def _arguments(arguments: Any) -> str:  # noqa: ANN401 - JSON
    return "not kept" if arguments is None else json.dumps(arguments, ensure_ascii=False)


def _name(call: dict[str, Any]) -> str:
    return f"{call['server']}:{call['name']}"
