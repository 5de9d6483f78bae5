"""A server as a process that speaks on its standard streams.

    python -m tests.simulators.over_stdio                      plays a script of its own
    python .../over_stdio.py --control SOCKET                  plays what the test behind the socket plays

With a control socket the process knows nothing: it carries bytes between its standard streams and the test, where the
script is (see processes.py), and does what only a process can do when it is told to. So it starts in a few
milliseconds, imports nothing that is not Python's own, and a test uses the same script as without a process.

On the socket, both ways: one letter, the length in four bytes, and so many bytes.
"""

import json
import os
import signal
import socket
import struct
import sys
import threading

CHUNK = 65_536
HEAD = struct.Struct(">cI")


class Line:
    """The connection to the test."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(path)
        self._lock = threading.Lock()

    def send(self, kind: bytes, data: bytes = b"") -> None:
        with self._lock:
            self._socket.sendall(HEAD.pack(kind, len(data)) + data)

    def receive(self) -> tuple[bytes, bytes]:
        """The next thing. Raises EOFError when the test is over."""
        kind, length = HEAD.unpack(self._exactly(HEAD.size))
        return kind, self._exactly(length)

    def _exactly(self, length: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            more = self._socket.recv(min(length - len(data), CHUNK))
            if not more:
                raise EOFError
            data += more
        return bytes(data)


class Puppet:
    """The process, and what it can be told to do."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._line = Line(path)
        self._reads = threading.Event()
        self._reads.set()
        self._stubborn = False

    def run(self) -> None:
        self._line.send(b"h", json.dumps({"pid": os.getpid(), "arguments": sys.argv[3:]}).encode())
        threading.Thread(target=self._listen, name="standard input", daemon=True).start()
        while True:
            try:
                kind, data = self._line.receive()
            except EOFError:
                os._exit(0)
            if kind == b"w":
                self._write(1, data)
            else:
                order = json.loads(data)
                getattr(self, order.pop("do"))(**order)
            self._line.send(b"d")

    def _listen(self) -> None:
        while data := os.read(0, CHUNK):
            self._reads.wait()
            self._line.send(b"r", data)
        self._line.send(b"e")
        if not self._stubborn:
            os._exit(0)

    def _write(self, descriptor: int, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(descriptor, data) :]
        except OSError as error:
            self._line.send(b"x", str(error).encode())

    # What it can be told to do.

    def exit(self, code: int) -> None:
        os._exit(code)

    def die(self, number: int) -> None:
        os.kill(os.getpid(), number)

    def close(self, descriptor: int) -> None:
        os.close(descriptor)

    def stubborn(self) -> None:
        """Stay when the input ends, and when asked to go."""
        self._stubborn = True
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def reading(self, *, on: bool) -> None:
        if on:
            self._reads.set()
        else:
            self._reads.clear()

    def complain(self, size: int) -> None:
        line = b"the server has something to say " * 4 + b"\n"
        self._write(2, (line * (size // len(line) + 1))[:size])

    def grandchild(self) -> None:
        """Leave a process behind that holds the standard streams open, in a session of its own."""
        import subprocess  # noqa: PLC0415 - slow to import, and seldom needed

        command = [sys.executable, "-I", "-S", __file__, "--control", self._path, "--grandchild"]
        subprocess.Popen(command, start_new_session=True)


def linger(path: str) -> None:
    """What a grandchild does: nothing, until the test is over."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    line = Line(path)
    line.send(b"g", json.dumps({"pid": os.getpid()}).encode())
    try:
        line.receive()
    except EOFError:
        os._exit(0)


def main() -> None:
    if sys.argv[1:2] != ["--control"]:
        from tests.simulators.standalone import play  # noqa: PLC0415 - nothing of it is needed with a control socket

        play()
    elif "--grandchild" in sys.argv:
        linger(sys.argv[2])
    else:
        Puppet(sys.argv[2]).run()


if __name__ == "__main__":
    main()
