"""`mcpguard server`: the servers behind the guard."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from mcpguard.app.places import server_logs
from mcpguard.cli.servers import server_changes, server_decisions
from mcpguard.cli.servers.choices import key_of, waiting
from mcpguard.cli.servers.server_tables import (
    OFFERED,
    first_rows,
    further_rows,
    offered_row,
    warn_of_confinement,
    warn_of_cut_diffs,
    warn_of_unread,
)
from mcpguard.cli.shared.common import As, Config, DataDir, Output, load_settings, moment, print_json, print_table, warn
from mcpguard.cli.shared.guard_client import SERVERS, GuardClient, server_path
from mcpguard.cli.shared.options import Name
from mcpguard.codec.capability_keys import write_key
from mcpguard.domain.servers.launches import Profile
from mcpguard.settings.entries.entry import list_names
from mcpguard.text.visible import visible

app = typer.Typer(no_args_is_help=True, help="The MCP servers behind the guard.")
HEAD = (
    "name", "status", "state", "since", "transport", "tools", "resources", "prompts", "needs review",
    "findings", "risk", "problem",
)  # fmt: skip
NONE = (
    "There are no servers. Add one: mcpguard server add NAME -- COMMAND ARG…  "
    "or declare it under mcpServers in the configuration file."
)


@app.command("list")
def list_(config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """List the servers, with their status, their connections, and what needs review."""
    answer = GuardClient.from_options(config, data_dir).get_all(SERVERS, "servers")["servers"]
    if output is Output.JSON:
        print_json(answer)
        return
    if not answer:
        typer.echo(NONE, err=True)
        return
    print_table(HEAD, _rows(answer))
    if loose := [server["name"] for server in answer if server["sandbox"] == Profile.NONE]:
        warn(f"WITHOUT A SANDBOX, with all rights of the guard's own account: {list_names(loose)}")
    waits = [server["name"] for server in answer if server["standing"] == "quarantined" or server["waiting"]]
    if unread := [server["name"] for server in answer if server["unread"]]:
        warn(f"approved with grave findings that nobody confirmed reading: {list_names(unread)}")
    if waits:
        typer.echo(f"{list_names(waits)} need review: mcpguard server show NAME", err=True)


@app.command()
def show(name: Name, config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """Show a server: its status, launch, sandbox and findings, and its capabilities with their descriptions."""
    guard = GuardClient.from_options(config, data_dir)
    server = guard.get(server_path(name))
    if output is Output.JSON:
        print_json(server)
        return
    print_table(("field", "value"), first_rows(server))
    capabilities = server["capabilities"]
    if capabilities:
        said = guard.get(server_path(name, "descriptions"))["descriptions"]
        typer.echo()
        print_table(OFFERED, (offered_row(each, said.get(write_key(key_of(each)), "")) for each in capabilities))
    typer.echo()
    print_table(("more", "value"), further_rows(server))
    warn_of_cut_diffs(guard, name, capabilities)
    warn_of_confinement(server)
    warn_of_unread(server)
    typer.echo(_next(server), err=True)


@app.command()
def logs(
    name: Name,
    config: Config = None,
    data_dir: DataDir = None,
    lines: Annotated[int, typer.Option(min=1, max=10_000, help="How many of the last lines.")] = 50,
) -> None:
    """Print the last lines that a server wrote to standard error. No guard needs to run."""
    path = server_logs(load_settings(config, data_dir=data_dir).settings) / f"{name}.log"
    found = [old_or_new for old_or_new in (path.with_name(path.name + ".1"), path) if old_or_new.exists()]
    if not found:
        typer.echo(f"mcpguard: {name} has written nothing: there is no {path}", err=True)
        raise typer.Exit(1)
    written = [line for one in found for line in one.read_text(encoding="utf-8").splitlines()]
    for line in written[-lines:]:
        typer.echo(visible(line))


for _command in (*server_changes.COMMANDS, *server_decisions.COMMANDS):
    app.command()(_command)


def _rows(servers: Any) -> Iterator[tuple[str, ...]]:  # noqa: ANN401 - JSON of our own
    for server in servers:
        standing = server["standing"] + ("" if server["enabled"] else ", disabled")
        counts = (server["tools"], server["resources"] + server["templates"], server["prompts"], server["waiting"])
        speaks = f"{server['transport']} {server['protocol']}".strip()
        failed = (
            "last inspection failed: " + server["failed_inspection"]["error"] if server["failed_inspection"] else ""
        )
        wrong = " · ".join(filter(None, (server["error"], failed, *server["left_out"])))
        known = server["name"], standing, server["state"], moment(server["since"]), speaks
        found = f"{server['found']}, {server['grave']} grave" if server["grave"] else str(server["found"])
        risk = str(server["risk"]) if server["inspected"] else "not inspected"
        yield *known, *map(str, counts), found, risk, wrong


def _next(server: dict[str, Any]) -> str:
    """What to do about a server now."""
    name, waits = server["name"], len(list(waiting(server["capabilities"])))
    match server["standing"]:
        case "blocked":
            return f"{name} is blocked. To review it again: mcpguard server quarantine {name} --reason TEXT"
        case "quarantined" if server["observed"] is None:
            failed = "The last inspection failed, so it is" if server["failed_inspection"] else "It is"
            return f"{failed} not known what {name} offers: mcpguard server inspect {name}"
        case "quarantined":
            return f"No agent can use {name} until it is approved: mcpguard server approve {name} --reason TEXT"
        case _ if waits:
            return f"{waits} of these need review: mcpguard tool list {name}"
        case _:
            return f"Nothing{' else' if server['unread'] else ''} of {name} needs review."
