"""Every page, and everybody who could ask for it: only the right that it names opens it, and no other site's page."""

import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from fastapi.routing import iter_route_contexts

from mcpguard.domain.people import Right
from mcpguard.settings.model import Settings
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.pages_app import pages
from mcpguard.web.quick_routes import QuickRoutes
from tests.clock import FakeClock
from tests.web.everybody import EVERYBODY, standing
from tests.web.pages.reading import heading
from tests.web.rest import browser
from tests.web.reviewing import add
from tests.world import World

if TYPE_CHECKING:
    from mcpguard.guard.guard import Guard

pytestmark = pytest.mark.anyio
SAMPLES = {"name": "notes", "seq": "1"}
"""What is there; everything else that an address names is not."""
OPEN = {"/login", "/logout", "/setup", "/healthz", "/readyz"}
"""Pages of somebody who may be nobody: their tests are `test_signing` and `test_pages`."""
NEVER_ENDS = "/live"
FORM = {"content-type": "application/json"}
"""Nothing that a form sends: whoever may is told that, and whoever may not is told before anybody looks."""


def routes_with_needs() -> Iterator[tuple[str, str, Right | None]]:
    """Every method of every page, and the right that it names."""
    bare = SimpleNamespace(clock=FakeClock(), tallies=None, settings=Settings())
    for route in iter_route_contexts(pages(cast("Guard", bare), QuickRoutes()).routes):
        path = route.path or ""
        if isinstance(route.route, PageRoute):
            for method in route.methods or ():
                yield method, path, route.route.needs.right
        elif path not in OPEN and not path.startswith("/static"):
            raise TypeError(f"{path} does not say who may see it")


ROUTES = sorted(routes_with_needs())


def address(path: str) -> str:
    return re.sub(r"\{(\w+)(:\w+)?\}", lambda found: SAMPLES.get(found[1], "none"), path)


def test_there_are_pages_and_what_changes_something_needs_more_than_a_look() -> None:
    assert len(ROUTES) > 40
    for method, path, right in ROUTES:
        assert right is not None, path
        assert method in {"GET", "POST"}, path


@pytest.mark.parametrize("who", EVERYBODY)
async def test_exactly_those_may_whose_role_has_the_right(guard: World, who: str) -> None:
    sends, rights = EVERYBODY[who]
    await add(guard)
    headers = await sends(guard)
    before = await standing(guard)
    for method, path, right in ROUTES:
        if path == NEVER_ENDS and right in rights:
            continue
        content, more = (None, headers) if method == "GET" else (b"{}", headers | FORM)
        answer = await guard.network.request(method, address(path), headers=more, content=content)
        case = (who, method, path, answer.status_code, answer.text[:200])
        if who == "an agent":
            assert answer.status_code == 401, case
        elif not rights:
            assert (answer.status_code, answer.headers["location"].split("?")[0]) == (303, "/login"), case
        elif right in rights:
            assert answer.status_code in ({200, 303, 404, 422} if method == "GET" else {404, 415}), case
        else:
            assert (answer.status_code, heading(answer)) == (403, "Not permitted"), case
        assert answer.headers["cache-control"] == "no-store", case
    assert await standing(guard) == before, "nobody has done anything"


async def test_a_cookie_alone_changes_nothing(guard: World) -> None:
    """As a page of another site would have a browser send it, and as an old browser sends it."""
    await add(guard)
    sends = await browser(guard)
    before = await standing(guard)
    for path in {path for method, path, _ in ROUTES if method == "POST"}:
        for given in ({}, {"origin": "null"}, {"origin": "http://rebound.example"}, {"sec-fetch-site": "cross-site"}):
            headers = {"cookie": sends["cookie"], **given}
            answer = await guard.network.post(address(path), headers=headers, data={"why": "x"})
            assert (answer.status_code, "Refused" in answer.text) == (403, True), (path, given)
    assert await standing(guard) == before


async def test_whoever_is_sent_to_sign_in_comes_back_to_the_page(guard: World) -> None:
    sent = await guard.network.get("/held?x=1&y=%2Fa%22")
    assert sent.headers["location"] == "/login?back=%2Fheld%3Fx%3D1%26y%3D%252Fa%2522"
    form = await guard.network.get(sent.headers["location"])
    assert 'name="back" value="/held?x=1&amp;y=%2Fa%22"' not in form.text, "no users yet"
    await browser(guard)
    form = await guard.network.get(sent.headers["location"])
    assert 'name="back" value="/held?x=1&amp;y=%2Fa%22"' in form.text


@pytest.mark.parametrize(
    "back", ["https://evil.example/", "//evil.example", "/\\evil.example", "/a\r\nb", "evil", "/é"]
)
async def test_signing_in_leads_nowhere_else(guard: World, back: str) -> None:
    await browser(guard)
    assert 'name="back"' not in (await guard.network.get("/login", params={"back": back})).text
    sent = {"name": "ada", "password": "seven brown horses", "back": back}
    guard.network.cookies.clear()
    answer = await guard.network.post("/login", data=sent, headers={"origin": "http://127.0.0.1:8080"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
