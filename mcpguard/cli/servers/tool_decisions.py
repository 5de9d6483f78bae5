"""`mcpguard tool approve`, `block`, `unblock`, `revoke` and `reject`: decisions about one capability.

Each applies to the definition that was just printed: if the server lists another one by then, nothing changes.
"""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from mcpguard.cli.servers.choices import default_effect, key_of, split_reference
from mcpguard.cli.servers.server_tables import CAPABILITY, capability_row, grave_rules, warn_of_cut_diffs, warn_of_grave
from mcpguard.cli.shared.common import As, Config, DataDir, Output, print_answer, print_table, warn
from mcpguard.cli.shared.guard_client import GuardClient, GuardProblem, print_problem, server_path
from mcpguard.cli.shared.options import Kind, Reason, Tool
from mcpguard.codec.capability_keys import write_key
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.text.visible import visible

CONFLICT = 409


def approve(
    tool: Tool,
    reason: Reason,
    effect: Annotated[
        Effect | None, typer.Option(help="The effect of the tool; default: the most careful of what is known.")
    ] = None,
    kind: Kind = CapabilityKind.TOOL,
    findings_read: Annotated[
        bool,
        typer.Option(
            "--findings-read", help="Confirm that you have read its findings that are hard, critical or high."
        ),
    ] = False,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Approve a tool exactly as printed."""
    if effect is not None and kind is not CapabilityKind.TOOL:
        raise typer.BadParameter("only tools have an effect", param_hint="--effect")
    guard, (server, _) = GuardClient.from_options(config, data_dir), split_reference(tool, kind)
    capability = _looked_at(guard, tool, kind, output)
    warn_of_cut_diffs(guard, server, [capability])
    warn_of_grave(server, [capability])
    assigned, how = (effect, "given") if effect else (default_effect(capability), "careful default")
    if effect is None and capability["standing"] == "approved" and capability["assigned"]:
        assigned, how = Effect(capability["assigned"]), "as it was"
    if kind is CapabilityKind.TOOL and assigned is not None:
        typer.echo(f"effect: {assigned} ({how})", err=True)
    more: dict[str, object] = {} if effect is None else {"effect": effect}
    if findings_read:
        more["findings_read"] = grave_rules(capability)
    elif grave_rules(capability):
        typer.echo("If you have read its findings: --findings-read", err=True)
    now = _decide(guard, tool, "approve", reason, capability, more, output)
    if effect is None and assigned is not None and now["assigned"] != assigned:
        warn(f"it was approved as {now['assigned']}, not as {assigned}")


def _decision(answer: str, sentence: str, *, looked_at: bool) -> Callable[..., None]:
    """Make the command for a decision with a reason and nothing more. `looked_at`: about the printed definition."""

    def command(
        tool: Tool,
        reason: Reason,
        kind: Kind = CapabilityKind.TOOL,
        config: Config = None,
        data_dir: DataDir = None,
        output: As = Output.TABLE,
    ) -> None:
        guard = GuardClient.from_options(config, data_dir)
        about = _looked_at(guard, tool, kind, output) if looked_at else {"kind": kind}
        _decide(guard, tool, answer, reason, about, {}, output)

    command.__name__, command.__doc__ = answer, sentence
    return command


revoke = _decision("revoke", "Revoke the approval of a tool; it needs review again.", looked_at=True)
reject = _decision(
    "reject",
    "Reject a tool as it is now: it stays refused, and needs review again only when it changes.",
    looked_at=True,
)
block = _decision("block", "Block a tool, whatever its definition is or becomes.", looked_at=False)
unblock = _decision("unblock", "Unblock a tool; it needs review again.", looked_at=False)
COMMANDS = (approve, revoke, reject, block, unblock)


def _looked_at(guard: GuardClient, tool: str, kind: CapabilityKind, output: Output) -> dict[str, Any]:
    """Print the capability as it is now, and return it."""
    server, key = split_reference(tool, kind)
    capability: dict[str, Any] = guard.get(server_path(server, "capability", kind=kind, name=key[1]))
    if output is Output.TABLE:
        print_table(CAPABILITY, iter([capability_row(capability)]))
    return capability


def _decide(
    guard: GuardClient,
    tool: str,
    answer: str,
    reason: str,
    about: dict[str, Any],
    more: dict[str, object],
    output: Output,
) -> dict[str, Any]:
    """Send the decision; return the capability after it."""
    server, key = split_reference(tool, CapabilityKind(about["kind"]))
    body = {"why": reason, "kind": key[0], "name": key[1], "seen": about.get("fingerprint"), **more}
    try:
        now: dict[str, Any] = guard.request("POST", server_path(server, "capability", answer), body)
    except GuardProblem as problem:
        print_problem(problem)
        if problem.status == CONFLICT:
            typer.echo(f"Nothing was decided. Look again: mcpguard tool show {visible(tool)}", err=True)
        raise typer.Exit(1) from None
    waits = ", and needs review" if now["waits"] else ""
    print_answer(output, now, f"{write_key(key_of(now))} of {server} is {now['standing']}{waits}")
    return now
