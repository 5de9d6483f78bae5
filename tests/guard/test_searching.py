"""The index follows the catalog, prepares nothing twice, and survives what it cannot read."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpguard.catalog.shelf import make_shelf
from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.servers.listings import Listing
from mcpguard.guard.search.tool_search import SearchScope, ToolSearch
from mcpguard.guard.servers.publisher import Publisher
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio
ALL = Scope(("*",), ("*",), frozenset(Effect))


class Broken(dict[str, Any]):
    """A definition whose texts the search cannot read; whose it is, and what it says beside them, can be."""

    def get(self, key: str, default: object = None) -> Any:  # noqa: ANN401 - JSON, or never comes back
        if key not in ("name", "_meta"):
            raise RuntimeError("planted")
        return super().get(key, default)


@asynccontextmanager
async def following(publisher: Publisher) -> AsyncIterator[ToolSearch]:
    searching = ToolSearch(publisher)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(searching.run)
        await checkpoint()
        yield searching
        tasks.cancel_scope.cancel()


def publish(publisher: Publisher, server: str, *tools: dict[str, Any], effect: Effect = Effect.READ) -> None:
    publisher.publish(publisher.catalog.with_shelf(make_shelf(server, Listing(tools=tools), lambda *_: effect)))


def found(searching: ToolSearch, query: str, *servers: str, effects: frozenset[Effect] = ALL.effects) -> list[str]:
    wish = SearchScope(ALL, effects, frozenset(servers) if servers else None)
    hits, _ = searching.search(query, 10, wish)
    return [f"{hit.pinned.capability.server}:{hit.pinned.capability.name}" for hit in hits]


async def until(condition: Callable[[], object]) -> None:
    with anyio.fail_after(PATIENCE):
        while not condition():
            await checkpoint()


async def test_a_server_that_cannot_be_read_is_not_found_and_the_others_are() -> None:
    publisher = Publisher()
    async with following(publisher) as searching:
        publish(publisher, "bad", Broken(name="weather", description="x"))
        publish(publisher, "good", {"name": "weather"})
        await until(lambda: found(searching, "weather"))
        assert found(searching, "weather") == ["good:weather"]
        publish(publisher, "bad", {"name": "weather"})
        await until(lambda: len(found(searching, "weather")) == 2)


async def test_what_is_wanted_is_chosen_by_server_and_by_the_effect_that_it_has_now() -> None:
    publisher = Publisher()
    async with following(publisher) as searching:
        publish(publisher, "one", {"name": "weather"})
        publish(publisher, "two", {"name": "weather"})
        await until(lambda: len(found(searching, "weather")) == 2)
        assert found(searching, "weather", "two") == ["two:weather"]
        publish(publisher, "two", {"name": "weather"}, effect=Effect.WRITE)
        assert found(searching, "weather", effects=frozenset({Effect.READ})) == ["one:weather"]
        publisher.publish(publisher.catalog.without_server("one"))
        assert found(searching, "weather") == ["two:weather"], "from that moment on"
