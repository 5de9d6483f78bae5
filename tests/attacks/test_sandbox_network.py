"""From inside a sandbox: without network nothing of it is there; with network there is that and no way around it."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcpguard.domain.servers.launches import Profile
from tests.attacks.sandboxed import EACH_PROFILE, tried

pytestmark = pytest.mark.anyio
HOST = "127.0.0.1"


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A service on this machine that only its own processes can reach."""
    with socket.create_server((HOST, 0)) as listening:
        listening.setblocking(False)
        yield listening


@pytest.fixture
def receiver() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiving:
        receiving.bind((HOST, 0))
        receiving.setblocking(False)
        yield receiving


def port(of: socket.socket) -> int:
    number: int = of.getsockname()[1]
    return number


async def test_without_network_nobody_hears_it(
    tmp_path: Path, listener: socket.socket, receiver: socket.socket
) -> None:
    attempts = (("connect", HOST, port(listener)), ("datagram", HOST, port(receiver)))
    assert await tried(tmp_path, *attempts, profile=Profile.NONE) == ["connected", "sent"]
    listener.accept()[0].close()
    assert receiver.recv(9) == b"x"
    away = (("connect", "192.0.2.1", 80), ("connect", "2001:db8::1", 80), ("resolve", "localhost.example"))
    got = await tried(tmp_path, *attempts, *away)
    assert got == ["ECONNREFUSED", "sent", "ENETUNREACH", "ENETUNREACH", "cannot be resolved"]
    with pytest.raises(BlockingIOError):
        listener.accept()
    with pytest.raises(BlockingIOError):
        receiver.recv(9)


async def test_with_network_it_is_heard(tmp_path: Path, listener: socket.socket, receiver: socket.socket) -> None:
    attempts = (("connect", HOST, port(listener)), ("datagram", HOST, port(receiver)), ("resolve", "localhost"))
    assert await tried(tmp_path, *attempts, profile=Profile.CONTAINED) == ["connected", "sent", "resolved"]
    listener.accept()[0].close()
    assert receiver.recv(9) == b"x"


@EACH_PROFILE
async def test_other_kinds_of_networks_are_not_to_be_had(tmp_path: Path, profile: Profile) -> None:
    """A virtual machine's line to its host knows no namespaces; raw packets and the kernel's ciphers are not needed."""
    kinds = [("family", kind) for kind in ("vsock", "packet", "alg", "unix")]
    assert await tried(tmp_path, *kinds, profile=profile) == ["EAFNOSUPPORT"] * len(kinds)
