"""`mcpguard audit checkpoint`: the statement about the log that is kept where nobody on this machine can change it."""

import base64
from typing import Any, Final

import typer

from mcpguard.cli.audit.places import Where, opened
from mcpguard.cli.shared.common import Config, DataDir, print_json, telling
from mcpguard.cli.shared.guard_client import API, Operator
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger.checkpoints import BadCheckpoint, Checkpoint, kept
from mcpguard.store.rows import checkpoints, records

CHECKPOINTS: Final = f"{API}/checkpoints"


def checkpoint(path: Where = None, config: Config = None, data_dir: DataDir = None) -> None:
    """Print a signed checkpoint, to be kept where the guard's machine cannot reach it.

    A guard that runs signs one now, which vouches for everything recorded so far. Of a copy, and where none runs, it is
    the newest that there is; how many records follow it is said.
    """
    operator = None if path is not None else Operator.of(config, data_dir)
    if operator is not None and operator.runs():
        _tell(operator.send("POST", CHECKPOINTS, {}), 0)
        return
    with telling(), opened(path, config, data_dir) as (connection, chain):
        newest = checkpoints.last(connection, chain)
        if newest is None:
            raise StoreUnavailable("no checkpoint has been signed yet")
        ends, _ = records.last(connection, chain) or (newest.seq, b"")
    _tell(kept(newest.content, newest.signature), ends)


def _tell(signed: dict[str, Any], ends: int) -> None:
    """Print it, and say what it vouches for. `ends`: the last record of the log, as far as that is known."""
    print_json(signed)
    try:
        seq = Checkpoint.read(base64.b64decode(signed["content"])).seq
    except BadCheckpoint:  # `audit verify` says what is wrong with it
        return
    after = f"; {ends - seq:,} more follow it, which a guard that runs signs when it is asked" if ends > seq else ""
    typer.echo(f"It vouches for record {seq:,} and all before it{after}.", err=True)
