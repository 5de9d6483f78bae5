"""`mcpguard operator`: tokens with which programs act for people, on the guard's own API."""

from collections.abc import Iterator
from typing import Annotated, Any, Final

import typer

from mcpguard.cli.agents.caller import Expires, lasting
from mcpguard.cli.people.user import Why, named
from mcpguard.cli.servers.server_tables import moment, say
from mcpguard.cli.shared.common import As, Config, DataDir, Output, print_json, print_table
from mcpguard.cli.shared.guard_client import API, Operator
from mcpguard.domain.people import Right, Role
from mcpguard.text.visible import visible

app = typer.Typer(no_args_is_help=True, help="Tokens with which programs act for people, on the guard's own API.")
OPERATORS: Final = f"{API}/operators"
HEAD: Final = ("name", "role", "standing", "expires", "added", "by")
ONLY_PEOPLE: Final = "It lets nothing more happen than before, as only people may, unless authority.tokens is `full`."
NONE: Final = "No program has a token. Make one: mcpguard operator add NAME --role viewer"
Name = Annotated[str, typer.Argument(metavar="NAME", help="What the token is for.", callback=named)]


@app.command()
def add(
    name: Name,
    role: Annotated[Role, typer.Option(help="What whoever has it may do.")],
    expires: Expires = None,
    reason: Why = "",
    *,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Make a token. It is printed once, on standard output, and cannot be shown again."""
    body: dict[str, object] = {"name": name, "role": role.value, "why": reason}
    body |= lasting(expires)
    token = Operator.of(config, data_dir).send("POST", OPERATORS, body)
    if output is Output.JSON:
        print_json(token)
        return
    typer.echo(token["token"])
    until = f"until {moment(token['expires_at'])} UTC" if token["expires_at"] else "until it is revoked"
    typer.echo(visible(f"Whoever has it is {role.value} on the guard's API, {until}. It is not shown again."), err=True)
    if Right.DECIDE in role.rights:
        typer.echo(ONLY_PEOPLE, err=True)


@app.command("list")
def list_(config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """List the tokens that were not revoked."""
    tokens = Operator.of(config, data_dir).every(OPERATORS, "operators")["operators"]
    if output is Output.JSON:
        print_json(tokens)
    elif tokens:
        print_table(HEAD, _rows(tokens))
    else:
        typer.echo(NONE, err=True)


@app.command()
def revoke(
    name: Name, reason: Why = "", config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE
) -> None:
    """Make a token worth nothing, at once and for good."""
    operator = Operator.of(config, data_dir)
    found = [each for each in operator.every(OPERATORS, "operators")["operators"] if each["name"] == name]
    if not found:
        typer.echo(f"mcpguard: there is no token {name}; mcpguard operator list shows those that there are", err=True)
        raise typer.Exit(1)
    token = operator.send("POST", f"{OPERATORS}/{found[0]['id']}/revoke", {"why": reason})
    say(output, token, f"{name} is revoked")


def _rows(tokens: list[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    for each in tokens:
        until = moment(each["expires_at"]) or "never"
        yield each["name"], each["role"], each["standing"], until, moment(each["created_at"]), each["created_by"]
