"""Records of calls, as they may follow each other, and what is to be counted of them, written down a second time."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from hypothesis import strategies as st
from sqlalchemy import Connection, select

from mcpguard.domain.calls.counted_calls import CountDetail, Grain
from mcpguard.store.rows.records import COLUMNS
from mcpguard.store.rows.tables import counted_calls, counted_durations, counted_until

START = 1_790_000_000_000_000
Counted = dict[tuple[Any, ...], int]


@dataclass(frozen=True)
class PlayedCall:
    """A call: when it is opened, and, if it ends, after how many further openings, how, and how long it took."""

    pause: int
    server: str
    name: str
    caller: str
    verdict: str
    lasts: int | None
    outcome: str
    took: int | None


CALLS = st.builds(
    PlayedCall,
    pause=st.sampled_from([0, 1, 30_000_000, 3_000_000_000, -70_000_000]),
    server=st.sampled_from(["files", "mail"]),
    name=st.sampled_from(["read", "write", "send"]),
    caller=st.sampled_from(["id-1", "id-2", "id-3"]),
    verdict=st.sampled_from(["allow", "allow", "hold"]),
    lasts=st.sampled_from([None, 0, 0, 1, 7]),
    outcome=st.sampled_from(["answered", "failed", "unknown"]),
    took=st.sampled_from([None, 100, 4000, 90_000_000]),
)


def records_of(calls: Sequence[PlayedCall]) -> list[dict[str, Any]]:
    """The records of these calls, with records of other kinds between them."""
    made: list[dict[str, Any]] = []
    closings: dict[int, list[dict[str, Any]]] = {}
    at = START
    for number, call in enumerate(calls):
        at += call.pause
        made.append(opened(number, call, at))
        if call.lasts is not None:
            closings.setdefault(number + call.lasts, []).append(closed(number, call, at))
        made += closings.pop(number, [])
        made.append({"kind": "decided", "at": at})
    made += [closing for _, its in sorted(closings.items()) for closing in its]
    empty = dict.fromkeys(COLUMNS) | {"chain": "a", "hash": b"h", "content": b"{}"}
    return [empty | record | {"seq": seq} for seq, record in enumerate(made, 1)]


def opened(number: int, call: PlayedCall, at: int) -> dict[str, Any]:
    its = {"server": call.server, "name": call.name, "caller": call.caller, "capability": "tool", "effect": "read"}
    return its | {"kind": "opened", "entry": f"e-{number}", "at": at, "verdict": call.verdict}


def closed(number: int, call: PlayedCall, at: int) -> dict[str, Any]:
    said = {"executed": "yes"} | ({} if call.took is None else {"took_us": call.took})
    its = {"kind": "closed", "entry": f"e-{number}", "at": at, "outcome": call.outcome}
    return its | {"content": json.dumps(said).encode()}


def counted_by_hand(records: Sequence[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    """How many calls each row of counts has to have, by grain, slot and values."""
    outcomes = {record["entry"]: record["outcome"] for record in records if record["kind"] == "closed"}
    found = Counter[tuple[Any, ...]]()
    for record in records:
        if record["kind"] == "opened":
            for grain, detail in product(Grain, CountDetail):
                named = (record["name"], record["caller"]) if detail else ("", "")
                values = record["server"], *named, "read", record["verdict"]
                found[grain, detail, record["at"] // grain * grain, *values, outcomes.get(record["entry"], ""), ""] += 1
    return found


def counted(connection: Connection) -> tuple[Counted, Counted, int | None]:
    """All that is counted of calls and durations, and up to which record."""
    calls = {tuple(row[1:-1]): row[-1] for row in connection.execute(select(counted_calls))}
    durations = {tuple(row[1:-1]): row[-1] for row in connection.execute(select(counted_durations))}
    return calls, durations, connection.scalar(select(counted_until.c.seq))
