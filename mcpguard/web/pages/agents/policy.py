"""`/policy`: the rules in force, in order, and the test of a call.

Rules kept here:
1. Testing a call sends, counts and records nothing. What is typed stays in the form, and out of URLs and logs.
2. Arguments are parsed as strictly as those of agents: ambiguous JSON is refused.
"""

from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import ValidationError

from mcpguard.codec.names import parse_reference
from mcpguard.codec.strict import StrictError, parse
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.errors import GuardError, InvalidName
from mcpguard.domain.grants import ANONYMOUS, CallerUnknown
from mcpguard.domain.people import Right
from mcpguard.guard.calls.explanation import preview_json
from mcpguard.guard.guard import Guard
from mcpguard.guard.trust import rules_in_force
from mcpguard.policy.intents import BY_HARM, LONGEST_REASON
from mcpguard.web.api.calling import WantedBody
from mcpguard.web.api.routes.calls import find_caller
from mcpguard.web.forms import FINE, Misshapen, PageProblem, SentForm, form, page_problem
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.pages.base.console import VIA, Console
from mcpguard.web.pages.base.route import PageRoute

LARGEST: Final = 1024 * 1024
NOTHING: Final = SentForm([])
FIELDS: Final = ("caller", "name", "kind", "operation")
"""What an address can fill in, so that other pages lead here. Arguments and reasons stand in no address."""


def policy(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    def shown(
        request: Request, given: SentForm = NOTHING, problem: PageProblem = FINE, answer: dict[str, Any] | None = None
    ) -> Response:
        """Show the rules, and what they would say of the call that was typed."""
        said = {each["rule"]: each["outcome"] for each in answer["rules"]} if answer else {}
        return desk.page(
            request,
            "policy",
            "policy.html",
            problem.status,
            rules=rules_in_force.request_rules(guard.settings),
            after=rules_in_force.response_rules(guard.settings),
            outcomes={rules_in_force.FIRST: "passed"} | said if answer else {},
            answer=answer,
            given=given,
            problem=problem.sentence,
            callers=[*([ANONYMOUS] if guard.callers.anonymous else []), *(each.caller.label for each in guard.callers)],
            effects=BY_HARM,
            longest=LONGEST_REASON,
        )

    def tried(request: Request, given: SentForm) -> Response:
        try:
            wanted = _wanted(given)
            asked = wanted.call_request(_caller(guard, wanted.caller), actor(request, guard, VIA).id)
            return shown(request, given, FINE, preview_json(asked, guard.calls.preview(asked)))
        except GuardError as error:
            return shown(request, given, page_problem(error))

    @router.get("/policy", dependencies=[may(Right.AUDIT)])
    async def page(request: Request) -> Response:
        given = SentForm([(each, value) for each in FIELDS for value in request.query_params.getlist(each)[:1]])
        return tried(request, given) if given.one("caller") and given.one("name") else shown(request, given)

    @router.post("/policy", dependencies=[may(Right.AUDIT)])
    async def try_(request: Request) -> Response:
        try:
            given = await form(request, LARGEST)
        except GuardError as error:
            return shown(request, NOTHING, page_problem(error))
        return tried(request, given)

    return router


def _caller(guard: Guard, named: str) -> Any:  # noqa: ANN401
    try:
        return find_caller(guard, named)
    except CallerUnknown:
        raise CallerUnknown("no agent has this name; the page Agents lists them") from None


def _wanted(given: SentForm) -> WantedBody:
    """Return the call that was typed. Raises Misshapen with a sentence about the first mistake."""
    name = given.one("name").strip()
    try:
        parse_reference(name)
    except InvalidName:
        raise Misshapen(422, "name the tool as server:name, for example files:read_file") from None
    operation, why = given.one("operation"), given.one("why")
    if operation and operation not in {*Effect}:
        raise Misshapen(422, "the declared effect is read, write or destructive")
    if why and not operation:
        raise Misshapen(422, "a reason needs a declared effect; choose one")
    intent = {"operation_type": operation, "reason": why} if operation else None
    sent = {"caller": given.one("caller").strip(), "name": name, "kind": given.one("kind", "tool"), "intent": intent}
    try:
        return WantedBody.model_validate(sent | {"arguments": _arguments(given.one("arguments"))})
    except ValidationError as error:
        place = " ".join(str(each) for each in error.errors()[0]["loc"][:1]) or "arguments"
        raise Misshapen(422, f"this call is not valid: check its {place}") from None


def _arguments(text: str) -> dict[str, Any] | None:
    """Return the arguments that were typed. Raises Misshapen."""
    if not text.strip():
        return None
    try:
        given = parse(text.encode(), max_bytes=LARGEST)
    except StrictError as error:
        where = f" (line {error.line}, column {error.column})" if error.line else ""
        raise Misshapen(422, f"the arguments are not strict JSON: {error.message}{where}") from None
    if not isinstance(given, dict):
        raise Misshapen(422, 'the arguments must be an object, for example {"path": "notes.txt"}')
    return given
