"""Routes of programs: checking one, and running one in the name of a caller."""

from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import Field, StrictStr

from mcpguard.codec.messages import dumps
from mcpguard.domain.calls.calls import Face, Intent
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.decisions import Undecidable
from mcpguard.domain.people import Right
from mcpguard.engines.code_run import Program
from mcpguard.guard.guard import Guard
from mcpguard.guard.programs.answer_json import failure_json, run_json
from mcpguard.guard.programs.run_request import RunRequest
from mcpguard.guard.scripts.scripts import MOST_TOOLS, PROGRAMS_OFF, require_scripts
from mcpguard.policy.intents import StatedIntent
from mcpguard.web.api.answers import CheckedProgramAnswer, EndedRunAnswer
from mcpguard.web.api.bodies import ApiBody, example
from mcpguard.web.api.calling import LONGEST_CALLER, MeantBody
from mcpguard.web.api.routes.calls import AbsentClient, find_caller
from mcpguard.web.api.routes.scripts import Code
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.strict_routes import api_router


class CheckBody(ApiBody):
    """A program to check."""

    code: Code


class RunBody(ApiBody):
    """A program to run in the name of a caller, an id or a name. `intent` bounds its calls; left out: it may only
    read. `servers`: those that it may call; null for all in the caller's scope.
    """

    model_config = example({"caller": "builder", "code": 'call_tool("files", "list_directory", {"path": input})'})

    caller: Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_CALLER)]
    code: Code
    input: Any = None
    intent: MeantBody = MeantBody(operation_type=Effect.READ)
    servers: Annotated[list[StrictStr], Field(max_length=MOST_TOOLS)] | None = None


def programs(guard: Guard) -> APIRouter:
    router = api_router("programs")
    decide = [may(Right.DECIDE)]

    @router.post("/programs/check", dependencies=decide, response_model=CheckedProgramAnswer)
    async def check(body: CheckBody) -> JSONResponse:
        """Check a program: which tools it names, with their effects, and what is wrong with it. Nothing of it runs."""
        checked = await require_scripts(guard.scripts).check(body.code)
        error = None if checked.failure is None else failure_json(checked.failure)
        return JSONResponse({"named": [each.as_json() for each in checked.tools], "error": error})

    @router.post("/programs/run", dependencies=[may(Right.ADMINISTER)], response_model=EndedRunAnswer)
    async def run(request: Request, body: RunBody) -> Response:
        """Run a program in the name of a caller, within its scope. The status is 200 even if the program failed."""
        running = guard.programs
        if running is None:
            raise Undecidable(PROGRAMS_OFF)
        meant = body.intent
        intent = Intent(meant.operation_type, declared=True, sensitivity=meant.data_sensitivity, reason=meant.reason)
        asked = RunRequest(
            caller=find_caller(guard, body.caller),
            face=Face.API,
            program=Program(body.code, body.input),
            stated=StatedIntent(intent),
            servers=None if body.servers is None else tuple(body.servers),
            most_calls=running.settings.calls,
            wall_seconds=running.settings.wall_seconds,
            by=actor(request, guard).id,
        )
        ended = await running.run(asked, AbsentClient())
        said = run_json(ended) | {"named": [each.as_json() for each in ended.named]}
        return Response(dumps(said), media_type="application/json")

    return router
