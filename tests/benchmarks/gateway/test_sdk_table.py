"""The main table: who is in it, and that calls through each of them are answered."""

import math
from pathlib import Path

import anyio
import pytest

from tests.benchmarks.gateway import ours, sdk_table
from tests.benchmarks.gateway.contender import FAST, SDK, Contender, Launch, Program, Way, is_upstream
from tests.benchmarks.gateway.running import running
from tests.benchmarks.gateway.speech import Era

PROXY = Contender("mcp-proxy 1.0", Way.HTTP, Way.STDIO, Era.HANDSHAKE, lambda _: Launch())
BOTH = tuple(Era)


def test_everyone_is_in_the_table_with_the_eras_that_they_speak() -> None:
    found = sdk_table.entrants([PROXY])
    rows = {
        (entrant.contender.name, entrant.contender.front, entrant.contender.upstream, era)
        for entrant in found
        for era in entrant.eras
    }
    direct = {("direct", way, way, era) for way in Way for era in Era}
    guard = {(ours.SERVED, Way.HTTP, way, era) for way in Way for era in Era}
    assert rows == direct | guard | {(PROXY.name, Way.HTTP, Way.STDIO, Era.HANDSHAKE)}
    assert len(rows) == sum(len(entrant.eras) for entrant in found)


def test_every_gateway_has_a_row_without_one_to_be_compared_with() -> None:
    found = [(entrant.contender, era) for entrant in sdk_table.entrants([PROXY]) for era in entrant.eras]
    direct = {(contender.upstream, era) for contender, era in found if not contender.is_gateway}
    assert {(contender.upstream, era) for contender, era in found} == direct


@pytest.mark.parametrize("program", [FAST, SDK], ids=lambda program: program.file.stem)
@pytest.mark.parametrize("way", Way)
def test_a_server_is_told_from_a_gateway_that_has_its_command(program: Program, way: Way) -> None:
    command = program.command(way, "2")
    assert is_upstream(command)
    assert not is_upstream(("/bin/python", "/bin/mcp-proxy", "--port", "1", "--", *command))


@pytest.mark.parametrize("program", [FAST, SDK], ids=lambda program: program.file.stem)
@pytest.mark.parametrize("era", Era)
@pytest.mark.parametrize("way", Way)
async def test_both_servers_answer_in_both_eras(way: Way, era: Era, program: Program, tmp_path: Path) -> None:
    direct = Contender("direct", way, way, era, ours.directly, is_gateway=False)
    async with running(direct, tmp_path, 1, 3, program) as now:
        assert now.upwards == era
        async with now.clients(2) as clients:
            for client in clients:
                assert (await client.listed()).names == ("echo", "era", "look_up_002")
                assert await client.call("echo", "what was said") == "what was said"
        assert (now.gateway(), len(now.upstreams())) == ([], 1)


async def test_every_call_through_the_guard_is_answered_and_recorded(tmp_path: Path) -> None:
    said: list[str] = []
    found = await sdk_table.measure(tmp_path, sdk_table.entrants([]), 100, said.append, end=0.0)
    assert said == []
    assert [*found] == [*sdk_table.CALLERS]
    for rows in found.values():
        assert len(rows) == 2 * len(Way) * len(Era)
        assert [row.of for row in rows if row.figures["failed"]] == []
        assert [row.of for row in rows if math.isnan(row.figures["p50_to_direct"])] == []
        of_guard = [row.figures["cpu_ms"] for row in rows if row.of["gateway"] == ours.SERVED]
        assert len(of_guard) == len(Way) * len(Era)
        assert all(of_guard), "its processes are seen"
    assert [*await anyio.to_thread.run_sync(lambda: [*tmp_path.iterdir()])] == []
