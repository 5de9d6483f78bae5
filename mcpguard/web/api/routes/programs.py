"""Routes of programs: checking one, running one in the name of a caller, and the scripts that people write down.

None of these approves a script: it is approved as the tools of every other server are.
"""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import Field, StrictInt, StrictStr

from mcpguard.codec.messages import dumps
from mcpguard.codec.names import parse_reference
from mcpguard.domain.calls.calls import Face, Intent
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.decisions import Undecidable
from mcpguard.domain.people import Right
from mcpguard.engines.code_run import Program
from mcpguard.guard.guard import Guard
from mcpguard.guard.programs.answer_json import failure_json, named_json, run_json
from mcpguard.guard.programs.run_request import RunRequest
from mcpguard.guard.scripts.scripts import LONGEST_DESCRIPTION, LONGEST_SOURCE, MOST_TOOLS, ScriptRequest, Scripts
from mcpguard.policy.intents import StatedIntent
from mcpguard.web.api.answers import CheckedProgramAnswer, EndedRunAnswer, ScriptAnswer, ScriptsAnswer
from mcpguard.web.api.bodies import ApiBody, example
from mcpguard.web.api.calling import LONGEST_CALLER, MeantBody, ToolName
from mcpguard.web.api.routes.calls import AbsentClient, find_caller
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.strict_routes import api_router

_OFF: Final = "programs are switched off; set code.enabled to true, confirm it and restart the guard"
Code = Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_SOURCE)]


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


class WrittenScriptBody(ApiBody):
    """A script. `revision`: the one that is changed, 0 for a new script; `tools`: those whose holds its approval is to
    answer, as `server:tool`; null for those that the program names.
    """

    model_config = example({"revision": 0, "description": "Lists a folder.", "code": "input['path']"})

    revision: Annotated[StrictInt, Field(ge=0)]
    code: Code
    description: Annotated[StrictStr, Field(max_length=LONGEST_DESCRIPTION)] = ""
    input_schema: dict[str, Any] = Field(default_factory=lambda: {"type": "object"})
    tools: Annotated[list[ToolName], Field(max_length=MOST_TOOLS)] | None = None


class RemovedScriptBody(ApiBody):
    """The revision of the script that is to be removed."""

    revision: Annotated[StrictInt, Field(ge=1)]


def programs(guard: Guard) -> APIRouter:
    router = api_router("programs")
    decide = [may(Right.DECIDE)]

    @router.post("/programs/check", dependencies=decide, response_model=CheckedProgramAnswer)
    async def check(body: CheckBody) -> JSONResponse:
        """Check a program: which tools it names, with their effects, and what is wrong with it. Nothing of it runs."""
        checked = await _scripts(guard).check(body.code)
        error = None if checked.failure is None else failure_json(checked.failure)
        return JSONResponse({"named": named_json(checked.tools), "error": error})

    @router.post("/programs/run", dependencies=[may(Right.ADMINISTER)], response_model=EndedRunAnswer)
    async def run(request: Request, body: RunBody) -> Response:
        """Run a program in the name of a caller, within its scope. The status is 200 even if the program failed."""
        running = guard.programs
        if running is None:
            raise Undecidable(_OFF)
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
        return Response(dumps(run_json(await running.run(asked, AbsentClient()))), media_type="application/json")

    @router.get("/scripts", dependencies=[may(Right.LOOK)], response_model=ScriptsAnswer)
    async def every() -> JSONResponse:
        """List the scripts as they were written down last."""
        scripts = _scripts(guard)
        return JSONResponse({"server": scripts.server, "scripts": [scripts.script_json(each) for each in scripts]})

    @router.get("/scripts/{script}", dependencies=[may(Right.LOOK)], response_model=ScriptAnswer)
    async def one(script: str) -> JSONResponse:
        """Get a script as it was written down last."""
        scripts = _scripts(guard)
        return JSONResponse(scripts.script_json(scripts.find(script)))

    @router.put("/scripts/{script}", dependencies=decide, response_model=ScriptAnswer)
    async def put(request: Request, script: str, body: WrittenScriptBody) -> JSONResponse:
        """Add or change a script. It waits for approval; until then, calls of it are refused."""
        scripts = _scripts(guard)
        tools = None if body.tools is None else tuple(map(parse_reference, body.tools))
        wanted = ScriptRequest(script, body.code, body.description, body.input_schema, tools)
        stored = await scripts.put(wanted, body.revision, actor(request, guard))
        return JSONResponse(scripts.script_json(stored), 201 if stored.revision == 1 else 200)

    @router.post("/scripts/{script}/remove", dependencies=decide, response_model=ScriptAnswer)
    async def remove(request: Request, script: str, body: RemovedScriptBody) -> JSONResponse:
        """Remove a script. Calls of it are refused from then on."""
        scripts = _scripts(guard)
        removed = await scripts.remove(script, body.revision, actor(request, guard))
        return JSONResponse(scripts.script_json(removed))

    return router


def _scripts(guard: Guard) -> Scripts:
    if guard.scripts is None:
        raise Undecidable(_OFF)
    return guard.scripts
