"""The net that answers are caught in has no holes."""

import httpx2
import pytest

from tests.web.conforming import conforms

FOUND = {"tools": [], "total": 0, "query": "x"}


def answered(status: int, body: object, path: str = "/api/v1/search") -> httpx2.Response:
    return httpx2.Response(status, json=body, request=httpx2.Request("GET", f"http://guard{path}"))


def test_an_answer_of_the_document_passes() -> None:
    conforms(answered(200, FOUND))
    conforms(answered(200, "whatever", "/healthz"))


@pytest.mark.parametrize(
    "answer",
    [
        answered(200, FOUND | {"more": 1}),
        answered(200, {"tools": []}),
        answered(200, FOUND | {"tools": [{}]}),
        answered(418, FOUND),
        answered(404, {"detail": "no type of a problem"}),
        answered(200, {}, "/api/v1/servers/notes"),
    ],
)
def test_an_answer_of_another_form_does_not(answer: httpx2.Response) -> None:
    with pytest.raises(AssertionError):
        conforms(answer)
