"""What servers over HTTP say that never stop talking, in each of the forms that have no end."""

import anyio

from tests.upstreams.played import Asked

AS_EVENTS = "Content-Type: text/event-stream"


async def without_end(asked: Asked, data: bytes) -> None:
    """The same again and again, until the other side has closed the connection."""
    while not asked.over.is_set():
        try:
            await asked._stream.send(data)  # `raw` would hide the end that is waited for
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            asked.over.set()


async def comments(asked: Asked) -> None:
    await asked.head(200, AS_EVENTS)
    await without_end(asked, b":\n" * 10_000)


async def comments_in_chunks_of_two_bytes(asked: Asked) -> None:
    await asked.stream()
    await without_end(asked, b"2\r\n:\n\r\n" * 2_000)


async def blank_lines(asked: Asked) -> None:
    await asked.head(200, AS_EVENTS)
    await without_end(asked, b"\n" * 10_000)


async def fields_nobody_knows(asked: Asked) -> None:
    await asked.head(200, AS_EVENTS)
    await without_end(asked, b"dataset: 1\nid: 2\nretry: 3\n\n" * 1_000)


async def data_without_a_blank_line(asked: Asked) -> None:
    await asked.head(200, AS_EVENTS)
    await without_end(asked, b"data\n" * 4_000)


async def one_line(asked: Asked) -> None:
    await asked.head(200, AS_EVENTS)
    await without_end(asked, b"x" * 20_000)


async def early_hints(asked: Asked) -> None:
    await without_end(asked, b"HTTP/1.1 103 Early Hints\r\n\r\n" * 500)


async def early_hints_one_at_a_time(asked: Asked) -> None:
    await without_end(asked, b"HTTP/1.1 103 Early Hints\r\n\r\n")


async def early_hints_that_mention_an_answer(asked: Asked) -> None:
    await without_end(asked, b"HTTP/1.1 103 Early Hints\r\nX: HTTP/1.1 200 OK\r\n\r\n" * 500)


async def extensions_of_chunks(asked: Asked) -> None:
    await asked.head(200, "Content-Type: application/json", "Transfer-Encoding: chunked")
    await without_end(asked, b"1;" + b"x" * 1_000 + b"\r\n \r\n")


async def trailers(asked: Asked) -> None:
    await asked.head(200, AS_EVENTS, "Transfer-Encoding: chunked")
    await asked.raw(b"0\r\n")
    await without_end(asked, b"X: y\r\n" * 2_000)


FLOODS = [
    comments, comments_in_chunks_of_two_bytes, blank_lines, fields_nobody_knows, data_without_a_blank_line, one_line,
    early_hints, early_hints_one_at_a_time, early_hints_that_mention_an_answer, extensions_of_chunks, trailers,
]  # fmt: skip
