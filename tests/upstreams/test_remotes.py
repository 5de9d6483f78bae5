"""URLs and headers as they are configured: read once, strictly, and never shown."""

import pytest

from mcpguard.upstreams.transports.remotes import BadRemote, Remote, parameter_headers


@pytest.mark.parametrize(
    ("url", "authority", "target", "port"),
    [
        ("https://Example.COM", "example.com", "/", 443),
        ("http://example.com:8080/mcp?a=b#c", "example.com:8080", "/mcp?a=b", 8080),
        ("https://example.com:443/a%20b", "example.com", "/a%20b", 443),
        ("http://[2606:4700:0::1111]/", "[2606:4700::1111]", "/", 80),
        ("https://xn--fa-hia.example/", "xn--fa-hia.example", "/", 443),
    ],
)
def test_a_url_is_a_place(url: str, authority: str, target: str, port: int) -> None:
    place = Remote(url).place
    assert (place.authority, place.target, place.port) == (authority, target, port)


@pytest.mark.parametrize(
    "url",
    ["", "example.com", "ftp://example.com", "file:///etc/passwd", "https://", "https:///mcp", "https://exa mple.com",
     "https://user:secret@example.com/", "https://user@example.com/", "https://example.com:0/", "https://example.com:x/",
     "https://example.com:99999/", "https://[::1", "https://[secret]/", "https://faß.example/", "https://ex\\ample/",
     "https://example.com/\r\nX: y", "https://example.com/\ud800", "https://a%0d.example/", "https://[fe80::1%25lo]/"],
)  # fmt: skip
def test_what_is_no_url_that_could_be_reached_is_refused(url: str) -> None:
    with pytest.raises(BadRemote) as refused:
        Remote(url)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "name",
    ["Host", "content-length", "Transfer-Encoding", "Mcp-Session-Id", "MCP-Protocol-Version", "mcp-method", "Mcp-Name",
     "Content-Type", "ACCEPT", "Accept-Encoding", "Connection", "Last-Event-ID", "Mcp-Param-Region", "Expect", "TE"],
)  # fmt: skip
def test_a_configured_header_cannot_speak_for_us(name: str) -> None:
    with pytest.raises(BadRemote, match="cannot be configured") as refused:
        Remote("https://example.com/", {name: "secret"})
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("", "secret"), ("X Y", "secret"), ("X:", "secret"), ("X\r\nY", "secret"), ("X", "secret\r\nHost: evil"),
     ("X", "secret\n"), ("X", " secret"), ("X", "secret\x00"), ("X", "sécret"), ("X", "secret\x7f")],
)  # fmt: skip
def test_nor_hold_what_no_header_can(name: str, value: str) -> None:
    with pytest.raises(BadRemote) as refused:
        Remote("https://example.com/", {name: value})
    assert "cret" not in str(refused.value)


def test_a_header_is_configured_once() -> None:
    with pytest.raises(BadRemote, match="twice"):
        Remote("https://example.com/", {"X-Key": "a", "x-key": "b"})


def test_no_representation_shows_a_value() -> None:
    remote = Remote("https://example.com/?token=secret", {"Authorization": "Bearer secret"})
    assert "secret" not in repr(remote)


def test_only_what_repeats_parameters_goes_with_a_single_request() -> None:
    assert parameter_headers({"Mcp-Param-Region": "us"}) == [(b"Mcp-Param-Region", b"us")]
    for headers in ({"Authorization": "x"}, {"Mcp-Param-X": "a\r\nb"}, {"Mcp-Param-X Y": "a"}):
        with pytest.raises(BadRemote):
            parameter_headers(headers)
