"""`mcpguard server inspect`, `approve`, `block` and the other decisions about a whole server."""

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

import typer

from mcpguard.cli.servers.approval_plan import HEAD, ApprovalPlan, FurtherChanges, parse_findings_read, plan
from mcpguard.cli.servers.server_tables import (
    GRAVE,
    capabilities,
    command_line,
    grave_rules,
    screening,
    to_mount,
    warn_of_confinement,
    warn_of_cut_diffs,
    warn_of_grave,
)
from mcpguard.cli.shared.common import As, Config, DataDir, Output, print_answer, print_table, warn
from mcpguard.cli.shared.guard_client import GuardClient, GuardProblem, print_problem, server_path
from mcpguard.cli.shared.options import Confined, Mounts, Name, Reason, mounts
from mcpguard.domain.asks import AskKind
from mcpguard.domain.decisions import SERVER_ITSELF
from mcpguard.domain.servers.inspections import InspectionStage
from mcpguard.domain.servers.launches import Profile
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.text.visible import visible

NEEDS_CONSENT: Final = "needs-consent"
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
        typer.Option(metavar="NAME", help="A variable or header that it gets; it gets no other."),
    ] = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Have a server list what it offers, for review. In quarantine it is stopped right after that."""
    guard = GuardClient.from_options(config, data_dir)
    body: dict[str, object] = {"consent": consent, "give": give or []}
    if consent:
        server = guard.get(server_path(name))
        body["seen"] = server["fingerprint"]
        if server["confinement"] is not None:
            typer.echo(f"Without a sandbox: {visible(command_line(server['launch']))}", err=True)
    typer.echo(f"Waiting until {name} has listed what it offers, for up to {INSPECTING:g} s …", err=True)
    try:
        said = guard.request("POST", server_path(name, "inspect"), body, INSPECTING, lambda: _how_far(guard, name))
    except GuardProblem as problem:
        print_problem(problem)
        if problem.kind == NEEDS_CONSENT:
            typer.echo(f"If you agree to that: mcpguard server inspect {name} --consent", err=True)
        raise typer.Exit(1) from None
    if said["error"]:
        typer.echo(f"mcpguard: {name} could not be inspected: {visible(said['error'])}", err=True)
        server = guard.get(server_path(name))
        warn_of_confinement(server)
        if said["started"]:
            typer.echo(f"Its own output: mcpguard server logs {name}", err=True)
        if said["started"] and said["profile"] in _CONFINED:
            ran = f"It ran with {_CONFINED[said['profile']]}, and saw only the folders it was given."
            typer.echo(f"{ran} If it needs more: {visible(_more(server, said['profile']))}", err=True)
        raise typer.Exit(1)
    how = "was started and listed" if said["started"] else "listed"
    counts = f"{said['new']} new, {said['changed']} changed, {said['gone']} gone"
    print_answer(output, said, f"{name} {how} {capabilities(said['capabilities'])}: {counts}")
    if said["left_out"]:
        warn(f"{said['left_out']} more cannot be offered to anybody and were left out")
    warn_of_confinement(guard.get(server_path(name)))
    typer.echo(f"Review them: mcpguard server show {name}", err=True)


def _how_far(guard: GuardClient, name: str) -> str:
    """The stage of a running inspection."""
    server = guard.get_or_none(server_path(name)) or {}
    stage = server.get("inspection_stage")
    return f"{name}: {InspectionStage(stage).sentence}" if stage else f"waiting for {name}"


def _more(server: dict[str, Any], profile: str) -> str:
    """The command that lets a server see more of the host."""
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
        typer.Option(metavar="CAPABILITY", help="Approve only this: kind:name or a unique name; server: itself alone."),
    ] = None,
    effect: Annotated[list[str] | None, typer.Option(metavar="TOOL=EFFECT", help="read, write or destructive.")] = None,
    prefix: Annotated[
        list[str] | None, typer.Option(metavar="URI", help="Every resource below this may be read; default: unchanged.")
    ] = None,
    may_ask: Annotated[
        list[AskKind] | None, typer.Option(help="What it may request of clients, and nothing else; default: unchanged.")
    ] = None,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(metavar="CAPABILITY", help="Leave this out: refused, and out of the inbox until it changes."),
    ] = None,
    findings_read: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="You have read the grave findings of a capability, of server, or of all."),
    ] = None,
    *,
    sandbox: Confined = None,
    mount: Mounts = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Approve a server with what it offers, exactly as printed. What is not named stays unchanged."""
    guard = GuardClient.from_options(config, data_dir)
    server = guard.get(server_path(name))
    planned = plan(server, only, effect or (), leave_out or ())
    read = parse_findings_read(server, findings_read or ())
    if output is Output.TABLE:
        print_table(HEAD, planned.rows())
    further = FurtherChanges(prefix or [], may_ask or [], sandbox, mounts(mount or ()))
    for sentence in further.sentences():
        typer.echo(sentence, err=True)
    warn_of_cut_diffs(guard, name, planned.approved_capabilities)
    warn_of_confinement(server)
    if grave_rules(server):
        warn(f"{name} itself {GRAVE}: mcpguard server show {name}")
    warn_of_grave(name, planned.approved_capabilities)
    body = planned.body(reason) | {"findings_read": read} | further.body()
    try:
        done = guard.request("POST", server_path(name, "approve"), body)
    except GuardProblem as problem:
        print_problem(problem)
        typer.echo(f"Nothing was approved. Look again: mcpguard server show {name}", err=True)
        if grave_rules(server) and SERVER_ITSELF not in read:
            typer.echo(f"If you have read the findings of the server itself: --findings-read {SERVER_ITSELF}", err=True)
        raise typer.Exit(1) from None
    _tell_approved(name, planned, done, output)


def _tell_approved(name: str, planned: ApprovalPlan, done: dict[str, Any], output: Output) -> None:
    for key, expected, assigned in planned.changed_effects(done["approved"]):
        warn(f"{key} was approved as {assigned}, not as {expected}")
    print_answer(output, done, f"{name} is approved, with {capabilities(len(done['approved']))}")
    if done["waiting"]:
        typer.echo(f"{len(done['waiting'])} need review: mcpguard tool list {name}", err=True)
    if done["unread"]:
        for key, rules in done["unread"].items():
            warn(f"{key} was left out, and needs review: nobody confirmed reading its findings ({', '.join(rules)})")
        typer.echo("Read them, then approve again with --findings-read NAME for each, or for all.", err=True)
        raise typer.Exit(1)


def _decision(answer: str, sentence: str, done: str = "") -> Callable[..., None]:
    """Make the command for a decision that needs a reason and nothing more. `done`: what it came to, if not a
    status."""

    def command(
        name: Name, reason: Reason, config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE
    ) -> None:
        server = GuardClient.from_options(config, data_dir).send("POST", server_path(name, answer), {"why": reason})
        switch = "enabled" if server["enabled"] else "disabled"
        print_answer(output, server, f"{name} is {done or server['standing'] + ' and ' + switch}")

    command.__name__, command.__doc__ = answer, sentence
    return command


reject = _decision("reject", "Keep a server in quarantine, out of the inbox until it or what it lists changes.")
quarantine = _decision(
    "quarantine", "Quarantine an approved or blocked server: no agent can use it until it is approved again."
)
block = _decision("block", "Block a server, its name and its launch, until a user quarantines it.")
enable = _decision("enable", "Enable a disabled server.")
disable = _decision("disable", "Disable a server. Decisions about it are kept.")

restart = _decision("restart", "Stop a server and start it again. Calls under way end with it.", "being restarted")


def permit(
    name: Name,
    reason: Reason,
    kinds: Annotated[
        list[AskKind] | None,
        typer.Argument(metavar="KIND", help="roots, sampling, elicitation; without any, nothing is allowed."),
    ] = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Set what a server may request of the clients whose calls it works on, and nothing else."""
    body = {"why": reason, "kinds": kinds or []}
    server = GuardClient.from_options(config, data_dir).send("POST", server_path(name, "permit"), body)
    print_answer(output, server, f"{name} may request: {', '.join(server['may_ask']) or 'nothing'}")


def screen(
    name: Name,
    mode: Annotated[
        Literal["off", "note", "mask", "refuse", "default"],
        typer.Argument(help="What happens to a reply with findings; default: as the setting says."),
    ],
    reason: Reason,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Set how the replies, messages and requests of a server are scanned."""
    body = {"why": reason, "mode": mode}
    server = GuardClient.from_options(config, data_dir).send("POST", server_path(name, "screen"), body)
    print_answer(output, server, f"{name}: replies are scanned with mode {screening(server)}")


COMMANDS = (inspect, approve, reject, quarantine, block, enable, disable, restart, permit, screen)
