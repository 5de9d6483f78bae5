"""A tool is found by words of earlier searches after which it was called."""

from functools import partial
from pathlib import Path

import pytest

from mcpguard.app import places
from mcpguard.domain.decisions import Actor, ActorRevoked, Decision
from mcpguard.domain.people import Role
from mcpguard.guard.search import recent_searches
from mcpguard.guard.search.learned_summary import LearnedSummary, LearnedWord
from mcpguard.guard.search.search_learning import AGAIN_SECONDS
from mcpguard.guard.traffic.tallies import LONGEST_QUERY
from mcpguard.ledger.checkpoints import CheckpointCause
from tests import people
from tests.gate import gate
from tests.gateway.asking import behind
from tests.gateway.granting import granted, revoked
from tests.gateway.guard_face import agent
from tests.gateway.learning import (
    READS,
    SAID,
    asked,
    indexed,
    learned,
    learning,
    names,
    office,
    recorded,
    remembered,
    search,
    taught,
    use,
)
from tests.gateway.program_guard import run, running
from tests.gateway.speaking import OTHER_TOKEN, TOKEN, callers, changed_and_approved, guarded, played, scope
from tests.postgres import fresh_database
from tests.review import DECISION
from tests.simulators.asked import Asked
from tests.simulators.words import Json
from tests.simulators.words import text as said
from tests.world import verified

pytestmark = pytest.mark.anyio
BILLS = ["office:list_bills"]
SAMPLING: Json = {
    "method": "sampling/createMessage",
    "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "What did kestrel say of bills?"}}],
        "maxTokens": 10,
    },
}
TWO = callers(**{TOKEN: scope(), OTHER_TOKEN: scope()})


async def test_a_tool_is_found_by_what_was_said_before_it_was_called(tmp_path: Path) -> None:
    async with guarded(tmp_path, office(), "office", callers=TWO) as guard:
        async with agent(guard, token=TOKEN) as client:
            assert names(guard, "kestrel") == []
            await taught(guard, client)
            assert names(guard, "the kestrel") == BILLS
            assert names(guard, "osprey") == [], "it was said only once"
        async with agent(guard, token=OTHER_TOKEN) as other:
            assert await asked(other, "kestrel") == BILLS, "another who sees the same is helped too"


async def test_each_use_is_a_record_that_names_the_call(tmp_path: Path) -> None:
    async with guarded(tmp_path, office(), "office", callers=TWO) as guard, agent(guard, token=TOKEN) as client:
        await taught(guard, client)
        first, second = recorded(guard)
        (call, _) = guard.entries()
        assert (first["entry"], first["fingerprint"]) == (call["entry"], call["fingerprint"])
        assert (first["caller"], first["server"], first["name"]) == (f"caller-{TOKEN}", "office", "list_bills")
        assert [first["query"], second["query"]] == [f"customers {each}" for each in SAID]
        shown = await guard.now.guard.auditing.call(call["entry"])
        assert [each["content"]["kind"] for each in shown] == ["opened", "closed", "search_used"]


async def test_the_same_query_is_recorded_once_a_day(tmp_path: Path) -> None:
    async with guarded(tmp_path, office(), "office") as guard, agent(guard) as client:
        await taught(guard, client)
        for query in (*SAID, SAID[0]):
            await use(client, query)
        await use(client, "another")
        await learned(guard, 3)
        assert len(recorded(guard)) == 3
        guard.clock.jump(86_400)
        for query in (SAID[0], SAID[0], "something else"):
            await use(client, query)
        await learned(guard, 4)
        assert len(recorded(guard)) == 5


async def test_a_long_query_is_cut_and_one_with_a_secret_is_not_kept(tmp_path: Path) -> None:
    async with guarded(tmp_path, office(), "office") as guard, agent(guard) as client:
        await use(client, "token ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8")
        await use(client, "word " * LONGEST_QUERY)
        await learned(guard, 1)
        (record,) = recorded(guard)
        assert len(record["query"]) == LONGEST_QUERY


async def test_a_search_is_forgotten_after_a_while_and_only_a_few_are_remembered(tmp_path: Path) -> None:
    async with guarded(tmp_path, office(), "office") as guard, agent(guard) as client:
        await search(client, "early")
        guard.clock.jump(recent_searches.SECONDS + 1)
        await client.call("call_tool_read", {"name": "office:list_bills", "arguments": {}})
        await search(client, "first")
        for number in range(recent_searches.MOST_OF_CALLER):
            await asked(client, f"orders {number}")
        await client.call("call_tool_read", {"name": "office:write_note", "arguments": {}})
        await use(client, "at last")
        await learned(guard, 1)
        assert [record["query"] for record in recorded(guard)] == ["customers at last"]


async def test_what_is_learned_outlasts_a_restart(tmp_path: Path) -> None:
    async with played(tmp_path, office(), "office") as server, played(tmp_path, office(), "office2") as other:
        async with gate(tmp_path, server) as guard, agent(guard) as client:
            await taught(guard, client)
        async with gate(tmp_path, server) as guard:
            await remembered(guard, 2)
            assert names(guard, "kestrel") == BILLS
        async with gate(tmp_path, other) as guard:
            await remembered(guard, 2)
            assert names(guard, "kestrel") == [], "the same tool of another server is another tool"


async def test_what_is_learned_is_read_again_so_that_what_was_pruned_is_forgotten(tmp_path: Path) -> None:
    async with guarded(tmp_path, office(), "office", retention__records=1) as guard, agent(guard) as client:
        await taught(guard, client)
        await use(client, "one more, after which the others are pruned")
        await learned(guard, 3)
        await guard.now.ledger.checkpoint(CheckpointCause.TIME)
        assert await guard.now.guard.retention.sweep()
        assert len(recorded(guard)) == 1
        assert names(guard, "kestrel") == BILLS
        guard.clock.tick(AGAIN_SECONDS)
        await learned(guard, 1)
        assert names(guard, "kestrel") == []


async def test_a_changed_definition_forgets(tmp_path: Path) -> None:
    script = office()
    async with guarded(tmp_path, script, "office") as guard, agent(guard) as client:
        await taught(guard, client)
        before = script.tools[0]
        script.tools[0] = before | {"description": "Bills, and how to settle them, for customers."}
        await changed_and_approved(guard, script, "office")
        await indexed(guard, "customers", "office:list_bills")
        assert names(guard, "kestrel") == []
        script.tools[0] = before
        await changed_and_approved(guard, script, "office")
        await indexed(guard, "customers", "office:list_bills")
        assert names(guard, "kestrel") == BILLS, "and the old one is known again"


async def test_a_revoked_caller_is_forgotten_at_once(tmp_path: Path) -> None:
    async with guarded(tmp_path, office(), "office") as guard:
        caller = await granted(guard, "agent")
        async with agent(guard, token=caller.token) as client:
            await taught(guard, client)
            assert names(guard, "kestrel") == BILLS
            await revoked(guard, caller)
            assert names(guard, "kestrel") == []
            assert len(learning(guard).uses) == 0


async def test_a_blocked_tool_is_not_found_by_what_was_learned(tmp_path: Path) -> None:
    async with guarded(tmp_path, office(), "office") as guard, agent(guard) as client:
        await taught(guard, client)
        hidden = scope("office", "list_orders,write_note")
        assert names(guard, "kestrel", hidden) == []
        assert names(guard, "kestrel") == BILLS


async def test_what_is_learned_is_shown_and_forgotten_for_good(tmp_path: Path) -> None:
    async with played(tmp_path, office(), "office") as server:
        async with gate(tmp_path, server) as guard:
            async with agent(guard) as client:
                await taught(guard, client)
                await taught(guard, client, "office:write_note")
            shown = guard.now.guard.searching.learned_words("office", "list_bills")
            assert shown == LearnedSummary((LearnedWord("customers", 1), LearnedWord("kestrel", 1)), 1)
            await learning(guard).forget(("office", "list_bills"), DECISION)
            assert names(guard, "kestrel") == ["office:write_note"]
            assert guard.now.guard.searching.learned_words("office", "list_bills").words == ()
            guard.clock.tick(AGAIN_SECONDS)
            await learned(guard, 2)
            assert names(guard, "kestrel") == ["office:write_note"], "also when all is read again"
            await learning(guard).forget(None, DECISION)
            assert names(guard, "kestrel") == []
            records = recorded(guard, "search_forgotten")
            assert [(one["what"], one["by"], one["why"]) for one in records] == [
                (what, DECISION.by.id, DECISION.why) for what in ("tool", "everything")
            ]
        async with gate(tmp_path, server) as guard, agent(guard) as client:
            await taught(guard, client)
            assert len(learning(guard).uses) == 2, "only what came later"
            assert names(guard, "kestrel") == BILLS


async def test_without_the_setting_nothing_is_learned(tmp_path: Path) -> None:
    async with guarded(tmp_path, office(), "office", search__learn=False) as guard, agent(guard) as client:
        for query in SAID:
            await use(client, query)
        assert not learning(guard).enabled
        assert names(guard, "kestrel") == []
    assert not recorded(guard)


@pytest.mark.parametrize("how", ["http legacy", "http modern"])
async def test_what_a_server_says_and_asks_during_a_call_teaches_nothing(how: str, tmp_path: Path) -> None:
    async def talkative(request: Asked) -> Json:
        await request.progress(1, 2, "kestrel bills of kestrel customers")
        heard = await request.need({"sampling": SAMPLING}, "asked once")
        await request.progress(2, 2, "kestrel figures")
        return said(heard["sampling"]["content"]["text"])

    script = office()
    script.tool("list_bills", talkative, description="Bills that customers have to settle.", annotations=READS)
    async with behind(tmp_path, {"hl": script}) as guard, agent(guard, how) as client:
        client.on["sampling/createMessage"] = lambda _: (
            {"role": "assistant", "model": "m"} | {"content": {"type": "text", "text": "kestrel, as customers say"}}
        )
        for query in ("osprey", "what osprey said"):
            assert "hl:list_bills" in await search(client, query)
            call = {"name": "call_tool_read", "arguments": {"name": "hl:list_bills", "arguments": {}}}
            reply = await client.fulfil("tools/call", call | {"_meta": {"progressToken": 1}})
            assert reply.text == "kestrel, as customers say"
        await learned(guard, 2)
        assert [record["query"] for record in recorded(guard)] == ["customers osprey", "customers what osprey said"]
        assert len([record for record in guard.said() if record["kind"] == "asked"]) == 2
        assert names(guard, "osprey") == ["hl:list_bills"]
        assert names(guard, "kestrel") == []


async def test_calls_of_a_program_teach_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, office()) as guard, agent(guard, token=TOKEN) as client:
        for query in SAID:
            assert "web:list_bills" in await search(client, query)
            assert (await run(client, 'call_tool("web", "list_bills")'))["answered"] == 1
        await use(client, "osprey", "web:list_bills")
        await learned(guard, 1)
        assert len(guard.entries()) == 3
        assert [record["query"] for record in recorded(guard)] == ["customers osprey"]
        assert names(guard, "kestrel") == []


async def test_somebody_who_lost_their_rights_before_it_was_done_forgets_nothing(tmp_path: Path) -> None:
    async with guarded(tmp_path, office(), "office") as guard, agent(guard) as client:
        await taught(guard, client)
        await people.user(guard, "ada", Role.APPROVER)
        session = guard.now.guard.people.by_session(await people.cookie(guard, "ada"))
        assert session is not None
        by = Actor("ada", "console", may_widen=True, holds=partial(guard.now.guard.people.holds, session))
        await guard.now.guard.users.disable("ada", people.BY)
        for tool in (("office", "list_bills"), None):
            with pytest.raises(ActorRevoked):
                await learning(guard).forget(tool, Decision(by, "the last thing that I do here"))
        assert (names(guard, "kestrel"), recorded(guard, "search_forgotten")) == (BILLS, []), "and nothing happened"


async def test_on_postgresql_too(tmp_path: Path, postgres_server: str) -> None:
    url = fresh_database(postgres_server)
    async with played(tmp_path, office(), "office") as server:
        async with gate(tmp_path, server, store__url=url) as guard, agent(guard) as client:
            await taught(guard, client)
            await taught(guard, client, "office:write_note")
        async with gate(tmp_path, server, store__url=url) as guard:
            await remembered(guard, 4)
            assert {*names(guard, "kestrel")} == {*BILLS, "office:write_note"}
            await learning(guard).forget(("office", "write_note"), DECISION)
            assert names(guard, "kestrel") == BILLS
        async with gate(tmp_path, server, store__url=url) as guard:
            await remembered(guard, 2)
            assert names(guard, "kestrel") == BILLS
            assert guard.now.guard.searching.learned_words("office", "list_bills").callers == 1
            assert verified(places.database(guard.now.settings)).whole
