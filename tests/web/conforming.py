"""Whether an answer is what the document of the API says: its status, its type, its headers and its members."""

import re
from functools import cache
from typing import Any

import httpx2
from jsonschema_rs import Draft202012Validator

from mcpguard.web.api.openapi import document
from tests.web.rest import bare

JSON = "application/json"
PROBLEM = "application/problem+json"


@cache
def api() -> dict[str, Any]:
    return document(bare())


@cache
def _places() -> list[tuple[re.Pattern[str], str]]:
    """What each path looks like; those that name more first."""
    paths = sorted(api()["paths"], key=lambda path: path.count("{"))
    return [(re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path))), path) for path in paths]


@cache
def _validator(path: str, method: str, status: str, kind: str) -> Draft202012Validator:
    schema = api()["paths"][path][method]["responses"][status]["content"][kind]["schema"]
    return Draft202012Validator({**schema, "components": api()["components"]})


def conforms(answer: httpx2.Response) -> None:
    """Raises AssertionError for an answer that is not in the document; says nothing of addresses that are not."""
    method, asked = answer.request.method.lower(), answer.request.url.path
    path = next((path for form, path in _places() if form.fullmatch(asked)), None)
    if path is None or method not in api()["paths"][path]:
        return
    case = f"{method} {path} {answer.status_code}: {answer.text[:500]}"
    said = api()["paths"][path][method]["responses"].get(str(answer.status_code))
    assert said is not None, case
    for name in said.get("headers", {}):
        assert name in answer.headers, f"{case} has no {name}"
    if "content" not in said:
        assert not answer.content, case
        return
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in said["content"], f"{case} is {kind}"
    if kind in (JSON, PROBLEM):
        errors = list(_validator(path, method, str(answer.status_code), kind).iter_errors(answer.json()))
        assert not errors, (case, [(str(each.instance_path), each.message) for each in errors[:3]])
