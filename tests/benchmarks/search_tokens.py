"""What finding tools costs an agent in tokens, against being shown all of them in every conversation."""

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

from mcpguard.catalog.catalog import Catalog
from mcpguard.catalog.search.index import Index
from mcpguard.catalog.search.prepared_tools import prepare_server
from mcpguard.catalog.search.search import View
from mcpguard.catalog.shelf import make_shelf
from mcpguard.codec.messages import dumps
from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.servers.listings import Listing
from mcpguard.gateway.faces.direct import DirectFace
from mcpguard.gateway.faces.face import AgentFace
from mcpguard.gateway.lists import ShownLists
from mcpguard.gateway.tools.answers import tool_result
from mcpguard.gateway.tools.guard_face import GuardFace
from mcpguard.guard.search.answer_size import fit_hits
from mcpguard.guard.search.tool_search import ToolHit
from mcpguard.settings.model import Settings
from tests.benchmarks.report import Row, Sheet, quantile
from tests.tokens import counted

LIMITS: Final = (5, 15)
_QUERIES: Final = 200
_ALL: Final = Scope(("*",), ("*",), frozenset(Effect))
_TOOL: Final = CapabilityKind.TOOL
Tool = Mapping[str, Any]
Asked = tuple[Mapping[str, str | int], Sequence[Tool], Sequence[str]]
"""What a folder is called, its tools, and what is looked for."""


def sheet(folders: Sequence[Asked]) -> Sheet:
    about = (
        "cl100k_base; lists: tools/list of the direct and the guard face; compact, full: the text that retrieve_tools "
        "answers with so many hits, median; saved: in a conversation with one compact search of 15 hits"
    )
    return Sheet("tokens", about, [_row(*folder) for folder in folders])


def _row(of: Mapping[str, str | int], tools: Sequence[Tool], queries: Sequence[str]) -> Row:
    catalog, index = Catalog(), Index()
    for server, some in _servers(tools).items():
        catalog = catalog.with_shelf(make_shelf(server, Listing(tools=tuple(some)), lambda *_: Effect.READ))
        index.set_server(prepare_server(server, some))
    asked = random.Random(1).sample(queries, min(_QUERIES, len(queries)))  # noqa: S311 - the same ones in every run
    everything, own = counted([_list(DirectFace("::"), catalog), _list(GuardFace(Settings()), catalog)])
    figures: dict[str, float] = {"list_of_all": everything, "list_of_guard": own}
    view = View(index, None)
    for detail in ("compact", "full"):
        for limit in LIMITS:
            texts = [_answer(view, catalog, query, limit, full=detail == "full") for query in asked]
            figures[f"{detail}_{limit}"] = int(quantile(counted(texts), 0.5))
    return Row(of, figures | {"saved": 1 - (own + figures[f"compact_{max(LIMITS)}"]) / everything})


def _servers(tools: Sequence[Tool]) -> Mapping[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for tool in tools:
        found.setdefault(tool["server"], []).append({key: said for key, said in tool.items() if key != "server"})
    return found


def _list(face: AgentFace, catalog: Catalog) -> str:
    """As it is served, all pages of it."""
    lists, params, found = ShownLists(1000), dict[str, Any](), list[Any]()
    while True:
        page, _ = lists.page(face, _ALL, catalog, "tools/list", params)
        found += page["tools"]
        if "nextCursor" not in page:
            return dumps(found).decode()
        params = {"cursor": page["nextCursor"]}


def _answer(view: View, catalog: Catalog, query: str, limit: int, *, full: bool) -> str:
    pinned = ((each, catalog.find(each.server, _TOOL, each.name)) for each in view.search(query, limit))
    tools, _ = fit_hits([ToolHit(one, each.score) for each, one in pinned if one is not None], full=full)
    text: str = tool_result({"tools": tools, "total": view.count(), "query": query})["content"][0]["text"]
    return text
