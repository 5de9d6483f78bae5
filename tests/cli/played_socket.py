"""An operator's socket that the test plays: whoever connects is answered with bytes that were given beforehand."""

import json
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def answering(*answers_in_turn: bytes) -> Iterator[Path]:
    """A data directory in which somebody answers each connection with these bytes, the last of them from then on."""
    left = [*answers_in_turn]
    with tempfile.TemporaryDirectory(prefix="mg-") as folder, socket.socket(socket.AF_UNIX) as bound:
        bound.bind(f"{folder}/operator.sock")
        bound.listen()
        ended = threading.Event()

        def answers() -> None:
            while True:
                connection, _ = bound.accept()
                with connection:
                    if ended.is_set():
                        return
                    with suppress(BrokenPipeError, ConnectionResetError):  # who only looks whether we are there
                        take(connection)
                        connection.sendall(left.pop(0) if left[1:] else left[0])

        thread = threading.Thread(target=answers)
        thread.start()
        try:
            yield Path(folder)
        finally:
            ended.set()
            with socket.socket(socket.AF_UNIX) as last:
                last.connect(f"{folder}/operator.sock")
            thread.join()


def take(connection: socket.socket) -> None:
    """Read a request to its end: what is left unread would break the connection instead of answering."""
    length = 0
    with connection.makefile("rb") as said:
        while line := said.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        said.read(length)


def http(status: int, body: bytes) -> bytes:
    return b"HTTP/1.1 %d X\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (status, len(body), body)


def problem(status: int, **said: object) -> bytes:
    return http(status, json.dumps({"title": "A title", "status": status, "detail": "The detail.", **said}).encode())
