"""`mcpguard user`: the people who may sign in, and who of them is signed in.

A password is never a word of a command: those are seen by everybody on the machine, and kept by shells.
"""

import re
import sys
from collections.abc import Iterator
from typing import Annotated, Any, Final

import typer

from mcpguard.cli.servers.server_tables import moment, say
from mcpguard.cli.shared.common import As, Config, DataDir, Output, print_json, print_table
from mcpguard.cli.shared.guard_client import API, USERS, Operator
from mcpguard.domain.people import NAME, Role
from mcpguard.text.visible import visible

app = typer.Typer(no_args_is_help=True, help="The people who may sign in, and who of them is signed in.")
HEAD: Final = ("name", "role", "standing", "sessions", "added", "by")
SESSIONS: Final = ("user", "from", "since", "last used", "password given", "session")
_SESSION: Final = re.compile(r"[0-9a-f-]{1,36}")
NONE: Final = "Nobody can sign in. Let somebody in: mcpguard user add NAME --role admin, or mcpguard user setup-link"


def named(given: str) -> str:
    if NAME.fullmatch(given) is None:
        raise typer.BadParameter("a name has 1 to 63 of a to z, 0 to 9, -, _ and ., and begins with a letter or digit")
    return given


def _id(given: str) -> str:
    if _SESSION.fullmatch(given) is None:
        raise typer.BadParameter("mcpguard user sessions names those that there are")
    return given


Name = Annotated[str, typer.Argument(metavar="NAME", help="The user.", callback=named)]
Why = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why. It goes into the audit log.")]
Stdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from the first line of standard input.")
]


@app.command()
def add(
    name: Name,
    role: Annotated[Role, typer.Option(help="What they may do.")],
    password_stdin: Stdin = False,
    reason: Why = "",
    *,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Let somebody in, with a password that they can change themselves, in the console."""
    operator = Operator.of(config, data_dir)
    body = {"name": name, "role": role.value, "password": _password(from_stdin=password_stdin), "why": reason}
    say(output, operator.send("POST", USERS, body), f"{name} may sign in as {role.value}")


@app.command("list")
def list_(config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """List the people who may sign in, or might once."""
    users = Operator.of(config, data_dir).every(USERS, "users")["users"]
    if output is Output.JSON:
        print_json(users)
    elif users:
        print_table(HEAD, _rows(users))
    else:
        typer.echo(NONE, err=True)


@app.command()
def passwd(
    name: Name,
    password_stdin: Stdin = False,
    reason: Why = "",
    *,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Give somebody another password. They are signed out everywhere."""
    operator = Operator.of(config, data_dir)
    body = {"password": _password(from_stdin=password_stdin), "why": reason}
    say(output, operator.send("POST", f"{USERS}/{name}/password", body), f"{name} has another password")


@app.command()
def role(
    name: Name,
    role: Annotated[Role, typer.Argument(metavar="ROLE", help="viewer, auditor, approver, admin.")],
    reason: Why = "",
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Give somebody another role. Whoever loses rights by it is signed out everywhere."""
    body = {"role": role.value, "why": reason}
    user = Operator.of(config, data_dir).send("POST", f"{USERS}/{name}/role", body)
    say(output, user, f"{name} is {role.value}")


@app.command()
def disable(
    name: Name, reason: Why = "", config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE
) -> None:
    """Let somebody in no more. They are signed out everywhere, at once."""
    user = Operator.of(config, data_dir).send("POST", f"{USERS}/{name}/disable", {"why": reason})
    say(output, user, f"{name} is disabled")


@app.command()
def enable(
    name: Name, reason: Why = "", config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE
) -> None:
    """Let somebody sign in again who was disabled."""
    user = Operator.of(config, data_dir).send("POST", f"{USERS}/{name}/enable", {"why": reason})
    say(output, user, f"{name} may sign in")


@app.command("sign-out")
def sign_out(
    name: Name, reason: Why = "", config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE
) -> None:
    """End all sessions of somebody."""
    user = Operator.of(config, data_dir).send("POST", f"{USERS}/{name}/sign-out", {"why": reason})
    say(output, user, f"{name} is signed out")


@app.command()
def sessions(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The user; everybody if left out.")] = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """List who is signed in, from where and since when."""
    wanted = None if name is None else named(name)
    sessions = Operator.of(config, data_dir).every(f"{API}/sessions", "sessions")["sessions"]
    found = [each for each in sessions if wanted in (None, each["user"])]
    if output is Output.JSON:
        print_json(found)
    elif found:
        print_table(SESSIONS, _session_rows(found))
    else:
        typer.echo("Nobody is signed in." if wanted is None else f"{wanted} is not signed in.", err=True)


@app.command("end-session")
def end_session(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="As `user sessions` names it.", callback=_id)],
    reason: Why = "",
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """End one session of somebody."""
    user = Operator.of(config, data_dir).send("POST", f"{API}/sessions/{session}/end", {"why": reason})
    say(output, user, f"one session of {user['name']} has ended")


@app.command("setup-link")
def setup_link(reason: Why = "", config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """Print a link that makes the first admin, good once and for half an hour. The one before is worth nothing."""
    made = Operator.of(config, data_dir).send("POST", f"{API}/setup-link", {"why": reason})
    if output is Output.JSON:
        print_json(made)
    else:
        typer.echo(visible(made["url"]))
        typer.echo("It is good once, for half an hour, for whoever has it.", err=True)


def _password(*, from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise typer.BadParameter("there is no terminal to ask on; give --password-stdin", param_hint="--password-stdin")
    given: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return given


def _rows(users: list[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    for each in users:
        added = moment(each["created_at"])
        yield each["name"], each["role"], each["standing"], str(each["sessions"]), added, each["created_by"]


def _session_rows(found: list[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    for each in found:
        moments = (moment(each[key]) for key in ("created_at", "used_at", "password_at"))
        yield each["user"], each["peer"], *moments, each["id"]
