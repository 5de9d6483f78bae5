"""`mcpguard caller`: the agents that have a token, and their scopes."""

import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final

import typer

from mcpguard.cli.shared.common import As, Config, DataDir, Output, moment, print_answer, print_json, print_table
from mcpguard.cli.shared.guard_client import CALLERS, GuardClient
from mcpguard.cli.shared.options import Reason, account_name
from mcpguard.domain.capabilities import Effect
from mcpguard.text.visible import visible

app = typer.Typer(no_args_is_help=True, help="Callers: the agents that have a token, and their scopes.")
HEAD: Final = ("name", "status", "servers", "tools", "effects", "expires", "added", "added by")
NONE: Final = "No callers. Create one: mcpguard caller add NAME"
NEVER: Final = "never"
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_TIME: Final = re.compile(r"([1-9][0-9]{0,8})([smhdw])")


def lifetime(given: str | None) -> dict[str, int | None]:
    """The field `expires_in` of a request: left out if no lifetime was given, null for one that never ends."""
    if given is None:
        return {}
    if given == NEVER:
        return {"expires_in": None}
    if (found := _TIME.fullmatch(given)) is None:
        raise typer.BadParameter("give a number and s, m, h, d or w, as in 30d, or never", param_hint="--expires")
    return {"expires_in": int(found[1]) * _SECONDS[found[2]]}


Name = Annotated[str, typer.Argument(metavar="NAME", help="The caller.", callback=account_name)]
Patterns = list[str] | None
Expires = Annotated[
    str | None, typer.Option(metavar="TIME", help="When the token expires: 30d, 12h …, or never; default: 90 days.")
]


@app.command()
def add(
    name: Name,
    servers: Annotated[
        Patterns, typer.Option(metavar="GLOB,…", help="Servers in scope, with * and ? as wildcards; default: all.")
    ] = None,
    tools: Annotated[
        Patterns, typer.Option(metavar="GLOB,…", help="Tools, prompts and resources in scope; default: all.")
    ] = None,
    effects: Annotated[
        Patterns, typer.Option(metavar="EFFECT,…", help="Allowed effects: read, write, destructive; default: read.")
    ] = None,
    expires: Expires = None,
    must_declare: Annotated[
        bool, typer.Option("--must-declare", help="It must declare its intent for calls that do more than read.")
    ] = False,
    manage: Annotated[
        bool,
        typer.Option(
            "--manage",
            help="It may add, change, remove and disable servers in its scope, and enable those it has disabled. "
            "What it adds or launches differently is quarantined; only users approve.",
        ),
    ] = False,
    reason: Reason = "",
    *,
    certificate: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="It shows a client certificate with this name and gets no token: dns:agent.example, uri:…, email:…, "
            "or subject:CN=agent,O=Example (needs tls.client_ca).",
        ),
    ] = "",
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Create a caller. Its token, if it has one, is printed once, on standard output, and cannot be shown again."""
    given = {"servers": _each(servers), "tools": _each(tools), "effects": _effects(effects)}
    body: dict[str, object] = {key: value for key, value in given.items() if value is not None}
    body |= {"name": name, "must_declare": must_declare, "manage": manage, "certificate": certificate, "why": reason}
    body |= lifetime(expires)
    caller = GuardClient.from_options(config, data_dir).send("POST", CALLERS, body)
    if output is Output.JSON:
        print_json(caller)
    else:
        if caller["token"] is not None:
            typer.echo(caller["token"])
        for sentence in _granted(caller):
            typer.echo(visible(sentence), err=True)


@app.command("list")
def list_(config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """List the callers, and what agents without a token may do."""
    answer = GuardClient.from_options(config, data_dir).get_all(CALLERS, "callers")
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
    name: Name, reason: Reason = "", config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE
) -> None:
    """Revoke a caller, at once and for good. Whatever is open in its name ends."""
    guard = GuardClient.from_options(config, data_dir)
    found = [each for each in guard.get_all(CALLERS, "callers")["callers"] if each["name"] == name]
    if not found:
        typer.echo(f"mcpguard: there is no caller {name}; mcpguard caller list shows them", err=True)
        raise typer.Exit(1)
    caller = guard.send("POST", f"{CALLERS}/{found[0]['id']}/revoke", {"why": reason})
    print_answer(output, caller, f"{name} is revoked")


def _each(given: Patterns) -> list[str] | None:
    """The items of an option that may be repeated, and may have several items with commas between."""
    return None if given is None else [each.strip() for some in given for each in some.split(",")]


def _effects(given: Patterns) -> list[str] | None:
    named = _each(given)
    if named is not None and not {*named} <= {*Effect}:
        raise typer.BadParameter("effects are read, write and destructive", param_hint="--effects")
    return named


def _granted(caller: dict[str, Any]) -> Iterator[str]:
    until = f"until {moment(caller['expires_at'])} UTC" if caller["expires_at"] else "until it is revoked"
    yield f"{caller['name']} has the scope: {_scope(caller)}; {until}."
    if caller["must_declare"]:
        yield "It must declare its intent for calls that do more than read."
    if caller["manage"]:
        yield "It may add, change, remove and disable those servers; only users approve them."
    if caller["certificate"]:
        yield f"It is known by the name {caller['certificate']} in its client certificate, and has no token."
        return
    yield "Copy its token now: it is not shown again."
    yield "Agents send it as `Authorization: Bearer …`; mcpguard stdio reads MCPGUARD_TOKEN or MCPGUARD_TOKEN_FILE."


def _anonymous(anonymous: dict[str, Any]) -> str:
    if not anonymous["enabled"]:
        return "Every agent needs a token."
    return f"Without a token, agents on this host have the scope: {_scope(anonymous)} (settings anonymous.*)."


def _scope(of: dict[str, Any]) -> str:
    """A scope in words. `tools` are the names of prompts and resources, too."""
    return f"effects {_list(of['effects'])}; servers {_list(of['servers'])}; tools {_list(of['tools'])}"


def _list(names: Iterable[str]) -> str:
    return ", ".join(names) or "(none)"


def _certified(caller: dict[str, Any]) -> Iterator[str]:
    if caller["certificate"]:
        yield f"certificate {caller['certificate']}"


def _rows(callers: list[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    for each in callers:
        marks = [mark for mark in ("must_declare", "manage") if each[mark]]
        yield (
            each["name"],
            ", ".join([each["standing"], *(mark.replace("_", " ") for mark in marks), *_certified(each)]),
            _list(each["servers"]),
            _list(each["tools"]),
            _list(each["effects"]),
            moment(each["expires_at"]) or "never",
            moment(each["created_at"]),
            each["created_by"],
        )
