"""A text is found where a record says it, and nowhere else, on both databases; broken content breaks no search."""

import json
from functools import partial
from typing import Any

import pytest

from mcpguard.codec.filters import parse
from mcpguard.domain.filters import Filter
from mcpguard.store.engine.store import Store
from mcpguard.store.rows.records import COLUMNS
from mcpguard.store.search import record_counts, record_search
from tests.store.searched import add_bodies, add_records, ask

pytestmark = pytest.mark.anyio
SAID: tuple[dict[str, Any], ...] = (
    {"kind": "opened", "server": "files", "name": "read_file", "intent_reason": "Ticket OPS-2291, see C:\\new"},
    {"kind": "opened", "server": "mail", "name": "send", "caller_label": "Käfer", "client": 'an "agent"'},
    {"kind": "closed", "server": "mail", "name": "send", "outcome": "failed", "reason": "server:timeout"},
    {"kind": "decided", "by": "uid:0 (root)", "why": "100% sure_of it", "server": "files"},
    {"kind": "closed", "server": "web", "name": "get", "outcome": "answered"},
    {"kind": "opened", "name": "say", "intent_reason": "null\0 after 日本語 text"},
)
REPLY = json.dumps({"content": [{"type": "text", "text": 'HTTP 403: "secondary" limit'}]}, ensure_ascii=False)
FOUND = {
    "ops-2291": [1],
    "OPS": [1],
    '"c:\\\\new"': [1],
    "files": [1, 4],
    "files -ticket": [4],
    "files ticket": [1],
    "käfer": [2],
    '"an \\"agent"': [2],
    "kind": [],
    "opened": [],
    "null": [6],
    '"mail\\",\\"name"': [],
    "timeout": [3],
    "403": [3],
    '"403: \\"SECOND"': [3],
    "100%": [4],
    "sure_of": [4],
    "sureXof": [],
    "tick*2291": [1],
    "t?cket": [1],
    "t?ket": [],
    "files*read": [],
    "after": [6],
    "本": [6],
    "日?語": [6],
    "-e": [8],
    "-files server:*": [2, 3, 5],
    "text:ROOT": [4],
    "verdict:deny ticket": [],
    "server:web get": [5],
    "": [1, 2, 3, 4, 5, 6, 8],
}
"""What some filters find, by number."""
BROKEN = 7
"""Not JSON: a database finds something in it or not."""


def row(seq: int, content: bytes, said: dict[str, Any]) -> dict[str, Any]:
    columns = {name: said.get(name) for name in COLUMNS}
    return columns | {"chain": "a", "seq": seq, "hash": b"h", "content": content, "at": seq}


def written(said: dict[str, Any]) -> bytes:
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


async def told(store: Store) -> None:
    rows = [row(seq, written(said), said) for seq, said in enumerate(SAID, 1)]
    broken = [row(BROKEN, b'\xff{"why":"ticket', {}), row(8, b"[1,2]", {})]
    await store.writer.submit(lambda connection: add_records(connection, [*rows, *broken]))
    bodies = [{"chain": "a", "seq": seq, "salt": b"s", "content": REPLY.encode()} for seq in (3, 5)]
    await store.writer.submit(lambda connection: add_bodies(connection, bodies))


async def found(store: Store, wanted: Filter) -> list[int]:
    look = partial(record_search.search, chain="a", wanted=wanted, start=None, limit=100, newest_first=False)
    return [each.seq for each in (await ask(store, look)).records]


async def test_a_text_is_found_where_it_is_said(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    await told(store)
    for text, numbers in FOUND.items():
        assert [number for number in await found(store, parse(text, 0)) if number != BROKEN] == numbers, text
    monkeypatch.setattr(record_search, "TEXT_WINDOW", 2)
    monkeypatch.setattr(record_counts, "FIRST_WINDOW", 2)
    assert await found(store, parse("files", 0)) == FOUND["files"]
    counting = partial(record_counts.count, chain="a", wanted=parse("files", 0), grain=1)
    assert sum((await ask(store, counting)).slots.values()) == len(FOUND["files"])
