"""Routes of scripts: programs with a name that people write down.

None of these approves a script: it is approved as the tools of every other server are.
"""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import Field, StrictInt, StrictStr

from mcpguard.codec.names import parse_reference
from mcpguard.domain.decisions import Unknown
from mcpguard.domain.people import Right
from mcpguard.domain.scripts import StoredScript
from mcpguard.engines.code_run import LONGEST_PROGRAM
from mcpguard.guard.guard import Guard
from mcpguard.guard.scripts.scripts import LONGEST_DESCRIPTION, MOST_TOOLS, PROGRAMS_OFF, ScriptRequest, require_scripts
from mcpguard.web.api.answers import ScriptAnswer, ScriptsAnswer
from mcpguard.web.api.bodies import ApiBody, example
from mcpguard.web.api.calling import LONGEST_CALLER, ToolName
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.matching import AS_SEEN, SHOWN, bind_to_if_match, etag
from mcpguard.web.gate.strict_routes import api_router

Code = Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_PROGRAM)]


class WrittenScriptBody(ApiBody):
    """A script. `tools`: those whose holds its approval is to answer, as `server:tool`; null for those that the program
    names.
    """

    code: Code
    description: Annotated[StrictStr, Field(max_length=LONGEST_DESCRIPTION)] = ""
    input_schema: dict[str, Any] = Field(default_factory=lambda: {"type": "object"})
    tools: Annotated[list[ToolName], Field(max_length=MOST_TOOLS)] | None = None

    def as_request(self, name: str) -> ScriptRequest:
        """Return the script under this name."""
        tools = None if self.tools is None else tuple(map(parse_reference, self.tools))
        return ScriptRequest(name, self.code, self.description, self.input_schema, tools)


class AddedScriptBody(WrittenScriptBody):
    """A script to add."""

    model_config = example(
        {"name": "folder", "description": "Lists a folder.", "code": 'call_tool("files", "list_directory", input)'}
    )

    name: Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_CALLER)]


class ChangedScriptBody(WrittenScriptBody):
    """A script as it is to be. `revision`: the one that is changed."""

    revision: Annotated[StrictInt, Field(ge=1)]


def scripts(guard: Guard) -> APIRouter:
    router = api_router("scripts")
    decide = [may(Right.DECIDE)]

    @router.get("/scripts", dependencies=[may(Right.LOOK)], response_model=ScriptsAnswer)
    async def every() -> JSONResponse:
        """List the scripts as they were written down last."""
        scripts = guard.scripts
        if scripts is None:
            return JSONResponse({"server": None, "scripts": []})
        return JSONResponse({"server": scripts.server, "scripts": [scripts.script_json(each) for each in scripts]})

    @router.post("/scripts", dependencies=decide, response_model=ScriptAnswer, status_code=201, openapi_extra=SHOWN)
    async def add(request: Request, body: AddedScriptBody) -> JSONResponse:
        """Add a script. It waits for approval as a tool of its server; nothing of it runs before."""
        stored = await require_scripts(guard.scripts).put(body.as_request(body.name), 0, actor(request, guard))
        return _answered(guard, stored, 201, {"location": f"{request.url.path}/{stored.script.name}"})

    @router.get("/scripts/{script}", dependencies=[may(Right.LOOK)], response_model=ScriptAnswer, openapi_extra=SHOWN)
    async def one(script: str) -> JSONResponse:
        """Get a script as it was written down last."""
        if guard.scripts is None:
            raise Unknown(PROGRAMS_OFF)
        return _answered(guard, guard.scripts.find(script))

    @router.put("/scripts/{script}", dependencies=decide, response_model=ScriptAnswer, openapi_extra=AS_SEEN | SHOWN)
    async def change(request: Request, script: str, body: ChangedScriptBody) -> JSONResponse:
        """Change a script. Calls of it are refused until the new text is approved."""
        resting = bind_to_if_match(request, actor(request, guard), partial(_revision, guard, script))
        return _answered(
            guard, await require_scripts(guard.scripts).put(body.as_request(script), body.revision, resting)
        )

    @router.delete("/scripts/{script}", dependencies=decide, status_code=204, openapi_extra=AS_SEEN)
    async def remove(request: Request, script: str, revision: int) -> Response:
        """Remove a script. Calls of it are refused from then on."""
        resting = bind_to_if_match(request, actor(request, guard), partial(_revision, guard, script))
        await require_scripts(guard.scripts).remove(script, revision, resting)
        return Response(status_code=204)

    return router


def _answered(
    guard: Guard, stored: StoredScript, status: int = 200, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    given = etag(str(stored.revision)) | {**(headers or {})}
    return JSONResponse(require_scripts(guard.scripts).script_json(stored), status, headers=given)


def _revision(guard: Guard, script: str) -> str:
    return str(require_scripts(guard.scripts).find(script).revision)
