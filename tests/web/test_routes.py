"""Every route of the API and everybody who could use it: exactly those may whose role has the right that it names."""

import re

import pytest
from fastapi import APIRouter, FastAPI

from mcpguard.domain.people import Right, Role
from mcpguard.web.api.openapi import routes_with_needs
from tests.web.conforming import conforms
from tests.web.everybody import EVERYBODY, standing
from tests.web.rest import API, bare, browser, program
from tests.web.reviewing import add
from tests.world import World

pytestmark = pytest.mark.anyio
ROUTES = [(method, path, needs.right) for method, path, needs in routes_with_needs(bare())]
OPEN = {f"{API}/openapi.json", f"{API}/docs"}
SAMPLES = {
    "server": "notes",
    "ticket": "none",
    "allowance": "none",
    "caller": "somebody",
    "user": "nobody",
    "token": "none",
    "script": "none",
} | {
    "seq": "1",
    "call": "none",
    "session": "none",
}
WRONG = {"nothing of the kind": 1}


def test_every_route_names_one_right_or_is_open_on_purpose() -> None:
    assert len(ROUTES) > 40
    assert {path for _, path, right in ROUTES if right is None} == OPEN
    for method, path, right in ROUTES:
        if method != "GET":
            changes = right in {Right.DECIDE, Right.ADMINISTER}
            harmless = {f"{API}/{name}" for name in ("explain", "exports", "checkpoints", "me/password")}
            assert changes or path in harmless, (method, path)


def test_a_route_that_is_not_of_our_kind_is_found() -> None:
    app, router = FastAPI(openapi_url=None, docs_url=None, redoc_url=None), APIRouter()
    router.get("/more")(lambda: None)
    app.include_router(router, prefix=API)
    with pytest.raises(TypeError, match=f"{API}/more"):
        list(routes_with_needs(app))


@pytest.mark.parametrize("who", EVERYBODY)
async def test_exactly_those_may_whose_role_has_the_right(guard: World, who: str) -> None:
    """No body has its form: whoever may is told that, and whoever may not is told before anybody looks."""
    sends, rights = EVERYBODY[who]
    await add(guard)
    headers = await sends(guard)
    before = await standing(guard)
    for method, path, right in ROUTES:
        address = re.sub(r"\{(\w+)\}", lambda found: SAMPLES[found[1]], path)
        answer = await guard.network.request(method, address, headers=headers, json=None if method == "GET" else WRONG)
        conforms(answer)
        case = (who, method, path, answer.status_code, answer.text[:200])
        if who == "an agent":
            assert answer.status_code == 401, case
        elif right is None:
            assert answer.status_code == 200, case
        elif right in rights:
            assert answer.status_code in ({200, 404, 422} if method == "GET" else {422}), case
        else:
            assert answer.status_code == (403 if rights else 401), case
            word = "right-lacking" if rights else "nobody-known"
            assert answer.json()["type"] == f"urn:mcpguard:{word}", case
            assert rights or answer.headers["www-authenticate"] == 'Bearer realm="mcpguard"', case
        assert answer.headers["cache-control"] == "no-store", case
    assert await standing(guard) == before, "nobody has done anything"


async def test_whoever_was_turned_away_is_counted(guard: World) -> None:
    viewer = await program(guard, Role.VIEWER)
    for _ in range(3):
        await guard.network.post(f"{API}/servers", json={}, headers=viewer)
        await guard.network.get(f"{API}/servers")
    await guard.now.guard.tallies.flush()
    found = [record for record in guard.said() if record["kind"] == "turned_away"]
    (token,) = guard.now.guard.people.tokens()
    assert [(each["door"], each["why"], each.get("by"), each["count"]) for each in found] == [
        ("network", "right", f"token:{token.id}", 3),
        ("network", "credential", None, 3),
    ]


async def test_a_cookie_alone_changes_nothing(guard: World) -> None:
    """As a page of another site would have a browser send it, and as an old browser sends it."""
    await add(guard)
    sends = await browser(guard)
    before = await standing(guard)
    for method, path, _ in ROUTES:
        if method == "GET":
            continue
        address = re.sub(r"\{(\w+)\}", lambda found: SAMPLES[found[1]], path)
        for given in ({}, {"origin": "null"}, {"origin": "http://rebound.example"}, {"sec-fetch-site": "cross-site"}):
            headers = {"cookie": sends["cookie"], **given}
            answer = await guard.network.request(method, address, headers=headers, json={})
            conforms(answer)
            assert (answer.status_code, answer.json()["type"]) == (403, "urn:mcpguard:foreign-page"), (path, given)
    assert await standing(guard) == before
