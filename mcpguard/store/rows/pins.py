"""Maps pins to rows."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, RowMapping, delete, insert, select

from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CapabilityStanding
from mcpguard.store.rows import versions
from mcpguard.store.rows.pages import batches
from mcpguard.store.rows.tables import capabilities


def pins_of(connection: Connection, upstream: str) -> list[Pin]:
    """Return the pins of all capabilities that this server ever listed, by kind and name."""
    wanted = select(capabilities).where(capabilities.c.upstream == upstream)
    found = connection.execute(wanted.order_by(capabilities.c.kind, capabilities.c.name))
    return [_pin(row) for row in found.mappings()]


def put(connection: Connection, pins: Iterable[Pin]) -> None:
    """Store these pins, replacing those with the same ids."""
    rows = [_row(pin) for pin in pins]
    _delete(connection, [str(row["id"]) for row in rows])
    if rows:
        connection.execute(insert(capabilities), rows)


def forget(connection: Connection, pins: Sequence[str]) -> None:
    """Delete these pins and all their definitions."""
    _delete(connection, pins)
    versions.forget(connection, pins)


def _delete(connection: Connection, ids: Sequence[str]) -> None:
    for some in batches(ids):
        connection.execute(delete(capabilities).where(capabilities.c.id.in_(some)))


def _row(pin: Pin) -> dict[str, object]:
    return {
        "id": pin.id,
        "upstream": pin.upstream,
        "kind": pin.kind.value,
        "name": pin.name,
        "standing": pin.standing.value,
        "present": pin.present,
        "listed": _text(pin.listed),
        "approved": _text(pin.approved),
        "effect": None if pin.effect is None else pin.effect.value,
        "returned": pin.returned,
        "rejected": _text(pin.rejected),
        "generation": pin.generation,
        "findings_read": " ".join(sorted(pin.findings_read)),
        "approved_since": pin.approved_since,
    }


def _pin(row: RowMapping) -> Pin:
    return Pin(
        id=row["id"],
        upstream=row["upstream"],
        kind=CapabilityKind(row["kind"]),
        name=row["name"],
        listed=_print(row["listed"]),
        standing=CapabilityStanding(row["standing"]),
        present=row["present"],
        approved=_print(row["approved"]),
        effect=None if row["effect"] is None else Effect(row["effect"]),
        returned=row["returned"],
        rejected=_print(row["rejected"]),
        generation=row["generation"],
        findings_read=frozenset(row["findings_read"].split()),
        approved_since=row["approved_since"],
    )


def _text(fingerprint: Fingerprint | None) -> str | None:
    return None if fingerprint is None else fingerprint.text


def _print(text: str | None) -> Fingerprint | None:
    return None if text is None else Fingerprint(text)
