"""The document of the API: an OpenAPI document that says everything, and the page that is made from it."""

import json
import re
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from mcpguard.domain.people import Right
from mcpguard.ledger.export.formats import FORMS
from mcpguard.web.api.openapi import PROBLEM, WHEN, routes_with_needs
from mcpguard.web.api.reference import groups
from mcpguard.web.gate.security import SECURITY_HEADERS
from tests.web.conforming import api
from tests.web.rest import API, bare
from tests.world import World

pytestmark = pytest.mark.anyio
OPERATIONS = [(path, method, one) for path, each in api()["paths"].items() for method, one in each.items()]


async def test_both_doors_serve_it_to_everybody(guard: World) -> None:
    for door in (guard.network, guard.operator):
        answer = await door.get(f"{API}/openapi.json")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
        assert answer.json() == json.loads(json.dumps(api()))
    assert answer.json()["openapi"].startswith("3.1")


def test_every_route_is_in_it_once_with_its_right_and_a_name_of_its_own() -> None:
    there = {(method.upper(), path): one["x-right"] for path, method, one in OPERATIONS}
    routes = {(method, path): needs.right for method, path, needs in routes_with_needs(bare())}
    assert routes.pop(("GET", "/metrics")) is Right.LOOK, "it has a form of its own, and is none of the API's"
    assert there == routes
    names = [one["operationId"] for _, _, one in OPERATIONS]
    assert len(names) == len({*names})
    assert {one["x-right"] for _, _, one in OPERATIONS} == {None, *Right}


def test_every_operation_says_what_it_does_and_what_it_answers() -> None:
    for path, method, one in OPERATIONS:
        case = f"{method} {path}"
        assert re.fullmatch(r"[A-Z][^.]{10,}", one["summary"]), case
        assert one["tags"], case
        good = {status: answer for status, answer in one["responses"].items() if status < "400"}
        assert len(good) == 1, case
        ((status, answer),) = good.items()
        if path == f"{API}/records/export":
            assert {each.media for each in FORMS} < {*answer["content"]}, case
        elif status != "204" and path != f"{API}/docs":
            schema = answer["content"]["application/json"]["schema"]
            assert "$ref" in schema or schema.get("type") == "array" or path == f"{API}/openapi.json", case
        for status, answer in one["responses"].items():
            assert answer["description"], case
            if status >= "400":
                assert answer["description"] == WHEN[int(status)], case
                assert {*answer["content"]} == {"application/problem+json"}, case
        assert one["security"] == ([{"operatorToken": []}, {"session": []}] if one["x-right"] else []), case
        assert not [name for name in one if name.startswith("x-") and name != "x-right"], case
        assert all(each.get("description") or each["name"] in PLAIN for each in one["parameters"]), case


PLAIN = {
    "server",
    "kind",
    "name",
    "caller",
    "user",
    "token",
    "session",
    "revision",
    "limit",
    "before",
    "after",
    "ticket",
    "allowance",
    "script",
}
"""Parameters whose names say what they are."""


def test_decisions_about_what_is_there_name_what_they_rest_on() -> None:
    for path, method, one in OPERATIONS:
        headers = {each["name"]: each["required"] for each in one["parameters"] if each["in"] == "header"}
        rests = one["x-right"] == "decide" and "{" in path
        assert headers.get("If-Match") is (True if rests else None), (method, path)
        assert ("412" in one["responses"], "428" in one["responses"]) == (rests, rests)


def test_what_is_answered_has_exactly_the_members_that_it_names() -> None:
    for name, schema in api()["components"]["schemas"].items():
        if "properties" in schema and name not in ("Status", "ServerStatus", *ELSEWHERE):
            assert schema["additionalProperties"] is False, name


ELSEWHERE = (
    "AnchorStatus",
    "InspectionStatus",
    "LedgerStatus",
    "Readiness",
    "SandboxStatus",
    "ShownChange",
    "ShownSpan",
)
"""Values of the guard's that are shown as they are."""


def test_every_example_has_the_form_of_what_it_is_an_example_of() -> None:
    found = 0
    for schema in api()["components"]["schemas"].values():
        validator = Draft202012Validator({**schema, "components": api()["components"]})
        for example in schema.get("examples", ()):
            validator.validate(example)
            found += 1
    assert found >= len(SENT) + 1
    for name in SENT:
        assert api()["components"]["schemas"][name]["examples"], name
    assert PROBLEM["examples"]


SENT = ("Wanted", "Added", "Approving", "Granted", "TokenAdded", "Why")


def test_nothing_in_it_is_of_this_guard_or_of_this_machine() -> None:
    text = json.dumps(api())
    for word in ("/tmp", "/root", "/home", "127.0.0.1", "localhost"):  # noqa: S108 - not to be found
        assert word not in text


# The page.


async def test_the_page_shows_every_route_and_needs_no_script(guard: World) -> None:
    answer = await guard.network.get(f"{API}/docs")
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"] == SECURITY_HEADERS["content-security-policy"]
    page = answer.text
    for path, method, one in OPERATIONS:
        assert f"<code>{method.upper()} {path}</code>" in page
        assert one["x-right"] is None or f"<dd>{one['x-right']}</dd>" in page
    assert re.findall(r"<script|style=|\son\w+=|javascript:|https?://", page) == []
    assert {*re.findall(r'(?:href|src)="([^"#]+)"', page)} <= {
        *("data:,", "/", "/static/guard.css", f"{API}/openapi.json", "/login"),
    }


def test_what_the_page_shows_is_escaped() -> None:
    """Nothing in the document is anybody else's; if that changes one day, it is inert."""
    hostile: dict[str, Any] = json.loads(json.dumps(api()).replace("List the servers", "<script>alert(1)</script>"))
    from mcpguard import assets  # noqa: PLC0415 - only here
    from mcpguard.web.views import PageViews  # noqa: PLC0415 - only here

    page = PageViews(assets.webui() / "templates").page("api.html", groups=groups(hostile))
    assert b"&lt;script&gt;alert(1)&lt;/script&gt;" in page.body
    assert b"<script" not in page.body
