"""`mcpguard held`: lists the calls that are held for approval, and answers them."""

import json
import re
from collections.abc import Iterator
from itertools import chain
from typing import Annotated, Any, Final

import typer

from mcpguard.cli.people.held_context import context_rows
from mcpguard.cli.servers.server_tables import finding_line
from mcpguard.cli.shared.common import As, Config, DataDir, Output, moment, print_answer, print_json, print_table
from mcpguard.cli.shared.guard_client import GuardClient
from mcpguard.cli.shared.options import Reason
from mcpguard.domain.usual_reasons import HeldReason

HELP: Final = "Calls held for approval: list, allow and deny them, or allow their like for a time."
app = typer.Typer(no_args_is_help=True, help=HELP)
HELD: Final = "/api/v1/held"
ALLOWANCES: Final = "/api/v1/allowances"
ALLOWANCES_HEAD: Final = ("id", "until (UTC)", "left", "caller", "calls", "with the same", "allowed by")
HEAD: Final = ("id", "state", "expires (UTC)", "caller", "requests", "effect", "agent's reason")
NONE: Final = "No call is held. The setting holds.calls says which calls are."
Usual = Annotated[
    HeldReason | None,
    typer.Option("--usual", metavar="CODE", help="A usual reason, recorded before the text: " + ", ".join(HeldReason)),
]
For = Annotated[
    str, typer.Option("--for", metavar="MINUTES", help="Allow its like, too, for 1m to 10m, and at most 20 calls.")
]
Same = Annotated[
    list[str] | None,
    typer.Option("--same", metavar="NAME", help="An argument that must stay the same; all but free text by default."),
]
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
    """Show a held call: its arguments, its risk, what its caller did lately, and earlier answers to its like."""
    call = GuardClient.from_options(config, data_dir).get(f"{HELD}/{ticket}")
    if output is Output.JSON:
        print_json(call)
    else:
        print_table(("field", "value"), chain(_rows(call), context_rows(call["context"])))


@app.command()
def allow(
    ticket: Ticket,
    reason: Reason = "",
    usual: Usual = None,
    for_: For = "",
    same: Same = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Allow the call, once, or with its like for some minutes. It is made now if its agent still waits, or else when
    the agent repeats it."""
    body: dict[str, Any] = _reasoned(usual, reason)
    if for_:
        body |= {"minutes": _minutes(for_)} | ({"same": same} if same is not None else {})
        made = GuardClient.from_options(config, data_dir).send("POST", f"{HELD}/{ticket}/allow-for", body)
        print_answer(output, made, _given(made))
        return
    if same is not None:
        raise typer.BadParameter("needs --for", param_hint="--same")
    call = GuardClient.from_options(config, data_dir).send("POST", f"{HELD}/{ticket}/allow", body)
    print_answer(output, call, f"{_name(call)} may be called once, until {moment(call['until'])} UTC")


@app.command()
def allowances(config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """List the allowances that have not ended: calls like a held one, which are let through for some minutes."""
    found = GuardClient.from_options(config, data_dir).get_all(ALLOWANCES, "allowances")["allowances"]
    if output is Output.JSON:
        print_json(found)
    elif found:
        print_table(ALLOWANCES_HEAD, map(_allowance_row, found))
    else:
        typer.echo("No call is allowed for a time.", err=True)


@app.command()
def revoke(
    allowance: Annotated[str, typer.Argument(metavar="ID", help="The id of the allowance.")],
    reason: Reason,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """End an allowance at once."""
    ended = GuardClient.from_options(config, data_dir).send("POST", f"{ALLOWANCES}/{allowance}/revoke", {"why": reason})
    print_answer(output, ended, f"calls of {_name(ended)} are held again")


@app.command()
def deny(
    ticket: Ticket,
    reason: Reason = "",
    usual: Usual = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Deny the call. The agent gets the reason."""
    body = _reasoned(usual, reason)
    call = GuardClient.from_options(config, data_dir).send("POST", f"{HELD}/{ticket}/deny", body)
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
    if call["allowance"]["why_not"]:
        yield "only once", call["allowance"]["why_not"]
    if call["by"]:
        yield "answered by", call["by"]
        yield "reason", call["why"]


def _given(made: dict[str, Any]) -> str:
    same = ", ".join(made["same"]) or "nothing"
    return (
        f"{_name(made)} may be called {made['left'] + 1} times until {moment(made['until'])} UTC by "
        f"{made['caller']['name']}, with the same {same} (allowance {made['id']})"
    )


def _allowance_row(made: dict[str, Any]) -> tuple[str, ...]:
    return (
        made["id"],
        moment(made["until"]),
        str(made["left"]),
        made["caller"]["name"],
        _name(made),
        ", ".join(made["same"]),
        made["by"],
    )


def _minutes(text: str) -> int:
    """The minutes in a text such as 10m."""
    if (match := re.fullmatch(r"(\d{1,4})m", text)) is None:
        raise typer.BadParameter("write minutes as 10m", param_hint="--for")
    return int(match[1])


def _reasoned(usual: HeldReason | None, reason: str) -> dict[str, str]:
    """The body of an answer. One of the two is required."""
    if usual is None and not reason:
        raise typer.BadParameter("give a reason, a usual one with --usual, or both", param_hint="--reason")
    return {"why": reason} | ({"reason": usual.value} if usual else {})


def _arguments(arguments: Any) -> str:  # noqa: ANN401 - JSON
    return "not kept" if arguments is None else json.dumps(arguments, ensure_ascii=False)


def _name(call: dict[str, Any]) -> str:
    return f"{call['server']}:{call['name']}"
