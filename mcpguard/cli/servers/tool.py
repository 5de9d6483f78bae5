"""`mcpguard tool`: one capability of a server, which is a tool, resource, template, prompt, or the instructions."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from mcpguard.cli.servers import tool_decisions, tool_learning
from mcpguard.cli.servers.choices import Capability, key_of, split_reference, waiting
from mcpguard.cli.servers.server_tables import (
    addition_lines,
    finding_line,
    finding_lines,
    findings,
    risk,
    short,
    warn_if_cut,
)
from mcpguard.cli.servers.tool_ready import ready
from mcpguard.cli.shared.common import As, Config, DataDir, Output, moment, print_json, print_lines, print_table, warn
from mcpguard.cli.shared.guard_client import SERVERS, GuardClient, server_path
from mcpguard.cli.shared.options import Kind, Tool, server_name
from mcpguard.codec.capability_keys import write_key
from mcpguard.domain.capabilities import CapabilityKind, Fingerprint
from mcpguard.domain.errors import InvalidName
from mcpguard.text.visible import visible

app = typer.Typer(no_args_is_help=True, help="The tools of servers, or other capabilities with --kind.")
HEAD = ("name", "status", "effect", "suggested", "because", "fingerprint", "findings")


@app.command("list")
def list_(
    server: Annotated[
        str | None, typer.Argument(metavar="[SERVER]", help="Only the tools of this server.", callback=server_name)
    ] = None,
    kind: Kind = CapabilityKind.TOOL,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """List the tools of all servers, or of one, with their status and what needs review."""
    guard = GuardClient.from_options(config, data_dir)
    names = [server] if server else [each["name"] for each in guard.get_all(SERVERS, "servers")["servers"]]
    every = [
        {"server": name, **each}
        for name in names
        for each in guard.get(server_path(name))["capabilities"]
        if each["kind"] == kind
    ]
    if output is Output.JSON:
        print_json(every)
        return
    if not every:
        what = "instructions" if kind is CapabilityKind.INSTRUCTIONS else f"{kind}s"
        of = f"{server} has listed no {what} yet" if server else f"No server has listed {what} yet"
        typer.echo(f"{of}. To list what a server offers: mcpguard server inspect NAME", err=True)
        return
    print_table(HEAD, map(_row, every))
    waits = list(waiting(every))
    said = f"{len(waits)} of {len(every)} need review" if waits else "None of these needs review"
    typer.echo(f"{said}." if not waits else f"{said}: mcpguard tool show SERVER:NAME", err=True)


@app.command()
def show(
    tool: Tool,
    kind: Kind = CapabilityKind.TOOL,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Show a tool, with its definition as the server lists it."""
    server, key = split_reference(tool, kind)
    capability = GuardClient.from_options(config, data_dir).get(
        server_path(server, "capability", kind=key[0], name=key[1])
    )
    if output is Output.JSON:
        print_json(capability)
        return
    print_table(("field", "value"), _rows(server, capability))
    typer.echo()
    for place in _places(capability["findings"]):
        typer.echo(visible(place))
    if capability["findings"]:
        typer.echo()
    print_lines(capability["shown"])
    if not capability["complete"]:
        warn("this is not the whole definition; -o json prints it")
    if capability["standing"] == "changed":
        typer.echo(f"What changed since the approval: mcpguard tool diff {visible(tool)}", err=True)


@app.command()
def diff(
    tool: Tool,
    kind: Kind = CapabilityKind.TOOL,
    before: Annotated[
        str | None, typer.Option(metavar="FP", help="A fingerprint; default: the approved version.")
    ] = None,
    after: Annotated[
        str | None, typer.Option(metavar="FP", help="A fingerprint; default: the version listed now.")
    ] = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Show what changed between two versions of a definition."""
    server, key = split_reference(tool, kind)
    given = {"before": _print(before, "--before"), "after": _print(after, "--after")}
    query = {"kind": str(kind), "name": key[1]} | {name: value for name, value in given.items() if value is not None}
    answer = GuardClient.from_options(config, data_dir).get(server_path(server, "capability", "diff", **query))
    if output is Output.JSON:
        print_json(answer)
    else:
        typer.echo(f"from {answer['before'] or 'nothing'} to {answer['after'] or 'nothing'}", err=True)
        if answer["text"]:
            print_lines(answer["text"])
        elif answer["before"] == answer["after"]:
            typer.echo("Only this version is known: there is no other to compare it with.", err=True)
        else:
            typer.echo("There is no difference." if answer["complete"] else "No difference was found.", err=True)
        if answer["before"] != answer["after"]:
            for line in addition_lines(answer["additions"]):
                typer.echo(visible(line))
        for how, found_there in answer["findings"].items():
            for finding in found_there:
                typer.echo(visible(f"{how}: {finding_line(finding)} at {finding['evidence']['path']}"))
    warn_if_cut(answer, server, {"kind": kind, "name": key[1]})


app.command("learned")(tool_learning.show_learned)
for _command in (ready, tool_learning.forget, *tool_decisions.COMMANDS):
    app.command()(_command)


def _row(capability: Capability) -> tuple[str, ...]:
    standing = capability["standing"] + ("" if capability["present"] else ", gone")
    return (
        f"{capability['server']}:{capability['name']}",
        standing + (", needs review" if capability["waits"] else ""),
        capability["assigned"] or "",
        capability["suggested"] or "",
        capability["because"] or "",
        short(capability["fingerprint"]),
        findings(capability),
    )


def _rows(server: str, capability: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "server", server
    yield "capability", write_key(key_of(capability))
    yield "status", capability["standing"] + ("" if capability["present"] else ", gone")
    yield "needs review", "yes" if capability["waits"] else "no"
    yield "fingerprint", capability["fingerprint"] or "none: its definition cannot be read"
    yield "approved", capability["approved"] or "never"
    if capability["kind"] == CapabilityKind.TOOL:
        yield "effect", capability["assigned"] or "none assigned"
        yield "declared", capability["declared"] or "nothing"
        yield (
            "suggested",
            f"{capability['suggested']}: {capability['because']}" if capability["suggested"] else "nothing",
        )
    if capability["needs_tasks"]:
        yield "calls", "it needs tasks, which the guard does not support: every call is refused"
    yield "risk", risk(capability)
    for version in capability["versions"]:
        seen = f"first {moment(version['first_seen'])}, last {moment(version['last_seen'])} UTC"
        told = f"; {findings(version)}" if version["findings"] else ""
        yield "version", f"{version['fingerprint']} ({seen}{told})"


def _places(findings: list[dict[str, Any]]) -> Iterator[str]:
    """Each finding, with its place in the definition, the words there, what they decode to, and why it matters."""
    for finding in findings:
        evidence = finding["evidence"]
        yield f"{finding_line(finding)} at {evidence['path']} [{evidence['start']}:{evidence['end']}]"
        yield from (f"    {word}: {said}" for word, said in finding_lines(finding))


def _print(given: str | None, option: str) -> str | None:
    try:
        return None if given is None else str(Fingerprint(given))
    except InvalidName as error:
        raise typer.BadParameter(str(error), param_hint=option) from None
