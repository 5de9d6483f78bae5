"""Maps allowances to rows. One that has ended has no row; it is in the ledger."""

from dataclasses import asdict

import orjson
from sqlalchemy import Connection, RowMapping, delete, insert, select, update

from mcpguard.domain.calls.allowances import Allowance, CallParts
from mcpguard.domain.calls.holds import HoldBasis
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.store.rows.tables import allowances


def list_allowances(connection: Connection) -> list[Allowance]:
    """Return all allowances that have not ended, the oldest first."""
    return [_allowance(row) for row in connection.execute(select(allowances).order_by(allowances.c.id)).mappings()]


def put(connection: Connection, allowance: Allowance) -> None:
    """Store a new allowance."""
    connection.execute(insert(allowances), _row(allowance))


def use(connection: Connection, allowance: Allowance, now: int) -> bool:
    """Take one call from an allowance. Returns False, and does nothing, if the store has none left, none that lasts, or
    another one under this id."""
    row = _row(allowance)
    same = [allowances.c[name] == value for name, value in row.items() if name != "calls_left"]
    one = update(allowances).where(*same, allowances.c.calls_left > 0, allowances.c.until > now)
    return connection.execute(one.values(calls_left=allowances.c.calls_left - 1)).rowcount == 1


def end(connection: Connection, id_: str) -> bool:
    """Remove an allowance. Returns whether there was one."""
    return connection.execute(delete(allowances).where(allowances.c.id == id_)).rowcount == 1


def _row(allowance: Allowance) -> dict[str, object]:
    capability = allowance.capability
    named = {"server": capability.server, "kind": capability.kind.value, "name": capability.name}
    said = {**asdict(allowance), **named}
    for name in ("id", "until", "left", "capability"):
        del said[name]
    return {
        "id": allowance.id,
        "until": allowance.until,
        "calls_left": allowance.left,
        "said": orjson.dumps(said, option=orjson.OPT_SORT_KEYS),
    }


def _allowance(row: RowMapping) -> Allowance:
    said = orjson.loads(row["said"])
    rests = said.pop("rests")
    return Allowance(
        id=row["id"],
        capability=Capability(said.pop("server"), CapabilityKind(said.pop("kind")), said.pop("name")),
        rests=HoldBasis(_generation(rests["upstream"]), _generation(rests["pin"])),
        same=CallParts(**said.pop("same")),
        open=tuple(said.pop("open")),
        until=row["until"],
        left=row["calls_left"],
        **said,
    )


def _generation(said: list[str | int]) -> tuple[str, int]:
    id_, number = said
    return str(id_), int(number)
