"""A tool is found by words of earlier searches after which it was called."""

from pathlib import Path

import pytest

from mcpguard.guard.search import recent_searches
from mcpguard.guard.search.learned_summary import LearnedSummary, LearnedWord
from mcpguard.guard.search.search_learning import AGAIN_SECONDS
from mcpguard.guard.traffic.tallies import LONGEST_QUERY
from mcpguard.ledger.checkpoints import CheckpointCause
from tests.gateway.granting import granted, revoked
from tests.gateway.guard_face import agent
from tests.gateway.learning import SAID, asked, indexed, learned, learning, names, office, recorded, search, taught, use
from tests.gateway.speaking import OTHER_TOKEN, TOKEN, callers, changed_and_approved, guarded, scope
from tests.review import DECISION

pytestmark = pytest.mark.anyio
BILLS = ["office:list_bills"]
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
    async with guarded(tmp_path, office(), "office") as guard, agent(guard) as client:
        await taught(guard, client)
    script = office()
    async with guarded(tmp_path, script, "office2") as guard:
        await learned(guard, 2)
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
    async with guarded(tmp_path, office(), "office") as guard:
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
    async with guarded(tmp_path, office(), "other") as guard:
        await guard.clock.advance(1)
        assert len(learning(guard).uses) == 0


async def test_without_the_setting_nothing_is_learned(tmp_path: Path) -> None:
    async with guarded(tmp_path, office(), "office", search__learn=False) as guard, agent(guard) as client:
        for query in SAID:
            await use(client, query)
        assert not learning(guard).enabled
        assert names(guard, "kestrel") == []
    assert not recorded(guard)
