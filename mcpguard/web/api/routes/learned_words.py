"""Routes of what search has learned from use: reading it, and forgetting it for one tool or for all."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from mcpguard.domain.decisions import Unknown
from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.guard.search.search_learning import SearchLearning
from mcpguard.web.api.answers import LearnedAnswer
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.strict_routes import api_router

AllTools = Annotated[Literal["all"], Query(description="`all`, so that nobody forgets everything by accident.")]
OFF = "nothing is learned here: the setting search.learn is off"


def learned_words(guard: Guard) -> APIRouter:
    router = api_router("learning", "/search/learned")
    decide = [may(Right.DECIDE)]

    @router.get("", dependencies=[may(Right.AUDIT)], response_model=LearnedAnswer)
    async def learned(server: str, name: str) -> LearnedAnswer:
        """Get the words of searches for which a tool is found more often."""
        found = guard.searching.learned_words(server, name)
        return LearnedAnswer(server=server, name=name, words=list(found.words), callers=found.callers)

    @router.delete("", dependencies=decide, status_code=204)
    async def forget_everything(request: Request, tools: AllTools) -> Response:  # noqa: ARG001 - asked for, to be sure
        """Forget everything that search has learned."""
        await _learning(guard).forget(None, actor(request, guard))
        return Response(status_code=204)

    @router.delete("/tool", dependencies=decide, status_code=204)
    async def forget_tool(request: Request, server: str, name: str) -> Response:
        """Forget what search has learned of one tool, in every version."""
        await _learning(guard).forget((server, name), actor(request, guard))
        return Response(status_code=204)

    return router


def _learning(guard: Guard) -> SearchLearning:
    if guard.learning is None:
        raise Unknown(OFF)
    return guard.learning
