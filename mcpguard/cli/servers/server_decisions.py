"""`mcpguard server inspect`, `approve`, `block` and the other decisions about a whole server."""

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

import typer

from mcpguard.cli.servers.approval_plan import HEAD, ApprovalPlan, Further, findings_said, plan
from mcpguard.cli.servers.server_tables import (
    GRAVE,
    capabilities,
    command_line,
    grave_rules,
    say,
    screening,
    to_mount,
    warn,
    warn_of_confinement,
    warn_of_cut_diffs,
    warn_of_grave,
)
from mcpguard.cli.shared.common import As, Config, DataDir, Output, print_table
from mcpguard.cli.shared.guard_client import GuardProblem, Operator, server_path, tell
from mcpguard.cli.shared.options import Confined, Mounts, Name, Reason, mounts
from mcpguard.domain.asks import AskKind
from mcpguard.domain.decisions import ITSELF
from mcpguard.domain.servers.inspections import InspectionStage
from mcpguard.domain.servers.launches import Profile
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.text.visible import visible

INSPECTING = 600.0
"""Seconds: a package has to be installed first."""
_CONFINED: Final = {"strict": "no network", "contained": "the network"}


def inspect(
    name: Name,
    consent: Annotated[
        bool, typer.Option("--consent", help="Agree that it runs without a sandbox, now and after its approval.")
    ] = False,
    give: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A variable or header that it gets; no other is given."),
    ] = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Let a server list what it offers, for a person to review. In quarantine it ends right after that."""
    operator = Operator.of(config, data_dir)
    body: dict[str, object] = {"consent": consent, "give": give or []}
    if consent:
        server = operator.get(server_path(name))
        body["seen"] = server["fingerprint"]
        if server["confinement"] is not None:
            typer.echo(f"Unconfined: {visible(command_line(server['launch']))}", err=True)
    typer.echo(f"Waiting until {name} has listed what it offers, for up to {INSPECTING:g} s …", err=True)
    said = operator.send("POST", server_path(name, "inspect"), body, INSPECTING, lambda: _how_far(operator, name))
    if said["error"]:
        typer.echo(f"mcpguard: {name} could not be inspected: {visible(said['error'])}", err=True)
        server = operator.get(server_path(name))
        warn_of_confinement(server)
        if said["started"]:
            typer.echo(f"What it wrote itself: mcpguard server logs {name}", err=True)
        if said["started"] and said["profile"] in _CONFINED:
            ran = f"It ran with {_CONFINED[said['profile']]}, and saw no folder but those it was given."
            typer.echo(f"{ran} If it needs more: {visible(_more(server, said['profile']))}", err=True)
        raise typer.Exit(1)
    how = "was started and listed" if said["started"] else "listed"
    counts = f"{said['new']} new, {said['changed']} changed, {said['gone']} gone"
    say(output, said, f"{name} {how} {capabilities(said['capabilities'])}: {counts}")
    if said["left_out"]:
        warn(f"{said['left_out']} more cannot be offered to anybody and were left out")
    warn_of_confinement(operator.get(server_path(name)))
    typer.echo(f"Review them: mcpguard server show {name}", err=True)


def _how_far(operator: Operator, name: str) -> str:
    """What is being done, while it is being inspected."""
    server = operator.heard(server_path(name)) or {}
    stage = server.get("inspection_stage")
    return f"{name}: {InspectionStage(stage).sentence}" if stage else f"waiting for {name}"


def _more(server: dict[str, Any], profile: str) -> str:
    """How it is given more of the machine."""
    if profile == Profile.CONTAINED:
        return to_mount(server)
    if server["origin"] == Origin.FILE:
        return f"{to_mount(server)}, or give it a sandbox that is contained"
    return f"{to_mount(server)} --sandbox contained"


def approve(
    name: Name,
    reason: Reason,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CAPABILITY",
            help="Approve just this: kind:name, or a name that only one has; server: nothing but the server.",
        ),
    ] = None,
    effect: Annotated[list[str] | None, typer.Option(metavar="TOOL=EFFECT", help="read, write or destructive.")] = None,
    prefix: Annotated[
        list[str] | None, typer.Option(metavar="URI", help="Every resource below may be read; else as it was.")
    ] = None,
    may_ask: Annotated[
        list[AskKind] | None, typer.Option(help="What it may ask of clients, and nothing else; else as it was.")
    ] = None,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(metavar="CAPABILITY", help="Not wanted: refused, and out of the inbox until it changes."),
    ] = None,
    findings_read: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="You have read the grave findings: of a capability, of server, or of all."),
    ] = None,
    *,
    sandbox: Confined = None,
    mount: Mounts = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Approve a server with what it offers, exactly as it is printed. What is not named stays as it was."""
    operator = Operator.of(config, data_dir)
    server = operator.get(server_path(name))
    planned = plan(server, only, effect or (), leave_out or ())
    read = findings_said(server, findings_read or ())
    if output is Output.TABLE:
        print_table(HEAD, planned.rows())
    further = Further(prefix or [], may_ask or [], sandbox, mounts(mount or ()))
    for sentence in further.sentences():
        typer.echo(sentence, err=True)
    warn_of_cut_diffs(operator, name, planned.approved)
    warn_of_confinement(server)
    if grave_rules(server):
        warn(f"{name} itself {GRAVE}: mcpguard server show {name}")
    warn_of_grave(name, planned.approved)
    body = planned.body(reason) | {"findings_read": read} | further.body()
    try:
        done = operator.tried("POST", server_path(name, "approve"), body)
    except GuardProblem as problem:
        tell(problem)
        typer.echo(f"Nothing was approved. Look again: mcpguard server show {name}", err=True)
        if grave_rules(server) and ITSELF not in read:
            typer.echo(f"If you have read what was found in the server itself: --findings-read {ITSELF}", err=True)
        raise typer.Exit(1) from None
    _tell_approved(name, planned, done, output)


def _tell_approved(name: str, planned: ApprovalPlan, done: dict[str, Any], output: Output) -> None:
    for key, expected, assigned in planned.otherwise(done["approved"]):
        warn(f"{key} was approved as {assigned}, not as {expected}")
    say(output, done, f"{name} is approved, with {capabilities(len(done['approved']))}")
    if done["waiting"]:
        typer.echo(f"{len(done['waiting'])} wait for a person: mcpguard tool list {name}", err=True)
    if done["unread"]:
        for key, rules in done["unread"].items():
            warn(f"{key} was left out, and waits: nobody confirmed reading its findings ({', '.join(rules)})")
        typer.echo("Read them, then approve again with --findings-read NAME for each, or for all.", err=True)
        raise typer.Exit(1)


def _decision(answer: str, sentence: str) -> Callable[..., None]:
    """The command for a decision that needs a reason and nothing more."""

    def command(
        name: Name, reason: Reason, config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE
    ) -> None:
        server = Operator.of(config, data_dir).send("POST", server_path(name, answer), {"why": reason})
        say(output, server, f"{name} is {server['standing']}, and {'enabled' if server['enabled'] else 'disabled'}")

    command.__name__, command.__doc__ = answer, sentence
    return command


reject = _decision(
    "reject", "Leave a server in quarantine, as it is: it waits for nobody until it is another or lists anything else."
)
quarantine = _decision(
    "quarantine", "Take an approval or a block back: nobody uses the server before a person approves it again."
)
block = _decision("block", "Block a server, its name and its launch, until a person takes that back with quarantine.")
enable = _decision("enable", "Switch a server on again.")
disable = _decision("disable", "Switch a server off. What was decided about it stays as it is.")


def permit(
    name: Name,
    reason: Reason,
    kinds: Annotated[
        list[AskKind] | None,
        typer.Argument(metavar="KIND", help="roots, sampling, elicitation; none of them: nothing."),
    ] = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Say what a server may ask of the clients whose calls it works on; everything else it may not."""
    body = {"why": reason, "kinds": kinds or []}
    server = Operator.of(config, data_dir).send("POST", server_path(name, "permit"), body)
    say(output, server, f"{name} may ask for: {', '.join(server['may_ask']) or 'nothing'}")


def screen(
    name: Name,
    mode: Annotated[
        Literal["off", "note", "mask", "refuse", "default"],
        typer.Argument(help="What becomes of a reply in which something is found; default: as the setting says."),
    ],
    reason: Reason,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Say how what a server answers, says and asks is screened."""
    body = {"why": reason, "mode": mode}
    server = Operator.of(config, data_dir).send("POST", server_path(name, "screen"), body)
    say(output, server, f"{name}: replies are screened with {screening(server)}")


COMMANDS = (inspect, approve, reject, quarantine, block, enable, disable, permit, screen)
