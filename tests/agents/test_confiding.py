"""Secrets of an entry go into files, and what cannot go into one is not taken; no sentence repeats a value."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.agents.entry_secrets import SecretFreeEntry, take_out_secrets
from mcpguard.agents.program import Untaken
from mcpguard.settings.entries.members import server_from_entry
from mcpguard.settings.entries.references import resolve

FOLDER = Path("/d/secrets/it")
SECRET = "correct-horse-7-battery"  # noqa: S105 - of nothing
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def local(*args: str, **env: str) -> SecretFreeEntry:
    return take_out_secrets({"command": "x", "args": [*args], "env": env}, FOLDER)


def remote(url: str = "https://x.example/mcp", **headers: str) -> SecretFreeEntry:
    return take_out_secrets({"url": url, "headers": headers}, FOLDER)


def test_what_is_called_a_secret_or_looks_like_one_goes_into_a_file() -> None:
    taken = local(A_CREDENTIAL="a", GITHUB=TOKEN, REGION="eu-1", DSN_OF="postgres://u:p@h/d", EMPTY_TOKEN="")
    assert taken.members["env"] == {
        "A_CREDENTIAL": "${file:/d/secrets/it/A_CREDENTIAL}",
        "GITHUB": "${file:/d/secrets/it/GITHUB}",
        "REGION": "eu-1",
        "DSN_OF": "${file:/d/secrets/it/DSN_OF}",
        "EMPTY_TOKEN": "",
    }
    assert {path.name: value for path, value in taken.files.items()} == {
        "A_CREDENTIAL": "a", "GITHUB": TOKEN, "DSN_OF": "postgres://u:p@h/d",
    }  # fmt: skip
    assert TOKEN not in repr(taken)


def test_what_says_how_a_header_is_meant_stays_to_be_seen() -> None:
    taken = remote(Authorization=f"Bearer {SECRET}", Accept_Language="de")
    assert taken.members["headers"] == {
        "Authorization": "Bearer ${file:/d/secrets/it/Authorization}",
        "Accept_Language": "de",
    }
    assert [*taken.files.values()] == [SECRET]


def test_what_decides_which_code_runs_is_left_for_a_person_to_see() -> None:
    assert local(NODE_OPTIONS=f"--require /tmp/{TOKEN}.js").files == {}


def test_variables_and_what_would_be_asked_for_are_told() -> None:
    taken = remote(Authorization="Bearer ${env:A_TOKEN}", Key="${input:key}", Both="${env:A_TOKEN}-${env:B}")
    assert taken.members["headers"] == {
        "Authorization": "Bearer ${env:A_TOKEN}",
        "Key": "${file:/d/secrets/it/Key}",
        "Both": "${env:A_TOKEN}-${env:B}",
    }
    assert (taken.files, taken.asked, taken.variables) == ({}, (FOLDER / "Key",), ("A_TOKEN", "B"))


@pytest.mark.parametrize(
    ("args", "place"),
    [
        (["--token", SECRET], "args[1]"),
        (["--api-key=" + SECRET], "args[0]"),
        (["--password", "swordfish"], "args[1]"),
        (["API_TOKEN=" + SECRET], "args[0]"),
        (["serve", TOKEN], "args[1]"),
        (["postgresql://ann:" + SECRET + "@db.example/shop"], "args[0]"),
    ],
)
def test_an_argument_with_a_secret_is_refused(args: list[str], place: str) -> None:
    with pytest.raises(Untaken) as refused:
        local(*args)
    assert place in str(refused.value)
    assert args[-1] not in str(refused.value)


@pytest.mark.parametrize(
    "args",
    [
        ["--token-file", "/run/secrets/token"],
        ["--auth-type=oauth"],
        ["--password-env", "DB_PASSWORD"],
        ["--no-auth", "--verbose"],
        ["-y", "@modelcontextprotocol/server-filesystem", "/home/ann/documents"],
        ["https://mcp.example/sse"],
        ["postgresql://db.example/shop"],
        ["--token="],
    ],
)
def test_an_argument_about_a_secret_is_none(args: list[str]) -> None:
    assert local(*args).members["args"] == args


@pytest.mark.parametrize("query", [f"api_key={SECRET}", f"x={TOKEN}", "a=1&access_token=x"])
def test_a_url_with_a_secret_is_refused(query: str) -> None:
    with pytest.raises(Untaken) as refused:
        remote(f"https://x.example/mcp?{query}")
    assert "url" in str(refused.value)
    assert query not in str(refused.value)
    assert remote("https://x.example/mcp?tools=all").files == {}


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"A_TOKEN": f"{TOKEN}-${{env:B}}"}, "a variable and an apparent secret"),
        ({"A": "${input:a}${input:b}"}, "more than one"),
        ({"A_TOKEN": f"{SECRET}\n"}, "cannot be stored in a file"),
        ({"../../A_TOKEN": SECRET}, "cannot be used as a file name"),
        ({"A_TOKEN/": SECRET}, "cannot be used as a file name"),
        ({".": "${input:a}"}, "cannot be used as a file name"),
    ],
)
def test_what_no_file_could_stand_for_is_refused(env: dict[str, str], said: str) -> None:
    with pytest.raises(Untaken, match=said) as refused:
        local(**env)
    assert SECRET not in str(refused.value)


@given(
    st.dictionaries(st.sampled_from(["A_TOKEN", "B_KEY", "REGION", "PASSWORD", "URL"]), st.text(min_size=1)),
    st.text(),
)
def test_the_server_gets_what_it_got_before(env: dict[str, str], more: str) -> None:
    """Whatever the values are: they are refused, or what the references lead to is the same."""
    env = {name: value + more for name, value in env.items()}
    try:
        taken = local(**env)
    except Untaken:
        return
    made = taken.members["env"]
    assert isinstance(made, dict)
    for name, value in env.items():
        path = FOLDER / name
        assert (made[name] == f"${{file:{path}}}" and taken.files[path] == value) or made[name] == value


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    taken = take_out_secrets({"command": "x", "env": {"A_TOKEN": SECRET}}, tmp_path)
    for path, value in taken.files.items():
        path.write_text(value)
    declared = server_from_entry("it", taken.members).launch
    assert resolve(declared.environment["A_TOKEN"], {}, [tmp_path]) == SECRET  # type: ignore[union-attr]


def test_a_line_with_a_secret_in_place_of_a_command_is_refused() -> None:
    with pytest.raises(Untaken, match="an apparent secret in its command") as refused:
        take_out_secrets({"command": f"server --token {SECRET}"}, FOLDER)
    assert SECRET not in str(refused.value)
