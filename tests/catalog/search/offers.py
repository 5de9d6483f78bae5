"""Tools to be found, and ways to ask for them."""

from collections.abc import Iterable, Mapping
from typing import Any

from mcpguard.catalog.search.index import Index
from mcpguard.catalog.search.prepared_tools import prepare_server
from mcpguard.catalog.search.search import View

Tool = Mapping[str, Any]


def tool(name: str, description: str = "", **more: object) -> Tool:
    return {"name": name, "description": description, **more}


def index(servers: Mapping[str, Iterable[Tool]]) -> Index:
    made = Index()
    for server, tools in servers.items():
        made.set_server(prepare_server(server, tools))
    return made


def keys(view: View, query: str, limit: int = 15) -> list[str]:
    return [f"{found.server}:{found.name}" for found in view.search(query, limit)]


def answers(view: View, query: str, limit: int = 15) -> list[tuple[str, float, bool]]:
    return [(f"{found.server}:{found.name}", found.score, found.exact) for found in view.search(query, limit)]
