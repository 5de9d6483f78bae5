"""Who sends a request: by which credential, from which page. Whatever could mean two things is refused."""

import itertools

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpguard.domain.people import Principal, Role
from mcpguard.web.gate.cookies import NAME
from mcpguard.web.gate.credentials import Credentials
from tests.people import BY, OURS, PASSWORD, bears, cookie, shows, token, user
from tests.web.raw import Answer, ask
from tests.world import World

pytestmark = pytest.mark.anyio
HOST = ("host", "127.0.0.1:8080")
API = "/api/v1/servers"
OUR_ORIGIN = OURS["origin"]
FOREIGN = [
    "null",
    "http://evil.example",
    "http://127.0.0.1:8081",
    "https://127.0.0.1:8080",
    "http://localhost:8080",
    "",
]


async def who(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that says who it is asked by."""
    found: Principal | None = Request(scope).state.principal
    said = None if found is None else [found.name, found.role, found.kind, found.recent]
    await JSONResponse(said)(scope, receive, send)


def gate(guard: World, app: ASGIApp = who) -> Credentials:
    return Credentials(app, guard.now.guard.people, guard.now.guard.tallies)


async def asked(guard: World, path: str = "/", method: str = "GET", **headers: str) -> Answer:
    named = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return await ask(gate(guard), [HOST, *named], path, method)


async def turned_away(guard: World) -> dict[str, int]:
    await guard.now.guard.tallies.flush()
    return {str(each["why"]): int(each["count"]) for each in guard.said() if each["kind"] == "turned_away"}


async def test_a_cookie_says_who_it_is_and_a_token_too(guard: World) -> None:
    await user(guard)
    assert (await asked(guard)).body == b"null"
    shown = await cookie(guard)
    assert (await asked(guard, **shows(shown))).body == b'["ada","admin","user",true]'
    program = await token(guard, Role.AUDITOR)
    for path in ("/", API):
        assert (await asked(guard, path, **bears(program))).body == b'["ci","auditor","token",false]'


async def test_a_password_is_recent_for_a_while(guard: World) -> None:
    await user(guard)
    shown = await cookie(guard)
    await guard.clock.advance(899)
    assert (await asked(guard, **shows(shown))).body.endswith(b"true]")
    await guard.clock.advance(2)
    assert (await asked(guard, **shows(shown))).body == b'["ada","admin","user",false]'


@pytest.mark.parametrize("shown", ["", "x", "é", "x" * 5000, "\x00", '"quoted"', "a=b"])
async def test_a_cookie_that_is_nobodys_is_nobody(guard: World, shown: str) -> None:
    await user(guard)
    answer = await asked(guard, **shows(shown))
    assert (answer.status, answer.body) == (200, b"null")


@pytest.mark.parametrize(
    "given", ["Bearer mcpo_x", "Bearer", "bearer ", "Basic YTpi", "mcpo_x", "Bearer a b", "Bearer é", "", "Bearer \x00"]
)
async def test_a_token_that_is_nobodys_is_refused(guard: World, given: str) -> None:
    for path in ("/", API):
        answer = await asked(guard, path, authorization=given)
        assert answer.status == 401
        assert ("www-authenticate", 'Bearer realm="mcpguard", error="invalid_token"') in answer.headers
        assert b"mcpo_x" not in answer.body
    assert await turned_away(guard) == {"credential": 2}


async def test_an_agents_token_is_nobodys_here_and_an_operators_none_there(guard: World) -> None:
    added = (await guard.operator.post("/api/v1/callers", json={"name": "agent"})).json()
    assert (await asked(guard, API, **bears(added["token"]))).status == 401
    program = await token(guard)
    assert guard.now.guard.callers.caller_of_token(program) is None


async def test_two_credentials_could_mean_two_people(guard: World) -> None:
    await user(guard)
    shown, program = await cookie(guard), await token(guard)
    good, bad = ("cookie", f"{NAME}={shown}"), ("cookie", f"{NAME}=x")
    bearer, wrong = ("authorization", f"Bearer {program}"), ("authorization", "Bearer x")
    for one, other in itertools.combinations_with_replacement([good, bad, bearer, wrong], 2):
        answer = await ask(gate(guard), [HOST, one, other])
        assert answer.status == 400, (one, other)
    both = ("cookie", f"{NAME}={shown}; other=1; {NAME}={shown}")
    assert (await ask(gate(guard), [HOST, both])).status == 400
    others = ("cookie", f"theme=dark; {NAME}={shown}; x{NAME}=1; __Host-{NAME}=2")
    assert (await ask(gate(guard), [HOST, others])).status == 200


async def test_what_changes_something_comes_from_our_pages_or_from_no_browser(guard: World) -> None:
    methods = ["POST", "PUT", "PATCH", "DELETE", "TRACE", "LINK"]
    origins = [None, OUR_ORIGIN, OUR_ORIGIN.upper(), *FOREIGN]
    sites = [None, "same-origin", "none", "same-site", "cross-site", "", "other"]
    for method, origin, site, path in itertools.product(methods, origins, sites, ("/", API)):
        ours = origin in origins[:3] and site in sites[:3]
        headers = {"origin": origin, "sec_fetch_site": site}
        given = {name: value for name, value in headers.items() if value is not None}
        case = (method, origin, site, path)
        assert (await asked(guard, path, method, **given)).status == (200 if ours else 403), case
        with_cookie = await asked(guard, path, method, **given, **shows("x"))
        assert with_cookie.status == (200 if ours and given else 403), case


@pytest.mark.parametrize("origin", FOREIGN)
async def test_a_foreign_page_may_lead_to_ours_and_read_nothing_of_the_api(guard: World, origin: str) -> None:
    assert (await asked(guard, "/", origin=origin, sec_fetch_site="cross-site")).status == 200
    assert (await asked(guard, API, origin=origin)).status == 403
    assert (await asked(guard, API, sec_fetch_site="cross-site")).status == 403
    assert (await asked(guard, API, "HEAD", sec_fetch_site="same-site")).status == 403


async def test_headers_that_are_there_twice_say_nothing(guard: World) -> None:
    for name, value in (("origin", OUR_ORIGIN), ("sec-fetch-site", "same-origin")):
        assert (await ask(gate(guard), [HOST, (name, value), (name, value)], "/", "POST")).status == 400


async def test_whoever_stood_there_before_is_not_believed(guard: World) -> None:
    async def forged(scope: Scope, receive: Receive, send: Send) -> None:
        there = Principal("x", "x", Role.ADMIN, "user")
        await gate(guard)({**scope, "state": {"principal": there, "peer": 1}}, receive, send)

    assert (await ask(forged, [HOST])).body == b"null"


async def test_what_is_refused_is_told_in_the_form_of_the_place(guard: World) -> None:
    page = await asked(guard, "/", "POST", origin="null")
    assert page.body == b"Refused: requests from pages of other sites are refused.\n"
    assert ("content-type", "application/problem+json") in (await asked(guard, API, origin="null")).headers


async def test_who_is_disabled_is_nobody_with_the_next_request(guard: World) -> None:
    await user(guard)
    await user(guard, "bob", Role.APPROVER)
    shown = await cookie(guard, "bob")
    await guard.now.guard.users.disable("bob", BY)
    assert (await asked(guard, **shows(shown))).body == b"null"
    await guard.now.guard.users.enable("bob", BY)
    assert (await asked(guard, **shows(shown))).body == b"null", "and that session stays ended"


async def test_another_role_is_there_with_the_next_request(guard: World) -> None:
    await user(guard)
    await user(guard, "bob", Role.VIEWER)
    shown = await cookie(guard, "bob", PASSWORD)
    await guard.now.guard.users.role("bob", Role.APPROVER, BY)
    assert (await asked(guard, **shows(shown))).body == b'["bob","approver","user",true]'
    await guard.now.guard.users.role("bob", Role.AUDITOR, BY)
    assert (await asked(guard, **shows(shown))).body == b"null", "who loses rights signs in again"
