"""What somebody looks for, as it is told at every door: the tools that fit best, and what waits for a person.

Rule kept here: what a server says is shown only of tools that a person approved as they are.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.guard.search.answer_size import retrieved
from mcpguard.guard.search.tool_search import Searching, Wish
from mcpguard.guard.servers.servers import Servers
from mcpguard.policy.scopes import reaches

MOST_NAMED: Final = 5
"""Servers that a notice names."""


def found(
    query: str, limit: int, wish: Wish, searching: Searching, servers: Servers, *, full: bool = False
) -> dict[str, Any]:
    """The best within a scope, in short or with their schemas."""
    hits, total = searching.search(query, limit, wish)
    tools, notices = retrieved(hits, full=full)
    answer: dict[str, Any] = {"tools": tools, "total": total, "query": query}
    waiting = sum(
        known.upstream.standing is UpstreamStanding.QUARANTINED and reaches(wish.scope, known.name)
        for known in servers.every()
    )
    if waiting:
        what = "server waits" if waiting == 1 else "servers wait"
        notices.append(f"{waiting} {what} for a person to review; their tools cannot be used yet.")
    if starting := [*_starting(wish, servers)]:
        notices.append(_said_of(starting))
    if notices:
        answer["notice"] = " ".join(notices)
    return answer


def _starting(wish: Wish, servers: Servers) -> Iterator[str]:
    """The names of the servers within the wish that are being connected for the first time."""
    for known in servers.every():
        wanted = wish.servers is None or known.name in wish.servers
        if wanted and reaches(wish.scope, known.name) and servers.starting(known):
            yield known.name


def _said_of(starting: Sequence[str]) -> str:
    more = f" and {len(starting) - MOST_NAMED} more" if len(starting) > MOST_NAMED else ""
    named = f"{', '.join(starting[:MOST_NAMED])}{more}"
    return f"Still starting: {named}. What is not found yet may be found soon; a call waits for the first connection."
