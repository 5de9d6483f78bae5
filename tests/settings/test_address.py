"""Without TLS the guard listens on loopback and nowhere else; with it, wherever it is told to."""

import pytest
from pydantic import ValidationError

from mcpguard.settings.guard_groups import TlsSettings
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


ELSEWHERE = ["0.0.0.0:8080", "[::]:8080", "192.168.1.1:80", "128.0.0.1:80", "[::ffff:127.0.0.1]:80", "[::1%lo]:80"]


@pytest.mark.parametrize("listen", ELSEWHERE)
def test_elsewhere_is_refused_without_tls_with_what_to_do(listen: str) -> None:
    with pytest.raises(ValidationError, match="on other addresses tokens would cross the network unencrypted; set tls"):
        Settings(listen=listen)


@pytest.mark.parametrize("listen", ELSEWHERE)
def test_elsewhere_is_listened_on_with_tls(listen: str) -> None:
    settings = Settings(listen=listen, tls=TlsSettings(certificate="/srv/cert.pem", key="/srv/key.pem"))
    assert settings.listen == listen
    assert not settings.is_on_loopback


@pytest.mark.parametrize(
    "listen",
    [
        ":8080",
        "example.com:80",
        "localhost.example.com:80",
        "[localhost]:80",
        "127.1:80",
        "0x7f.0.0.1:80",
        "127.0.0.01:80",
        "127.0.0.1 :80",
    ],
)
def test_a_name_is_not_resolved(listen: str) -> None:
    with pytest.raises(ValidationError, match="must name an IP address or localhost"):
        Settings(listen=listen, tls=TlsSettings(certificate="/srv/cert.pem", key="/srv/key.pem"))


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
        "[127.0.0.1]:80",
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
