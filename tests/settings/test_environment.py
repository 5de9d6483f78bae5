"""The environment: what belongs to us, what does not, and secrets from files."""

import os
from pathlib import Path

import pytest
from pydantic import SecretStr

from mcpguard.settings.environment import LARGEST_SECRET
from mcpguard.settings.load import load
from mcpguard.settings.problems import SettingsError

URL = "MCPGUARD_STORE__URL"


def problem(environ: dict[str, str]) -> str:
    with pytest.raises(SettingsError) as caught:
        load({}, environ, None)
    (only,) = caught.value.problems
    return only


def test_reserved_names_and_names_of_others_are_left_alone() -> None:
    environ = {"MCPGUARD_TOKEN": "x", "MCPGUARD_TOKEN_FILE": "/none", "MCPGUARDIAN": "x", "LISTEN": "x", "PATH": "/bin"}
    assert set(load({}, environ, None).sources.values()) == {"default"}


@pytest.mark.parametrize(
    ("text", "hosts"),
    [("a", ("a",)), ("a,b:80", ("a", "b:80")), (" a , b ", ("a", "b")), ("", ()), ("  ", ())],
)
def test_a_list_is_written_with_commas(text: str, hosts: tuple[str, ...]) -> None:
    assert load({}, {"MCPGUARD_HOSTS": text}, None).settings.hosts == hosts


def test_an_item_of_a_list_that_is_wrong_is_counted() -> None:
    assert problem({"MCPGUARD_HOSTS": "a,,b"}) == (
        "MCPGUARD_HOSTS in the environment (item 2) must be host or host:port, optionally with https:// before it"
    )


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_a_secret_is_read_from_a_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "url"
    path.write_bytes(b"postgresql://u:p@h/d " + ending.encode())
    loaded = load({}, {f"{URL}_FILE": str(path)}, None)
    assert loaded.settings.store.url == SecretStr("postgresql://u:p@h/d ")
    assert loaded.sources["store.url"] == f"environment {URL}_FILE"


def test_a_secret_may_come_through_a_pipe() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"postgresql://h/d\n")
    os.close(writing)
    try:
        assert load({}, {f"{URL}_FILE": f"/dev/fd/{reading}"}, None).settings.store.url == SecretStr("postgresql://h/d")
    finally:
        os.close(reading)


def test_a_secret_given_twice_is_refused_even_when_both_agree(tmp_path: Path) -> None:
    path = tmp_path / "url"
    path.write_text("postgresql://h/d", encoding="utf-8")
    environ = {URL: "postgresql://h/d", f"{URL}_FILE": str(path)}
    assert problem(environ) == f"{URL} and {URL}_FILE are both in the environment; set only one of them"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "cannot be read: No such file or directory"),
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"x" * (LARGEST_SECRET + 1), f"is larger than {LARGEST_SECRET} bytes"),
    ],
)
def test_a_secret_file_that_cannot_be_used_is_refused(tmp_path: Path, content: bytes | None, sentence: str) -> None:
    path = tmp_path / "url"
    if content is not None:
        path.write_bytes(content)
    assert problem({f"{URL}_FILE": str(path)}) == f"{URL}_FILE in the environment names {path}, which {sentence}"


def test_a_directory_is_no_secret_file(tmp_path: Path) -> None:
    assert problem({f"{URL}_FILE": str(tmp_path)}).endswith("cannot be read: Is a directory")


def test_an_empty_optional_value_overrides_the_file(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(
        '{"mcpguard": {"store": {"url": "postgresql://h/d"}, "audit": {"key_file": "/k"}}}', encoding="utf-8"
    )
    settings = load({}, {URL: "", "MCPGUARD_AUDIT__KEY_FILE": ""}, path).settings
    assert (settings.store.url, settings.audit.key_file) == (None, None)


SERVICE_LINKS = {
    "MCPGUARD_SERVICE_HOST": "10.0.0.1",
    "MCPGUARD_SERVICE_PORT": "8080",
    "MCPGUARD_SERVICE_PORT_HTTP": "8080",
    "MCPGUARD_PORT": "tcp://10.0.0.1:8080",
    "MCPGUARD_PORT_8080_TCP": "tcp://10.0.0.1:8080",
    "MCPGUARD_PORT_8080_TCP_PROTO": "tcp",
    "MCPGUARD_PORT_8080_TCP_PORT": "8080",
    "MCPGUARD_PORT_8080_TCP_ADDR": "10.0.0.1",
    "MCPGUARD_WEB_SERVICE_HOST": "10.0.0.2",
    "MCPGUARD_WEB_PORT_80_TCP": "tcp://10.0.0.2:80",
}


def test_what_kubernetes_says_of_a_service_called_mcpguard_is_no_setting() -> None:
    inside = SERVICE_LINKS | {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}
    assert set(load({}, inside, None).sources.values()) == {"default"}
    assert "MCPGUARD_PORT in the environment" in problem({"KUBERNETES_SERVICE_HOST": "x", "MCPGUARD_PORT": "8080"})
    with pytest.raises(SettingsError) as caught:
        load({}, SERVICE_LINKS, None)
    assert len(caught.value.problems) == len(SERVICE_LINKS)
