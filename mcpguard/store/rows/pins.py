"""Pins ⇄ rows."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, RowMapping, delete, insert, select

from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CapabilityStanding
from mcpguard.store.rows import versions
from mcpguard.store.rows.pages import batched
from mcpguard.store.rows.tables import capabilities


def of(connection: Connection, upstream: str) -> list[Pin]:
    """Every capability of this upstream that was ever listed, by kind and name."""
    wanted = select(capabilities).where(capabilities.c.upstream == upstream)
    found = connection.execute(wanted.order_by(capabilities.c.kind, capabilities.c.name))
    return [_pin(said) for said in found.mappings()]


def put(connection: Connection, pins: Iterable[Pin]) -> None:
    """Keep them as they are now, in the place of what was kept under their ids."""
    rows = [_row(pin) for pin in pins]
    _delete(connection, [str(row["id"]) for row in rows])
    if rows:
        connection.execute(insert(capabilities), rows)


def forget(connection: Connection, pins: Sequence[str]) -> None:
    """There were no such capabilities, and no definitions of them."""
    _delete(connection, pins)
    versions.forget(connection, pins)


def _delete(connection: Connection, ids: Sequence[str]) -> None:
    for some in batched(ids):
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
    }


def _pin(said: RowMapping) -> Pin:
    return Pin(
        id=said["id"],
        upstream=said["upstream"],
        kind=CapabilityKind(said["kind"]),
        name=said["name"],
        listed=_print(said["listed"]),
        standing=CapabilityStanding(said["standing"]),
        present=said["present"],
        approved=_print(said["approved"]),
        effect=None if said["effect"] is None else Effect(said["effect"]),
        returned=said["returned"],
        rejected=_print(said["rejected"]),
        generation=said["generation"],
        findings_read=frozenset(said["findings_read"].split()),
    )


def _text(fingerprint: Fingerprint | None) -> str | None:
    return None if fingerprint is None else fingerprint.text


def _print(text: str | None) -> Fingerprint | None:
    return None if text is None else Fingerprint(text)
