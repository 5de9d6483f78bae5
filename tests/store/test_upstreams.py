"""What is known of upstreams comes back as it was put there, and what may be secret in it lies nowhere in clear."""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, update
from sqlalchemy.exc import IntegrityError

from mcpguard.codec import declarations
from mcpguard.domain.asks import AskKind
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.domain.servers.inspections import Inspection
from mcpguard.domain.servers.launches import (
    Confinement,
    DeclaredServer,
    Era,
    Mount,
    Profile,
    RemoteLaunch,
    StdioFraming,
    StdioLaunch,
    Templates,
)
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Identity, Origin, Transport, Upstream
from mcpguard.store.engine.durability import Durability
from mcpguard.store.engine.schema import upgrade
from mcpguard.store.engine.sqlite import SQLite
from mcpguard.store.files import seals
from mcpguard.store.files.seals import Seal
from mcpguard.store.rows import upstreams
from mcpguard.store.rows.tables import upstreams as table
from tests.tiers import examples

CANARY = "a-secret-that-was-written-out"
SEAL = Seal(b"k" * 32)
PRINTS = st.sampled_from([Fingerprint(f"v1:{letter * 64}") for letter in "ab"])
IDENTITIES = st.none() | st.builds(Identity, PRINTS, st.none() | PRINTS)
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
VALUES = st.dictionaries(TEXT, TEXT, max_size=3).map(Templates)
MOUNTS = st.lists(st.builds(Mount, TEXT, st.booleans()), max_size=3).map(tuple)
LAUNCHES = st.builds(
    StdioLaunch,
    TEXT,
    st.lists(TEXT, max_size=3).map(tuple),
    VALUES,
    st.none() | TEXT,
    st.sampled_from(StdioFraming),
    st.sampled_from(Profile),
    MOUNTS,
    st.none() | st.builds(Confinement, st.sampled_from(Profile), MOUNTS),
) | st.builds(RemoteLaunch, st.sampled_from([Transport.HTTP, Transport.SSE]), TEXT, VALUES)
DECLARED = st.builds(
    DeclaredServer,
    name=TEXT,
    label=TEXT,
    launch=LAUNCHES,
    enabled=st.booleans(),
    timeout=st.none() | st.floats(0.1, 1e6),
    era=st.sampled_from(Era),
)
INSPECTIONS = st.builds(
    Inspection,
    st.integers(0, 2**53),
    TEXT,
    st.none() | st.integers(0, 2**53),
    TEXT,
    st.booleans(),
    st.lists(TEXT, max_size=3).map(tuple),
)
UPSTREAMS = st.builds(
    Upstream,
    id=st.just("one"),
    name=st.just("server"),
    transport=st.sampled_from(Transport),
    standing=st.sampled_from(UpstreamStanding),
    enabled=st.booleans(),
    may_ask=st.frozensets(st.sampled_from(AskKind)),
    origin=st.sampled_from(Origin),
    requester=TEXT,
    identity=IDENTITIES,
    approved=IDENTITIES,
    artifact=st.none() | TEXT,
    generation=st.integers(0, 2**53),
    revision=st.integers(0, 2**53),
    removed=st.booleans(),
    findings_read=st.frozensets(st.sampled_from(["hidden.tags", "secrecy.order"])),
    inspection=st.none() | INSPECTIONS,
)
HOW = DeclaredServer("server", "Server", StdioLaunch("run", (), Templates({"TOKEN": CANARY})))
UPSTREAM = Upstream("one", "server", Transport.STDIO)


@given(DECLARED)
def test_a_declaration_reads_back_as_it_was(declared: DeclaredServer) -> None:
    assert declarations.read(declarations.write(declared)) == declared


def test_one_that_was_kept_before_there_was_a_sandbox_ran_without_one() -> None:
    said = orjson.loads(declarations.write(HOW))
    for name in ("profile", "mounts", "instead_of"):
        del said["launch"][name]
    read = declarations.read(orjson.dumps(said | {"v": 1}))
    assert read == replace(HOW, launch=StdioLaunch("run", (), Templates({"TOKEN": CANARY}), profile=Profile.NONE))
    with pytest.raises(ValueError, match="version 4"):
        declarations.read(orjson.dumps(said | {"v": 4}))


def test_one_of_which_only_the_profile_was_kept_has_the_folders_that_it_was_declared_with() -> None:
    agreed = replace(HOW, launch=StdioLaunch("run", mounts=(Mount("/srv", writable=True),)).without_sandbox())
    said = orjson.loads(declarations.write(agreed))
    said["launch"]["instead_of"] = "strict"
    assert declarations.read(orjson.dumps(said | {"v": 2})) == agreed


@given(UPSTREAMS, DECLARED)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(50), deadline=None)
def test_an_upstream_comes_back_as_it_was(connection: Connection, upstream: Upstream, declared: DeclaredServer) -> None:
    upstreams.put(connection, upstream, declared, SEAL)
    assert upstreams.list_upstreams(connection) == [upstream], "in the place of the one before"
    assert upstreams.declaration(connection, "one", SEAL) == declared


def test_a_name_is_one_upstreams_and_tombstones_keep_theirs(connection: Connection) -> None:
    gone = replace(UPSTREAM, id="gone", removed=True)
    for upstream in (UPSTREAM, gone, replace(gone, id="long gone")):
        upstreams.put(connection, upstream, HOW, SEAL)
    assert [each.id for each in upstreams.list_upstreams(connection)] == ["gone", "long gone", "one"]
    with pytest.raises(IntegrityError):
        upstreams.put(connection, replace(UPSTREAM, id="another"), HOW, SEAL)


def test_what_is_not_there_is_not_declared_and_has_no_findings_that_rest_on_anything(connection: Connection) -> None:
    assert upstreams.declaration(connection, "nobody", SEAL) is None
    assert upstreams.findings_rest_on(connection, "nobody") == b""


def test_what_findings_rest_on_is_what_was_said_last(connection: Connection) -> None:
    upstreams.put(connection, UPSTREAM, HOW, SEAL, b"\x00 a digest")
    assert upstreams.findings_rest_on(connection, "one") == b"\x00 a digest"
    upstreams.put(connection, UPSTREAM, HOW, SEAL)
    assert upstreams.findings_rest_on(connection, "one") == b"", "nobody knows any more"


def test_a_declaration_opens_in_its_own_row_with_its_own_key_and_whole(connection: Connection) -> None:
    other = replace(UPSTREAM, id="two", name="other")
    for upstream in (UPSTREAM, other):
        upstreams.put(connection, upstream, HOW, SEAL)
    with pytest.raises(StoreUnavailable, match="cannot be decrypted"):
        upstreams.declaration(connection, "one", Seal(b"x" * 32))
    sealed = connection.scalar(table.select().with_only_columns(table.c.declaration).where(table.c.id == "two"))
    assert isinstance(sealed, bytes)
    for wrong in (sealed, sealed[:-1], sealed[:5], b""):  # the other one's; cut
        connection.execute(update(table).where(table.c.id == "one").values(declaration=wrong))
        with pytest.raises(StoreUnavailable, match="cannot be decrypted"):
            upstreams.declaration(connection, "one", SEAL)
    assert upstreams.declaration(connection, "two", SEAL) == HOW


def test_nothing_of_a_declaration_lies_in_the_database_in_clear(tmp_path: Path) -> None:
    backend = SQLite(tmp_path / "test.db", busy_timeout=1)
    upgrade(backend)
    seal = seals.load_or_make(tmp_path / "seal.key")
    with backend.connect() as connection:
        backend.begin(connection, Durability.SYNCED)
        upstreams.put(connection, UPSTREAM, HOW, seal)
        connection.commit()
        assert upstreams.declaration(connection, "one", seals.load_or_make(tmp_path / "seal.key")) == HOW
    backend.dispose()
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or CANARY.encode() not in file.read_bytes(), file


@pytest.mark.parametrize("content", [b"", b"k" * 31, b"k" * 33])
def test_what_is_no_key_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "seal.key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(StoreUnavailable, match="is not a seal key"):
        seals.load_or_make(path)
    path.chmod(0o644)
    with pytest.raises(StoreUnavailable, match="is accessible to others"):
        seals.load_or_make(path)
