"""`mcpguard server`: the servers that the guard stands in front of."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from mcpguard.app.places import server_logs
from mcpguard.cli.common import As, Config, DataDir, Output, loaded, print_json, print_table
from mcpguard.cli.operator import asked
from mcpguard.codec.names import is_server_name
from mcpguard.text.visible import visible

app = typer.Typer(no_args_is_help=True, help="The servers that the guard stands in front of.")
HEAD = ("name", "state", "since", "speaks", "tools", "resources", "prompts", "what is wrong")


@app.command("list")
def list_(config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """List the servers and how the connections to them are."""
    answer = asked(loaded(config, data_dir=data_dir).settings.data_dir, "/api/v1/servers")
    if output is Output.JSON:
        print_json(answer)
    elif answer:
        print_table(HEAD, _rows(answer))
    else:
        typer.echo("There are no servers. Declare them under mcpServers in the configuration file.", err=True)


@app.command()
def logs(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The server.")],
    config: Config = None,
    data_dir: DataDir = None,
    lines: Annotated[int, typer.Option(min=1, max=10_000, help="How many of the last lines.")] = 50,
) -> None:
    """Print what a server wrote to its standard error last. No guard needs to run."""
    if not is_server_name(name):
        raise typer.BadParameter("this is no server's name; mcpguard server list shows them", param_hint="NAME")
    path = server_logs(loaded(config, data_dir=data_dir).settings) / f"{name}.log"
    found = [old_or_new for old_or_new in (path.with_name(path.name + ".1"), path) if old_or_new.exists()]
    if not found:
        typer.echo(f"mcpguard: {name} has written nothing: there is no {path}", err=True)
        raise typer.Exit(1)
    written = [line for one in found for line in one.read_text(encoding="utf-8").splitlines()]
    for line in written[-lines:]:
        typer.echo(visible(line))


def _rows(servers: Any) -> Iterator[tuple[str, ...]]:  # noqa: ANN401 - JSON of our own
    for server in servers:
        since = f"{datetime.fromtimestamp(server['since'] / 1e6, UTC):%Y-%m-%d %H:%M:%S}" if server["since"] else ""
        counts = (server["tools"], server["resources"] + server["templates"], server["prompts"])
        speaks = f"{server['transport']} {server['protocol']}".strip()
        wrong = " · ".join(filter(None, (server["error"], *server["left_out"])))
        yield server["name"], server["state"], since, speaks, *map(str, counts), wrong
