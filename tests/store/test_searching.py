"""Looking for records finds exactly those that fit, in order, however it is cut into pages, on both databases."""

import random
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import pytest
from sqlalchemy import Connection

from mcpguard.codec.filters import parse
from mcpguard.domain.filters import EVERYTHING, Filter
from mcpguard.store import records, searching
from mcpguard.store.records import COLUMNS
from mcpguard.store.store import Store
from mcpguard.store.tables import callers

pytestmark = pytest.mark.anyio
T = TypeVar("T")
Row = Mapping[str, Any]
WORDS: Mapping[str, tuple[str | None, ...]] = {
    "kind": ("opened", "closed", "decided", "listed"),
    "caller": (None, "anonymous", "id-1", "id-2", "id-3"),
    "server": (None, "files", "Files", "mail", "m_il", "m%il", "m[ai]l"),
    "capability": (None, "tool", "resource"),
    "name": (None, "read", "read_all", "mail:read", "READ", "note://a b", "re\\ad"),
    "effect": (None, "read", "write", "destructive"),
    "verdict": (None, "allow", "hold", "deny"),
    "outcome": (None, "answered", "refused"),
    "reason": (None, "scope:effect", "scope:name", "hold:denied"),
    "by": (None, None, "uid:1000 (ada)", "user:1 (bob)", "user:2 (ada)"),
}
LABELS = {"id-1": "desk", "id-2": "robot", "id-3": "desk"}
FILTERS: Mapping[str, Callable[[Row], bool]] = {
    "": lambda _: True,
    "server:files": lambda row: row["server"] == "files",
    "-server:files": lambda row: row["server"] != "files",
    "server:files server:mail": lambda row: row["server"] in ("files", "mail"),
    "server:m?il": lambda row: row["server"] in ("mail", "m_il", "m%il"),
    "server:m_il": lambda row: row["server"] == "m_il",
    "server:m%*": lambda row: row["server"] == "m%il",
    "server:m[ai]*": lambda row: row["server"] == "m[ai]l",
    "server:*": lambda row: row["server"] is not None,
    "-server:*": lambda row: row["server"] is None,
    "tool:read": lambda row: (row["capability"], row["name"]) == ("tool", "read"),
    "tool:read*": lambda row: row["capability"] == "tool" and row["name"] in ("read", "read_all"),
    "tool:mail:read": lambda row: (
        row["capability"] == "tool" and (row["name"] == "mail:read" or (row["server"], row["name"]) == ("mail", "read"))
    ),
    "name:read_*": lambda row: row["name"] == "read_all",
    "name:re\\*": lambda row: row["name"] == "re\\ad",
    'resource:"note://a b"': lambda row: (row["capability"], row["name"]) == ("resource", "note://a b"),
    "caller:desk": lambda row: row["caller"] in ("id-1", "id-3"),
    "caller:id-2": lambda row: row["caller"] == "id-2",
    "caller:*o*": lambda row: row["caller"] in ("anonymous", "id-2"),
    "actor:ada": lambda row: row["by"] in ("uid:1000 (ada)", "user:2 (ada)"),
    "actor:user:*": lambda row: row["by"] in ("user:1 (bob)", "user:2 (ada)"),
    "actor:desk actor:bob": lambda row: row["caller"] in ("id-1", "id-3") or row["by"] == "user:1 (bob)",
    "-actor:ada -caller:desk": lambda row: "ada" not in (row["by"] or "") and row["caller"] not in ("id-1", "id-3"),
    "verdict:deny": lambda row: row["verdict"] == "deny",
    "verdict:allow effect:read": lambda row: (row["verdict"], row["effect"]) == ("allow", "read"),
    "-verdict:allow": lambda row: row["verdict"] != "allow",
    "outcome:refused effect:destructive": lambda row: (row["outcome"], row["effect"]) == ("refused", "destructive"),
    "reason:scope:*": lambda row: (row["reason"] or "").startswith("scope:"),
    "reason:scope:effect reason:hold:denied -kind:opened": lambda row: (
        row["reason"] in ("scope:effect", "hold:denied") and row["kind"] != "opened"
    ),
    "kind:decided": lambda row: row["kind"] == "decided",
    "kind:opened server:mail": lambda row: (row["kind"], row["server"]) == ("opened", "mail"),
    "kind:*ed": lambda row: row["kind"].endswith("ed"),
    "call:e-3": lambda row: row["entry"] == "e-3",
    "-call:e-3 effect:write": lambda row: row["entry"] != "e-3" and row["effect"] == "write",
    "call:nothing": lambda _: False,
    "since:1970-01-01T00:00:00.000100": lambda row: row["at"] >= 100,
    "since:1970-01-01T00:00:00.000100 until:1970-01-01T00:00:00.000200 effect:read": lambda row: (
        100 <= row["at"] < 200 and row["effect"] == "read"
    ),
    "until:1970-01-01": lambda _: False,
}


async def ask(store: Store, question: Callable[[Connection], T]) -> T:
    return await store.readers.run(question)


def rows(count: int, seed: int = 7) -> list[dict[str, Any]]:
    """Records that say anything; a clock that was set back among them."""
    chance = random.Random(seed)  # noqa: S311 - the same ones in every run
    made, taken = [], set[tuple[str, str]]()
    for seq in range(1, count + 1):
        row = dict.fromkeys(COLUMNS) | {"chain": "a", "seq": seq, "hash": b"h", "content": b"c"}
        row |= {name: chance.choice(words) for name, words in WORDS.items()} | {
            "at": chance.randint(max(0, seq - 50), seq)
        }
        entry = f"e-{chance.randint(1, 60)}"
        if row["kind"] not in ("opened", "closed") or (entry, row["kind"]) not in taken:
            row["entry"] = entry
            taken.add((entry, str(row["kind"])))
        made.append(row)
    return made


@pytest.fixture
async def filled(store: Store) -> list[dict[str, Any]]:
    made = rows(120)
    other = [row | {"chain": "b", "entry": None} for row in made[:20]]

    def put(connection: Connection) -> None:
        records.add(connection, [*made, *other])
        for number, (id_, label) in enumerate(LABELS.items()):
            grant = {"servers": "", "tools": "", "effects": "", "must_declare": False, "manage": False, "created_at": 1}
            said = {"id": id_, "label": label, "digest": bytes([number]), "created_by": "me", "revoked_at": number}
            connection.execute(callers.insert().values(grant | said))

    await store.writer.submit(put)
    return made


async def whole(store: Store, wanted: Filter, limit: int, *, newest_first: bool, patient: bool = True) -> list[int]:
    """All that is found, page by page."""
    found, start = list[int](), None
    for _ in range(1000):
        look = partial(
            searching.search,
            chain="a",
            wanted=wanted,
            start=start,
            limit=limit,
            newest_first=newest_first,
            patience=lambda: patient,
        )
        page = await ask(store, look)
        found += [record.seq for record in page.records]
        if page.ended:
            return found
        assert page.reached != start, "it gets on"
        start = page.reached
    raise AssertionError("there is no end")


@pytest.mark.parametrize("window", [11, 20_000])
async def test_exactly_what_fits_is_found(
    store: Store, filled: list[dict[str, Any]], window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "FIRST_WINDOW", window)
    for text, fits in FILTERS.items():
        expected = [row["seq"] for row in filled if fits(row)]
        assert expected or text in ("call:nothing", "until:1970-01-01"), text
        wanted = parse(text, 0)
        for limit, patient in ((1000, True), (9, False)):
            found = await whole(store, wanted, limit, newest_first=False, patient=patient)
            assert found == expected, text
            found = await whole(store, wanted, limit, newest_first=True, patient=patient)
            assert found == expected[::-1], text


async def test_what_comes_later_is_found_from_where_it_ended(store: Store) -> None:
    made = rows(20)
    look = partial(searching.search, chain="a", wanted=parse("server:*", 0), limit=100, newest_first=False)
    assert (await ask(store, partial(look, start=None))).reached == 0
    await store.writer.submit(lambda connection: records.add(connection, made[:10]))
    page = await ask(store, partial(look, start=None))
    assert (page.reached, page.ended) == (10, True)
    await store.writer.submit(lambda connection: records.add(connection, made[10:]))
    more = await ask(store, partial(look, start=page.reached))
    expected = [row["seq"] for row in made if row["server"] is not None]
    assert [record.seq for record in (*page.records, *more.records)] == expected
    assert (await ask(store, partial(look, start=1000))).reached == 1000


async def test_what_was_pruned_fits_only_where_nothing_is_asked(store: Store) -> None:
    gone = dict.fromkeys(COLUMNS) | {"chain": "a", "seq": 1, "hash": b"h", "content": None}
    await store.writer.submit(lambda connection: records.add(connection, [gone, rows(2)[1]]))
    assert await whole(store, EVERYTHING, 10, newest_first=False) == [1, 2]
    for text in ("-server:x", "since:1970-01-01"):
        assert 1 not in (await whole(store, parse(text, 0), 10, newest_first=False)) or text.startswith("-")


async def test_all_of_a_call_is_found(store: Store, filled: list[dict[str, Any]]) -> None:
    for entry in ("e-3", "e-37", "nothing"):
        found = await ask(store, partial(searching.call, chain="a", entry=entry))
        assert [record.seq for record in found] == [row["seq"] for row in filled if row["entry"] == entry]
    assert (await ask(store, partial(searching.numbered, chain="a", seq=5))) is not None
    assert await ask(store, partial(searching.numbered, chain="a", seq=121)) is None
