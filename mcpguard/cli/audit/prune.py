"""`mcpguard audit prune` and `mcpguard audit redact`: the running guard removes what its log says, and records that."""

from collections.abc import Iterator
from typing import Annotated, Any, Final

import typer

from mcpguard.cli.shared.common import As, Config, DataDir, Output, print_json
from mcpguard.cli.shared.guard_client import API, Operator
from mcpguard.cli.shared.options import Reason

PATIENCE: Final = 300.0
"""Seconds: a part is done in a few, and waits for one that is being done."""
NOT_RUNNING: Final = (
    "mcpguard: no guard runs in this data directory, and the running guard is what prunes its log; "
    "start it (mcpguard serve) and try again"
)


def prune(
    reason: Reason,
    before: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="What was recorded before this: 2026-01-31, 2026-01-31T14:00, or 90d ago."),
    ] = None,
    keep: Annotated[int | None, typer.Option(metavar="N", min=0, help="All but the newest so many records.")] = None,
    bodies: Annotated[
        bool, typer.Option("--bodies", help="Only arguments, replies and questions; the records stay.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, and remove nothing.")] = False,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Remove old records, or old bodies, from the log. Hashes stay, and what remains is proven as before.

    Only what a signed checkpoint covers goes, and nothing from the oldest call on that is still open. What says what
    was removed, and which keys signed, stays for good. `mcpguard audit export --bundle` first, if it is to be kept.
    """
    operator = _running(config, data_dir)
    sent: dict[str, Any] = {"why": reason, "bodies": bodies, "dry": dry_run}
    sent |= {} if before is None else {"before": before}
    sent |= {} if keep is None else {"keep": keep}
    parts = _parts(operator, sent)
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
        typer.echo(f"{later:,} more have to wait: no signed checkpoint covers them yet, or a call is still open")


def redact(
    call: Annotated[str, typer.Argument(metavar="CALL", help="The id of a call, or the number of a record of it.")],
    reason: Reason,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Remove what was sent and answered in one call, and in what it goes on with. That it was made stays."""
    operator = _running(config, data_dir)
    path = f"records/{call}" if call.isdecimal() else f"calls/{call}"
    if not call.replace("-", "").isalnum():
        raise typer.BadParameter("this is no call's id; mcpguard audit list shows them", param_hint="CALL")
    done = operator.send("POST", f"{API}/{path}/redact", {"why": reason}, PATIENCE)
    if output is Output.JSON:
        print_json(done)
        return
    typer.echo(f"{len(done['bodies'])} bodies removed, of {len(done['calls'])} calls that belong together")
    typer.echo(f"recorded as {_listed(done['records'])}")


def _parts(operator: Operator, sent: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The guard does a part at a time; it is asked until there is no more."""
    more = True
    while more:
        part: dict[str, Any] = operator.send("POST", f"{API}/records/prune", sent, PATIENCE)
        yield part
        more = part["more"]


def _listed(numbers: list[int]) -> str:
    return ", ".join(f"{seq:,}" for seq in numbers)


def _running(config: Config, data_dir: DataDir) -> Operator:
    operator = Operator.of(config, data_dir)
    if operator.heard(f"{API}/status") is None:
        typer.echo(NOT_RUNNING, err=True)
        raise typer.Exit(1)
    return operator
