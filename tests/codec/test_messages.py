"""Messages: what goes in comes out, and what is not quite a message is none."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.codec.messages import (
    INVALID_REQUEST,
    PARSE_ERROR,
    BadMessage,
    Failure,
    Message,
    Notification,
    Request,
    Result,
    read,
    write,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)
objects = st.dictionaries(texts, values, max_size=4)
ids = texts | st.integers(-(2**53) + 1, 2**53 - 1)
methods = texts.filter(bool)
errors = st.builds(
    lambda code, message, data: {"code": code, "message": message, "data": data}, st.integers(), texts, values
)
messages = st.one_of(
    st.builds(Request, ids, methods, st.none() | objects),
    st.builds(Notification, methods, st.none() | objects),
    st.builds(Result, ids, objects),
    st.builds(Failure, st.none() | ids, errors),
)


def parsed(text: str | bytes) -> Message:
    return read(text.encode() if isinstance(text, str) else text, max_bytes=1_000_000)


@given(messages)
def test_a_message_comes_back_as_it_was(message: Message) -> None:
    written = write(message)
    assert b"\n" not in written
    assert parsed(written) == message


@given(objects)
def test_what_it_carries_is_equal_as_json(params: dict[str, Any]) -> None:
    said = {"jsonrpc": "2.0", "id": 1, "method": "m", "params": params}
    assert json.loads(write(parsed(json.dumps(said)))) == said


def test_nulls_unknown_fields_and_odd_numbers_are_kept() -> None:
    result = '{"x":null,"y":1e2,"z":-0.0,"big":123456789012345678901234567890,"_meta":{}}'
    text = '{"jsonrpc":"2.0","id":"a","result":' + result + "}"
    assert json.loads(write(parsed(text))) == json.loads(text)


@pytest.mark.parametrize("identifier", ["true", "false", "1.5", "1.0", "null", "[1]", "{}", "1e3", "9007199254740993"])
def test_an_odd_id_does_not_make_a_request_into_a_notification(identifier: str) -> None:
    with pytest.raises(BadMessage) as refused:
        parsed(f'{{"jsonrpc":"2.0","id":{identifier},"method":"tools/call","params":{{}}}}')
    assert (refused.value.code, refused.value.id) == (INVALID_REQUEST, None)


@pytest.mark.parametrize(
    ("text", "code", "identifier"),
    [
        ("", PARSE_ERROR, None),
        ("{", PARSE_ERROR, None),
        ('{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}', PARSE_ERROR, None),
        ('{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":NaN}}', PARSE_ERROR, None),
        ('{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":"\\ud800"}}', PARSE_ERROR, None),
        ('{"jsonrpc":"2.0","id":1,"method":"a","params":' + '{"x":' * 70 + "1" + "}" * 70 + "}", PARSE_ERROR, None),
        ("[]", INVALID_REQUEST, None),
        ('[{"jsonrpc":"2.0","id":1,"method":"a"}]', INVALID_REQUEST, None),
        ('"text"', INVALID_REQUEST, None),
        ('{"id":1,"method":"a"}', INVALID_REQUEST, 1),
        ('{"jsonrpc":"1.0","id":1,"method":"a"}', INVALID_REQUEST, 1),
        ('{"jsonrpc":2.0,"id":1,"method":"a"}', INVALID_REQUEST, 1),
        ('{"jsonrpc":"2.0","id":1}', INVALID_REQUEST, 1),
        ('{"jsonrpc":"2.0","id":1,"method":""}', INVALID_REQUEST, 1),
        ('{"jsonrpc":"2.0","id":1,"method":7}', INVALID_REQUEST, 1),
        ('{"jsonrpc":"2.0","id":1,"method":"a","params":[1]}', INVALID_REQUEST, 1),
        ('{"jsonrpc":"2.0","id":1,"method":"a","params":null}', INVALID_REQUEST, 1),
        ('{"jsonrpc":"2.0","id":1,"method":"a","result":{}}', INVALID_REQUEST, 1),
        ('{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}', INVALID_REQUEST, 1),
        ('{"jsonrpc":"2.0","id":1,"result":[]}', INVALID_REQUEST, 1),
        ('{"jsonrpc":"2.0","result":{}}', INVALID_REQUEST, None),
        ('{"jsonrpc":"2.0","id":1,"error":"x"}', INVALID_REQUEST, 1),
        ('{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"x"}}', INVALID_REQUEST, 1),
        ('{"jsonrpc":"2.0","id":true,"error":{"code":1,"message":"x"}}', INVALID_REQUEST, None),
    ],
)
def test_what_is_no_message_is_refused_with_the_code_of_the_specification(
    text: str, code: int, identifier: object
) -> None:
    with pytest.raises(BadMessage) as refused:
        parsed(text)
    assert (refused.value.code, refused.value.id) == (code, identifier)


def test_a_message_over_the_limit_is_refused() -> None:
    with pytest.raises(BadMessage, match="larger than 10 bytes"):
        read(b'{"jsonrpc":"2.0","method":"a"}', max_bytes=10)
