"""Maps held calls to rows.

A call that is decided or expired has no row; it is in the ledger.
"""

from dataclasses import asdict

import orjson
from sqlalchemy import Connection, RowMapping, delete, insert, select, update

from mcpguard.domain.calls.holds import HeldCall, HeldFacts, HoldBasis, HoldState
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.domain.scripts import NamedTool
from mcpguard.store.rows.tables import holds


def list_holds(connection: Connection) -> list[HeldCall]:
    """Return all open held calls, the oldest first."""
    return [_hold(row) for row in connection.execute(select(holds).order_by(holds.c.id)).mappings()]


def put(connection: Connection, hold: HeldCall) -> None:
    """Store a new held call."""
    connection.execute(insert(holds), _row(hold))


def move(connection: Connection, before: HoldState, now: HeldCall) -> bool:
    """Replace a held call by `now`. Returns False, and does nothing, if its state was not `before`."""
    # The state is part of the condition: of two answers, or an answer and an expiry, only the first changes the row.
    mine = (holds.c.id == now.id) & (holds.c.state == before.value)
    return connection.execute(update(holds).where(mine).values(_row(now))).rowcount == 1


def end(connection: Connection, id_: str, before: HoldState) -> bool:
    """Remove a held call. Returns False, and does nothing, if its state was not `before`."""
    mine = (holds.c.id == id_) & (holds.c.state == before.value)
    return connection.execute(delete(holds).where(mine)).rowcount == 1


def _row(hold: HeldCall) -> dict[str, object]:
    capability, rests = hold.capability, hold.rests
    named = {"server": capability.server, "kind": capability.kind.value, "name": capability.name}
    said = asdict(hold.asking) | named | {"why": hold.why, "by": hold.by}
    return {
        "id": hold.id,
        "state": hold.state.value,
        "same": hold.same,
        "caller": hold.caller,
        "upstream": rests.upstream[0],
        "upstream_generation": rests.upstream[1],
        "pin": rests.pin[0] if rests.pin else None,
        "pin_generation": rests.pin[1] if rests.pin else None,
        "until": hold.until,
        "said": orjson.dumps(said),
    }


def _hold(row: RowMapping) -> HeldCall:
    said = orjson.loads(row["said"])
    capability = Capability(said.pop("server"), CapabilityKind(said.pop("kind")), said.pop("name"))
    why, by = said.pop("why"), said.pop("by")
    program, free = said.pop("program", ()), tuple(said.pop("free_texts", ()))
    tools = tuple(
        NamedTool(each["server"], each["tool"], each["effect"] and Effect(each["effect"])) for each in program
    )
    pin = None if row["pin"] is None else (row["pin"], row["pin_generation"])
    rests = HoldBasis((row["upstream"], row["upstream_generation"]), pin)
    state = HoldState(row["state"])
    return HeldCall(
        row["id"],
        state,
        bytes(row["same"]),
        row["caller"],
        capability,
        rests,
        row["until"],
        HeldFacts(**said, program=tools, free_texts=free),
        why,
        by,
    )
