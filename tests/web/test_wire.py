"""Bytes on the network listener that are no proper request: refused, and the next proper one is answered."""

from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.process import Served, serving


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("wire") / "data") as guard:
        yield guard


def spoken(guard: Served, said: bytes) -> bytes:
    """All that comes back, to the end of the connection or of the first answer's head."""
    with guard.connect() as connection:
        connection.sendall(said)
        heard = b""
        with suppress(ConnectionError):
            while b"\r\n\r\n" not in heard and (more := connection.recv(65536)):
                heard += more
        return heard


@pytest.mark.parametrize(
    ("status", "head"),
    [
        (421, b"GET / HTTP/1.1\r\n\r\n"),
        (421, b"GET / HTTP/1.0\r\n\r\n"),
        (400, b"GET http://OURS/ HTTP/1.1\r\nHost: rebound.example\r\n\r\n"),
        (400, b"GET http://rebound.example/ HTTP/1.1\r\nHost: OURS\r\n\r\n"),
        (421, b"GET / HTTP/1.1\r\nHost: OURS\r\nHost: OURS\r\n\r\n"),
        (421, b"GET / HTTP/1.1\r\nHost: OURS\r\nHost: rebound.example\r\n\r\n"),
        (400, b"GET / HTTP/1.1\r\nHost: OURS\r\n folded.example\r\n\r\n"),
        (400, b"GET / HTTP/1.1\r\nHost : OURS\r\n\r\n"),
        (400, b"POST / HTTP/1.1\r\nHost: OURS\r\nContent-Length: -1\r\n\r\n"),
        (400, b"POST / HTTP/1.1\r\nHost: OURS\r\nContent-Length: ten\r\n\r\n"),
        (400, b"POST / HTTP/1.1\r\nHost: OURS\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
        (400, b"POST / HTTP/1.1\r\nHost: OURS\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n"),
        (413, b"POST / HTTP/1.1\r\nHost: OURS\r\nContent-Length: 99999999999\r\n\r\n"),
        (413, b"POST / HTTP/1.1\r\nHost: OURS\r\nContent-Length: 99999999999\r\nExpect: 100-continue\r\n\r\n"),
        (400, b"GET / HTTP/1.1\r\nHost: OURS\r\nX-Long: " + b"x" * 200_000 + b"\r\n\r\n"),
        (400, b"G\x00T / HTTP/1.1\r\nHost: OURS\r\n\r\n"),
        (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200)),
        (400, b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}\n\r\n\r\n'),
        (405, b"CONNECT / HTTP/1.1\r\nHost: OURS\r\n\r\n"),
        (303, b"GET / HTTP/1.1\r\nHost: OURS\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_is_no_proper_request_is_refused_and_harms_nobody(served: Served, status: int, head: bytes) -> None:
    heard = spoken(served, head.replace(b"OURS", b"127.0.0.1:%d" % served.port))
    assert heard.startswith(b"HTTP/1.1 %d " % status), heard
    assert b"Traceback" not in heard
    assert b"\r\nserver:" not in heard.lower()
    assert served.get("/readyz").json() == {"status": "ready"}
    assert not [line for line in served.log if line["level"] == "error"]
