"""What a server's error says to the operator, in words of the guard's."""

import pytest

from mcpguard.upstreams.exchange.conversation import ServerError
from mcpguard.upstreams.protocol.error_sentences import sentence

CREDENTIALS = "the server answered with HTTP status 401: it wants credentials; declare a header for it, as in "
CREDENTIALS += "--header 'Authorization=Bearer ${env:TOKEN}'"


@pytest.mark.parametrize(
    ("challenge", "more"),
    [
        ("", ""),
        ("Bearer", " (it asks for a token)"),
        ('BASIC realm="planted"', " (it asks for a name and a password)"),
        (
            'Bearer resource_metadata="https://planted.example/"',
            " (it asks for a token, which it says can be had by OAuth; mcpguard does not fetch one)",
        ),
        ("planted", ""),
    ],
)
def test_credentials_are_asked_for_with_what_to_do_and_none_of_the_servers_words(challenge: str, more: str) -> None:
    data = {"status": 401} | ({"www_authenticate": challenge} if challenge else {})
    assert sentence(ServerError({"code": -32603, "message": "planted", "data": data})) == CREDENTIALS + more


@pytest.mark.parametrize(("status", "word"), [(404, "path of the URL"), (405, "type: sse"), (503, "busy"), (418, "")])
def test_a_status_is_told_with_what_it_means(status: int, word: str) -> None:
    said = sentence(ServerError({"code": -32603, "message": "planted", "data": {"status": status}}))
    assert said.startswith(f"the server answered with HTTP status {status}")
    assert word in said
    assert (": " in said) is bool(word)


def test_another_error_is_told_by_its_code() -> None:
    assert sentence(ServerError({"code": -32000, "message": "planted"})) == "the server answered with the error -32000"
