"""`mcpguard operator`: API tokens, with which programs use the guard's own API on behalf of users."""

from collections.abc import Iterator
from typing import Annotated, Any, Final

import typer

from mcpguard.cli.agents.caller import Expires, lifetime
from mcpguard.cli.shared.common import As, Config, DataDir, Output, moment, print_answer, print_json, print_table
from mcpguard.cli.shared.guard_client import API, GuardClient
from mcpguard.cli.shared.options import Reason, account_name
from mcpguard.domain.people import Right, Role
from mcpguard.text.visible import visible

app = typer.Typer(no_args_is_help=True, help="API tokens, with which programs act for users on the guard's API.")
OPERATORS: Final = f"{API}/operators"
HEAD: Final = ("name", "role", "status", "expires", "added", "added by")
ONLY_PEOPLE: Final = "It can tighten protection, not loosen it: only users may, unless authority.tokens is `full`."
NONE: Final = "No API tokens. Create one: mcpguard operator add NAME --role viewer"
Name = Annotated[str, typer.Argument(metavar="NAME", help="What the token is for.", callback=account_name)]


@app.command()
def add(
    name: Name,
    role: Annotated[Role, typer.Option(help="What the token permits.")],
    expires: Expires = None,
    reason: Reason = "",
    *,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Create an API token. It is printed once, on standard output, and cannot be shown again."""
    body: dict[str, object] = {"name": name, "role": role.value, "why": reason}
    body |= lifetime(expires)
    token = GuardClient.from_options(config, data_dir).send("POST", OPERATORS, body)
    if output is Output.JSON:
        print_json(token)
        return
    typer.echo(token["token"])
    until = f"until {moment(token['expires_at'])} UTC" if token["expires_at"] else "until it is revoked"
    typer.echo(visible(f"Its role on the guard's API is {role.value}, {until}. It is not shown again."), err=True)
    if Right.DECIDE in role.rights:
        typer.echo(ONLY_PEOPLE, err=True)


@app.command("list")
def list_(config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """List the API tokens that are not revoked."""
    tokens = GuardClient.from_options(config, data_dir).get_all(OPERATORS, "operators")["operators"]
    if output is Output.JSON:
        print_json(tokens)
    elif tokens:
        print_table(HEAD, _rows(tokens))
    else:
        typer.echo(NONE, err=True)


@app.command()
def revoke(
    name: Name, reason: Reason = "", config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE
) -> None:
    """Revoke an API token, at once and for good."""
    guard = GuardClient.from_options(config, data_dir)
    found = [each for each in guard.get_all(OPERATORS, "operators")["operators"] if each["name"] == name]
    if not found:
        typer.echo(f"mcpguard: there is no token {name}; mcpguard operator list shows them", err=True)
        raise typer.Exit(1)
    token = guard.send("POST", f"{OPERATORS}/{found[0]['id']}/revoke", {"why": reason})
    print_answer(output, token, f"{name} is revoked")


def _rows(tokens: list[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    for each in tokens:
        until = moment(each["expires_at"]) or "never"
        yield each["name"], each["role"], each["standing"], until, moment(each["created_at"]), each["created_by"]
