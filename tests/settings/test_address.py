"""This version listens on loopback and nowhere else."""

import pytest
from pydantic import ValidationError

from mcpguard.settings.model import Settings


@pytest.mark.parametrize(
    ("listen", "address"),
    [
        ("127.0.0.1:8080", ("127.0.0.1", 8080)),
        ("127.255.1.2:0", ("127.255.1.2", 0)),
        ("[::1]:65535", ("::1", 65535)),
        ("[0:0:0:0:0:0:0:1]:1", ("0:0:0:0:0:0:0:1", 1)),
        ("LocalHost:80", ("localhost", 80)),
    ],
)
def test_loopback_is_listened_on(listen: str, address: tuple[str, int]) -> None:
    assert Settings(listen=listen).address == address


@pytest.mark.parametrize(
    "listen",
    [
        "0.0.0.0:8080",
        ":8080",
        "[::]:8080",
        "192.168.1.1:80",
        "128.0.0.1:80",
        "example.com:80",
        "localhost.example.com:80",
        "[::ffff:127.0.0.1]:80",
        "[::1%lo]:80",
        "[localhost]:80",
        "[127.0.0.1]:80",
        "127.1:80",
        "0x7f.0.0.1:80",
        "127.0.0.01:80",
        "127.0.0.1 :80",
    ],
)
def test_elsewhere_is_refused_with_the_reason(listen: str) -> None:
    with pytest.raises(ValidationError, match="on other addresses tokens would cross the network unencrypted"):
        Settings(listen=listen)


@pytest.mark.parametrize(
    "listen",
    [
        "",
        "8080",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:65536",
        "127.0.0.1:-1",
        "127.0.0.1:+1",
        "127.0.0.1:٨",
        "::1:8080",
        "127.0.0.1:80\n",
        "http://127.0.0.1:80",
        "127.0.0.1:80/",
        "[::1]",
        "[::1:80",
    ],
)
def test_what_is_no_address_is_refused_with_the_form(listen: str) -> None:
    with pytest.raises(ValidationError, match=r"must be host:port, such as 127\.0\.0\.1:8080 or \[::1\]:8080"):
        Settings(listen=listen)


def test_host_headers_are_kept_exactly_but_for_the_case() -> None:
    hosts = (
        "Guard.Example",
        "guard.example:443",
        "[2001:DB8::1]:80",
        "my_service:8080",
        "10.0.0.1",
        "https://Guard.example:444",
    )
    assert Settings(hosts=hosts).hosts == tuple(host.lower() for host in hosts)


NO_HOSTS = ["", "*", "*.example", "http://a", "a/b", "a b", "a,b", "a:", "a:65536", ".a", "a..b", "a\n"]


@pytest.mark.parametrize("host", [*NO_HOSTS, "https://", "https://https://a", "https://a/"])
def test_what_is_no_host_header_is_refused(host: str) -> None:
    with pytest.raises(ValidationError, match="must be host or host:port"):
        Settings(hosts=(host,))
