"""Records that say anything, filters with what fits each of them, and a store that is full of such records."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Connection, inspect

from mcpguard.store.engine.store import Store
from mcpguard.store.rows import records
from mcpguard.store.rows.records import COLUMNS
from mcpguard.store.rows.tables import callers
from mcpguard.store.search import search_index

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
    "server:m?il kind:*ed verdict:deny effect:read": lambda row: (
        row["server"] in ("mail", "m_il", "m%il") and (row["verdict"], row["effect"]) == ("deny", "read")
    ),
    "-kind:closed": lambda row: row["kind"] != "closed",
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


def add_records(connection: Connection, some: Iterable[Row]) -> None:
    """Store records, by the names of their columns."""
    names = ("hash", "content", *COLUMNS)
    records.ADD.run(connection, [tuple(row[name] for name in names) for row in _apart(connection, some)])


def add_bodies(connection: Connection, some: Iterable[Row]) -> None:
    """Store bodies, by the names of their columns."""
    names = ("chain", "seq", "salt", "content")
    records.ADD_BODY.run(connection, [tuple(row[name] for name in names) for row in _apart(connection, some)])


def _apart(connection: Connection, some: Iterable[Row]) -> Iterator[Row]:
    """The same rows. Where a store gives a number once, those of chains after `a` get numbers that it has not given."""
    key = inspect(connection).get_pk_constraint("records")["constrained_columns"]
    for row in some:
        yield row if "chain" in key else {**row, "seq": row["seq"] + 1000 * max(0, "abcd".find(row["chain"]))}


async def index(store: Store, upto: int) -> None:
    """Have the records of the chain up to this number indexed."""
    more = True
    while more:
        _, more = await store.writer.submit(partial(search_index.extend, chain="a", upto=upto))


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


async def fill(store: Store) -> list[dict[str, Any]]:
    """Its records; another chain has the like of them, and callers have names."""
    made = rows(120)
    other = [row | {"chain": "b", "entry": None} for row in made[:20]]

    def put(connection: Connection) -> None:
        add_records(connection, [*made, *other])
        for number, (id_, label) in enumerate(LABELS.items()):
            grant = {"servers": "", "tools": "", "effects": "", "must_declare": False, "manage": False, "created_at": 1}
            said = {"id": id_, "label": label, "digest": bytes([number]), "created_by": "me", "revoked_at": number}
            connection.execute(callers.insert().values(grant | said))

    await store.writer.submit(put)
    return made
