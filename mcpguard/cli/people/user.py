"""`mcpguard user`: users who may sign in, and their sessions.

A password is never a command-line argument: every account on the host can see those, and shells store them.
"""

import re
import sys
from collections.abc import Iterator
from typing import Annotated, Any, Final

import typer

from mcpguard.cli.shared.common import As, Config, DataDir, Output, moment, print_answer, print_json, print_table
from mcpguard.cli.shared.guard_client import API, USERS, GuardClient
from mcpguard.cli.shared.options import Reason, account_name
from mcpguard.domain.people import Role
from mcpguard.text.visible import visible

app = typer.Typer(no_args_is_help=True, help="Users who may sign in to the console, and their sessions.")
HEAD: Final = ("name", "role", "status", "sessions", "added", "added by")
SESSIONS: Final = ("user", "from", "since", "last used", "password confirmed", "session")
_SESSION: Final = re.compile(r"[0-9a-f-]{1,36}")
NONE: Final = "No users. Add one: mcpguard user add NAME --role admin, or mcpguard user setup-link"


def _id(given: str) -> str:
    if _SESSION.fullmatch(given) is None:
        raise typer.BadParameter("not a session id; mcpguard user sessions shows them")
    return given


Name = Annotated[str, typer.Argument(metavar="NAME", help="The user.", callback=account_name)]
Stdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from the first line of standard input.")
]


@app.command()
def add(
    name: Name,
    role: Annotated[Role, typer.Option(help="What the user may do.")],
    password_stdin: Stdin = False,
    reason: Reason = "",
    *,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Add a user, with a password that they can change in the console."""
    guard = GuardClient.from_options(config, data_dir)
    body = {"name": name, "role": role.value, "password": _password(from_stdin=password_stdin), "why": reason}
    print_answer(output, guard.send("POST", USERS, body), f"{name} may sign in as {role.value}")


@app.command("list")
def list_(config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """List all users, also the disabled ones."""
    users = GuardClient.from_options(config, data_dir).get_all(USERS, "users")["users"]
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
    reason: Reason = "",
    *,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Reset the password of a user, who is signed out everywhere."""
    guard = GuardClient.from_options(config, data_dir)
    body = {"password": _password(from_stdin=password_stdin), "why": reason}
    print_answer(output, guard.send("POST", f"{USERS}/{name}/password", body), f"{name} has a new password")


@app.command()
def role(
    name: Name,
    role: Annotated[Role, typer.Argument(metavar="ROLE", help="viewer, auditor, approver, admin.")],
    reason: Reason = "",
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Change the role of a user, who is signed out everywhere if that takes rights away."""
    body = {"role": role.value, "why": reason}
    user = GuardClient.from_options(config, data_dir).send("POST", f"{USERS}/{name}/role", body)
    print_answer(output, user, f"{name} is {role.value}")


@app.command()
def disable(
    name: Name, reason: Reason = "", config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE
) -> None:
    """Disable a user, who is signed out everywhere at once."""
    user = GuardClient.from_options(config, data_dir).send("POST", f"{USERS}/{name}/disable", {"why": reason})
    print_answer(output, user, f"{name} is disabled")


@app.command()
def enable(
    name: Name, reason: Reason = "", config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE
) -> None:
    """Enable a user who was disabled."""
    user = GuardClient.from_options(config, data_dir).send("POST", f"{USERS}/{name}/enable", {"why": reason})
    print_answer(output, user, f"{name} may sign in")


@app.command("sign-out")
def sign_out(
    name: Name, reason: Reason = "", config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE
) -> None:
    """End all sessions of a user."""
    user = GuardClient.from_options(config, data_dir).send("POST", f"{USERS}/{name}/sign-out", {"why": reason})
    print_answer(output, user, f"{name} is signed out")


@app.command()
def sessions(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Only the sessions of this user.")] = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """List who is signed in, from where and since when."""
    wanted = None if name is None else account_name(name)
    sessions = GuardClient.from_options(config, data_dir).get_all(f"{API}/sessions", "sessions")["sessions"]
    found = [each for each in sessions if wanted in (None, each["user"])]
    if output is Output.JSON:
        print_json(found)
    elif found:
        print_table(SESSIONS, _session_rows(found))
    else:
        typer.echo("No sessions." if wanted is None else f"{wanted} is not signed in.", err=True)


@app.command("end-session")
def end_session(
    session: Annotated[
        str, typer.Argument(metavar="SESSION", help="The session id, as in `user sessions`.", callback=_id)
    ],
    reason: Reason = "",
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """End one session of a user."""
    user = GuardClient.from_options(config, data_dir).send("POST", f"{API}/sessions/{session}/end", {"why": reason})
    print_answer(output, user, f"one session of {user['name']} has ended")


@app.command("setup-link")
def setup_link(reason: Reason = "", config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """Print a link that creates the first admin. It works once, for half an hour; earlier links stop working."""
    made = GuardClient.from_options(config, data_dir).send("POST", f"{API}/setup-link", {"why": reason})
    if output is Output.JSON:
        print_json(made)
    else:
        typer.echo(visible(made["url"]))
        typer.echo("It works once, for half an hour, for anybody who has it.", err=True)


def _password(*, from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise typer.BadParameter("there is no terminal to ask on; use --password-stdin", param_hint="--password-stdin")
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
