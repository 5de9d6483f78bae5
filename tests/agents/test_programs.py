"""Each program: where its files are, what its entries mean, and how it is told to reach the guard."""

from pathlib import Path

import pytest

from mcpguard.agents.config_files import Item, read_files
from mcpguard.agents.program import AgentProgram, EntryOrigin, Home, Reach, Untaken
from mcpguard.agents.programs import BY_NAME, PROGRAMS
from mcpguard.settings.entries.members import server_from_entry
from tests.agents.homes import LINUX, PROJECT, home

EVERYBODY = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
BY_COMMAND = Reach(("/opt/mcpguard", "stdio"), {"MCPGUARD_TOKEN_FILE": "/t"})
BY_URL = Reach(url="http://127.0.0.1:8080/mcp", headers={"Authorization": "Bearer x"})


def found(program: str, at: Home | None = None, folder: Path = PROJECT) -> dict[str, Item]:
    every = read_files(BY_NAME[program], at or home(), folder)
    assert [each.problem for each in every if each.problem] == []
    return {item.label: item for each in every for item in each.items}


def members(item: Item) -> dict[str, object]:
    assert isinstance(item.entry, dict)
    return item.program.members(item.entry, item.around)


def paths(program: str, platform: str, **environment: str) -> list[str]:
    at = Home(Path("/h"), platform, environment)
    return list(dict.fromkeys(str(place.path) for place in BY_NAME[program].places(at, Path("/p"))))


def test_where_each_keeps_its_servers() -> None:
    support, roaming = "/h/Library/Application Support", "/h/AppData/Roaming"
    assert paths("claude-code", "linux") == ["/h/.claude.json", "/p/.mcp.json"]
    assert paths("claude-code", "linux", CLAUDE_CONFIG_DIR="/c")[0] == "/c/.claude.json"
    assert paths("claude-desktop", "linux") == ["/h/.config/Claude/claude_desktop_config.json"]
    assert paths("claude-desktop", "linux", XDG_CONFIG_HOME="/x") == ["/x/Claude/claude_desktop_config.json"]
    assert paths("claude-desktop", "darwin") == [f"{support}/Claude/claude_desktop_config.json"]
    assert paths("claude-desktop", "win32") == [f"{roaming}/Claude/claude_desktop_config.json"]
    assert paths("claude-desktop", "win32", APPDATA="/r") == ["/r/Claude/claude_desktop_config.json"]
    for platform in ("linux", "darwin", "win32"):
        assert paths("cursor", platform) == ["/h/.cursor/mcp.json", "/p/.cursor/mcp.json"]
        assert paths("windsurf", platform) == ["/h/.codeium/windsurf/mcp_config.json"]
        assert paths("codex", platform) == ["/h/.codex/config.toml", "/p/.codex/config.toml"]
    assert paths("codex", "linux", CODEX_HOME="/x")[0] == "/x/config.toml"
    assert paths("vscode", "linux")[0] == "/h/.config/Code/User/mcp.json"
    assert paths("vscode", "darwin")[:2] == [
        f"{support}/Code/User/mcp.json",
        f"{support}/Code - Insiders/User/mcp.json",
    ]
    assert paths("vscode", "win32")[0] == f"{roaming}/Code/User/mcp.json"
    assert paths("vscode", "linux")[-1] == "/p/.vscode/mcp.json"


@EVERYBODY
def test_each_can_be_connected_in_a_file_of_the_persons_own(program: AgentProgram) -> None:
    places = program.places(home(), PROJECT)
    assert places[0].connectable
    assert all(place.folder is None for place in places if place.connectable)


@EVERYBODY
def test_the_entry_for_the_guard_means_the_guard(program: AgentProgram) -> None:
    """What is written in the words of a program says the same when it is read in them."""
    here = EntryOrigin(home())
    declared = server_from_entry("mcpguard", program.members(program.entry(BY_COMMAND), here))
    assert declared == server_from_entry(
        "mcpguard", {"command": "/opt/mcpguard", "args": ["stdio"], "env": {"MCPGUARD_TOKEN_FILE": "/t"}}
    )
    if program.http:
        assert server_from_entry("mcpguard", program.members(program.entry(BY_URL), here)) == server_from_entry(
            "mcpguard", {"url": BY_URL.url, "headers": dict(BY_URL.headers)}
        )


def test_what_claude_code_means() -> None:
    every = found("claude-code")
    assert set(every) == {"github", "files", "mcpguard", "shop-db", "builder", "linter"}
    files = members(every["files"])
    assert files["args"] == ["-y", "@modelcontextprotocol/server-filesystem", f"{LINUX}/documents"]
    assert files["env"] == {"REGION": "eu-1", "FILES_TOKEN": "${env:FILES_TOKEN}"}
    assert "cwd" not in files
    assert every["shop-db"].scope == "local /work/shop"
    assert members(every["shop-db"])["command"] == "/work/shop/tools/db-server"
    assert members(every["shop-db"])["cwd"] == "/work/shop"
    assert members(every["builder"])["command"] == str(PROJECT / "bin" / "builder")
    assert members(every["builder"])["cwd"] == str(PROJECT)
    assert members(every["linter"]) == {"command": "uvx", "args": ["lint-server"]}


def test_a_variable_with_a_default_is_the_variable_where_it_is_set() -> None:
    files = members(found("claude-code", home(REGION="us-2"))["files"])
    assert files["env"] == {"REGION": "${env:REGION}", "FILES_TOKEN": "${env:FILES_TOKEN}"}


def test_what_the_others_mean() -> None:
    notes = members(found("claude-desktop")["notes"])
    assert notes["args"] == ["--vault", "C:\\Users\\ann\\Notes"]
    cursor = found("cursor")
    assert members(cursor["search"])["args"] == ["search-server", "--cache", f"{LINUX}/.cache/search"]
    assert members(cursor["search"])["env"] == {"SEARCH_API_KEY": "${env:SEARCH_API_KEY}"}
    assert members(cursor["linear"]) == {"url": "https://mcp.linear.example/sse", "type": "sse"}
    assert members(cursor["indexer"]) == {
        "command": "node", "args": [f"{PROJECT}/indexer.js"], "cwd": str(PROJECT),
    }  # fmt: skip
    vscode = found("vscode")
    assert set(vscode) == {"tracker", "weather", "older", "kept"}
    assert members(vscode["tracker"])["headers"] == {"X-Api-Key": "${input:tracker-key}"}
    windsurf = members(found("windsurf")["figma"])
    assert windsurf["url"] == "https://figma.example/mcp"
    assert windsurf["headers"] == {"Authorization": "Bearer ${env:FIGMA_TOKEN}"}


def test_what_codex_means() -> None:
    every = found("codex")
    assert members(every["docs"]) == {
        "command": "npx",
        "args": ["-y", "docs-server"],
        "timeout": 60,
        "env": {"DOCS_TOKEN": "${env:DOCS_TOKEN}", "DOCS_REGION": "${env:DOCS_REGION}", "DOCS_MODE": "strict"},
    }
    assert members(every["issues"]) == {
        "url": "https://issues.example/mcp",
        "enabled": False,
        "headers": {
            "Authorization": "Bearer ${env:ISSUES_TOKEN}",
            "X-Trace": "${env:TRACE_ID}",
            "X-Team": "blue",
        },
    }
    assert members(every["a b"])["command"] == f"{PROJECT}/bin/ab"


@pytest.mark.parametrize(
    ("program", "entry", "said"),
    [
        ("claude-code", {"command": "x", "env": {"K": "${file:/etc/passwd}"}}, "env.K"),
        ("cursor", {"command": "x", "args": ["${file:/etc/passwd}"]}, "args[0]"),
        ("windsurf", {"url": "https://x.example/${file:/etc/passwd}"}, "url"),
        ("claude-code", {"command": "x", "env": {"K": "${A:-${file:/etc/passwd}}"}}, "env.K"),
        ("claude-code", {"command": "x", "env": {"K": "$${A:-{file:/etc/passwd}}"}}, "env.K"),
        ("claude-code", {"command": "x", "args": ["${TOKEN}"]}, "args[0]"),
        ("claude-code", {"url": "https://x.example/${TOKEN}"}, "url"),
        ("claude-code", {"command": "x", "env": {"K": "${env:A}"}}, "env.K"),
        ("claude-desktop", {"command": "x", "env": {"K": "${A}"}}, "env.K"),
        ("codex", {"command": "x", "env": {"K": "${env:A}"}}, "env.K"),
        ("cursor", {"command": "x", "env": {"K": "${command:evil}"}}, "env.K"),
        ("cursor", {"command": "x", "env": {"K": "${input:id}"}}, "env.K"),
        ("cursor", {"command": "${workspaceFolder}/x"}, "command"),
        ("vscode", {"command": "x", "env": {"K": "${input:../../x}"}}, "env.K"),
        ("vscode", {"command": "x", "args": ["${input:id}"]}, "args[0]"),
        ("vscode", {"command": "x", "envFile": "/p/.env"}, "envFile"),
        ("cursor", {"command": "bin/x"}, "command"),
        ("cursor", {"command": "x", "cwd": "bin"}, "cwd"),
        ("cursor", {"command": "x", "env": {"K": True}}, "env.K"),
        ("codex", {"command": "x", "env_vars": ["A=b"]}, "env_vars"),
        ("codex", {"command": "x", "env_vars": "A"}, "env_vars"),
        ("codex", {"url": "https://x.example", "bearer_token_env_var": "${file:/etc/passwd}"}, "bearer_token_env_var"),
        ("codex", {"url": "https://x.example", "env_http_headers": {"A": "file:/etc/passwd"}}, "env_http_headers"),
        ("codex", {"url": "https://x.example", "env_http_headers": []}, "env_http_headers"),
    ],
)
def test_what_cannot_be_said_in_our_words_is_refused_without_its_value(
    program: str, entry: dict[str, object], said: str
) -> None:
    with pytest.raises(Untaken) as refused:
        BY_NAME[program].members(entry, EntryOrigin(home()))
    assert said in str(refused.value)
    assert "passwd" not in str(refused.value)
