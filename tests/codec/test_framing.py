"""Framing: whatever way the bytes come in pieces, the messages are the same; and what cannot be understood ends."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.codec.framing import Decoder, Framing, FramingError, encode

LIMIT = 1000
messages = st.dictionaries(st.text(max_size=5), st.text(max_size=20) | st.integers(), max_size=4).map(
    lambda value: json.dumps(value).encode()
)


def fed(decoder: Decoder, data: bytes, sizes: list[int]) -> list[bytes]:
    """What comes out when the bytes come in pieces of these sizes, over and over."""
    found: list[bytes] = []
    at = turn = 0
    while at < len(data):
        size = sizes[turn % len(sizes)]
        found.extend(decoder.feed(data[at : at + size]))
        at, turn = at + size, turn + 1
    return found


@given(
    st.sampled_from(Framing),
    st.lists(messages, max_size=6),
    st.lists(st.integers(1, 40), min_size=1, max_size=5),
    st.sampled_from([b"", b"\n", b" \r\n\t"]),
)
def test_what_is_sent_arrives_however_it_is_cut(
    framing: Framing, sent: list[bytes], sizes: list[int], blank: bytes
) -> None:
    decoder = Decoder(LIMIT)
    assert fed(decoder, blank + b"".join(encode(one, framing) for one in sent), sizes) == sent
    assert decoder.framing == (framing if sent else None)


def test_blank_lines_and_carriage_returns_between_lines_mean_nothing() -> None:
    assert list(Decoder(LIMIT).feed(b'\n{"a":1}\r\n\n  \n[2]\n')) == [b'{"a":1}', b"[2]"]


@pytest.mark.parametrize(
    "head",
    [
        b"content-length: 2\r\n\r\n{}",
        b"CONTENT-LENGTH:2\r\n\r\n{}",
        b"Content-Type: application/json; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}",
        b"Content-Length: \t2 \t\r\nContent-Type: x\r\n\r\n{}",
    ],
)
def test_headers_that_are_understood(head: bytes) -> None:
    assert list(Decoder(LIMIT).feed(head)) == [b"{}"]


@pytest.mark.parametrize(
    "stream",
    [
        b"hello\n",
        b'"text"\n',
        b"\x00{}\n",
        b"\xef\xbb\xbf{}\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: +2\r\n\r\n{}",
        b"Content-Length: 0x2\r\n\r\n{}",
        b"Content-Length: 2, 2\r\n\r\n{}",
        b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        "Content-Length: \u0662\r\n\r\n{}".encode(),
        b"Content-Length: 99999999999999999999\r\n\r\n",
        b"Content-Length: 1001\r\n\r\n",
        b"Content-Type: x\r\n\r\n{}",
        b"Content-Length: 2\r\nX-Other: 1\r\n\r\n{}",
        b"Content-Length: 2\r\n continued\r\n\r\n{}",
        b"Content-Length\r\n\r\n{}",
        b"c" * 2000,
        b"Content-Length: 2\n\n" + b" " * 2000,
        b"{" * 1001,
        b'{"a":"' + b"x" * 2000 + b'"}\n',
    ],
)
@pytest.mark.parametrize("size", [1, 7, 5000])
def test_what_cannot_be_understood_is_refused(stream: bytes, size: int) -> None:
    with pytest.raises(FramingError):
        fed(Decoder(LIMIT), stream, [size])


@pytest.mark.parametrize(
    ("first", "then"), [(b"{}\n", b"Content-Length: 2\r\n\r\n{}\n"), (b"Content-Length: 2\r\n\r\n{}", b"{}\n")]
)
def test_the_form_is_decided_once(first: bytes, then: bytes) -> None:
    decoder = Decoder(LIMIT)
    assert list(decoder.feed(first)) == [b"{}"]
    framing = decoder.framing
    if framing is Framing.LINES:
        assert b"{}" in list(decoder.feed(then))  # lines that are no messages are the reader's to refuse
    else:
        with pytest.raises(FramingError):
            list(decoder.feed(then + b"\r\n\r\n"))
    assert decoder.framing is framing


def test_a_message_of_exactly_the_limit_passes_and_one_more_byte_does_not() -> None:
    for framing in Framing:
        body = b"[" + b"1" * (LIMIT - 2) + b"]"
        assert list(Decoder(LIMIT).feed(encode(body, framing))) == [body]
        with pytest.raises(FramingError):
            list(Decoder(LIMIT).feed(encode(body + b" ", framing)[:-1] + b"]\n"))


def test_a_long_line_costs_in_proportion_to_its_length() -> None:
    """Looking for the end from the beginning each time would take minutes here."""
    decoder = Decoder(20_000_000)
    line = b"[" + b"1" * 10_000_000
    assert fed(decoder, line, [1000]) == []
    assert list(decoder.feed(b"]\n")) == [line + b"]"]
