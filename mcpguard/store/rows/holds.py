"""Held calls ⇄ rows. What is over has no row: it is in the ledger, and nothing can be done with it any more."""

from dataclasses import asdict

import orjson
from sqlalchemy import Connection, RowMapping, delete, insert, select, update

from mcpguard.domain.calls.holds import HeldCall, HeldFacts, HoldState, Rests
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.store.rows.tables import holds


def every(connection: Connection) -> list[HeldCall]:
    """All that are not over, the oldest first."""
    return [_hold(row) for row in connection.execute(select(holds).order_by(holds.c.id)).mappings()]


def put(connection: Connection, hold: HeldCall) -> None:
    """Keep a new one."""
    connection.execute(insert(holds), _row(hold))


def move(connection: Connection, before: HoldState, now: HeldCall) -> bool:
    """It stands as `now` says from here on; whether it stood as `before` until then."""
    mine = (holds.c.id == now.id) & (holds.c.state == before.value)
    return connection.execute(update(holds).where(mine).values(_row(now))).rowcount == 1


def end(connection: Connection, id_: str, before: HoldState) -> bool:
    """It is over; whether it stood as `before` until then."""
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
    pin = None if row["pin"] is None else (row["pin"], row["pin_generation"])
    rests = Rests((row["upstream"], row["upstream_generation"]), pin)
    state = HoldState(row["state"])
    return HeldCall(
        row["id"], state, bytes(row["same"]), row["caller"], capability, rests, row["until"], HeldFacts(**said), why, by
    )
