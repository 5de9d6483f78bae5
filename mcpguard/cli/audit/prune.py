"""`mcpguard audit prune` and `redact`: have the running guard remove records or bodies, and record the removal."""

from collections.abc import Iterator
from typing import Annotated, Any, Final

import typer

from mcpguard.cli.shared.common import As, Config, DataDir, Output, print_json
from mcpguard.cli.shared.guard_client import API, GuardClient
from mcpguard.cli.shared.options import Reason

PATIENCE: Final = 300.0
"""Seconds: a part is done in a few, and waits for one that is being done."""
NOT_RUNNING: Final = (
    "mcpguard: no guard is running in this data directory, and only a running guard prunes its log; "
    "start it (mcpguard serve) and try again"
)


def prune(
    reason: Reason,
    before: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Remove what is older than this: 2026-01-31, 2026-01-31T14:00 or 90d."),
    ] = None,
    keep: Annotated[int | None, typer.Option(metavar="N", min=0, help="Keep only the newest N records.")] = None,
    bodies: Annotated[
        bool, typer.Option("--bodies", help="Remove only arguments, replies and questions; the records stay.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be removed, and remove nothing.")] = False,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Remove old records, or old bodies, from the audit log. Hashes stay, so that the rest can still be verified.

    Only what a signed checkpoint covers is removed, and nothing after the start of the oldest open call. Records of
    what was removed, and of the signing keys, stay. To keep a copy, run `mcpguard audit export --bundle` first.
    """
    guard = _running(config, data_dir)
    sent: dict[str, Any] = {"why": reason, "bodies": bodies, "dry": dry_run}
    sent |= {} if before is None else {"before": before}
    sent |= {} if keep is None else {"keep": keep}
    parts = _parts(guard, sent)
    if output is Output.JSON:
        done, *more = parts
        for part in more:
            done |= {"count": done["count"] + part["count"], "records": [*done["records"], *part["records"]]}
            done |= {name: part[name] for name in ("last", "later", "more")}
        print_json(done)
        return
    what = "bodies" if bodies else "records"
    verb = "would be removed" if dry_run else "removed"
    later = 0
    for part in parts:
        recorded = f", recorded as {_listed(part['records'])}" if part["records"] else ""
        typer.echo(f"{part['count']:,} {what} {verb}: {part['first']:,} to {part['last']:,}{recorded}")
        later = part["later"]
    if later:
        typer.echo(f"{later:,} more cannot be removed yet: no signed checkpoint covers them, or a call is still open")


def redact(
    call: Annotated[str, typer.Argument(metavar="CALL", help="The id of a call, or the number of one of its records.")],
    reason: Reason,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Remove the arguments and replies of one call, and of calls that belong to it. The records of the calls stay."""
    guard = _running(config, data_dir)
    path = f"records/{call}" if call.isdecimal() else f"calls/{call}"
    if not call.replace("-", "").isalnum():
        raise typer.BadParameter("not a call's id; mcpguard audit list shows them", param_hint="CALL")
    done = guard.send("POST", f"{API}/{path}/redact", {"why": reason}, PATIENCE)
    if output is Output.JSON:
        print_json(done)
        return
    typer.echo(f"{len(done['bodies'])} bodies removed, of {len(done['calls'])} related calls")
    typer.echo(f"recorded as {_listed(done['records'])}")


def _parts(guard: GuardClient, sent: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The answers of the guard, which prunes a part at a time and is asked until there is no more."""
    more = True
    while more:
        part: dict[str, Any] = guard.send("POST", f"{API}/records/prune", sent, PATIENCE)
        yield part
        more = part["more"]


def _listed(numbers: list[int]) -> str:
    return ", ".join(f"{seq:,}" for seq in numbers)


def _running(config: Config, data_dir: DataDir) -> GuardClient:
    guard = GuardClient.from_options(config, data_dir)
    if guard.get_or_none(f"{API}/status") is None:
        typer.echo(NOT_RUNNING, err=True)
        raise typer.Exit(1)
    return guard
