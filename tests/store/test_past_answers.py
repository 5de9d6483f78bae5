"""Earlier answers to held calls of one capability are found, on both databases, and no others."""

from functools import partial
from typing import Any

import pytest

from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.store.engine.store import Store
from mcpguard.store.rows.records import COLUMNS
from mcpguard.store.search.past_answers import LookBack, past_answers
from tests.store.searched import add_records, ask

pytestmark = pytest.mark.anyio
ECHO = Capability("web", CapabilityKind.TOOL, "echo")
ALL = LookBack(since=0, limit=50, among=1000)


def row(seq: int, **said: object) -> dict[str, Any]:
    its = {"kind": "decided", "server": "web", "capability": "tool", "name": "echo", "caller": "one"}
    return dict.fromkeys(COLUMNS) | {"chain": "a", "seq": seq, "at": seq, "hash": b"h", "content": b"c"} | its | said


async def found(store: Store, look_back: LookBack) -> list[int]:
    records = await ask(store, partial(past_answers, chain="a", about=ECHO, look_back=look_back))
    return [each.seq for each in records]


async def test_only_answers_to_calls_of_this_capability_are_found_the_newest_first(store: Store) -> None:
    rows = [
        row(1),
        row(2, caller="two"),
        row(3, caller=None),  # a decision about the tool itself
        row(4, server="mail"),
        row(5, name="echo2"),
        row(6, capability="prompt"),
        row(7, kind="opened", entry="e-1"),
        row(8, kind="moved"),
        row(9),
    ]
    await store.writer.submit(lambda connection: add_records(connection, rows))
    assert await found(store, ALL) == [9, 2, 1]
    assert await ask(store, partial(past_answers, chain="b", about=ECHO, look_back=ALL)) == []


async def test_it_looks_back_only_so_far(store: Store) -> None:
    rows = [row(seq, kind="decided" if seq % 2 else "moved") for seq in range(1, 101)]
    await store.writer.submit(lambda connection: add_records(connection, rows))
    assert await found(store, LookBack(since=95, limit=50, among=1000)) == [99, 97, 95]
    assert await found(store, LookBack(since=0, limit=2, among=1000)) == [99, 97]
    assert await found(store, LookBack(since=0, limit=50, among=3)) == [99, 97, 95], "of the newest decisions"
