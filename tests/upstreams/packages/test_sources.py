"""What an installation is told of where packages come from, and what it never is."""

from pathlib import Path

import pytest

from mcpguard.upstreams.packages.not_installed import NotInstalled
from mcpguard.upstreams.packages.npmrc import npm_settings
from mcpguard.upstreams.packages.sources import certificates, check_no_uv_index, for_npm, for_uv


def test_nothing_is_handed_on_but_what_is_listed() -> None:
    ours = {"PATH": "/x", "HOME": "/root", "TOKEN": "canary", "NPM_TOKEN": "canary", "UV_PUBLISH_TOKEN": "canary"}
    ours |= {"NPM_CONFIG__AUTH": "canary", "NPM_CONFIG_//R.EXAMPLE/:_AUTHTOKEN": "canary", "PYTHONPATH": "/evil"}
    ours |= {"LD_PRELOAD": "/evil.so", "NODE_OPTIONS": "--require=/evil.js", "NPM_CONFIG_IGNORE_SCRIPTS": "false"}
    assert for_npm(ours, ours, {}) == {}
    assert for_uv(ours, ours) == {}


def test_what_the_server_declares_comes_before_what_the_guard_has_and_that_before_what_npm_says() -> None:
    told = {"registry": "https://npm.example/", "cafile": "/ca.pem"}
    assert for_npm({}, {}, told) == {"npm_config_registry": "https://npm.example/", "npm_config_cafile": "/ca.pem"}
    ours = {"NPM_CONFIG_REGISTRY": "https://ours.example/", "https_proxy": "http://proxy.example"}
    assert for_npm(ours, {}, told)["npm_config_registry"] == "https://ours.example/"
    assert for_npm(ours, {}, told)["HTTPS_PROXY"] == "http://proxy.example"
    declared = {"npm_config_registry": "https://theirs.example/"}
    assert for_npm(ours, declared, told)["npm_config_registry"] == "https://theirs.example/"


def test_a_server_names_no_file_that_its_installer_would_see() -> None:
    """It might be any file; and what installs may be anybody's, with a network."""
    given = {"NODE_EXTRA_CA_CERTS": "/k", "npm_config_cafile": "/k", "SSL_CERT_FILE": "/k", "SSL_CERT_DIR": "/k"}
    for environment in (for_npm({}, given, {}), for_uv({}, given)):
        assert environment == {}
    assert list(certificates(for_npm(given, {}, {}))) == [Path("/k"), Path("/k")]
    assert list(certificates(for_uv(given, {}))) == [Path("/k"), Path("/k")]


def test_where_only_pip_is_configured_uv_is_told_the_same() -> None:
    ours = {"PIP_INDEX_URL": "https://pip.example/simple", "PIP_CERT": "/ca.pem", "PIP_FIND_LINKS": "/wheels"}
    assert for_uv(ours, {}) == {"UV_DEFAULT_INDEX": "https://pip.example/simple", "SSL_CERT_FILE": "/ca.pem"}
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        assert for_uv({**ours, name: "https://uv.example"}, {}) == {
            name: "https://uv.example",
            "SSL_CERT_FILE": "/ca.pem",
        }
        assert for_uv(ours, {name: "https://uv.example"}) == {name: "https://uv.example", "SSL_CERT_FILE": "/ca.pem"}


@pytest.mark.parametrize(
    "address",
    [
        "https://user:canary@r.example/",
        "https://canary@r.example/simple",
        "mine=https://user:canary@r.example",
        "https://a.example https://user:canary@r.example",
        "user:canary@proxy.example:3128",
        "https://user:can?ary@r.example",
    ],
)
def test_an_address_with_a_secret_is_refused_and_not_left_out(address: str) -> None:
    """Left out, the package would be taken from where anybody can put one of its name."""
    for ours, declared in (({"UV_INDEX": address}, {}), ({}, {"UV_INDEX": address})):
        with pytest.raises(NotInstalled, match="the URL in UV_INDEX contains credentials") as refused:
            for_uv(ours, declared)
        assert "canary" not in str(refused.value)
    with pytest.raises(NotInstalled, match="npm_config_registry"):
        for_npm({}, {}, {"registry": address})
    with pytest.raises(NotInstalled, match="HTTPS_PROXY"):
        for_npm({"https_proxy": address}, {}, {})


def npmrc(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_of_what_npm_is_configured_with_only_sources_are_taken(tmp_path: Path) -> None:
    node = tmp_path / "node" / "bin" / "node"
    npmrc(
        tmp_path / "node" / "etc" / "npmrc",
        "registry=https://all.example/\ncafile=/ca.pem\n; proxy=http://old.example\n",
    )
    own = 'registry = "https://npm.example/"\nproxy=null\nnoproxy=\n@mine:registry=https://mine.example/\n'
    npmrc(tmp_path / ".npmrc", f"{own}//npm.example/:_authToken=canary\n_auth=canary\n# cafile=/no.pem\n")
    told = {"registry": "https://npm.example/", "cafile": "/ca.pem"}
    ours = {"HOME": str(tmp_path)}
    assert npm_settings(ours, node, None).items() >= told.items()
    assert npm_settings(ours, node, "@mine")["@mine:registry"] == "https://mine.example/"
    assert "canary" not in str(npm_settings(ours, node, "@mine"))
    other = npmrc(tmp_path / "other", "registry=https://other.example/")
    assert (
        npm_settings({**ours, "npm_config_userconfig": str(other)}, node, None)["registry"] == "https://other.example/"
    )
    assert npm_settings({}, node, None)["registry"] == "https://all.example/"


def test_a_registry_that_cannot_be_known_is_no_reason_to_take_another(tmp_path: Path) -> None:
    ours, node = {"HOME": str(tmp_path)}, tmp_path / "node" / "bin" / "node"
    npmrc(tmp_path / ".npmrc", "registry=https://${HOST}/\n//x/:_authToken=${TOKEN}\n")
    with pytest.raises(NotInstalled, match=r"\.npmrc sets registry to a variable"):
        npm_settings(ours, node, None)
    (tmp_path / ".npmrc").unlink()
    (tmp_path / ".npmrc").mkdir()
    with pytest.raises(NotInstalled, match=r"cannot read .*\.npmrc, which may name a registry"):
        npm_settings(ours, node, None)


def test_the_certificates_that_have_to_be_seen() -> None:
    given = {"npm_config_cafile": "/a.pem", "NODE_EXTRA_CA_CERTS": "/b.pem", "SSL_CERT_DIR": "/c:d:/e", "OTHER": "/f"}
    assert list(certificates(given)) == [Path("/a.pem"), Path("/b.pem"), Path("/c"), Path("/e")]


@pytest.mark.parametrize(
    "text",
    [
        'index-url = "https://i.example"',
        '[[index]]\nurl = "https://i.example"',
        '[pip]\nextra-index-url = ["x"]',
        "not toml",
    ],
)
def test_an_index_that_only_uv_knows_of_is_no_reason_to_take_another(text: str, tmp_path: Path) -> None:
    (tmp_path / "uv").mkdir()
    configuration = tmp_path / "uv" / "uv.toml"
    configuration.write_text(text)
    ours = {"XDG_CONFIG_HOME": str(tmp_path)}
    with pytest.raises(NotInstalled, match="package index"):
        check_no_uv_index({}, ours)
    check_no_uv_index({"UV_DEFAULT_INDEX": "https://named.example"}, ours)
    configuration.write_text('cache-dir = "x"')
    check_no_uv_index({}, ours)
