"""What is behind the doors: pages and health on the network, health and status on the operator's socket."""

import pytest

from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.people import Role
from mcpguard.domain.reasons import Reason
from tests.web.rest import browser
from tests.world import World

pytestmark = pytest.mark.anyio
NOWHERE = [
    "/nowhere",
    "/docs",
    "/redoc",
    "/openapi.json",
    "/docs/oauth2-redirect",
    "/healthz/x",
]


async def break_ledger(guard: World) -> None:
    """Take its file away; the next call is the first to notice."""
    guard.database.unlink()
    assert await guard.call() == Outcome.refusal(Reason.LEDGER_UNAVAILABLE)


@pytest.mark.parametrize("path", NOWHERE)
async def test_what_does_not_exist_is_a_page_on_the_network(guard: World, path: str) -> None:
    answer = await guard.network.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert "<h1>Not found</h1>" in answer.text
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", [*NOWHERE, "/", "/static/guard.css"])
async def test_what_does_not_exist_is_json_on_the_operators_socket(guard: World, path: str) -> None:
    answer = await guard.operator.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"].startswith("there is no such address")


@pytest.mark.parametrize("path", ["/<script>alert(1)</script>", "/%22onload=%22x", "/{{7*7}}", "/\u202etxt.exe"])
async def test_a_path_is_never_repeated_on_a_page(guard: World, path: str) -> None:
    answer = await guard.network.get(path)
    assert answer.status_code == 404
    assert (await guard.network.get("/nowhere")).text == answer.text


async def test_the_network_learns_no_status_of_the_operators(guard: World) -> None:
    assert (await guard.network.get("/api/v1/status")).status_code == 401
    status = (await guard.operator.get("/api/v1/status")).json()
    assert status["data_dir"] == str(guard.now.settings.data_dir)
    for path in ("/", "/healthz", "/readyz", "/nowhere"):
        assert_no_file_names(guard, (await guard.network.get(path)).text)


async def test_a_guard_that_can_record_says_that_it_is_ready(guard: World) -> None:
    for door in (guard.network, guard.operator):
        answer = await door.get("/readyz")
        assert (answer.status_code, answer.json()) == (200, {"status": "ready"})
    page = (await guard.network.get("/", headers=await browser(guard, Role.VIEWER))).text
    assert "All clear." in page
    assert 'role="alert"' not in page


async def test_a_guard_that_cannot_record_says_that_it_takes_no_calls(guard: World) -> None:
    by = await browser(guard, Role.VIEWER)
    await break_ledger(guard)
    for door in (guard.network, guard.operator):
        answer = await door.get("/readyz")
        assert answer.status_code == 503
        said = answer.json()
        assert said["status"] == "unavailable"
        assert said["reason"] == "ledger:unavailable"
        assert said["message"] == Reason.LEDGER_UNAVAILABLE.sentence
        assert said["next"] == Reason.LEDGER_UNAVAILABLE.next
        alive = await door.get("/healthz")
        assert (alive.status_code, alive.json()) == (200, {"status": "alive"})
    page = await guard.network.get("/", headers=by)
    assert page.status_code == 200
    assert "<b>Calls are blocked: the audit log cannot be written.</b>" in page.text
    assert "Audit log: not recording" in page.text


async def test_only_the_operator_learns_the_cause(guard: World) -> None:
    by = await browser(guard)
    await break_ledger(guard)
    cause = (await guard.operator.get("/readyz")).json()["cause"]
    assert cause == f"{guard.database} was removed or replaced while the guard had it open"
    assert (await guard.operator.get("/api/v1/status")).json()["ready"]["cause"] == cause
    for path in ("/", "/readyz", "/healthz", "/nowhere"):
        assert_no_file_names(guard, (await guard.network.get(path, headers=by)).text)


async def test_when_it_can_record_again_it_is_ready_again(guard: World) -> None:
    aside = guard.database.with_name("aside.db")
    guard.database.rename(aside)
    assert await guard.call() == Outcome.refusal(Reason.LEDGER_UNAVAILABLE)
    assert (await guard.network.get("/readyz")).status_code == 503
    aside.rename(guard.database)
    await guard.clock.advance(guard.now.settings.audit.probe_seconds)
    await guard.settle()
    assert (await guard.network.get("/readyz")).json() == {"status": "ready"}
    assert guard.verified().whole


def assert_no_file_names(guard: World, text: str) -> None:
    data_dir = guard.now.settings.data_dir
    for name in (str(data_dir), data_dir.parent.name, "mcpguard.db", ".sock", "audit.key"):
        assert name not in text
