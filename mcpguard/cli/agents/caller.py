"""`mcpguard caller`: the agents that have a token, and how far each may reach."""

import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final

import typer

from mcpguard.cli.servers.server_tables import moment, say
from mcpguard.cli.shared.common import As, Config, DataDir, Output, print_json, print_table
from mcpguard.cli.shared.guard_client import CALLERS, Operator
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.grants import LABEL
from mcpguard.text.visible import visible

app = typer.Typer(no_args_is_help=True, help="The agents that have a token, and how far each may reach.")
HEAD: Final = ("name", "standing", "servers", "tools", "effects", "expires", "added", "by")
NONE: Final = "No agent has a token. Give one to an agent: mcpguard caller add NAME"
NEVER: Final = "never"
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_TIME: Final = re.compile(r"([1-9][0-9]{0,8})([smhdw])")


def _label(given: str) -> str:
    if LABEL.fullmatch(given) is None:
        raise typer.BadParameter("a name has 1 to 63 of a to z, 0 to 9, -, _ and ., and begins with a letter or digit")
    return given


def lasting(given: str | None) -> dict[str, int | None]:
    """For how long, as the guard is told: nothing where it was not said, null where it was said that it never ends."""
    if given is None:
        return {}
    if given == NEVER:
        return {"expires_in": None}
    if (found := _TIME.fullmatch(given)) is None:
        raise typer.BadParameter("give a number and s, m, h, d or w, as in 30d, or never", param_hint="--expires")
    return {"expires_in": int(found[1]) * _SECONDS[found[2]]}


Name = Annotated[str, typer.Argument(metavar="NAME", help="The caller.", callback=_label)]
Why = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why. It goes into the audit log.")]
Patterns = list[str] | None
Expires = Annotated[
    str | None, typer.Option(metavar="TIME", help="30d, 12h …, or never; without, it ends after 90 days.")
]


@app.command()
def add(
    name: Name,
    servers: Annotated[
        Patterns, typer.Option(metavar="GLOB,…", help="Names of servers, * and ? as wildcards; all if left out.")
    ] = None,
    tools: Annotated[
        Patterns, typer.Option(metavar="GLOB,…", help="Names of tools, prompts and resources; all if left out.")
    ] = None,
    effects: Annotated[
        Patterns, typer.Option(metavar="EFFECT,…", help="read, write, destructive; read if left out.")
    ] = None,
    expires: Expires = None,
    must_declare: Annotated[
        bool, typer.Option("--must-declare", help="It must declare what it means to do, or only read.")
    ] = False,
    manage: Annotated[
        bool,
        typer.Option(
            "--manage",
            help="It may add, change, remove and disable servers within its reach, and enable what it has disabled. "
            "What it adds or has launched otherwise is quarantined; approving stays a person's.",
        ),
    ] = False,
    reason: Why = "",
    *,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Give an agent a token. It is printed once, on standard output, and cannot be shown again."""
    given = {"servers": _each(servers), "tools": _each(tools), "effects": _effects(effects)}
    body: dict[str, object] = {key: value for key, value in given.items() if value is not None}
    body |= {"name": name, "must_declare": must_declare, "manage": manage, "why": reason}
    body |= lasting(expires)
    caller = Operator.of(config, data_dir).send("POST", CALLERS, body)
    if output is Output.JSON:
        print_json(caller)
    else:
        typer.echo(caller["token"])
        for sentence in _granted(caller):
            typer.echo(visible(sentence), err=True)


@app.command("list")
def list_(config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """List the agents that have a token, and what agents without one may do."""
    answer = Operator.of(config, data_dir).every(CALLERS, "callers")
    if output is Output.JSON:
        print_json(answer)
        return
    if answer["callers"]:
        print_table(HEAD, _rows(answer["callers"]))
    else:
        typer.echo(NONE, err=True)
    typer.echo(visible(_anonymous(answer["anonymous"])), err=True)


@app.command()
def revoke(
    name: Name, reason: Why = "", config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE
) -> None:
    """Make a token worth nothing, at once and for good. What is open in its name ends."""
    operator = Operator.of(config, data_dir)
    found = [each for each in operator.every(CALLERS, "callers")["callers"] if each["name"] == name]
    if not found:
        typer.echo(f"mcpguard: there is no caller {name}; mcpguard caller list shows those that there are", err=True)
        raise typer.Exit(1)
    caller = operator.send("POST", f"{CALLERS}/{found[0]['id']}/revoke", {"why": reason})
    say(output, caller, f"{name} is revoked")


def _each(given: Patterns) -> list[str] | None:
    """What was given with commas between, in one option or in several."""
    return None if given is None else [each.strip() for some in given for each in some.split(",")]


def _effects(given: Patterns) -> list[str] | None:
    named = _each(given)
    if named is not None and not {*named} <= {*Effect}:
        raise typer.BadParameter("effects are read, write and destructive", param_hint="--effects")
    return named


def _granted(caller: dict[str, Any]) -> Iterator[str]:
    until = f"until {moment(caller['expires_at'])} UTC" if caller["expires_at"] else "until it is revoked"
    yield f"{caller['name']} may use {_reach(caller)}, {until}."
    if caller["must_declare"]:
        yield "It must declare what it means to do, where that is more than reading."
    if caller["manage"]:
        yield "It may add, change, remove and disable those servers; approving them is a person's."
    yield "This is its token, which is not shown again."
    yield "Agents show it as `Authorization: Bearer …`; mcpguard stdio reads MCPGUARD_TOKEN or MCPGUARD_TOKEN_FILE."


def _anonymous(anonymous: dict[str, Any]) -> str:
    if not anonymous["enabled"]:
        return "Nobody gets in without a token."
    return f"Without a token, agents on this machine may use {_reach(anonymous)} (settings anonymous.*)."


def _reach(of: dict[str, Any]) -> str:
    """How far it may reach, in words."""
    return f"what is {_or(of['effects'])}, of servers {_list(of['servers'])}, by the names {_list(of['tools'])}"


def _list(names: Iterable[str]) -> str:
    return ", ".join(names) or "(none)"


def _or(words: Iterable[str]) -> str:
    return " or ".join(words) or "(nothing)"


def _rows(callers: list[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    for each in callers:
        marks = [mark for mark in ("must_declare", "manage") if each[mark]]
        yield (
            each["name"],
            ", ".join([each["standing"], *(mark.replace("_", " ") for mark in marks)]),
            _list(each["servers"]),
            _list(each["tools"]),
            _list(each["effects"]),
            moment(each["expires_at"]) or "never",
            moment(each["created_at"]),
            each["created_by"],
        )
