"""What an attack leaves behind: each call with its one entry, everything else where it stood, and an audit log that is
whole."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from mcpguard.app import places
from mcpguard.domain.servers.standing import CapabilityStanding
from tests.gate import Gate
from tests.world import verified


class Ended(NamedTuple):
    """How a call ended, as it is recorded."""

    server: str
    name: str
    outcome: str
    executed: str
    reason: str = ""


@contextmanager
def nothing_else(guard: Gate, *wanted: Ended) -> Iterator[None]:
    """In the block just these calls are made, in whatever order: each is opened once and closed once. No server and no
    capability stands otherwise afterwards, what came meanwhile waits for a person, and the log can be verified."""
    stood, before = _standings(guard), len(guard.said())
    yield
    records = guard.said()[before:]
    opened = [each for each in records if each["kind"] == "opened"]
    closed = [each for each in records if each["kind"] == "closed"]
    assert Counter(each["entry"] for each in closed) == Counter({each["entry"]: 1 for each in opened})
    ends = {each["entry"]: each for each in closed}
    assert Counter(_ended(each, ends[each["entry"]]) for each in opened) == Counter(wanted)
    stands = _standings(guard)
    assert {what: stands.get(what) for what in stood} == stood
    assert all(how[0] is CapabilityStanding.PENDING for what, how in stands.items() if what not in stood)
    log_is_whole(guard)


def log_is_whole(guard: Gate) -> None:
    report = verified(places.database(guard.now.settings))
    assert report.whole, report


def _ended(opened: dict[str, Any], closed: dict[str, Any]) -> Ended:
    reason = str(closed.get("reason", ""))
    return Ended(opened["server"], opened["name"], closed["outcome"], closed["executed"], reason)


def _standings(guard: Gate) -> dict[tuple[object, ...], tuple[object, ...]]:
    """Where each server and each of its capabilities stands, and what is approved of it."""
    servers = guard.now.guard.servers
    found: dict[tuple[object, ...], tuple[object, ...]] = {}
    for known in filter(None, (servers.find(each.name) for each in servers.status())):
        found[known.name,] = known.upstream.standing, known.enabled
        found |= {(known.name, *key): (pin.standing, pin.approved, pin.effect) for key, pin in known.pins.items()}
    return found
