"""What is refused in an entry: the place is named, what was expected is said, and no other server is touched."""

import pytest

from mcpguard.settings.entries.references import shown_template
from mcpguard.settings.entries.servers import declared_servers
from tests.settings.entries import CANARY, remote, stdio

URL_FORM = "must be a URL in ASCII, without spaces and with other characters percent-encoded"
URL_HOST = "must have a host, and a port from 1 to 65535 if it has one"
URL_USER = "must not contain a user or password; use headers instead"
ONE_LINE = "must be ASCII on one line, without surrounding spaces"
WRITTEN_OUT = (
    "must be written out, without ${…}; references are allowed in values of env and headers, and ${file:/path} in args"
)
SECONDS = "must be a number of seconds (not milliseconds) above 0, at most 3600"
MOUNT = "must be an absolute path without .., optionally followed by :rw"
VARIABLE_NAME = "is not a valid variable name: use letters, digits and _, and no digit first"


def problem(entry: object, label: str = "x") -> str:
    """What is wrong with the entry; another server stands beside it and is not touched by that."""
    found = declared_servers({"mcpServers": {label: entry, "other": {"command": "other"}}})
    assert [each.name for each in found.servers] == ["other"]
    (sentence,) = found.problems
    return sentence


REFUSED: list[tuple[object, str]] = [
    ([], " must be an object"),
    ("npx x", " must be an object"),
    ({}, " must have a command or a url"),
    ({"command": None}, " must have a command or a url"),
    (stdio(url="https://h/"), " has both a command and a url; give one of them"),
    ({"command": ""}, ".command is empty"),
    ({"command": " "}, ".command is empty"),
    ({"command": 5}, ".command must be a string"),
    ({"command": []}, ".command is empty"),
    ({"command": ["", "a"]}, ".command is empty"),
    ({"command": ["a", 5]}, ".command[1] must be a string"),
    (
        {"command": ["a"], "args": ["b"]},
        ".args cannot be combined with a command that is a list; put the arguments into the list",
    ),
    ({"command": "a\0b"}, ".command contains a NUL character"),
    ({"command": "${env:X}"}, f".command {WRITTEN_OUT}"),
    (stdio(args="-y x"), ".args must be a list of strings"),
    (stdio(args=["a", 8080]), ".args[1] must be a string"),
    (stdio(args=["a\0"]), ".args[0] contains a NUL character"),
    (stdio(args=["--token", "${env:TOKEN}"]), ".args[1] may only refer to files: write ${file:/path}"),
    (
        stdio(args=["--token=${TOKEN:-none}"]),
        ".args[0] must be ${env:NAME}, without a default; set the variable where mcpguard is started",
    ),
    (
        stdio(args=["${workspaceFolder}/a"]),
        ".args[0] must be written out: mcpguard has no workspace and no editor",
    ),
    ({"command": ["${file:/bin/x}", "a"]}, ".command must begin with a program, not a reference"),
    (stdio(args=["${file:relative}"]), ".args[0] must name a file by its absolute path in ${file:/path}"),
    (stdio(args=["a" * 65_536]), ".args and the command together exceed 65536 bytes"),
    (stdio(args=["é" * 32_768]), ".args and the command together exceed 65536 bytes"),
    (stdio(cwd="srv"), ".cwd must be an absolute path"),
    (stdio(cwd="~/srv"), ".cwd must be an absolute path"),
    (stdio(cwd=""), ".cwd is empty"),
    (stdio(cwd="/a\0"), ".cwd contains a NUL character"),
    (stdio(cwd="/${env:X}"), f".cwd {WRITTEN_OUT}"),
    (stdio(cwd="/a", working_dir="/b"), ".cwd differs from working_dir; give only one of them"),
    (stdio(sandbox="off"), ".sandbox must be one of strict, contained, none"),
    (stdio(sandbox=False), ".sandbox must be one of strict, contained, none"),
    (stdio(mounts="/srv"), ".mounts must be a list of strings"),
    (stdio(mounts=["/a", 5]), ".mounts[1] must be a string"),
    (stdio(mounts=["srv"]), f".mounts[0] {MOUNT}"),
    (stdio(mounts=["/a", "/a/../b:rw"]), f".mounts[1] {MOUNT}"),
    (stdio(mounts=["//a"]), f".mounts[0] {MOUNT}"),
    (stdio(mounts=[":rw"]), f".mounts[0] {MOUNT}"),
    (stdio(mounts=["/a", "/a/:rw"]), ".mounts[1] repeats an earlier folder"),
    (stdio(mounts=["/${env:X}"]), f".mounts[0] {WRITTEN_OUT}"),
    (stdio(mounts=[f"/{number}" for number in range(51)]), ".mounts has more than 50 folders"),
    (stdio(env=["A=b"]), ".env must be an object of strings"),
    (stdio(env={"A": 1}), ".env.A must be a string"),
    (stdio(env={"A": "b\0"}), ".env.A contains a NUL character"),
    (stdio(env={"1A": "b"}), f".env has 1A, which {VARIABLE_NAME}"),
    (stdio(env={"A=B": "b"}), f".env has A=B, which {VARIABLE_NAME}"),
    (stdio(env={"A\n": "b"}), f".env has A⟨U+000A⟩, which {VARIABLE_NAME}"),
    (stdio(env={"É": "b"}), f".env has É, which {VARIABLE_NAME}"),
    (stdio(framing="lsp"), ".framing must be one of lines, headers"),
    (stdio(era="2025"), ".era must be one of auto, legacy, modern"),
    (stdio(timeout=0), f".timeout {SECONDS}"),
    (stdio(timeout=30_000), f".timeout {SECONDS}"),
    (stdio(timeout=True), f".timeout {SECONDS}"),
    (stdio(timeout="30"), f".timeout {SECONDS}"),
    (stdio(timeout=10**400), f".timeout {SECONDS}"),
    (stdio(timeout=float("nan")), f".timeout {SECONDS}"),
    (stdio(disabled="yes"), ".disabled must be true or false"),
    (stdio(disabled=True, enabled=True), ".enabled contradicts disabled; give only one of them"),
    (stdio(type="http"), ".type is http, which needs a url"),
    (stdio(type="ws"), ".type must be one of stdio, http, streamable-http, sse"),
    (stdio(type=["stdio"]), ".type must be one of stdio, http, streamable-http, sse"),
    (stdio(type="stdio", transport="sse"), ".type differs from transport; give only one of them"),
    (remote(protocol="stdio"), ".protocol is stdio, which needs a command"),
    (remote(serverUrl="https://other/"), ".url differs from serverUrl; give only one of them"),
    ({"url": ""}, ".url is empty"),
    ({"url": 5}, ".url must be a string"),
    ({"url": "https://h/${env:KEY}"}, f".url {WRITTEN_OUT}"),
    ({"url": "ftp://h/"}, ".url must begin with http:// or https://"),
    ({"url": "//h/"}, ".url must begin with http:// or https://"),
    ({"url": "h:80"}, ".url must begin with http:// or https://"),
    ({"url": "unix:///run/x"}, ".url must begin with http:// or https://"),
    ({"url": "http:h"}, ".url must begin with http:// or https://"),
    ({"url": "https:///path"}, f".url {URL_HOST}"),
    ({"url": "https://:80/"}, f".url {URL_HOST}"),
    ({"url": "https://h:0/"}, f".url {URL_HOST}"),
    ({"url": "https://h:65536/"}, f".url {URL_HOST}"),
    ({"url": "https://h:x/"}, f".url {URL_HOST}"),
    ({"url": "https://[h]/"}, f".url {URL_HOST}"),
    ({"url": "https://[::1/"}, f".url {URL_HOST}"),
    ({"url": "https://a%2fb/"}, f".url {URL_HOST}"),
    ({"url": "https://a..b/"}, f".url {URL_HOST}"),
    ({"url": f"https://u:{CANARY}@h/"}, f".url {URL_USER}"),
    ({"url": "https://@h/"}, f".url {URL_USER}"),
    ({"url": "https://h/#a"}, ".url must not have a fragment (#…)"),
    ({"url": "https://h/#"}, ".url must not have a fragment (#…)"),
    ({"url": "https://h/a b"}, f".url {URL_FORM}"),
    ({"url": "https://h\n/"}, f".url {URL_FORM}"),
    ({"url": "https://h\\@evil/"}, f".url {URL_FORM}"),
    ({"url": "https://bücher.example/"}, f".url {URL_FORM}"),
    ({"url": "https://h/" + "a" * 2048}, ".url is longer than 2048 characters"),
    (remote(headers="A: b"), ".headers must be an object of strings"),
    (remote(headers={"A": 1}), ".headers.A must be a string"),
    (remote(headers={"A": "b\r\nHost: evil"}), f".headers.A {ONE_LINE}"),
    (remote(headers={"A": "${env:X}\nB: c"}), f".headers.A {ONE_LINE}"),
    (remote(headers={"A": " b"}), f".headers.A {ONE_LINE}"),
    (remote(headers={"A": "ü"}), f".headers.A {ONE_LINE}"),
    (remote(headers={"A b": "c"}), ".headers has A b, which is not a valid header name"),
    (remote(headers={"": "c"}), ".headers has , which is not a valid header name"),
    (remote(headers={"A": "b", "a": "c"}), ".headers has a, which is given twice"),
    *[
        (remote(headers={name: "b"}), f".headers has {name}, which is set by mcpguard itself")
        for name in (
            "Host", "content-length", "Transfer-Encoding", "Content-Type", "ACCEPT", "Mcp-Session-Id", "mcp-x",
            "MCP-Protocol-Version", "Connection", "Last-Event-ID",
        )
    ],
]  # fmt: skip


@pytest.mark.parametrize(("entry", "sentence"), REFUSED)
def test_what_is_wrong_is_told_with_its_place_and_costs_that_server_only(entry: object, sentence: str) -> None:
    assert problem(entry) == f"mcpServers.x{sentence}"


NOT_CLOSED = (
    'contains "${" without "}"; if the value itself has these characters, put it into a file and write ${file:/path}'
)
FOREIGN = [
    ("${TOKEN}", "must be ${env:NAME} instead of ${NAME}"),
    ("Bearer ${TOKEN}", "must be ${env:NAME} instead of ${NAME}"),
    ("${TOKEN:-x}", "must be ${env:NAME}, without a default; set the variable where mcpguard is started"),
    ("${env:TOKEN:-x}", "must name an environment variable in ${env:NAME}, and nothing else"),
    ("${env:}", "must name an environment variable in ${env:NAME}, and nothing else"),
    ("${env:1}", "must name an environment variable in ${env:NAME}, and nothing else"),
    (
        "${input:token}",
        "cannot be prompted for; set it where mcpguard is started and write ${env:NAME}, or write ${file:/path}",
    ),
    ("${workspaceFolder}/x", "must be written out: mcpguard has no workspace and no editor"),
    ("${workspaceFolder:a}", "must be written out: mcpguard has no workspace and no editor"),
    ("${userHome}", "must be written out: mcpguard has no workspace and no editor"),
    ("${keyring:X}", "cannot be taken from a keyring yet; write ${env:NAME} or ${file:/path}"),
    ("${file:secret}", "must name a file by its absolute path in ${file:/path}"),
    ("${file:~/secret}", "must name a file by its absolute path in ${file:/path}"),
    ("${file:/a\0b}", "must name a file by its absolute path in ${file:/path}"),
    ("${file}", "must be ${env:NAME} instead of ${NAME}"),
    ("${}", 'contains "${" without a valid reference; write ${env:NAME} or ${file:/path}'),
    ("${ENV:X}", 'contains "${" without a valid reference; write ${env:NAME} or ${file:/path}'),
    (
        "a${b",
        NOT_CLOSED,
    ),
]


@pytest.mark.parametrize(("template", "sentence"), FOREIGN)
def test_other_forms_of_references_are_refused_with_what_to_write(template: str, sentence: str) -> None:
    assert problem(stdio(env={"A": template})) == f"mcpServers.x.env.A {sentence}"
    assert problem(remote(headers={"A": template})) == f"mcpServers.x.headers.A {sentence}"
    assert shown_template(template) == "(set)"


@pytest.mark.parametrize(
    ("label", "place", "sentence"),
    [
        ("", 'mcpServers[""]', "must have a letter a to z or a digit in its name"),
        ("日本", 'mcpServers["日本"]', "must have a letter a to z or a digit in its name"),
        ("\x1b[31m\u202e", 'mcpServers["⟨U+001B⟩[31m⟨U+202E⟩"]', "must be an object"),
        ("a" * 201, f"mcpServers.{'a' * 60}…", "has a name longer than 200 characters"),
    ],
)
def test_a_label_of_which_no_name_can_be_made_is_refused(label: str, place: str, sentence: str) -> None:
    assert problem(5 if "object" in sentence else stdio(), label) == f"{place} {sentence}"
