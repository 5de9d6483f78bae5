"""The audit log over the API: what fits a filter, from either end, one record with what it rests on, all of a call."""

import base64
import json
from typing import Any

import pytest

from mcpguard.codec.cursors import encode
from mcpguard.domain.calls.bodies import KeptBody
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.calls.verdicts import Deny
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.people import Role
from mcpguard.domain.reasons import Reason
from mcpguard.ledger.checkpoints import Checkpoint, CheckpointCause
from mcpguard.store.engine.backend import Connection
from tests.web.rest import API, Json, program
from tests.web.reviewing import problem, said
from tests.world import World

NOTHING: Json = {"records": [], "next": None, "more": False, "notices": []}
pytestmark = pytest.mark.anyio


async def asked(guard: World, by: dict[str, str], path: str = "/records", **query: Any) -> Json:  # noqa: ANN401 - of the client
    found: Json = said(await guard.network.get(API + path, params=query, headers=by))
    return found


async def test_what_fits_is_found_from_either_end(guard: World) -> None:
    await guard.call()
    await guard.call(guard.opening(Deny(Reason.SCOPE_EFFECT), Effect.WRITE))
    await guard.call()
    by = await program(guard, Role.AUDITOR)
    fitting = [record for record in guard.said() if record.get("server") == "files"]
    for order in ("oldest", "newest"):
        found, after, rounds = list[Json](), None, 0
        while rounds < 10:
            query = {"q": "server:files", "order": order, "limit": 2} | ({} if after is None else {"after": after})
            page = said(await guard.network.get(f"{API}/records", params=query, headers=by))
            found += [record["content"] for record in page["records"]]
            after, rounds = page["next"], rounds + 1
            if not page["more"]:
                break
        assert found == (fitting if order == "oldest" else fitting[::-1])
        assert (after is None) == (order == "newest"), "what comes later comes after the oldest first"
    assert (await asked(guard, by, q="verdict:deny reason:scope:*"))["records"][0]["content"] == fitting[2]
    assert (await asked(guard, by, q="server:nothing", order="newest")) == NOTHING


async def test_what_is_no_filter_is_a_problem_that_says_what_would_be(guard: World) -> None:
    by = await program(guard, Role.AUDITOR)
    wrong = {"since:now": "write a time as", 'server:""': "needs a value", "since:1h since:2h": "only once"}
    for text, sentence in wrong.items():
        answer = await guard.network.get(f"{API}/records", params={"q": text}, headers=by)
        assert sentence in problem(answer, 400)["detail"]
    problem(await guard.network.get(f"{API}/records", params={"q": "call:" + "x" * 1000}, headers=by), 422)
    problem(await guard.network.get(f"{API}/records", params={"order": "best"}, headers=by), 422)


async def test_a_text_is_searched_for_and_what_was_read_as_text_is_told(guard: World) -> None:
    by = await program(guard, Role.AUDITOR)
    await guard.call()
    opened = guard.said()[-2]
    found = await asked(guard, by, q="LOOK server:files")
    assert [record["content"] for record in found["records"]] == [opened]
    assert found["notices"] == []
    found = await asked(guard, by, q="sever:files")
    assert found["records"] == []
    assert found["notices"] == ["sever: is not a key; did you mean server:?"]


async def test_a_record_comes_with_what_it_rests_on(guard: World) -> None:
    await guard.call(guard.opening(arguments=KeptBody(b'{"path": "a"}')))
    by = await program(guard, Role.AUDITOR)
    first, second, opened = [await asked(guard, by, f"/records/{seq}") for seq in (1, 2, 3)]
    assert first["previous"] is None
    assert second["previous"] == first["hash"]
    assert opened["body"] == {"pruned": False, "text": '{"path": "a"}', "base64": None}
    signed = Checkpoint.verify(
        json.dumps(first["checkpoint"]["content"], separators=(",", ":"), sort_keys=True).encode(),
        base64.b64decode(first["checkpoint"]["signature"]),
    )
    assert (signed.seq, signed.hash, signed.why) == (1, first["hash"], CheckpointCause.START)
    assert opened["checkpoint"] is None
    for path in ("/records/99999", "/calls/nothing"):
        problem(await guard.network.get(API + path, headers=by), 404)
    for path in ("/records/0", "/records/-1", "/records/x", f"/records/{2**31}", "/calls/" + "x" * 65):
        problem(await guard.network.get(API + path, headers=by), 422)


async def test_a_call_is_all_that_is_recorded_of_it(guard: World) -> None:
    await guard.call(guard.opening(arguments=KeptBody(b"sent")), Outcome.answer(KeptBody(b"\xff")))
    entry = guard.said()[-1]["entry"]
    by = await program(guard, Role.AUDITOR)
    opened, closed = (await asked(guard, by, f"/calls/{entry}"))["records"]
    assert (opened["content"]["kind"], opened["body"]["text"]) == ("opened", "sent")
    assert (closed["content"]["kind"], closed["body"]["base64"]) == ("closed", "/w==")

    def prune(connection: Connection) -> None:
        connection.exec_driver_sql("UPDATE bodies SET salt = NULL, content = NULL")

    await guard.now.store.writer.submit(prune)
    opened, closed = (await asked(guard, by, f"/calls/{entry}"))["records"]
    assert opened["body"] == closed["body"] == {"pruned": True, "text": None, "base64": None}


async def test_a_cursor_beyond_the_log_finds_nothing_and_stays(guard: World) -> None:
    by = await program(guard)
    page = said(await guard.network.get(f"{API}/records", params={"after": encode(99_999)}, headers=by))
    assert (page["records"], page["next"], page["more"]) == ([], encode(99_999), False)
