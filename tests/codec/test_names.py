"""Names, wrapped URIs and cursors: what is made can be read, and what was not made is refused."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.codec import cursors, names, uris
from mcpguard.codec.cursors import BadCursor
from mcpguard.domain.errors import InvalidName

servers = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,62}", fullmatch=True).filter(names.is_server_name)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200)


@given(servers, texts)
def test_a_reference_is_split_at_the_first_colon(server: str, name: str) -> None:
    assert names.parse_reference(f"{server}:{name}") == (server, name)


@pytest.mark.parametrize("text", ["", ":", "a:", ":b", "a", "A:b", "a b:c", "a__b:c", "-a:b", "a" * 64 + ":b", "é:b"])
def test_what_names_no_tool_of_a_server_is_refused(text: str) -> None:
    with pytest.raises(InvalidName):
        names.parse_reference(text)


@given(texts)
def test_a_folded_label_is_a_server_name_and_folds_to_itself(label: str) -> None:
    try:
        name = names.server_name_for(label)
    except InvalidName:
        return
    assert names.is_server_name(name)
    assert names.server_name_for(name) == name


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("GitHub", "github"),
        ("My Server!", "my-server"),
        ("a__b", "a_b"),
        ("  x  ", "x"),
        ("é-1", "1"),
        ("A.B/c", "a-b-c"),
    ],
)
def test_labels_fold_as_one_would_expect(label: str, name: str) -> None:
    assert names.server_name_for(label) == name


@pytest.mark.parametrize("label", ["", "---", "日本", "__", "\u202e"])
def test_a_label_with_nothing_to_keep_is_refused(label: str) -> None:
    with pytest.raises(InvalidName):
        names.server_name_for(label)


@given(servers, texts)
def test_a_wrapped_uri_gives_back_what_was_wrapped(server: str, uri: str) -> None:
    assert uris.unwrap_uri(uris.wrap_uri(server, uri)) == (server, uri)


def token(value: object) -> str:
    return uris.PREFIX + base64.urlsafe_b64encode(json.dumps(value).encode()).decode()


def test_the_form_of_the_seed_with_padding_and_blanks_is_read_too() -> None:
    assert uris.unwrap_uri(token({"server": "a", "uri": "file:///x"})) == ("a", "file:///x")


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "file:///etc/passwd",
        uris.PREFIX,
        uris.PREFIX + "!!!",
        uris.PREFIX + "e30",
        uris.PREFIX + "A" * 20_000,
        "PROXY://resource/e30",
        token({"server": "a"}),
        token({"server": "a", "uri": ""}),
        token({"server": "A B", "uri": "x"}),
        token({"server": "a", "uri": "x", "more": 1}),
        token({"server": 1, "uri": "x"}),
        token(["a", "x"]),
        uris.PREFIX + base64.urlsafe_b64encode(b'{"server":"a","server":"b","uri":"x"}').decode(),
        uris.PREFIX + base64.urlsafe_b64encode(b'{"server":"a","uri":"\\ud800"}').decode(),
    ],
)
def test_a_uri_that_is_not_of_the_form_is_refused(uri: str) -> None:
    with pytest.raises(InvalidName):
        uris.unwrap_uri(uri)


@given(st.integers(0, cursors.MOST - 1))
def test_a_cursor_gives_back_its_offset(offset: int) -> None:
    assert cursors.decode(cursors.encode(offset)) == offset


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "e30=", "é", cursors.encode(-1), cursors.encode(cursors.MOST), "A" * 100]
    + [
        base64.b64encode(raw).decode()
        for raw in (
            b'{"offset":1.5}',
            b'{"offset":true}',
            b'{"offset":"1"}',
            b'{"offset":1,"x":2}',
            b"[1]",
            b"1",
            b"null",
        )
    ],
)
def test_what_is_no_cursor_of_ours_is_refused(cursor: str) -> None:
    with pytest.raises(BadCursor):
        cursors.decode(cursor)
