"""What every network request passes before it reaches a page."""

import re
from pathlib import Path

import pytest
from fastapi import Body, FastAPI, Request
from starlette.types import ASGIApp

from mcpguard.web.gate.security import SECURITY_HEADERS, BodyLimit
from tests.web.raw import Answer, app_of, ask, endless
from tests.world import PORT, World, world

pytestmark = pytest.mark.anyio
OURS = ("host", f"127.0.0.1:{PORT}")
LIMIT = 4096

FOREIGN = [
    "",
    "rebound.example",
    f"rebound.example:{PORT}",
    "127.0.0.1",
    "localhost",
    f"127.0.0.1:{PORT + 1}",
    f"127.0.0.1:0{PORT}",
    f"127.0.0.1:{PORT}.",
    f"127.0.0.1.:{PORT}",
    f"localhost.:{PORT}",
    f"localhost.rebound.example:{PORT}",
    f"rebound.example.localhost:{PORT}",
    f"somebody@127.0.0.1:{PORT}",
    f"127.0.0.1:{PORT}@rebound.example",
    f"127.0.0.1:{PORT}/../rebound.example",
    f"127.0.0.1:{PORT},rebound.example",
    f"127.0.0.1:{PORT} rebound.example",
    f"http://127.0.0.1:{PORT}",
    f"127.1:{PORT}",
    f"0.0.0.0:{PORT}",
    f"0x7f.0.0.1:{PORT}",
    f"2130706433:{PORT}",
    f"127.0.0.2:{PORT}",
    f"::1:{PORT}",
    f"[::]:{PORT}",
    f"[::ffff:127.0.0.1]:{PORT}",
    f"[::1%25lo]:{PORT}",
    f"127.0.0.1:{PORT}\x00",
    f"\xa0127.0.0.1:{PORT}",
]


def values(answer: Answer, name: str) -> list[str]:
    return [value for each, value in answer.headers if each == name]


@pytest.mark.parametrize("host", FOREIGN)
async def test_a_foreign_host_gets_nothing(guard: World, host: str) -> None:
    app = app_of(guard.network)
    for path in ("/", "/healthz", "/static/guard.css", "/nowhere"):
        answer = await ask(app, [("host", host)], path, body=endless())
        assert (answer.status, answer.taken) == (421, 0)
        assert b"guard is running" not in answer.body
        assert b"rebound" not in answer.body, "what is foreign is not repeated"


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [OURS, OURS],
        [OURS, ("host", "rebound.example")],
        [("host", "rebound.example"), OURS],
        [("x-forwarded-host", OURS[1])],
        [("host", "rebound.example"), ("x-forwarded-host", OURS[1]), ("forwarded", f"host={OURS[1]}")],
    ],
)
async def test_no_host_or_more_than_one_gets_nothing(guard: World, headers: list[tuple[str, str]]) -> None:
    assert (await ask(app_of(guard.network), headers)).status == 421


@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", f"LocalHost:{PORT}", f"LOCALHOST:{PORT}", f"[::1]:{PORT}"])
async def test_our_own_hosts_are_answered(guard: World, host: str) -> None:
    assert (await ask(app_of(guard.network), [("host", host)])).status == 303


async def test_the_setting_names_further_hosts_exactly(tmp_path: Path) -> None:
    async with world(tmp_path, hosts=["Guard.Example", "guard.example:444"], listen="127.0.0.7:0") as guard:
        app = app_of(guard.network)
        for host in ("guard.example", "GUARD.example:444", f"127.0.0.7:{PORT}"):
            assert (await ask(app, [("host", host)])).status == 303, host
        for host in ("guard.example:80", f"guard.example:{PORT}", "www.guard.example", "guard.example.", "127.0.0.7"):
            assert (await ask(app, [("host", host)])).status == 421, host


async def test_where_a_proxy_speaks_tls_pages_are_ours_by_https_and_nowhere_else(tmp_path: Path) -> None:
    async with world(tmp_path, hosts=["https://guard.example", "plain.example"]) as guard:
        app = app_of(guard.network)

        async def turned_away(host: str, origin: str, *more: tuple[str, str]) -> bool:
            headers = [("host", host), ("origin", origin), ("content-length", "0"), *more]
            return (await ask(app, headers, "/login", method="POST")).status == 403

        assert not await turned_away("guard.example", "https://guard.example")
        assert await turned_away("guard.example", "http://guard.example")
        assert await turned_away("guard.example", "https://plain.example")
        for host in ("plain.example", f"127.0.0.1:{PORT}"):
            assert not await turned_away(host, f"http://{host}")
            assert await turned_away(host, f"https://{host}", ("x-forwarded-proto", "https")), "no header decides that"
        assert (await ask(app, [("host", "https://guard.example")])).status == 421


@pytest.mark.parametrize(
    ("status", "method", "path", "headers"),
    [
        (303, "GET", "/", [OURS]),
        (200, "GET", "/login", [OURS]),
        (200, "HEAD", "/static/guard.css", [OURS]),
        (200, "GET", "/healthz", [OURS]),
        (200, "GET", "/readyz", [OURS]),
        (404, "GET", "/nowhere", [OURS]),
        (404, "GET", "/static/nothing.css", [OURS]),
        (404, "GET", "/static/\x00", [OURS]),
        (404, "GET", "/static/../templates/base.html", [OURS]),
        (405, "DELETE", "/", [OURS]),
        (405, "BREW", "/", [OURS]),
        (413, "POST", "/", [OURS, ("content-length", str(10**12))]),
        (421, "GET", "/", [("host", "rebound.example")]),
    ],
)
async def test_every_answer_says_what_browsers_must_be_told(
    guard: World, status: int, method: str, path: str, headers: list[tuple[str, str]]
) -> None:
    answer = await ask(app_of(guard.network), headers, path, method)
    assert answer.status == status
    for name, value in SECURITY_HEADERS.items():
        assert values(answer, name) == [value], name
    policy = values(answer, "content-security-policy")[0]
    assert policy.startswith("default-src 'none'; ")
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy
    assert values(answer, "server") == values(answer, "x-powered-by") == []
    assert not [name for name, _ in answer.headers if name.startswith("access-control-")]


@pytest.mark.parametrize("door", ["network", "operator"])
async def test_the_request_id_is_ours_whatever_the_client_says(guard: World, door: str) -> None:
    theirs = "11111111-1111-7111-8111-111111111111"
    seen = set()
    for path in ("/healthz", "/nowhere", "/"):
        answer = await ask(
            app_of(getattr(guard, door)), [OURS, ("x-request-id", theirs), ("x-request-id", "\x1b[2J")], path
        )
        (given,) = values(answer, "x-request-id")
        assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", given)
        seen.add(given)
    assert len(seen) == 3
    assert theirs not in seen


# Bodies. No page takes one yet, so the gate stands before an application of the test that does.


def plain() -> ASGIApp:
    app = FastAPI()

    @app.post("/")
    async def measure(request: Request) -> int:
        return len(await request.body())

    return app


def parsing() -> ASGIApp:
    """FastAPI turns what goes wrong while it reads the body into an answer of its own."""
    app = FastAPI()

    @app.post("/")
    async def measure(body: list[int] = Body()) -> int:  # noqa: B008 - FastAPI's form
        return len(body)

    return app


def catching() -> ASGIApp:
    """An application that does not let go of what goes wrong."""
    app = FastAPI()

    @app.exception_handler(Exception)
    async def swallow(_: Request, __: Exception) -> None:
        return None

    @app.post("/")
    async def measure(request: Request) -> int:
        try:
            return len(await request.body())
        except Exception:  # noqa: BLE001 - the point
            return -1

    return app


READERS = pytest.mark.parametrize("reader", [plain, parsing, catching], ids=lambda each: each.__name__)


@READERS
@pytest.mark.parametrize("said", [[], [("content-length", "10")], [("transfer-encoding", "chunked")]])
async def test_a_body_over_the_limit_is_refused_before_its_end(reader: object, said: list[tuple[str, str]]) -> None:
    assert callable(reader)
    answer = await ask(BodyLimit(reader(), LIMIT), said, method="POST", body=endless())
    assert (answer.status, answer.body) == (413, b"The body is larger than 4096 bytes.\n")
    assert LIMIT < answer.taken <= LIMIT + 1000


@READERS
@pytest.mark.parametrize(
    "length", [str(LIMIT + 1), "-1", "+1", "0x10", "1e3", "1.0", "ten", "", "²", "9" * 5000, "1,1"]
)
async def test_a_length_that_is_too_large_or_no_number_is_refused_at_once(reader: object, length: str) -> None:
    assert callable(reader)
    answer = await ask(BodyLimit(reader(), LIMIT), [("content-length", length)], method="POST", body=endless())
    assert (answer.status, answer.taken) == (413, 0)


async def test_a_body_at_the_limit_passes(guard: World) -> None:
    gate = BodyLimit(plain(), LIMIT)
    whole = [bytes(1024)] * 4
    for said in ([("content-length", str(LIMIT))], [("transfer-encoding", "chunked")], []):
        answer = await ask(gate, said, method="POST", body=whole)
        assert (answer.status, answer.body) == (200, b"4096")
    limit = guard.now.settings.limits.body_bytes
    assert (await ask(app_of(guard.network), [OURS, ("content-length", str(limit))], method="POST")).status == 405


@pytest.mark.parametrize("door", ["network", "operator"])
async def test_both_doors_have_the_gate(guard: World, door: str) -> None:
    too_much = str(guard.now.settings.limits.body_bytes + 1)
    answer = await ask(
        app_of(getattr(guard, door)), [OURS, ("content-length", too_much)], method="POST", body=endless()
    )
    assert (answer.status, answer.taken) == (413, 0)
    assert len(values(answer, "x-request-id")) == 1
