"""The answer to a search, the same at every door: the best matches, and notices about servers that are missing.

Rule kept here: text of a server is shown only for tools that a reviewer approved in their current definition.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from anyio import to_thread

from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.guard.search.answer_size import fit_hits
from mcpguard.guard.search.hit_explanation import explain_hits
from mcpguard.guard.search.tool_search import ExplainedHits, SearchScope, ToolHit
from mcpguard.guard.servers.servers import Servers
from mcpguard.policy.scopes import is_server_in_scope

MOST_NAMED: Final = 5
"""The most servers that a notice names."""


def search_answer(
    query: str, hits: Sequence[ToolHit], total: int, wish: SearchScope, servers: Servers, *, full: bool
) -> dict[str, Any]:
    """Return the best matches in short or with their schemas, out of `total` tools, with notices."""
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


async def explained_answer(query: str, found: ExplainedHits, wish: SearchScope, servers: Servers) -> dict[str, Any]:
    """Return the best matches in short, each with why it was found, and the words that no tool has."""
    answer = search_answer(query, [each.hit for each in found.hits], found.total, wish, servers, full=False)
    # A thread reads the definitions again: those of a hostile server take long.
    why = await to_thread.run_sync(explain_hits, found.hits)
    tools = [tool | {"why": each} for tool, each in zip(answer["tools"], why, strict=False)]
    return answer | {"tools": tools, "unmatched": [*found.unmatched]}


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
