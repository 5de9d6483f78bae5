"""The servers that a file declares: every form that is read, and how the commands tell of them."""

import json
from collections.abc import Mapping
from typing import Final

import pytest
from typer.testing import CliRunner, Result

from mcpguard.cli.config import app
from mcpguard.domain.servers.launches import DeclaredServer, Era, RemoteLaunch, StdioFraming, StdioLaunch, Templates
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.settings.entries.servers import MOST_SERVERS, DeclaredServers, declared_servers
from mcpguard.settings.load import load
from mcpguard.settings.problems import SettingsError
from tests.settings.entries import CANARY, remote, stdio
from tests.settings.samples import WriteFile

HTTP: Final = Transport.HTTP
SSE: Final = Transport.SSE


def only(whole: Mapping[str, object]) -> DeclaredServer:
    """The one server of a file with which nothing is wrong."""
    found = declared_servers(whole)
    assert (found.problems, found.notices) == ((), ())
    (server,) = found.servers
    return server


FORMS: list[tuple[dict[str, object], DeclaredServer]] = [
    (
        {"mcpServers": {"GitHub": {"command": "npx", "args": ["-y", "pkg"], "env": {"T": "${env:GH}"}, "cwd": "/srv"}}},
        DeclaredServer("github", "GitHub", StdioLaunch("npx", ("-y", "pkg"), {"T": "${env:GH}"}, "/srv")),
    ),
    (
        {"mcpServers": {"my.wiki": {"type": "http", "url": "https://w.example/mcp?k=v", "headers": {"X-A": "b"}}}},
        DeclaredServer("my-wiki", "my.wiki", RemoteLaunch(HTTP, "https://w.example/mcp?k=v", {"X-A": "b"})),
    ),
    (
        {"mcpServers": {"x": {"url": "http://127.0.0.1:8080"}}},
        DeclaredServer("x", "x", RemoteLaunch(HTTP, "http://127.0.0.1:8080")),
    ),
    (
        {"mcpServers": {"x": {"serverUrl": "https://w.example/", "type": "streamableHttp"}}},
        DeclaredServer("x", "x", RemoteLaunch(HTTP, "https://w.example/")),
    ),
    (
        {"mcpServers": {"x": {"httpUrl": "https://w.example/", "transport": "streamable-http", "disabled": True}}},
        DeclaredServer("x", "x", RemoteLaunch(HTTP, "https://w.example/"), enabled=False),
    ),
    (
        {"mcpServers": {"x": {"url": "https://[2001:db8::1]:8443/sse", "type": "sse", "disabled": False}}},
        DeclaredServer("x", "x", RemoteLaunch(SSE, "https://[2001:db8::1]:8443/sse")),
    ),
    (
        {"servers": [{"id": "every", "command": ["npx", "everything"], "env": {"A": "b"}, "timeout": 30}]},
        DeclaredServer("every", "every", StdioLaunch("npx", ("everything",), {"A": "b"}), timeout=30.0),
    ),
    ({"servers": {"x": {"type": "stdio", "command": "x"}}, "mcpguard": {}}, DeclaredServer("x", "x", StdioLaunch("x"))),
    (
        {"mcpServers": [{"name": "x", "protocol": "stdio", "command": "x", "working_dir": "/srv", "enabled": True}]},
        DeclaredServer("x", "x", StdioLaunch("x", folder="/srv")),
    ),
    (
        {
            "mcpServers": [
                {"name": "x", "protocol": "auto", "url": "http://h/", "args": [], "env": {}, "enabled": False}
            ]
        },
        DeclaredServer("x", "x", RemoteLaunch(HTTP, "http://h/"), enabled=False),
    ),
    (
        {"mcpServers": {"x": {"command": "x", "framing": "headers", "era": "legacy", "timeout": 0.5, "env": None}}},
        DeclaredServer("x", "x", StdioLaunch("x", framing=StdioFraming.HEADERS), timeout=0.5, era=Era.LEGACY),
    ),
]


@pytest.mark.parametrize(("whole", "server"), FORMS)
def test_every_form_is_read(whole: dict[str, object], server: DeclaredServer) -> None:
    assert only(whole) == server


def test_the_order_is_the_files_and_both_places_are_read() -> None:
    found = declared_servers(
        {"servers": {"c": {"command": "c"}}, "mcpServers": {"b": {"command": "b"}, "a": {"command": "a"}}}
    )
    assert [each.name for each in found.servers] == ["b", "a", "c"]


@pytest.mark.parametrize("whole", [{}, {"mcpServers": {}}, {"servers": []}, {"mcpServers": None, "mcpguard": {}}])
def test_a_file_may_declare_nothing(whole: dict[str, object]) -> None:
    assert declared_servers(whole) == DeclaredServers()


def test_labels_that_fold_alike_are_all_refused() -> None:
    found = declared_servers(
        {
            "mcpServers": {"My Wiki": stdio(), "my-wiki": stdio(), "b": stdio()},
            "servers": [{"id": "MY.WIKI", "command": "x"}, {"id": "c", "command": "x"}],
        }
    )
    assert [each.name for each in found.servers] == ["b", "c"]
    assert found.problems == (
        'mcpServers["My Wiki"], mcpServers.my-wiki, servers[0] have the same name, my-wiki; rename all but one',
    )


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        ({"command": "x"}, "must have a name"),
        ({"name": 5, "command": "x"}, "must have a name that is a string"),
        ("x", "must be an object"),
    ],
)
def test_an_item_of_a_list_is_named_by_its_number(item: object, sentence: str) -> None:
    found = declared_servers({"mcpServers": [{"name": "a", "command": "a"}, item]})
    assert [each.name for each in found.servers] == ["a"]
    assert found.problems == (f"mcpServers[1] {sentence}",)


@pytest.mark.parametrize("value", ["x", 5, True])
def test_servers_are_an_object_or_a_list(value: object) -> None:
    found = declared_servers({"servers": value})
    assert found.problems == ("servers must be an object with a server under each label, or a list of servers",)


def test_of_too_many_servers_the_first_are_read() -> None:
    found = declared_servers({"mcpServers": {f"s{number}": stdio() for number in range(MOST_SERVERS + 1)}})
    assert len(found.servers) == MOST_SERVERS
    assert found.problems == ("the file declares 201 servers; only the first 200 are read",)


def test_of_very_many_problems_the_first_are_told() -> None:
    found = declared_servers({"mcpServers": {"x": stdio(env={f"A{number}": number for number in range(500)})}})
    assert len(found.problems) == 11
    assert found.problems[-1] == "mcpServers.x has 490 more problems"


TRUST = [
    "quarantined", "trust_mode", "trustMode", "autoApprove", "alwaysAllow", "trusted", "trust", "approved",
    "skip_quarantine", "standing", "auto-approve", "effects",
]  # fmt: skip


@pytest.mark.parametrize("key", TRUST)
def test_no_key_makes_a_server_trusted(key: str) -> None:
    found = declared_servers({"mcpServers": {"x": stdio(**{key: [CANARY]})}})
    assert found.servers == (DeclaredServer("x", "x", StdioLaunch("x")),)
    assert found.notices == (f"mcpServers.x: ignored {key} (nothing in a file approves a server)",)


def test_keys_that_are_not_known_are_named_and_ignored() -> None:
    long, seven = "k" * 60 + "…", "a0, a1, a2, a3, a4, a5, a6"
    entry = stdio(**{"icon": 1, "note\x1b": 2, "k" * 100: 3, "headers": {"A": CANARY}} | {f"a{n}": n for n in range(9)})
    found = declared_servers(
        {"theme": 1, "$schema": "s", "mcpServers": {"x": entry, "y": remote(env={"A": CANARY}, args=["a"])}}
    )
    assert (len(found.servers), found.problems) == (2, ())
    assert found.notices == (
        "the file: ignored theme (not known to mcpguard)",
        "mcpServers.x: ignored headers (it is started by a command)",
        f"mcpServers.x: ignored icon, note⟨U+001B⟩, {long}, {seven} and 2 more (not known to mcpguard)",
        "mcpServers.y: ignored args, env (it is reached by a URL)",
    )


@pytest.mark.parametrize(
    "other",
    [
        stdio(env={"A": "${env:X}", "B": "d"}),
        stdio(env={"A": "${env:X}"}),
        stdio(env={"A": "${env:X}", "B": "c"}, args=["a"]),
        stdio(env={"A": "${env:X}", "B": "c"}, cwd="/"),
        stdio(env={"A": "${env:X}", "B": "c"}, timeout=1),
        stdio(env={"A": "${env:X}", "B": "c"}, disabled=True),
        remote(),
    ],
)
def test_what_differs_in_anything_is_another_declaration(other: dict[str, object]) -> None:
    def first() -> DeclaredServer:
        return only({"servers": {"x": stdio(env={"A": "${env:X}", "B": "c"})}})

    turned = only({"mcpServers": {"x": stdio(env={"B": "c", "A": "${env:X}"})}})
    assert first() == turned
    assert len({first(), turned, only({"servers": {"x": other}})}) == 2


def test_templates_cannot_be_changed_from_outside() -> None:
    given_first = {"A": "b"}
    launch = StdioLaunch("x", environment=given_first)
    given_first["A"] = "c"
    assert launch == StdioLaunch("x", environment=Templates({"A": "b"}))
    assert dict(launch.environment) == {"A": "b"}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


MIXED = json.dumps(
    {
        "mcpServers": {
            "Git Hub": {"command": "npx", "args": ["-y", CANARY], "env": {"TOKEN": CANARY, "B": "${env:B}"}},
            "wiki": {"url": f"https://h/mcp?key={CANARY}", "headers": {"X-Key": CANARY}, "disabled": True},
            "bad": {"command": ""},
            "plain": {"command": "plain", "autoApprove": [CANARY]},
        }
    }
)
PROBLEM = "mcpServers.bad.command is empty"
NOTICE = "mcpServers.plain: ignored autoApprove (nothing in a file approves a server)"


def test_servers_come_from_the_file_that_was_loaded(write: WriteFile) -> None:
    assert load({}, {}, None).servers == DeclaredServers()
    servers = load({}, {}, write(MIXED)).servers
    assert [each.name for each in servers.servers] == ["git-hub", "wiki", "plain"]
    assert (servers.problems, servers.notices) == ((PROBLEM,), (NOTICE,))
    assert [each.launch.transport for each in servers.servers] == [Transport.STDIO, HTTP, Transport.STDIO]


def test_where_settings_are_wrong_servers_that_are_wrong_are_told_too(write: WriteFile) -> None:
    path = write('{"mcpguard": {"listn": 1}, "mcpServers": {"bad": {"command": ""}}}')
    with pytest.raises(SettingsError) as caught:
        load({}, {}, path)
    assert caught.value.problems == (f"mcpguard.listn in {path} is not a setting; did you mean listen?", PROBLEM)


def test_check_reports_servers_and_fails_if_one_is_wrong(write: WriteFile) -> None:
    result = run("check", str(write(MIXED)))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"{PROBLEM}\nnotice: {NOTICE}\n"
    result = run("check", str(write('{"mcpServers": {"x": {"command": "x", "trust": true}}}')))
    assert (result.exit_code, result.stdout) == (0, "ok\n")
    assert result.stderr == "notice: mcpServers.x: ignored trust (nothing in a file approves a server)\n"


def test_show_lists_servers_without_values(write: WriteFile) -> None:
    path = str(write(MIXED))
    result = run("show", "--config", path)
    assert (result.exit_code, result.stderr) == (0, f"{PROBLEM}\nnotice: {NOTICE}\n")
    settings, _, servers = result.stdout.partition("\n\n")
    assert settings.startswith("key")
    assert [line.split() for line in servers.splitlines()] == [
        ["server", "transport", "command", "or", "URL", "environment", "or", "headers"],
        ["git-hub", "stdio", "npx", "(2", "arguments)", "TOKEN,", "B"],
        ["wiki", "(disabled)", "http", "https://h/mcp?…", "X-Key"],
        ["plain", "stdio", "plain", "none"],
    ]
    as_json = run("show", "-o", "json", "--config", path)
    git_hub, wiki, _plain = json.loads(as_json.stdout)["servers"]
    assert git_hub == {
        "name": "git-hub", "label": "Git Hub", "enabled": True, "era": "auto", "timeout": None, "transport": "stdio",
        "command": "npx", "arguments": 2, "environment": ["TOKEN", "B"], "folder": None, "framing": "lines",
        "sandbox": "strict", "mounts": [],
    }  # fmt: skip
    assert (wiki["url"], wiki["headers"], wiki["enabled"]) == ("https://h/mcp?…", ["X-Key"], False)
    assert CANARY not in result.output + as_json.output


@pytest.mark.parametrize(
    ("url", "transport"),
    [
        ("https://h.example/sse", Transport.SSE),
        ("https://h.example/a/sse/?key=1", Transport.SSE),
        ("https://h.example/sse?to=/mcp", SSE),
        ("https://h.example/mcp?from=/sse", Transport.HTTP),
        ("https://h.example/assess", Transport.HTTP),
        ("https://sse/", Transport.HTTP),
    ],
)
def test_a_url_suggests_its_transport_where_none_is_named(url: str, transport: Transport) -> None:
    assert only({"mcpServers": {"x": {"url": url}}}).launch.transport is transport
    assert only({"mcpServers": {"x": {"url": url, "type": "http"}}}).launch.transport is HTTP
