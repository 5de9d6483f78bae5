"""What is generated from the document of the API, sent to a guard that runs: every answer is in the document.

The examples are always the same. What they send is of the right form and of wrong ones, about a server that is there
and about others; nothing of it may end in a failure of ours.
"""

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy
from schemathesis import GenerationMode
from schemathesis.checks import (
    allow_header_conformance,
    content_type_conformance,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from mcpguard.web.api.openapi import document
from tests.patience import PATIENCE
from tests.process import run, serving
from tests.web.rest import API, bare

CHECKS = [
    allow_header_conformance,
    content_type_conformance,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
]
THERE = "demo-notes"
API_DOCUMENT = json.loads(json.dumps(document(bare())))
SCHEMA = schemathesis.openapi.from_dict(API_DOCUMENT)
FOUND: list[Any] = [*SCHEMA.get_all_operations()]
OPERATIONS = {f"{each.ok().method} {each.ok().path}": each.ok() for each in FOUND}
EXAMPLES = settings(
    max_examples=6, derandomize=True, database=None, deadline=None, suppress_health_check=[*HealthCheck]
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, requests.Session]]:
    """The URL of a guard with two servers, and an admin's program at it."""
    folder = tmp_path_factory.mktemp("schemathesis")
    with serving(folder, "--demo") as guard, requests.Session() as session:
        made = run("operator", "add", "ci", "--role", "admin", "-o", "json", "--data-dir", folder)
        session.trust_env = False
        session.headers["authorization"] = f"Bearer {json.loads(made.stdout)['token']}"
        assert session.get(f"{guard.url}{API}/servers/{THERE}").status_code == 200
        yield guard.url, session


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_answer_is_in_the_document(program: tuple[str, requests.Session], name: str) -> None:
    url, session = program
    operation = OPERATIONS[name]
    places: list[dict[str, Any]] = [{}]
    if "{server}" in name and operation.method in ("get", "post"):
        places.append({"path_parameters": {"server": THERE}})
    raw = API_DOCUMENT["paths"][operation.path][operation.method]
    modes = GenerationMode if raw["parameters"] or "requestBody" in raw else [GenerationMode.POSITIVE]
    for mode, place in product(modes, places):
        asked = place and mode is GenerationMode.POSITIVE and "decisions" in (operation.tags or ())
        tries(operation.as_strategy(generation_mode=mode, **place), url, session, shown=bool(asked))


def tries(cases: SearchStrategy[Any], url: str, session: requests.Session, *, shown: bool) -> None:
    """Send them; `shown`: with the tag of what stands now."""

    @EXAMPLES
    @given(cases)
    def tried(case: Any) -> None:  # noqa: ANN401 - of a generic class
        if shown:
            case.headers["If-Match"] = session.get(f"{url}{API}/servers/{THERE}").headers["etag"]
        answer = case.call(base_url=url, session=session, timeout=PATIENCE)
        case.validate_response(answer, checks=CHECKS)

    tried()


def test_the_examples_reach_everything(program: tuple[str, requests.Session]) -> None:
    """After all of that the guard is there, and has recorded what was done."""
    url, session = program
    assert session.get(f"{url}{API}/status").json()["ready"]["ready"] is True
    kinds = {record["content"]["kind"] for record in session.get(f"{url}{API}/records?limit=1000").json()["records"]}
    assert {"admitted", "operator"} <= kinds, kinds
