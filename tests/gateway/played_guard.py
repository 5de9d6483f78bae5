"""A guard as far as a relay sees it: in the test itself, or as a program that a relay starts (`__main__`)."""

import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mcpguard.app.places import agents_socket
from mcpguard.codec.framing import Decoder, Framing
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.files import datadir
from tests.patience import PATIENCE

LIMIT = 32 * 1024 * 1024
ACCEPTED = b'{"mcpguard": 1}'


class Conversation:
    """What the guard has with one relay."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        connection.settimeout(PATIENCE)
        decoder = Decoder(LIMIT, Framing.LINES)
        self._messages = (message for data in iter(self._read, b"") for message in decoder.feed(data))
        self.introduction: dict[str, Any] = json.loads(self.heard())

    def heard(self) -> bytes:
        """The next message, empty at the end."""
        return next(self._messages, b"")

    def unread(self) -> bytes:
        """What has come and was not yet read."""
        return self.connection.recv(65_536, socket.MSG_PEEK)

    def say(self, *messages: bytes) -> None:
        self.connection.sendall(b"".join(message + b"\n" for message in messages))

    def end(self) -> None:
        self.connection.close()

    def leave(self) -> None:
        """Have whoever reads or writes here notice the end."""
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def echo(self) -> None:
        """Answer every request with what it said, until the agent has said its last."""
        while message := self.heard():
            said = json.loads(message)
            if "id" in said:
                self.say(json.dumps({"jsonrpc": "2.0", "id": said["id"], "result": {"said": said}}).encode())
        self.end()

    def _read(self) -> bytes:
        return self.connection.recv(65_536)


class Guard:
    """Listens in a data directory."""

    def __init__(self, listener: socket.socket, path: Path) -> None:
        self.path = path
        self._listener = listener
        self._conversations: list[Conversation] = []
        self._echoing: list[threading.Thread] = []

    def introduced(self) -> Conversation:
        """The next relay that has introduced itself."""
        self._conversations.append(Conversation(self._listener.accept()[0]))
        return self._conversations[-1]

    def accepted(self) -> Conversation:
        conversation = self.introduced()
        conversation.say(ACCEPTED)
        return conversation

    def echoing(self) -> None:
        """Accept the next relay and answer it, beside everything else."""
        self._echoing.append(threading.Thread(target=self.accepted().echo))
        self._echoing[-1].start()

    def echoed(self) -> None:
        """Until nobody is answered any more."""
        for each in self._echoing:
            each.join()

    def end(self) -> None:
        for conversation in self._conversations:
            conversation.leave()
        self.echoed()
        for conversation in self._conversations:
            conversation.end()

    def nobody_came(self) -> bool:
        self._listener.setblocking(False)
        try:
            self._listener.accept()
        except BlockingIOError:
            return True
        return False


@contextmanager
def playing(data_dir: Path) -> Iterator[Guard]:
    path = agents_socket(data_dir)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.settimeout(PATIENCE)
        listener.bind(str(path))
        listener.listen()
        guard = Guard(listener, path)
        try:
            yield guard
        finally:
            guard.end()


def serve(data_dir: Path, conversations: int) -> None:
    """Be the only guard of the directory for so many conversations."""
    facts = {"pid": os.getpid(), "sid": os.getsid(0), "environ": dict(os.environ), "input": os.stat(0).st_rdev}
    try:
        datadir.prepare(data_dir)
        with datadir.lock_folder(data_dir, "serve"), playing(data_dir) as guard:
            sys.stderr.write("mcpguard is running\n")
            (data_dir / f"note-{os.getpid()}").write_text(json.dumps(facts))
            for _ in range(conversations):
                guard.echoing()
            guard.echoed()
    except StoreUnavailable as refusal:
        sys.exit(f"mcpguard: {refusal}")


if __name__ == "__main__":
    serve(Path(sys.argv[1]), int(sys.argv[2]))
