"""The answer to a search, the same at every door: the best matches, and notices about servers that are missing.

Rule kept here: text of a server is shown only for tools that a reviewer approved in their current definition.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.guard.search.answer_size import fit_hits
from mcpguard.guard.search.tool_search import SearchScope, ToolSearch
from mcpguard.guard.servers.servers import Servers
from mcpguard.policy.scopes import is_server_in_scope

if TYPE_CHECKING:
    from mcpguard.catalog.search.semantic.model_weights import Array

MOST_NAMED: Final = 5
"""The most servers that a notice names."""


def search_answer(
    query: str,
    limit: int,
    wish: SearchScope,
    searching: ToolSearch,
    servers: Servers,
    *,
    meaning: "Array | None" = None,
    full: bool = False,
) -> dict[str, Any]:
    """Search, and return the best matches in short or with their schemas, with notices. `meaning`: the query's."""
    hits, total = searching.search(query, limit, wish, meaning)
    tools, notices = fit_hits(hits, full=full)
    answer: dict[str, Any] = {"tools": tools, "total": total, "query": query}
    waiting = sum(
        known.upstream.standing is UpstreamStanding.QUARANTINED and is_server_in_scope(wish.scope, known.name)
        for known in servers.every()
    )
    if waiting:
        what = "server waits" if waiting == 1 else "servers wait"
        notices.append(f"{waiting} {what} for review; their tools cannot be used yet.")
    if starting := [*_starting(wish, servers)]:
        notices.append(_said_of(starting))
    if notices:
        answer["notice"] = " ".join(notices)
    return answer


def _starting(wish: SearchScope, servers: Servers) -> Iterator[str]:
    """The names of the servers in scope that are being connected for the first time."""
    for known in servers.every():
        wanted = wish.servers is None or known.name in wish.servers
        if wanted and is_server_in_scope(wish.scope, known.name) and servers.is_starting(known):
            yield known.name


def _said_of(starting: Sequence[str]) -> str:
    more = f" and {len(starting) - MOST_NAMED} more" if len(starting) > MOST_NAMED else ""
    named = f"{', '.join(starting[:MOST_NAMED])}{more}"
    return f"Still starting: {named}. Their tools may show up soon; a call waits for the first connection."
