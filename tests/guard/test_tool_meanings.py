"""Where the setting is on, tools are also ranked by meaning: soon after they came, and each computed once."""

import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread
from anyio.lowlevel import checkpoint

from mcpguard.catalog.search.semantic import model_weights
from mcpguard.catalog.search.semantic.model_weights import Array
from mcpguard.catalog.search.semantic.sentence_model import SentenceModel
from mcpguard.catalog.shelf import make_shelf
from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.servers.listings import Listing
from mcpguard.guard.search.hit_explanation import explain_hits
from mcpguard.guard.search.search_model import HOW
from mcpguard.guard.search.tool_meanings import AT_ONCE, ToolMeanings
from mcpguard.guard.search.tool_search import SearchScope, ToolSearch
from mcpguard.guard.servers.publisher import Publisher
from mcpguard.settings.problems import SettingsError
from tests.catalog.search.semantic.meanings import model
from tests.gateway.speaking import guarded
from tests.patience import PATIENCE
from tests.simulators.script import Script
from tests.world import world

pytestmark = pytest.mark.anyio
ALL = Scope(("*",), ("*",), frozenset(Effect))


class Attentive(SentenceModel):
    """The model, which keeps what it is asked for, and by which thread; and waits where it is told to."""

    def __init__(self) -> None:
        self.__dict__ |= model().__dict__
        self.asked: list[str] = []
        self.threads: set[int] = set()
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def vector(self, text: str) -> Array:
        self.asked.append(text)
        self.threads.add(threading.get_ident())
        assert self.may_go_on.wait(PATIENCE)
        return super().vector(text)


@asynccontextmanager
async def following(publisher: Publisher, asked: Attentive) -> AsyncIterator[ToolSearch]:
    searching = ToolSearch(publisher, ToolMeanings(asked))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(searching.run)
        await checkpoint()
        yield searching
        asked.may_go_on.set()
        tasks.cancel_scope.cancel()


def publish(publisher: Publisher, server: str, *tools: dict[str, Any]) -> None:
    shelf = make_shelf(server, Listing(tools=tools), lambda *_: Effect.READ)
    publisher.publish(publisher.catalog.with_shelf(shelf))


def named(searching: ToolSearch, query: str, meaning: Array | None = None) -> list[str]:
    hits, _ = searching.search(query, 10, SearchScope(ALL, ALL.effects), meaning)
    return [hit.pinned.capability.name for hit in hits]


def ready(searching: ToolSearch) -> Mapping[str, Array]:
    """The vectors that are kept, by their texts."""
    assert searching._meanings is not None
    return searching._meanings._vectors._ready


async def until(condition: Callable[[], object]) -> None:
    with anyio.fail_after(PATIENCE):
        while not condition():
            await checkpoint()


TIDY = {"name": "tidy", "description": "Remove the blanks at the ends of lines of a file."}
WIPE = {"name": "wipe", "description": "Delete a file from the disk for good."}
QUERY = "erase a file for ever"


async def test_tools_are_ranked_by_meaning_as_soon_as_it_is_known_and_by_words_until_then() -> None:
    publisher, asked = Publisher(), Attentive()
    meaning = await to_thread.run_sync(asked.vector, QUERY)
    asked.may_go_on.clear()
    async with following(publisher, asked) as searching:
        publish(publisher, "desk", TIDY, WIPE)
        await until(lambda: named(searching, QUERY))
        by_words = named(searching, QUERY)
        assert named(searching, QUERY, meaning) == by_words
        asked.may_go_on.set()
        await until(lambda: named(searching, QUERY, meaning) == ["wipe", "tidy"])
        assert named(searching, QUERY) == by_words
    assert threading.get_ident() not in asked.threads, "the event loop goes on"


async def test_an_explanation_says_what_the_ranking_by_meaning_adds_or_takes() -> None:
    publisher, asked = Publisher(), Attentive()
    meaning = await to_thread.run_sync(asked.vector, QUERY)
    async with following(publisher, asked) as searching:
        publish(publisher, "desk", TIDY, WIPE)
        await until(lambda: len(ready(searching)) == 2 and named(searching, QUERY))
        explained = searching.explain(QUERY, 10, SearchScope(ALL, ALL.effects), meaning)
        assert [each.hit.pinned.capability.name for each in explained.hits] == named(searching, QUERY, meaning)
        assert len(explained.hits) == 2
        for each in explained.hits:
            assert each.why.points == pytest.approx(each.hit.score)
        said_of_best, said_of_other = explain_hits(explained.hits)
        best, other = (each.why.gained for each in explained.hits)
        assert best == pytest.approx(0), "by words it had been the best already"
        assert "meaning" not in said_of_best["sentence"]
        assert other != 0
        assert f"ranked by meaning {said_of_other['by_meaning']:+.2f}" in said_of_other["sentence"]
        by_words = searching.explain(QUERY, 10, SearchScope(ALL, ALL.effects))
        assert [each.why.gained for each in by_words.hits] == [0, 0]


async def test_a_changed_tool_alone_is_computed_anew_and_one_that_went_is_forgotten() -> None:
    publisher, asked = Publisher(), Attentive()
    async with following(publisher, asked) as searching:
        publish(publisher, "desk", TIDY, WIPE)
        await until(lambda: len(asked.asked) == 2)
        publish(publisher, "desk", TIDY, {**WIPE, "description": "Shred a file."})
        await until(lambda: "desk wipe: Shred a file." in ready(searching))
        assert asked.asked[2:] == ["desk wipe: Shred a file."]
        publish(publisher, "desk", TIDY)
        await until(lambda: [*ready(searching)] == ["desk tidy: Remove the blanks at the ends of lines of a file."])
        publish(publisher, "desk", TIDY, {**WIPE, "description": "Shred a file."})
        await until(lambda: "desk wipe: Shred a file." in ready(searching))
        assert asked.asked[3:] == ["desk wipe: Shred a file."]


async def test_a_tool_is_found_while_very_many_others_are_computed_and_is_computed_soon() -> None:
    publisher, asked = Publisher(), Attentive()
    many = [{"name": f"zorb{number}", "description": f"Number {number}."} for number in range(10 * AT_ONCE)]
    asked.may_go_on.clear()
    async with following(publisher, asked) as searching:
        publish(publisher, "crowd", *many)
        await until(lambda: asked.asked)
        publish(publisher, "atelier", {"name": "paint", "description": "Paint a wall."})
        asked.may_go_on.set()
        await until(lambda: "atelier paint: Paint a wall." in asked.asked)
        assert named(searching, "paint") == ["paint"]
        assert asked.asked.index("atelier paint: Paint a wall.") <= 3 * AT_ONCE


async def test_an_agent_finds_by_meaning_what_it_may_find(tmp_path: Path) -> None:
    before, script = dict(os.environ), Script()
    script.tool("tidy", "done", description=TIDY["description"])
    script.tool("wipe", "done", description=WIPE["description"])
    async with guarded(tmp_path, script, search__semantic=True) as guard:
        searching = guard.now.guard.searching
        meaning = await searching.meaning(QUERY)
        assert meaning is not None
        await until(lambda: named(searching, QUERY, meaning)[:1] == ["wipe"])
        client = guard.client("/mcp")
        said = (await client.call("retrieve_tools", {"query": QUERY})).result["structuredContent"]
        assert [tool["name"] for tool in said["tools"]][:2] == ["web:wipe", "web:tidy"]
        assert os.environ == before, "what holds for the loading of NumPy reaches no server"


async def test_without_the_setting_no_meaning_is_computed(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:
        assert await guard.now.guard.searching.meaning(QUERY) is None


async def test_without_the_extra_the_start_says_what_to_install_and_nothing_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcpguard.catalog.search.semantic.model_weights", None)
    assert "mcpguard-firewall[semantic]" in await refused(tmp_path)


async def test_without_the_model_the_guard_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_weights, "PACKAGE", "no_such_model")
    assert await refused(tmp_path) == f"search.semantic: the package no-such-model is not installed; {HOW}"


async def test_with_another_model_the_guard_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "another_model"
    package.mkdir()
    (package / model_weights.FILE).write_bytes(b"another model")
    (package / "__init__.py").write_text("raise SystemExit('its code ran')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(model_weights, "PACKAGE", "another_model")
    said = await refused(tmp_path)
    assert said.startswith(f"search.semantic: the model {package / model_weights.FILE} is another one")


async def refused(folder: Path) -> str:
    """Why a guard with the setting does not start; nothing has happened."""
    with pytest.raises(BaseExceptionGroup) as raised:
        async with world(folder, search__semantic=True):
            pass
    error = raised.value.split(SettingsError)[0]
    assert error is not None
    async with world(folder) as guard:
        assert guard.said()[0]["kind"] == "started", "the other start has left no record"
    return str(error.exceptions[0])
