"""Letting the log out over the API: recorded before its first byte, so that it can be gone on with, or not at all."""

import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from anyio import to_thread

from mcpguard.codec.filters import write
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.decisions import Actor, ActorRevoked
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.domain.filters import Filter
from mcpguard.domain.people import Role
from mcpguard.guard.audit.exports import FOLDER, AuditExportRequest
from mcpguard.ledger.bundle.verify_bundle import verify
from mcpguard.ledger.checkpoints import SignedCheckpoint
from mcpguard.ledger.ledger import Append
from mcpguard.ledger.verify.report import KeySource, KeyTrust
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import chains
from mcpguard.store.rows.records import COLUMNS
from mcpguard.web.downloads import StreamedDownload
from tests import people
from tests import second_bundle_verifier as second
from tests.gate import Gate, gate
from tests.ledger.export.ocsf_validator import problems as problems_of
from tests.process import until
from tests.store.searched import add_records
from tests.web.conforming import conforms
from tests.web.desk import desk
from tests.web.rest import API, Json, program
from tests.web.reviewing import problem, said
from tests.world import World, world

pytestmark = pytest.mark.anyio
EXPORT = f"{API}/records/export"
EXPORTS = f"{API}/exports"
BY = Actor.with_full_rights("uid:1000 (operator)", "operator socket")


async def let_out(guard: World, by: dict[str, str], **query: Any) -> bytes:  # noqa: ANN401 - of the client
    answer = await guard.network.get(EXPORT, params={"format": "jsonl", **query}, headers=by)
    conforms(answer)
    assert answer.status_code == 200, answer.text
    return answer.content


def records(data: bytes) -> list[Json]:
    return [json.loads(line)["record"] for line in data.splitlines()]


def kinds(guard: World) -> list[str]:
    return [record["kind"] for record in guard.said()]


async def test_an_export_has_the_record_of_itself_which_a_checkpoint_covers(guard: World) -> None:
    by = await program(guard, Role.AUDITOR)
    await guard.call()
    exported = records(await let_out(guard, by))
    assert exported == guard.said()
    last = exported[-1]
    (token,) = guard.now.guard.people.tokens()
    assert {name: last[name] for name in last if name not in ("v", "chain", "seq", "at", "kind")} == {
        "form": "jsonl",
        "after": 0,
        "bundle": False,
        "bodies": False,
        "compressed": False,
        "by": f"token:{token.id} (ci)",
        "via": "api",
    }
    assert last["kind"] == "exported"
    signed = guard.now.ledger.chain.signed
    assert signed is not None
    assert (signed.statement.seq, signed.statement.why) == (last["seq"], "export")
    assert guard.verified().whole


async def test_where_nothing_can_be_recorded_nothing_is_let_out(guard: World) -> None:
    by = await program(guard)
    aside = guard.database.rename(guard.database.with_suffix(".aside"))
    for query in ({}, {"bundle": True}):
        answer = await guard.network.get(EXPORT, params={"format": "jsonl", **query}, headers=by)
        assert problem(answer, 503)["type"] == "urn:mcpguard:ledger-unavailable"
    answer = await guard.operator.post(EXPORTS, json={"forms": ["jsonl"]})
    assert problem(answer, 503)["type"] == "urn:mcpguard:ledger-unavailable"
    aside.rename(guard.database)
    await guard.recovered()
    assert "exported" not in kinds(guard)
    assert not (guard.now.settings.data_dir / FOLDER).exists()


async def test_whoever_has_some_of_it_goes_on_after_a_number_to_the_same_end(guard: World) -> None:
    by = await program(guard)
    for _ in range(3):
        await guard.call()
    answer = await guard.network.get(EXPORT, params={"format": "jsonl"}, headers=by)
    name = answer.headers["content-disposition"]
    upto = len(guard.said())
    assert name == f'attachment; filename="mcpguard-{guard.now.ledger.chain.id}-0-{upto}.jsonl"'
    lines = answer.content.splitlines(keepends=True)
    for after in (0, 1, 4, upto - 1, upto):
        assert await let_out(guard, by, after=after, upto=upto) == b"".join(lines[after:])
    assert await let_out(guard, by, after=upto + 1000) == b""
    told = [record for record in guard.said() if record["kind"] == "exported"]
    assert [record["upto"] for record in told[1:-1]] == [upto] * 5
    assert [record["after"] for record in told] == [0, 0, 1, 4, upto - 1, upto, upto + 1000]


async def test_it_is_compressed_chosen_and_in_another_form_as_was_asked(guard: World) -> None:
    by = await program(guard)
    await guard.call()
    middle = guard.said()[-2]["at"]
    await guard.clock.advance(1)
    packed = gzip.decompress(await let_out(guard, by, compressed=True, q=write(Filter(until=middle + 1))))
    assert records(packed) == [record for record in guard.said() if record["at"] <= middle]
    table = await let_out(guard, by, format="csv", q=write(Filter(since=middle + 1)))
    assert table.startswith(b"seq,time,")
    last = guard.said()[-1]
    assert (last["form"], last["selection"][:6], last["compressed"]) == ("csv", "since:", False)


async def test_a_head_lets_nothing_out_and_leaves_no_record(guard: World) -> None:
    by = await program(guard)
    before = len(guard.said())
    answer = await guard.network.head(EXPORT, params={"format": "csv", "compressed": True}, headers=by)
    assert (answer.status_code, answer.headers["content-type"], answer.content) == (200, "application/gzip", b"")
    assert len(guard.said()) == before


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"format": "xml"},
        {"format": "jsonl", "after": -1},
        {"format": "jsonl", "after": "x"},
        {"format": "jsonl", "upto": 2**60},
        {"format": "jsonl", "bundle": "perhaps"},
        {"format": "jsonl", "bundle": True, "upto": 3},
        {"format": "jsonl", "q": "x" * 1001},
    ],
)
async def test_what_cannot_be_let_out_is_refused_and_leaves_no_record(guard: World, query: Json) -> None:
    by = await program(guard)
    before = len(guard.said())
    problem(await guard.network.get(EXPORT, params=query, headers=by), 422)
    assert len(guard.said()) == before


async def test_what_is_no_filter_is_refused_and_leaves_no_record(guard: World) -> None:
    by = await program(guard)
    before = len(guard.said())
    for answer in (
        await guard.network.get(EXPORT, params={"format": "jsonl", "q": "sever:x"}, headers=by),
        await guard.operator.post(EXPORTS, json={"forms": ["jsonl"], "q": "sever:x"}),
    ):
        assert "is not a key" in problem(answer, 400)["detail"]
    assert len(guard.said()) == before


async def test_what_fits_a_filter_is_let_out_and_nothing_else(guard: World) -> None:
    by = await program(guard)
    for _ in range(3):
        await guard.call()
    fitting = [record for record in guard.said() if record.get("server") == "files" and record["kind"] == "closed"]
    assert len(fitting) == 3
    assert records(await let_out(guard, by, q="kind:closed server:fi*")) == fitting
    assert guard.said()[-1]["selection"] == "kind:closed server:fi*"


async def test_whoever_reads_the_store_themselves_is_recorded_first(guard: World) -> None:
    body = {"forms": ["jsonl", "csv", "jsonl"], "after": 1, "bundle": True, "bodies": True, "q": "since:1970-01-01"}
    answer = said(await guard.operator.post(EXPORTS, json=body), 201)
    last = guard.said()[-1]
    assert answer == {
        "record": {"chain": last["chain"], "seq": last["seq"]},
        "chain": last["chain"],
        "after": 1,
        "upto": last["seq"],
    }
    assert (last["form"], last["after"], last["bundle"], last["bodies"]) == ("jsonl csv", 1, True, True)
    assert (last["selection"], last["via"]) == ("since:1970-01-01T00:00:00Z", "operator socket")
    assert last["by"].startswith("uid:")
    wrongs: list[Json] = [
        {"forms": []},
        {"forms": ["xml"]},
        {"forms": ["csv"], "bodies": True},
        {"forms": ["csv"], "after": "1"},
    ]
    for wrong in wrongs:
        problem(await guard.operator.post(EXPORTS, json=wrong), 422)
    problem(await guard.operator.post(EXPORTS, json={"forms": ["csv"], "chain": "none"}), 404)
    assert guard.said()[-1] == last


async def test_another_chain_of_the_store_is_exported_whole_and_recorded_in_ours(guard: World) -> None:
    def begin(connection: Connection) -> None:
        chains.begin(connection, "old", 1)
        add_records(
            connection, [dict.fromkeys(COLUMNS) | {"chain": "old", "seq": 1000, "hash": bytes(32), "content": b"{}"}]
        )

    await guard.now.store.writer.submit(begin)
    answer = said(await guard.operator.post(EXPORTS, json={"forms": ["jsonl"], "chain": "old"}), 201)
    last = guard.said()[-1]
    assert (answer["chain"], answer["upto"], answer["record"]["chain"]) == ("old", 1000, last["chain"])
    assert last["of"] == "old"


# The bundle.


async def test_a_bundle_is_one_file_that_proves_itself_and_nothing_of_it_stays(guard: World, tmp_path: Path) -> None:
    by = await program(guard)
    await guard.call()
    for compressed in (False, True):
        path = tmp_path / "b.tar"
        path.write_bytes(await let_out(guard, by, bundle=True, compressed=compressed))
        key = guard.now.ledger.chain.public_key
        report = verify(path, (), KeyTrust(frozenset({key}), KeySource.GIVEN), lambda _: None)
        assert report.whole
        assert report.manifest is not None
        assert report.manifest.exported == (guard.now.ledger.chain.id, len(guard.said()))
        assert second.verify(path, key) is None
    folder = guard.now.settings.data_dir / FOLDER
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not [*folder.iterdir()]


async def test_what_a_crash_left_behind_the_next_start_removes(tmp_path: Path) -> None:
    left = tmp_path / "data" / FOLDER / "some" / "records.jsonl"
    async with world(tmp_path):
        left.parent.mkdir(parents=True, mode=0o700)
        left.write_bytes(b"{}")
    async with world(tmp_path):
        assert not left.parent.parent.exists()


async def test_a_folder_that_somebody_else_laid_there_is_not_written_to(guard: World, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o755)
    (guard.now.settings.data_dir / FOLDER).symlink_to(elsewhere)
    begun = await guard.now.guard.exporting.begin(AuditExportRequest(("jsonl",), bundle=True), BY)
    with pytest.raises(StoreUnavailable, match="exports is accessible to others"):
        await anext(guard.now.guard.exporting.bundle(begun, AuditExportRequest(("jsonl",), bundle=True)))
    assert not [*elsewhere.iterdir()]


# Whoever goes, or may not any more.


async def test_whoever_is_revoked_meanwhile_gets_no_more(guard: World) -> None:
    await people.token(guard, Role.AUDITOR)
    holds = True
    by = Actor("token:1 (ci)", "api", may_widen=True, holds=lambda: holds)
    exporting, wanted = guard.now.guard.exporting, AuditExportRequest(("csv",))
    stream = exporting.stream(await exporting.begin(wanted, by), wanted)
    assert (await anext(stream)).startswith(b"seq,")
    holds = False
    with pytest.raises(ActorRevoked):
        await anext(stream)
    with pytest.raises(ActorRevoked):
        await exporting.begin(wanted, by)
    assert kinds(guard).count("exported") == 1


async def test_a_source_is_let_go_of_when_nobody_takes_it_any_more() -> None:
    """The client goes while a part waits to be sent: nothing more is made, and what was begun is ended."""
    made, ended, waiting = list[int](), anyio.Event(), anyio.Event()

    async def parts() -> AsyncIterator[bytes]:
        try:
            for number in range(100):
                made.append(number)
                yield b"x"
        finally:
            ended.set()

    async def receive() -> Json:
        await waiting.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:  # noqa: ANN401 - of ASGI
        if message["type"] == "http.response.body":
            waiting.set()
            await anyio.sleep_forever()

    await StreamedDownload(parts(), "text/plain", "x")({"type": "http", "asgi": {"spec_version": "2.3"}}, receive, send)
    assert ended.is_set()
    assert made == [0]


@pytest.fixture
async def long(tmp_path: Path) -> AsyncIterator[Gate]:
    """A guard whose log is much longer than what lies between two ends of a connection."""
    async with gate(tmp_path) as guard:

        def grow(_: object, append: Append) -> None:
            for _number in range(2000):
                append(RecordKind.TURNED_AWAY, {"door": "x" * 2000})

        for _ in range(6):
            await guard.now.ledger.transact(grow)
        yield guard


async def first(parts: AsyncIterator[bytes]) -> None:
    await anext(parts)


async def test_a_client_that_goes_ends_the_making_of_its_bundle(long: Gate) -> None:
    exporting, wanted = long.now.guard.exporting, AuditExportRequest(("jsonl",), bundle=True, packed=True)
    folder = long.now.settings.data_dir / FOLDER
    bundle = exporting.bundle(await exporting.begin(wanted, BY), wanted)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(first, bundle)
        await to_thread.run_sync(until, lambda: [*folder.glob("*/*")], "it is being made")
        tasks.cancel_scope.cancel()
    assert not [*folder.iterdir()]


async def test_a_stream_that_breaks_does_not_look_whole_and_is_gone_on_with(long: Gate) -> None:
    """Over a real connection, by somebody who reads slowly, is revoked meanwhile, and comes back as somebody else."""
    ci, url = await desk(long, Role.AUDITOR), f"{long.where.url}{EXPORT}?format=jsonl"
    taken = b""
    async with long.http.stream("GET", url, headers=ci.headers) as answer:
        assert answer.status_code == 200
        upto = int(answer.headers["content-disposition"].partition(".jsonl")[0].rpartition("-")[2])
        (token,) = long.now.guard.people.tokens()
        await long.now.guard.operators.revoke(token.id, people.BY)
        with pytest.raises(httpx2.RemoteProtocolError):  # noqa: PT012 - where in it does not matter
            async for part in answer.aiter_raw():
                taken += part
    lines = taken[: taken.rindex(b"\n") + 1].splitlines(keepends=True)
    after = json.loads(lines[-1])["record"]["seq"]
    assert after == len(lines) < upto
    admin = await desk(long)
    rest = (
        await admin.send("GET", "/records/export", params={"format": "jsonl", "after": after, "upto": upto})
    ).content
    assert records(b"".join(lines) + rest) == long.said()[:upto]


async def test_calls_are_recorded_while_a_slow_client_takes_its_time(long: Gate) -> None:
    """Nothing is read ahead of it, and a small part at a time."""
    exporting, wanted = long.now.guard.exporting, AuditExportRequest(("jsonl",))
    stream = exporting.stream(await exporting.begin(wanted, BY), wanted)
    sizes = [len(await anext(stream)) for _ in range(4)]
    assert 0 < sizes[-1] < 2 * 1024 * 1024
    before = len(long.said())
    await long.now.ledger.note(RecordKind.TURNED_AWAY, {"door": "network"})
    assert len(long.said()) == before + 1
    parts = [part async for part in stream]
    assert b"network" not in b"".join(parts), "it ends with what was signed when it began"


async def test_it_is_let_out_as_events_of_the_open_schema(guard: World) -> None:
    by = await program(guard)
    await guard.call()
    written = await let_out(guard, by, format="ocsf")
    events = [json.loads(line) for line in written.splitlines()]
    assert [event["unmapped"]["record"] for event in events] == guard.said()[: len(events)]
    assert len(events) == len(guard.said())
    assert [found for event in events for found in problems_of(event)] == []
    assert {event["class_uid"] for event in events} >= {6002, 6003, 1008}


async def test_a_checkpoint_is_signed_for_whoever_may_audit_and_is_no_record(guard: World) -> None:
    auditor = await program(guard, Role.AUDITOR, "auditor")
    viewer = await program(guard, Role.VIEWER, "viewer")
    await guard.call()
    before = guard.said()
    problem(await guard.network.post(f"{API}/checkpoints", json={}, headers=viewer), 403)
    assert guard.now.guard.depth().signed_to < before[-1]["seq"]
    answer = await guard.network.post(f"{API}/checkpoints", json={}, headers=auditor)
    conforms(answer)
    signed = SignedCheckpoint.from_json(answer.content)
    assert (answer.status_code, signed.statement.seq) == (201, before[-1]["seq"])
    assert guard.said() == before
    assert guard.verified(signed.statement).chains[0].anchored_to == signed.statement.seq


async def test_where_nothing_can_be_recorded_nothing_is_signed(guard: World) -> None:
    by = await program(guard)
    await guard.call()
    aside = guard.database.rename(guard.database.with_suffix(".aside"))
    answer = await guard.network.post(f"{API}/checkpoints", json={}, headers=by)
    assert problem(answer, 503)["type"] == "urn:mcpguard:ledger-unavailable"
    aside.rename(guard.database)
    await guard.recovered()
