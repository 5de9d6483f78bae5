"""Server-sent events: the same ones come out however the bytes were cut."""

import re
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.upstreams.transports.events import Event, EventParser, EventTooLarge

LIMIT = 40
LINES = st.sampled_from(
    [b"data: a", b"data:b", b"data:  c", b"data", b"data:", b"event: endpoint", b"event:", b"id: 1", b"id:",
     b"id: \0", b"retry: 10", b"retry: x", b"retry: 99999999999999999999", b": comment", b":", b"other: x", b"Data: x",
     b" data: x", b"data: " + b"x" * 30, b"data: " + b"y" * 50, b"", b"", "data: é\u2028".encode(), b"data: \xff\xfe",
     b"\xef\xbb\xbf"]
)  # fmt: skip
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
STREAMS = st.builds(
    lambda bom, lines: bom + b"".join(line + end for line, end in lines),
    st.sampled_from([b"", b"\xef\xbb\xbf", b"\xef\xbb"]),
    st.lists(st.tuples(LINES, ENDS)),
) | st.binary(max_size=200).map(lambda data: data.translate(bytes.maketrans(b"\x01\x02\x03", b"\n\r:")))


def read(pieces: Iterable[bytes], limit: int = LIMIT) -> tuple[list[Event], bool, str, int | None]:
    """What comes out: the events, whether the stream was read to its end, and what it said of itself."""
    parser, events = EventParser(limit), list[Event]()
    try:
        for piece in pieces:
            events.extend(parser.feed(piece))
    except EventTooLarge:
        return events, False, "", None
    return events, True, parser.last_id, parser.retry


def plainly(data: bytes) -> list[Event]:
    """The same by the letter of the standard, of a whole stream and without any limit."""
    *lines, _ = re.split(rb"\r\n|\r|\n", data.removeprefix(b"\xef\xbb\xbf"))
    events, said, type_, id_ = [], list[bytes](), b"", b""
    for line in lines:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line:
            if said:
                events.append(
                    Event(b"\n".join(said), type_.decode(errors="replace") or "message", id_.decode(errors="replace"))
                )
            said, type_ = [], b""
        elif name == b"data":
            said.append(value)
        elif name == b"event":
            type_ = value
        elif name == b"id" and b"\0" not in value:
            id_ = value
    return events


@given(STREAMS, st.lists(st.integers(0, 300)))
def test_however_the_bytes_are_cut_the_same_events_come_out(data: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(data)]
    pieces = [data[begin:end] for begin, end in pairwise(places)]
    whole = read([data])
    assert read(pieces) == whole
    assert read(data[at : at + 1] for at in range(len(data))) == whole


@given(STREAMS)
def test_they_are_those_of_the_standard(data: bytes) -> None:
    events, to_its_end, _, _ = read([data], limit=1000)
    assert to_its_end
    assert events == plainly(data)


@pytest.mark.parametrize(
    ("data", "events"),
    [
        (b"data: a\n\n", [Event(b"a")]),
        (b"data: a\r\n\r\n", [Event(b"a")]),
        (b"data: a\r\r", [Event(b"a")]),
        (b"data: a\rdata: b\r\n\n", [Event(b"a\nb")]),
        (b"\xef\xbb\xbfdata: a\n\n", [Event(b"a")]),
        (b": hello\n\ndata: a\n: between\ndata: b\n\n", [Event(b"a\nb")]),
        (b"id: 7\ndata:\n\n", [Event(b"", id="7")]),
        (b"id: 7\n\ndata: a\n\n", [Event(b"a", id="7")]),
        (b"event: endpoint\ndata: /x\n\ndata: y\n\n", [Event(b"/x", "endpoint"), Event(b"y")]),
        (b"event: lost\n\ndata: y\n\n", [Event(b"y")]),
        (b"data: not finished", []),
        (b"data: not finished\n", []),
    ],
)
def test_what_each_line_means(data: bytes, events: list[Event]) -> None:
    assert read([data])[0] == events


def test_a_stream_says_where_it_was_left_and_how_long_to_wait() -> None:
    parser = EventParser(100_000, last_id="before")
    assert list(parser.feed(b"retry: 1500\nid: a\n")) == []
    assert (parser.last_id, parser.retry) == ("before", 1500)  # the block is not finished
    assert list(parser.feed(b"\nretry: -1\nretry: 1.5\nretry:\n\n")) == []
    assert (parser.last_id, parser.retry) == ("a", 1500)
    assert list(parser.feed(b"id\n\nretry: " + b"9" * 10_000 + b"\n")) == []
    assert parser.last_id == ""
    assert parser.retry == 10**9


def test_an_event_over_the_limit_ends_the_stream_and_those_before_it_count() -> None:
    for long in (b"data: " + b"x" * 41 + b"\n\n", b"data: x\n" * 21, b": " + b"x" * 60, b"x" * 60, b"id: " + b"x" * 60):
        events, to_its_end, _, _ = read([b"data: before\n\n" + long])
        assert events == [Event(b"before")]
        assert not to_its_end
    assert read([b"data: " + b"x" * 40 + b"\n\n"])[0] == [Event(b"x" * 40)]


def test_a_limit_is_for_one_event_and_not_for_all() -> None:
    events, to_its_end, _, _ = read([b": comment\n" * 10_000 + b"data: " + b"x" * 40 + b"\n\n"] * 10)
    assert (len(events), to_its_end) == (10, True)


def test_twenty_megabytes_byte_by_byte_and_in_lines_come_out_in_reasonable_time() -> None:
    """Anything that is not linear would not come to an end here."""
    line = b"data: " + b"x" * 500_000 + b"\n\n"
    assert len(read((line[at : at + 1] for at in range(len(line))), 10**9)[0]) == 1
    lines = b"data: x\r\n" * 2_000_000 + b"\r\n"
    assert len(read([lines], 10**9)[0]) == 1
