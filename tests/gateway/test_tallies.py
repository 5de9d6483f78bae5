"""Who was shown what, and what could not be understood: recorded once a minute, in bounded number, and never lost."""

import hashlib
from pathlib import Path

import anyio
import pytest

from mcpguard.guard.traffic.tallies import LONGEST_QUERY, MOST_DIFFERENT, MOST_OF_ONE, PERIOD_SECONDS
from tests.gateway.speaking import HOWS, ONLY, TOKEN, callers, flushed, guarded, scope, speaking
from tests.simulators.script import Script
from tests.simulators.words import Json
from tests.world import World

pytestmark = pytest.mark.anyio
SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def recorded(guard: World) -> list[Json]:
    return [each for each in guard.said() if each["kind"] in ("turned_away", "disclosed")]


async def test_what_is_alike_is_one_record(guard: World) -> None:
    tallies = guard.now.guard.tallies
    for _ in range(1000):
        tallies.count_refused(door="network", why="message")
        tallies.count_disclosure(caller="a", names=3, digest="d")
    await tallies.flush()
    await tallies.flush()
    one, other = recorded(guard)
    assert (one["kind"], one["door"], one["why"], one["count"]) == ("turned_away", "network", "message", 1000)
    assert (other["kind"], other["caller"], other["names"], other["count"]) == ("disclosed", "a", 3, 1000)


async def test_however_different_it_is_the_number_of_records_is_bounded(guard: World) -> None:
    tallies = guard.now.guard.tallies
    for number in range(3 * MOST_DIFFERENT):
        tallies.count_disclosure(caller=str(number), names=0, digest="d")
        tallies.count_refused(why=str(number))
    await tallies.flush()
    records = recorded(guard)
    assert len(records) == MOST_DIFFERENT + 2
    rest = {each["kind"]: each["count"] for each in records if "other" in each}
    assert rest == {"turned_away": 5 * MOST_DIFFERENT // 2, "disclosed": 5 * MOST_DIFFERENT // 2}


async def test_nothing_is_lost_while_nothing_can_be_recorded(guard: World) -> None:
    tallies = guard.now.guard.tallies
    await guard.now.store.writer.submit(lambda c: c.exec_driver_sql("PRAGMA query_only=ON").close())
    for minute in range(20):
        for number in range(MOST_DIFFERENT):
            tallies.count_refused(why=f"{minute} {number}")
        await tallies.flush()
        assert len(tallies._counts) <= MOST_DIFFERENT + 1, "and it does not grow meanwhile"
    await guard.recovered()
    await tallies.flush()
    assert sum(each["count"] for each in recorded(guard)) == 20 * MOST_DIFFERENT


async def test_what_happens_while_it_is_recorded_is_counted_too(guard: World) -> None:
    tallies = guard.now.guard.tallies
    tallies.count_refused(why="x")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tallies.flush)
        await anyio.lowlevel.checkpoint()
        tallies.count_refused(why="x")
        tallies.count_refused(why="y")
    await tallies.flush()
    counts: dict[str, int] = {}
    for each in recorded(guard):
        counts[each["why"]] = counts.get(each["why"], 0) + each["count"]
    assert counts == {"x": 2, "y": 1}


async def test_what_was_not_recorded_when_it_was_stopped_is_recorded_then(guard: World) -> None:
    """At least once: what was on its way may be recorded twice."""
    tallies = guard.now.guard.tallies
    for number in range(10):
        tallies.count_refused(why=str(number))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tallies.flush)
        await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    await tallies.flush()
    assert {each["why"] for each in recorded(guard)} == {str(number) for number in range(10)}
    assert len(recorded(guard)) <= 11


async def test_it_is_once_a_minute(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        client = guard.client()
        for _ in range(5):
            await client.request("tools/list")
        assert not [each for each in guard.said() if each["kind"] == "disclosed"]
        await guard.clock.advance(PERIOD_SECONDS)
        while not (found := [each for each in guard.said() if each["kind"] == "disclosed"]):
            await anyio.lowlevel.checkpoint()
        (record,) = found
        assert (record["method"], record["count"]) == ("tools/list", 5)


async def test_a_record_says_who_was_shown_what(tmp_path: Path) -> None:
    script = Script()
    narrow = callers(**{TOKEN: scope("web", "echo")})
    async with guarded(tmp_path, script, callers=narrow) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                await client.request("tools/list")
        await guard.client(ONLY + "web", token=TOKEN).request("tools/list")
        await guard.client().request("prompts/list")
        await guard.client().request("tools/list", {"limit": 2})
        records = await flushed(guard, "disclosed")
        shown = [(each["caller"], each["face"], each["method"], each["names"], each["count"]) for each in records]
        every = len(script.tools)
        assert sorted(shown) == [
            ("anonymous", "direct", "prompts/list", 1, 1),
            ("anonymous", "direct", "tools/list", 2, 1),
            ("anonymous", "direct", "tools/list", every, 4),
            (f"caller-{TOKEN}", "transparent", "tools/list", 1, 1),
        ]
        (only,) = [each for each in records if each["face"] == "transparent"]
        assert only["digest"] == hashlib.sha256(b"echo").hexdigest()


async def test_the_last_minute_is_recorded_when_the_guard_stops(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        assert (await guard.http.get(guard.where.url + "/mcp/nothing")).status_code == 404
        await guard.client().request("tools/list")
    kinds = [each["kind"] for each in guard.said()]
    assert kinds.index("stopped") > max(kinds.index("turned_away"), kinds.index("disclosed"))


async def test_garbage_writes_no_more_than_a_few_records(tmp_path: Path) -> None:
    """Whoever sends it cannot fill the ledger with it."""
    async with guarded(tmp_path, Script()) as guard:
        before = len(guard.said())
        client = guard.client()
        message: Json = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x"}}
        for number in range(300):
            await client.exchange(message, content=b"garbage %d" % number)
            await client.request("x" * number or "x", headers={"mcp-method": "y"})
            await guard.http.get(f"{guard.where.url}/mcp/{number}")
        assert len(await flushed(guard, "turned_away")) == 3
        assert len(guard.said()) == before + 3


async def test_what_was_looked_for_is_recorded_so_that_it_can_be_read(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        client = guard.client("/mcp")
        for query in ("add", "add", "a\x1b[2J\u202e", "x" * LONGEST_QUERY, "y" * (LONGEST_QUERY + 1), "\0" * 500):
            await client.call("retrieve_tools", {"query": query})
        records = [each for each in await flushed(guard, "disclosed") if each["method"] == "retrieve_tools"]
        counts: dict[str, int] = {}
        for each in records:  # before the index has followed, nothing is found, and that is another record
            counts[each["query"]] = counts.get(each["query"], 0) + each["count"]
        assert counts == {
            "add": 2,
            "a⟨U+001B⟩[2J⟨U+202E⟩": 1,
            "x" * LONGEST_QUERY: 1,
            "y" * (LONGEST_QUERY - 1) + "…": 1,
            ("⟨U+0000⟩" * LONGEST_QUERY)[: LONGEST_QUERY - 1] + "…": 1,
        }


@pytest.mark.parametrize("at", [0, LONGEST_QUERY - 10, 1500])
async def test_nothing_is_kept_of_a_query_with_a_secret_in_it(at: int, tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        query = ("planted " * 200)[:at] + f" {SECRET}"
        await guard.client("/mcp").call("retrieve_tools", {"query": query})
        (record,) = [each for each in await flushed(guard, "disclosed") if each["method"] == "retrieve_tools"]
        assert (record["secrets"], "query" in record) == ("github-pat", False)
        assert "planted" not in str(guard.said())
        assert SECRET[:10] not in str(guard.said())


async def test_who_searches_for_ever_is_counted_and_crowds_out_nobody(guard: World) -> None:
    tallies = guard.now.guard.tallies

    def search(caller: str, number: int) -> None:
        tallies.count_disclosure(
            caller=caller, names=0, digest=str(number), query=f"query {number}", method="retrieve_tools"
        )

    for minute in range(2):
        for number in range(3 * MOST_DIFFERENT):
            search("eager", number)
        search("eager", 0)
        search("modest", 7)
        await tallies.flush()
        records = recorded(guard)[minute * (MOST_OF_ONE + 2) :]
        assert len(records) == MOST_OF_ONE + 2
        eager = [each for each in records if each["caller"] == "eager"]
        (rest,) = [each for each in eager if "other" in each]
        assert (rest["count"], "query" in rest) == (3 * MOST_DIFFERENT - MOST_OF_ONE, False)
        assert sum(each["count"] for each in eager) == 3 * MOST_DIFFERENT + 1
        (modest,) = [each for each in records if each["caller"] == "modest"]
        assert (modest["query"], modest["count"]) == ("query 7", 1)
