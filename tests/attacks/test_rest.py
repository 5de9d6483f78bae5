"""Whoever tries the API: with other methods, two meanings, much, deep, hidden and foreign. Nothing comes of it."""

import json
from collections.abc import Iterable
from typing import Any

import pytest

from mcpguard.domain.people import Role
from tests import people
from tests.web.conforming import conforms
from tests.web.everybody import standing
from tests.web.raw import Answer, app_of, ask, endless
from tests.web.rest import API, browser, program
from tests.web.reviewing import HONEST, WHY, add, problem
from tests.world import PORT, World

pytestmark = pytest.mark.anyio
OURS = ("host", f"127.0.0.1:{PORT}")
JSON = ("content-type", "application/json")
NOTES = f"{API}/servers/notes"
SECRET = "hunter2-hunter2"  # noqa: S105 - nobody's


async def raw(
    guard: World, method: str, path: str, by: dict[str, str], *more: tuple[str, str], body: Iterable[bytes] = ()
) -> Answer:
    """A request as it is; every refusal of it is a problem."""
    answer = await ask(app_of(guard.network), [OURS, *by.items(), *more], path, method, body)
    headers = dict(answer.headers)
    assert headers["cache-control"] == "no-store", answer
    assert not [name for name in headers if name.startswith("access-control-")]
    if answer.status >= 400 and method != "HEAD":
        assert headers["content-type"] == "application/problem+json", answer
        said = json.loads(answer.body)
        assert said["status"] == answer.status
        assert SECRET not in answer.body.decode()
    return answer


@pytest.fixture
async def admin(guard: World) -> dict[str, str]:
    await add(guard)
    return await program(guard)


@pytest.mark.parametrize("name", ["x-http-method-override", "x-http-method", "x-method-override", "_method"])
async def test_a_method_is_what_it_is(guard: World, admin: dict[str, str], name: str) -> None:
    before = await standing(guard)
    viewer = await program(guard, Role.VIEWER, "viewer")
    for by in (admin, viewer):
        shown = await guard.network.get(
            NOTES, headers=by | {name: "DELETE"}, params={"revision": 1, "_method": "DELETE"}
        )
        assert shown.json()["name"] == "notes"
    assert (await raw(guard, "POST", NOTES, admin, (name, "DELETE"), JSON, body=[b"_method=DELETE"])).status == 405
    assert (await standing(guard))[:4] == before[:4]


async def test_other_methods_are_told_which_there_are(guard: World, admin: dict[str, str]) -> None:
    before = await standing(guard)
    for method in ("OPTIONS", "PUT", "TRACE", "CONNECT", "LINK", "BREW", "get"):
        answer = await raw(guard, method, NOTES, admin)
        assert answer.status == 405, method
        assert {*dict(answer.headers)["allow"].split(", ")} == {"GET", "PATCH", "DELETE", "HEAD"}
        assert (await raw(guard, method, f"{API}/nowhere", admin)).status == 404
    preflight = ("origin", "http://rebound.example"), ("access-control-request-method", "DELETE")
    assert (await raw(guard, "OPTIONS", NOTES, {}, *preflight)).status == 403
    assert await standing(guard) == before


async def test_head_is_get_without_its_body(guard: World, admin: dict[str, str]) -> None:
    for path, status in ((NOTES, 200), (f"{API}/servers/none", 404), (f"{API}/nowhere", 404)):
        head, get = await raw(guard, "HEAD", path, admin), await raw(guard, "GET", path, admin)
        assert (head.status, head.body, get.status) == (status, b"", status)
        assert get.body
        one, other = ({name: value for name, value in each.headers if name != "x-request-id"} for each in (head, get))
        assert one == other
    assert (await raw(guard, "HEAD", NOTES, {})).status == 401


TWICE = [
    b'{"why": "a", "why": "b"}',
    b'{"why": "a", "w\\u0068y": "b"}',
    b'{"why": "a"} {"why": "b"}',
    b'\xef\xbb\xbf{"why": "a"}',
    '{"why": "a"}'.encode("utf-16"),
    b'{"why": "\\ud800"}',
    b'{"why": NaN}',
    b'{"why": "a",}',
    b"[" * 100_000,
    b'{"why":' * 200 + b"1" + b"}" * 200,
    b'{"why": ' + b"9" * 5000 + b"}",
    b"",
    b"null",
    b'"why"',
    b"[]",
]


@pytest.mark.parametrize("body", TWICE, ids=lambda body: repr(body[:40]))
async def test_a_body_that_means_nothing_or_two_things_does_nothing(
    guard: World, admin: dict[str, str], body: bytes
) -> None:
    etag = (await guard.network.get(NOTES, headers=admin)).headers["etag"]
    before = await standing(guard)
    for path in (f"{NOTES}/block", f"{API}/call", f"{API}/callers"):
        answer = await raw(guard, "POST", path, admin, JSON, ("if-match", etag), body=[body])
        assert answer.status in (400, 422)
    assert await standing(guard) == before


@pytest.mark.parametrize(
    "kind",
    [
        [],
        [("content-type", "text/plain")],
        [("content-type", "application/x-www-form-urlencoded")],
        [("content-type", "multipart/form-data; boundary=x")],
        [("content-type", "application/jsonp")],
        [("content-type", "application/problem+json")],
        [JSON, ("content-encoding", "gzip")],
    ],
)
async def test_a_body_of_another_type_is_refused(
    guard: World, admin: dict[str, str], kind: list[tuple[str, str]]
) -> None:
    """So that no form of a foreign page is taken for a request of ours, whatever else protects from that."""
    before = await standing(guard)
    body = json.dumps({"why": WHY, "name": SECRET}).encode()
    for path in (f"{NOTES}/block", f"{API}/callers"):
        assert (await raw(guard, "POST", path, admin, *kind, body=[body])).status == 415
    assert await standing(guard) == before


async def test_a_body_that_is_too_long_is_not_read_and_nobodys_is_not_either(
    guard: World, admin: dict[str, str]
) -> None:
    limit = guard.now.settings.limits.body_bytes
    answer = await raw(guard, "POST", f"{API}/call", admin, JSON, ("content-length", str(10**12)), body=endless())
    assert (answer.status, answer.taken) == (413, 0)
    answer = await raw(guard, "POST", f"{API}/call", admin, JSON, body=endless())
    assert answer.status == 413
    assert answer.taken <= limit + 1000
    for by in ({}, await program(guard, Role.AUDITOR, "auditor")):
        answer = await raw(guard, "POST", f"{API}/call", by, JSON, body=endless())
        assert (answer.status, answer.taken) == (403 if by else 401, 0)


async def test_a_foreign_host_or_page_gets_nothing(guard: World, admin: dict[str, str]) -> None:
    before = await standing(guard)
    for host in ("rebound.example", "", f"127.0.0.1:{PORT + 1}"):
        answer = await ask(app_of(guard.network), [("host", host), *admin.items()], NOTES)
        assert answer.status == 421
        assert dict(answer.headers)["content-type"] == "application/problem+json"
        assert b"rebound" not in answer.body
    for origin in ("http://rebound.example", "null", f"https://127.0.0.1:{PORT}", f"http://127.0.0.1:{PORT}.evil"):
        for method, path in (("GET", NOTES), ("GET", f"{API}/openapi.json"), ("POST", f"{NOTES}/block")):
            assert (await raw(guard, method, path, admin, ("origin", origin))).status == 403
    assert await standing(guard) == before


@pytest.mark.parametrize(
    "name",
    [
        "..",
        ".",
        "%2e%2e",
        "notes%2Fblock",
        "notes%00",
        "no%74es",
        "notes%0a",
        "NOTES",
        "nötes",
        "n\u200botes",
        "notes.",
        "notes;x",
        "notes//",
        "x" * 5000,
        "' OR 1=1 --",
        "{{7*7}}",
        "<script>",
        "notes/../notes",
        "\x00",
    ],
)
async def test_a_path_has_one_way_to_be_written(guard: World, admin: dict[str, str], name: str) -> None:
    before = await standing(guard)
    for path in (f"{API}/servers/{name}", f"{API}/servers/{name}/capability/diff", f"{API}/servers/{name}/block"):
        for method in ("GET", "POST", "DELETE"):
            answer = await raw(guard, method, path, admin, JSON, body=[b"{}"])
            assert answer.status in (404, 405, 422, 428), (method, path)
            for word in ("script", "7*7", "1=1", "nötes"):
                assert word not in answer.body.decode(), "nothing that was sent is repeated"
    for path in (
        f"{API}//servers",
        f"{API}/servers/",
        "/api/v2/servers",
        "/api/",
        "/api",
        "/api/v1",
    ):
        assert (await raw(guard, "GET", path, admin)).status == 404
    assert await standing(guard) == before


async def test_nothing_that_was_sent_is_repeated(guard: World, admin: dict[str, str]) -> None:
    """In whatever place, and whatever is wrong with it."""
    key = {"if-match": f'"{SECRET}"'}
    sent: list[tuple[str, str, Any]] = [
        ("POST", "/servers", {"name": SECRET.upper() + "_" * 3, "config": {"command": 5, "env": {"X": SECRET}}}),
        ("POST", "/servers", {"name": "x", "config": {"command": "x", "env": SECRET}}),
        ("POST", "/servers", {"name": "x", "config": SECRET}),
        ("POST", "/callers", {"name": SECRET + " ", "why": "x"}),
        ("POST", "/callers", {"name": "x", "servers": ["[" + SECRET]}),
        ("POST", "/call", {"caller": SECRET, "name": f"x:{SECRET}", "arguments": SECRET}),
        ("POST", "/explain", {"caller": SECRET, "name": f"x:{SECRET}"}),
        ("POST", "/users", {"name": SECRET + " ", "role": SECRET, "password": SECRET}),
        ("POST", "/users", {"name": "ada", "role": "admin", "password": [SECRET]}),
        ("POST", f"/users/{SECRET}/password", {"password": SECRET}),
        ("POST", f"/operators/{SECRET}/revoke", {}),
        ("POST", f"/servers/{SECRET}/block", {"why": SECRET}),
        ("POST", "/servers/notes/approve", {"why": SECRET, "seen": SECRET}),
        ("POST", "/servers/notes/block", {"why": SECRET}),
        ("POST", "/settings/confirm", {"values": SECRET}),
        ("GET", f"/servers/notes/capability?kind=tool&name={SECRET}", None),
        ("GET", f"/servers/notes/capability?kind={SECRET}&name=x", None),
        ("GET", f"/search?q=x&caller={SECRET}", None),
        ("GET", f"/servers?cursor={SECRET}&limit={SECRET}", None),
    ]
    for method, path, body in sent:
        answer = await guard.network.request(method, API + path, json=body, headers=admin | key)
        conforms(answer)
        assert answer.status_code in range(400, 500), (method, path, answer.text)
        assert SECRET not in answer.text, (method, path, answer.text)
    assert SECRET not in json.dumps(guard.said())


async def test_a_token_that_is_revoked_is_nobodys_at_once(guard: World, admin: dict[str, str]) -> None:
    auditor = await program(guard, Role.AUDITOR, "auditor")
    assert (await guard.network.get(f"{API}/records", headers=auditor)).status_code == 200
    token = next(token for token in guard.now.guard.people.tokens() if token.name == "auditor")
    await guard.network.post(f"{API}/operators/{token.id}/revoke", json={}, headers=admin)
    answer = await guard.network.get(f"{API}/records", headers=auditor)
    assert problem(answer, 401)["type"] == "urn:mcpguard:unauthorized"
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


async def test_who_is_signed_out_or_has_another_role_is_so_at_once(guard: World) -> None:
    await add(guard)
    by = await browser(guard, Role.APPROVER)
    await people.user(guard, "root", Role.ADMIN)
    assert (await guard.network.get(NOTES, headers=by)).status_code == 200
    await guard.now.guard.users.role("ada", Role.VIEWER, people.BY)
    assert (await guard.network.get(f"{API}/records", headers=by)).status_code == 401
    by |= people.shows(await people.cookie(guard))
    problem(await guard.network.get(f"{API}/records", headers=by), 403)
    await guard.now.guard.users.sign_out("ada", people.BY)
    problem(await guard.network.get(NOTES, headers=by), 401)


async def test_an_agent_that_is_anonymous_is_nobody_here(guard: World) -> None:
    """However much the settings let agents do that show no token."""
    assert guard.now.guard.callers.anonymous is not None
    for path in ("/servers", "/status", "/search?q=x", "/callers"):
        problem(await guard.network.get(API + path), 401)
    problem(await guard.network.post(f"{API}/call", json={"caller": "anonymous", "name": "x:y"}), 401)
    problem(await guard.network.post(f"{API}/servers", json={"name": "x", "config": HONEST}), 401)
    assert [*guard.now.guard.servers.every()] == []
