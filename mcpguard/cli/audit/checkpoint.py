"""`mcpguard audit checkpoint`: prints the signed statement to be kept where the guard's host cannot change it."""

import base64
from typing import Any, Final

import typer

from mcpguard.cli.audit.open_log import Where, open_log
from mcpguard.cli.shared.common import Config, DataDir, print_json, report_errors
from mcpguard.cli.shared.guard_client import API, GuardClient
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger.checkpoints import BadCheckpoint, Checkpoint, checkpoint_json
from mcpguard.store.rows import checkpoints, records

CHECKPOINTS: Final = f"{API}/checkpoints"


def checkpoint(path: Where = None, config: Config = None, data_dir: DataDir = None) -> None:
    """Print a signed checkpoint, to be kept where the guard's host cannot change it.

    A running guard signs one now, which covers everything recorded so far. Of a copy, and when no guard runs, the
    newest stored checkpoint is printed, with the number of records that follow it.
    """
    guard = None if path is not None else GuardClient.from_options(config, data_dir)
    if guard is not None and guard.is_running():
        _tell(guard.send("POST", CHECKPOINTS, {}), 0)
        return
    with report_errors(), open_log(path, config, data_dir) as (connection, chain):
        newest = checkpoints.last_checkpoint(connection, chain)
        if newest is None:
            raise StoreUnavailable("no checkpoint has been signed yet")
        ends, _ = records.last_record(connection, chain) or (newest.seq, b"")
    _tell(checkpoint_json(newest.content, newest.signature), ends)


def _tell(signed: dict[str, Any], ends: int) -> None:
    """Print the checkpoint, and what it covers. `ends`: the last record of the log, as far as that is known."""
    print_json(signed)
    try:
        seq = Checkpoint.read(base64.b64decode(signed["content"])).seq
    except BadCheckpoint:  # `audit verify` says what is wrong with it
        return
    after = f"; {ends - seq:,} more follow it, which a running guard signs when asked" if ends > seq else ""
    typer.echo(f"It covers record {seq:,} and all before it{after}.", err=True)
