"""Bringing a database to the schema that this version needs, on both databases."""

import shutil
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import insert, inspect, text

from mcpguard import assets
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.domain.findings import Evidence, Finding, InspectionFindings, Severity
from mcpguard.store.engine import schema
from mcpguard.store.engine.backend import Backend
from mcpguard.store.engine.durability import Durability
from mcpguard.store.engine.schema import upgrade
from mcpguard.store.engine.sqlite import SQLite
from mcpguard.store.rows import chains, pins, versions
from mcpguard.store.rows import upstreams as stored_upstreams
from mcpguard.store.rows.tables import TABLES, upstreams
from tests.store import NEWEST, scripts_up_to

NEXT = f"""
import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = "{NEWEST}"


def upgrade() -> None:
    op.add_column("chains", sa.Column("colour", sa.String))
    {{more}}
"""


OLD_PIN = """
INSERT INTO capabilities
(id, upstream, kind, name, standing, present, listed, approved, effect, returned, generation)
VALUES ('one', 'up', 'tool', 't', 'approved', :yes, :listed, :listed, 'read', :no, 1)
"""
"""As an approved tool was kept up to schema 0010."""


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """The scripts of a version after this one."""
    return scripts_with(tmp_path / "newer", "pass")


def scripts_with(folder: Path, more: str) -> Path:
    shutil.copytree(assets.migrations(), folder)
    (folder / "versions" / "9999_next.py").write_text(NEXT.format(more=more))
    return folder


def put_a_chain(backend: Backend) -> None:
    with backend.connect() as connection:
        backend.begin(connection, Durability.COMMITTED)
        chains.begin(connection, "mine", 0)
        connection.commit()


def test_a_new_database_gets_the_newest_schema_and_a_second_upgrade_does_nothing(backend: Backend) -> None:
    first = upgrade(backend)
    assert (first.before, first.backup) == (None, None)
    again = upgrade(backend)
    assert (again.before, again.after, again.backup) == (first.after, first.after, None)


def test_the_schema_that_is_looked_for_is_the_one_that_the_migrations_lead_to() -> None:
    assert schema.NEWEST == NEWEST


def test_the_migrations_make_what_the_tables_declare(backend: Backend) -> None:
    upgrade(backend)
    with backend.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, TABLES) == []


def test_an_older_database_is_upgraded_and_keeps_what_it_holds(backend: Backend, newer: Path) -> None:
    upgrade(backend)
    put_a_chain(backend)
    done = upgrade(backend, newer)
    assert (done.before, done.after) == (NEWEST, "9999")
    with backend.connect() as connection:
        assert chains.list_chains(connection) == ["mine"]
        assert "colour" in {column["name"] for column in inspect(connection).get_columns("chains")}


def test_sqlite_is_copied_before_it_is_changed(tmp_path: Path, newer: Path) -> None:
    backend = SQLite(tmp_path / "test.db", busy_timeout=1)
    upgrade(backend)
    put_a_chain(backend)
    done = upgrade(backend, newer)
    assert done.backup is not None
    assert done.backup.stat().st_mode & 0o777 == 0o600
    copy = SQLite(done.backup, busy_timeout=1)
    with copy.connect() as connection:
        assert chains.list_chains(connection) == ["mine"]
        assert MigrationContext.configure(connection).get_current_revision() == NEWEST


def test_a_newer_schema_is_refused_and_left_as_it_is(backend: Backend, newer: Path) -> None:
    upgrade(backend, newer)
    with pytest.raises(StoreUnavailable, match=r"has schema 9999, which mcpguard .* does not know"):
        upgrade(backend)
    with backend.connect() as connection:
        assert MigrationContext.configure(connection).get_current_revision() == "9999"


def test_an_upgrade_that_fails_half_way_leaves_what_was_there(backend: Backend, tmp_path: Path) -> None:
    upgrade(backend)
    put_a_chain(backend)
    broken = scripts_with(tmp_path / "broken", "raise RuntimeError('half way')")
    with pytest.raises(RuntimeError, match="half way"):
        upgrade(backend, broken)
    with backend.connect() as connection:
        assert MigrationContext.configure(connection).get_current_revision() == NEWEST
        assert "colour" not in {column["name"] for column in inspect(connection).get_columns("chains")}
        assert chains.list_chains(connection) == ["mine"]


def test_a_server_of_an_older_database_has_no_approved_prefixes(backend: Backend, tmp_path: Path) -> None:
    older = scripts_up_to(tmp_path / "older", "0002")
    assert upgrade(backend, older).after == "0002"
    texts = dict.fromkeys(("id", "name", "transport", "standing", "may_ask", "origin", "requester"), "old")
    others = {"enabled": True, "generation": 0, "revision": 0, "removed": False, "declaration": b""}
    with backend.connect() as connection:
        backend.begin(connection, Durability.COMMITTED)
        connection.execute(insert(upstreams), texts | others)
        connection.commit()
    upgrade(backend)
    with backend.connect() as connection:
        assert [(row.name, row.prefixes) for row in connection.execute(upstreams.select())] == [("old", "[]")]


def test_of_definitions_of_an_older_database_nothing_was_found_yet_and_something_can_be(
    backend: Backend, tmp_path: Path
) -> None:
    older = scripts_up_to(tmp_path / "older", "0003")
    assert upgrade(backend, older).after == "0003"
    print_ = Fingerprint("v1:" + "a" * 64)
    row = {"capability": "one", "fingerprint": print_.text, "definition": b'{"name":"t"}', "at": 5}
    with backend.connect() as connection:
        backend.begin(connection, Durability.COMMITTED)
        connection.execute(text(OLD_PIN), {"listed": print_.text, "no": False, "yes": True})
        connection.execute(text("INSERT INTO versions VALUES (:capability, :fingerprint, :definition, :at, :at)"), row)
        connection.commit()
    assert upgrade(backend).before == "0003"
    found = InspectionFindings((Finding("r", "T1", Severity.HIGH, 0.5, True, "title", Evidence("/name", 0, 1)),), 50)
    with backend.connect() as connection:
        backend.begin(connection, Durability.COMMITTED)
        (kept,) = versions.versions_of(connection, "one")
        assert (kept.definition, kept.first_seen, kept.found) == (b'{"name":"t"}', 5, None)
        assert versions.current_findings(connection, "up") == {}
        versions.put_findings(connection, "one", print_, found)
        assert versions.current_findings(connection, "up") == {"one": found}
        connection.commit()


def test_of_an_approval_of_an_older_database_nobody_knows_what_was_read(backend: Backend, tmp_path: Path) -> None:
    assert upgrade(backend, scripts_up_to(tmp_path / "older", "0010")).after == "0010"
    texts = dict.fromkeys(("id", "name", "transport", "may_ask", "requester", "disabled_by", "screening"), "")
    words = {"standing": "approved", "origin": "file", "transport": "stdio", "prefixes": "[]"}
    others = {"enabled": True, "generation": 0, "revision": 0, "removed": False, "declaration": b""}
    with backend.connect() as connection:
        backend.begin(connection, Durability.COMMITTED)
        connection.execute(insert(upstreams), texts | words | others | {"name": "old"})
        connection.execute(text(OLD_PIN), {"listed": "v1:" + "a" * 64, "no": False, "yes": True})
        connection.commit()
    assert upgrade(backend).before == "0010"
    with backend.connect() as connection:
        (upstream,), (pin,) = stored_upstreams.list_upstreams(connection), pins.pins_of(connection, "up")
    assert (upstream.findings_read, upstream.inspection) == (frozenset(), None)
    assert (pin.callable, pin.findings_read) == (True, frozenset())


def test_what_was_approved_in_an_older_database_counts_from_when_it_was_seen(backend: Backend, tmp_path: Path) -> None:
    assert upgrade(backend, scripts_up_to(tmp_path / "older", "0010")).after == "0010"
    ids = ("01980000-0000-7000-8000-000000000000", "no time")
    with backend.connect() as connection:
        backend.begin(connection, Durability.COMMITTED)
        for at, id_ in enumerate(ids):
            made = OLD_PIN.replace("'one'", f"'{id_}'").replace("'t'", f"'t{at}'")
            connection.execute(text(made), {"listed": "v1:" + "a" * 64, "no": False, "yes": True})
        pending = OLD_PIN.replace("'one'", "'01980000-0000-7000-8000-000000000001'").replace("'t'", "'t2'")
        connection.execute(
            text(pending.replace(":listed, :listed", ":listed, NULL")),
            {"listed": "v1:" + "a" * 64, "no": False, "yes": True},
        )
        connection.commit()
    upgrade(backend)
    with backend.connect() as connection:
        since = {pin.name: pin.approved_since for pin in pins.pins_of(connection, "up")}
    assert since == {"t0": 0x019800000000 * 1000, "t1": 0, "t2": 0}


def test_who_did_what_before_there_was_a_column_for_it_is_found_afterwards(backend: Backend, tmp_path: Path) -> None:
    upgrade(backend, scripts_up_to(tmp_path / "older", "0008"))
    names = "chain, seq, hash, content, at, kind"
    said = {
        1: '{"by":"uid:1 (Ada \u00e9 \\" \\\\)","kind":"decided"}',
        2: '{"kind":"started"}',
        3: None,
        4: '{"by":"desk","kind":"opened"}',
    }
    with backend.connect() as connection:
        backend.begin(connection, Durability.COMMITTED)
        for seq, content in said.items():
            row = {"seq": seq, "content": content.encode() if content else None, "kind": "x" if content else None}
            statement = text(f"INSERT INTO records ({names}) VALUES ('a', :seq, :hash, :content, 1, :kind)")
            connection.execute(statement, row | {"hash": b"h"})
        connection.commit()
    upgrade(backend)
    with backend.connect() as connection:
        found = connection.execute(text('SELECT seq, "by" FROM records ORDER BY seq')).all()
    assert [tuple(row) for row in found] == [(1, 'uid:1 (Ada \u00e9 " \\)'), (2, None), (3, None), (4, "desk")]
