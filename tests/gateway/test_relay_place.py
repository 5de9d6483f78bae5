"""A relay finds the data directory that the settings mean, without loading them; and the token."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from mcpguard.app.places import agents_socket, operator_socket
from mcpguard.relay.credential import token
from mcpguard.relay.place import data_directory
from mcpguard.relay.problem import CannotRelay
from mcpguard.settings.load import load
from mcpguard.settings.problems import SettingsError

ENV = "MCPGUARD_DATA_DIR"
CONFIG = "MCPGUARD_CONFIG"
FILE = "named.json"
OTHER = "other.json"
MISSING = "missing.json"
WHOLE = ' , "mcpServers": {"x": {"command": "y"}}'


def ours(text: str) -> str:
    return '{"mcpguard": ' + text + WHOLE + "}"


FILES = {
    FILE: ours('{"data_dir": "in-file"}'),
    OTHER: ours('{"data_dir": "~/in-other-file", "listen": "127.0.0.1:1"}'),
    "plain.json": '{"mcpServers": {}}',
    "without.json": ours('{"log": {"level": "debug"}}'),
    "bytes.json": ours(r'{"data_dir": "\u00e9\ud83d\ude00"}'),
    "empty-path.json": ours('{"data_dir": ""}'),
    "number.json": ours('{"data_dir": 1}'),
    "null.json": ours('{"data_dir": null}'),
    "list.json": ours('{"data_dir": ["x"]}'),
    "no-object.json": ours("[]"),
    "null-object.json": ours("null"),
    "array.json": "[]",
    "empty.json": "",
    "twice.json": ours('{"data_dir": "a", "data_dir": "b"}'),
    "zero.json": ours(r'{"data_dir": "a\u0000b"}'),
    "nobody.json": ours('{"data_dir": "~no-such-user-anywhere/x"}'),
    "large.json": ours('{"data_dir": "a"}') + " " * (1024 * 1024),
    "largest.json": ours('{"data_dir": "a"}').ljust(1024 * 1024),
    "not-utf-8.json": ours('{"data_dir": "\udcff"}'),
}
Case = tuple[str | None, str | None, Mapping[str, str]]
CASES: list[Case] = [
    *((None, name, {}) for name in [*FILES, MISSING, ".", f"{FILE}/below"]),
    *((None, None, {CONFIG: name}) for name in [*FILES, MISSING, "", "."]),
    *(
        (None, None, {ENV: text})
        for text in ("in-env", "/srv/env", "~/env", "", "~no-such-user-anywhere", "\udcff", "é")
    ),
    *(
        (given, None, {})
        for given in ("given", "/srv/given", "~/given", "", "..", "link/below", "~no-such-user-anywhere")
    ),
    ("given", FILE, {ENV: "in-env", CONFIG: OTHER}),
    (None, FILE, {ENV: "in-env", CONFIG: OTHER}),
    (None, FILE, {CONFIG: OTHER}),
    (None, FILE, {CONFIG: MISSING}),
    ("given", None, {ENV: "", CONFIG: OTHER}),
    (None, None, {ENV: "in-env", CONFIG: OTHER}),
    (None, None, {"MCPGUARD_TOKEN": "x"}),
    (None, None, {}),
]


@pytest.fixture(params=[False, True], ids=["nothing usual", "a usual file"])
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of nobody's, the folder with all the files, and where one is usual a file or none."""
    for name, folder in (("HOME", "home"), ("XDG_CONFIG_HOME", "config"), ("XDG_DATA_HOME", "data")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    if request.param:
        usual = tmp_path / "config" / "mcpguard" / "config.json"
        usual.parent.mkdir(parents=True)
        usual.write_text(ours('{"data_dir": "usual"}'))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def loaders(given: str | None, config: str | None, environ: Mapping[str, str]) -> str:
    try:
        return str(load({"data_dir": path(given)}, environ, path(config)).settings.data_dir)
    except SettingsError as error:
        return str(error)


def relays(given: str | None, config: str | None, environ: Mapping[str, str]) -> str:
    try:
        return str(data_directory(path(given), path(config), environ))
    except CannotRelay as error:
        return str(error)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_data_directory_is_the_one_that_the_settings_say_and_so_is_what_is_wrong(case: Case) -> None:
    assert relays(*case) == loaders(*case)


def test_the_cases_reach_every_source(home: Path) -> None:
    found = {relays(*case).removeprefix(f"{home}/") for case in CASES}
    assert {"given", "in-env", "in-file", "home/in-other-file"} < found
    assert found & {"usual", "data/mcpguard"}


@pytest.mark.parametrize("broken", [MISSING, "array.json", "empty.json"])
def test_a_file_that_is_not_needed_is_not_read(home: Path, broken: str) -> None:
    """The guard that runs was started with another one perhaps; one that is started now says what is wrong."""
    assert relays("given", broken, {}) == str(home / "given")
    assert relays(None, None, {ENV: "in-env", CONFIG: broken}) == str(home / "in-env")


@pytest.mark.parametrize("length", [5, 80, 87, 88, 89, 95, 200])
def test_the_agents_socket_is_beside_the_operators(length: int) -> None:
    data_dir = Path("/" + "d" * (length - 1))
    agents, operators = agents_socket(data_dir), operator_socket(data_dir)
    assert agents != operators
    assert len(os.fsencode(agents)) <= 100
    assert (agents.parent == data_dir) == (length + len("/agents.sock") <= 100)
    if agents.parent != data_dir:
        assert agents.parent == operators.parent


Written = Callable[[bytes], Path]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    def write(content: bytes) -> Path:
        (tmp_path / "token").write_bytes(content)
        return tmp_path / "token"

    return write


def test_the_token_is_in_the_environment_or_in_a_file(written: Written, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(written(b" mcpg_b\n"))
    assert token({}) is None
    assert token({"MCPGUARD_TOKEN": "mcpg_a"}) == "mcpg_a"
    assert token({"MCPGUARD_TOKEN_FILE": str(tmp_path / "token")}) == "mcpg_b"
    assert token({"MCPGUARD_TOKEN_FILE": str(tmp_path / "link")}) == "mcpg_b"
    assert token({"MCPGUARD_TOKEN_FILE": str(written(b"c" * 4096))}) == "c" * 4096


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"canary canary", b"canary\ncanary", b"canary\xff", b"canary\x00", b"c" * 4097]
)
def test_what_is_no_token_is_refused_and_not_repeated(written: Written, content: bytes) -> None:
    for environ in ({"MCPGUARD_TOKEN": os.fsdecode(content)}, {"MCPGUARD_TOKEN_FILE": str(written(content))}):
        with pytest.raises(CannotRelay) as refusal:
            token(environ)
        assert "canary" not in str(refusal.value)
        assert str(refusal.value).endswith(("is empty", "is not a token", "is larger than 4096 bytes"))


def test_a_token_that_cannot_be_read_is_an_error_and_not_nobody(written: Written, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, why in (("nothing", "No such file"), ("pipe", "not a regular file"), ("", "not a regular file")):
        with pytest.raises(CannotRelay, match=why):
            token({"MCPGUARD_TOKEN_FILE": str(tmp_path / name)})
    for wrong in ("", "a\0b"):
        with pytest.raises(CannotRelay, match=r"cannot be read|regular"):
            token({"MCPGUARD_TOKEN_FILE": wrong})
    with pytest.raises(CannotRelay, match="are both set"):
        token({"MCPGUARD_TOKEN": "a", "MCPGUARD_TOKEN_FILE": str(written(b"a"))})
