"""Which arguments and URLs of servers hold a secret that everybody could read."""

import pytest

from mcpguard.policy.secrets.launches import (
    HIDDEN,
    secret_arguments,
    secret_in_command,
    secret_in_url,
    shown_arguments,
    shown_command,
    shown_url,
)

GITHUB = "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"


@pytest.mark.parametrize(
    "arguments",
    [
        ["postgresql://app:hunter2@db/orders"],
        ["--dsn=mysql://root:pw@127.0.0.1/x"],
        ["--password", "hunter2"],
        ["--pass", "hunter2"],
        ["--password", "123456"],
        ["--token=abc"],
        ["-e", f"GITHUB_TOKEN={GITHUB}"],
        ["--api-key", "sk-123"],
        ["API_KEY=abc"],
        ["--header", "Authorization: Bearer abcdefghijk"],
        ["--note", GITHUB],
        ["--env=API_TOKEN=abc"],
        ["--header", "X-API-Key: abc"],
        ["https://example.org/sse?page=1&api_key=abc"],
        ["--password", "/hunter2/x"],
        ["--token", "abc${file:/run/rest}", "--token", "written"],
        ["postgres://app:hunter2@${file:/run/host}/x"],
        ["postgresql://app:hun/ter2@db/x"],
        ["--config", '{"db": {"apiKey": "hunter2"}}'],
        ["--config", "{'password':'hunter2'}"],
        ["--password:hunter2"],
        ["/password:hunter2"],
        ["--db-pass=hunter2"],
        ["--db_pass", "hunter2"],
        ["--pat", "hunter2"],
        ["Server=x;Password = hunter2"],
        ["AccountName=a;AccountKey=hunter2=="],
        ["--signing-key", "hunter2"],
        ["https://example.org/;token=hunter2/x"],
    ],
)
def test_a_secret_is_seen_and_hidden(arguments: list[str]) -> None:
    places = secret_arguments(arguments)
    assert places == (len(arguments) - 1,)
    assert shown_arguments(arguments) == (*arguments[:-1], HIDDEN)


@pytest.mark.parametrize(
    "line",
    [
        "-y @modelcontextprotocol/server-filesystem /srv/data",
        "--port 8080 --host 127.0.0.1 --max-tokens 4096",
        "--key /etc/ssl/server.pem --token-file ./token --private-key ~/.ssh/id",
        "--auth none --author ada --secret-name prod --password-env DB_PASSWORD",
        "--password ${file:/run/secrets/db} --dsn=postgres://app:${file:/run/secrets/db}@db/x --token=${file:/t}",
        "postgres://app@db/orders https://example.org/mcp?page=3",
        "run -i --rm -e GITHUB_TOKEN example/server",
        "run -v /secrets:/secrets:ro -v /run/secrets:/x example/server",
        "--registry http://127.0.0.1:4873/@scope/server --encryption-key-id main --bypass x",
        '--config {"level":"debug","auth":"none"} --key /etc/ssl/server.pem',
    ],
)
def test_an_ordinary_command_line_holds_none(line: str) -> None:
    assert secret_arguments(line.split()) == ()
    assert shown_arguments(line.split()) == tuple(line.split())


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.org/mcp?api_key=abc", f"https://example.org/mcp?{HIDDEN}"),
        ("https://example.org/mcp?key=abc", f"https://example.org/mcp?{HIDDEN}"),
        ("https://example.org/mcp?page=1;token=abc", f"https://example.org/mcp?{HIDDEN}"),
        ("https://example.org/token=abc/mcp", HIDDEN),
        (f"https://example.org/mcp?x={GITHUB}", f"https://example.org/mcp?{HIDDEN}"),
        ("https://ada:hunter2@example.org/mcp", "https://example.org/mcp"),
        (f"https://example.org/{GITHUB}/mcp", HIDDEN),
    ],
)
def test_a_secret_in_a_url_is_seen_and_hidden(url: str, shown: str) -> None:
    assert secret_in_url(url)
    assert shown_url(url) == shown


@pytest.mark.parametrize(
    "command", ["server --password hunter2", "PGPASSWORD=hunter2 server", "postgresql://app:hunter2@db", GITHUB]
)
def test_a_whole_line_in_place_of_a_command_is_read_like_arguments(command: str) -> None:
    assert secret_in_command(command)
    assert shown_command(command) == HIDDEN


def test_an_ordinary_command_holds_none() -> None:
    for command in ("npx", "/opt/token-server/bin/run", r"C:\Program Files\node.exe", "server --port 80"):
        assert not secret_in_command(command)
        assert shown_command(command) == command


def test_an_ordinary_url_holds_none() -> None:
    for url in ("https://example.org/mcp?page=3", "http://127.0.0.1:8000/mcp", "https://example.org/mcp?token_type=x"):
        assert not secret_in_url(url)
        assert shown_url(url) == url


@pytest.mark.parametrize(
    "part", ["a", "a=", "a:", "://", "://a:", "Bearer ", "key=", "a =", "'a':", "/a:", "?x&", "${file:", "/"]
)
def test_a_long_argument_is_read_in_time_that_grows_no_faster_than_it(part: str) -> None:
    long = part * (60_000 // len(part))
    assert secret_arguments(["--note", long]) in ((), (1,))
    assert isinstance(secret_in_url(f"https://example.org/{long}"), bool)
