"""`mcpguard held`: calls that wait for a person, and the answers to them."""

import json
from collections.abc import Iterator
from typing import Annotated, Any, Final

import typer

from mcpguard.cli.servers.server_tables import moment, say
from mcpguard.cli.shared.common import As, Config, DataDir, Output, print_json, print_table
from mcpguard.cli.shared.guard_client import Operator
from mcpguard.cli.shared.options import Reason

app = typer.Typer(no_args_is_help=True, help="Calls that wait for a person, and the answers to them.")
HELD: Final = "/api/v1/held"
HEAD: Final = ("id", "state", "until (UTC)", "caller", "wants", "effect", "the agent says")
NONE: Final = "No call waits for a person. Which ones do is the setting holds.calls."
Ticket = Annotated[str, typer.Argument(metavar="ID", help="The ticket of the call.")]


@app.command("list")
def list_(config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """List the calls that wait, that were allowed and not yet made, and that were denied lately."""
    calls = Operator.of(config, data_dir).every(HELD, "held")["held"]
    if output is Output.JSON:
        print_json(calls)
    elif calls:
        print_table(HEAD, map(_row, calls))
    else:
        typer.echo(NONE, err=True)


@app.command()
def show(ticket: Ticket, config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """Show one of them, with its arguments."""
    call = Operator.of(config, data_dir).get(f"{HELD}/{ticket}")
    if output is Output.JSON:
        print_json(call)
    else:
        print_table(("what", "is"), _rows(call))


@app.command()
def allow(
    ticket: Ticket, reason: Reason, config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE
) -> None:
    """Allow the call, once. If its agent still waits it is made now, else when the agent makes the same call again."""
    call = Operator.of(config, data_dir).send("POST", f"{HELD}/{ticket}/allow", {"why": reason})
    say(output, call, f"{_name(call)} may be called once, until {moment(call['until'])} UTC")


@app.command()
def deny(
    ticket: Ticket, reason: Reason, config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE
) -> None:
    """Deny the call. The agent is told so, with the reason."""
    call = Operator.of(config, data_dir).send("POST", f"{HELD}/{ticket}/deny", {"why": reason})
    say(output, call, f"{_name(call)} is denied; the same call is refused until {moment(call['until'])} UTC")


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
    yield "asked", f"{moment(call['at'])} UTC"
    yield "until", f"{moment(call['until'])} UTC"
    yield "caller", call["caller"]["name"] + (f", with {call['client']}" if call["client"] else "")
    yield "wants", f"{_name(call)} ({call['method']})"
    yield "effect", call["effect"]
    yield "declared", call["operation"] if call["declared"] else "nothing"
    yield "the agent says", call["agent_says"] or "nothing"
    yield "sensitivity", call["sensitivity"]
    yield "held because of", call["because"]
    yield "arguments", _arguments(call["arguments"])
    if call["meta"] is not None:
        yield "_meta", _arguments(call["meta"])
    for finding in call["findings"]:
        yield "finding", finding["title"]
    if call["by"]:
        yield "answered by", call["by"]
        yield "reason", call["why"]


def _arguments(arguments: Any) -> str:  # noqa: ANN401 - JSON
    return "not kept" if arguments is None else json.dumps(arguments, ensure_ascii=False)


def _name(call: dict[str, Any]) -> str:
    return f"{call['server']}:{call['name']}"
