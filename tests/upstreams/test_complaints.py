"""What a server's error says to the operator, in words of the guard's."""

import pytest

from mcpguard.upstreams.exchange.conversation import ServerError
from mcpguard.upstreams.protocol.error_sentences import error_sentence

CREDENTIALS = "the server answered with HTTP status 401: it requires credentials; add a header such as "
CREDENTIALS += "Authorization: Bearer ${env:TOKEN}"


@pytest.mark.parametrize(
    ("challenge", "more"),
    [
        ("", ""),
        ("Bearer", " (it requests a bearer token)"),
        ('BASIC realm="planted"', " (it requests user name and password)"),
        (
            'Bearer resource_metadata="https://planted.example/"',
            " (it requests a bearer token from OAuth, which mcpguard does not support)",
        ),
        ("planted", ""),
    ],
)
def test_credentials_are_asked_for_with_what_to_do_and_none_of_the_servers_words(challenge: str, more: str) -> None:
    data = {"status": 401} | ({"www_authenticate": challenge} if challenge else {})
    assert error_sentence(ServerError({"code": -32603, "message": "planted", "data": data})) == CREDENTIALS + more


@pytest.mark.parametrize(
    ("status", "word"), [(404, "check the path"), (405, "type: sse"), (503, "overloaded"), (418, "")]
)
def test_a_status_is_told_with_what_it_means(status: int, word: str) -> None:
    said = error_sentence(ServerError({"code": -32603, "message": "planted", "data": {"status": status}}))
    assert said.startswith(f"the server answered with HTTP status {status}")
    assert word in said
    assert (": " in said) is bool(word)


def test_another_error_is_told_by_its_code() -> None:
    assert (
        error_sentence(ServerError({"code": -32000, "message": "planted"}))
        == "the server answered with the error -32000"
    )
