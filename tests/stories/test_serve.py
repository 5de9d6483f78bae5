"""`mcpguard serve` as an operator meets it: it starts, says where everything is, refuses what it must, and stops."""

import json
import os
import signal
import socket
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx2
import pytest

from tests.patience import PATIENCE
from tests.process import STOPS_WITHIN, Result, Served, recorded, run, serving, until, whole
from tests.store import NEWEST
from tests.world import said, verified

SOMEBODY = 65534


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def kinds(data_dir: Path) -> list[str]:
    return [record["kind"] for record in said(data_dir / "mcpguard.db")]


def refused(result: Result) -> str:
    """The sentence of a start that was refused."""
    assert (result.returncode, result.stdout) == (1, ""), result
    assert "Traceback" not in result.stderr
    return result.stderr


def start(data_dir: Path, *arguments: str, listen: str = "127.0.0.1:0", **environ: str) -> Result:
    return run("serve", "--listen", listen, "--data-dir", data_dir, *arguments, environ=environ)


# It starts.


def test_the_first_start_makes_what_it_needs_and_says_where_everything_is(tmp_path: Path) -> None:
    data_dir = tmp_path / "not" / "yet"
    with serving(data_dir) as guard:
        places = guard.places
        assert places["data directory"] == str(data_dir)
        assert places["database"] == f"{data_dir}/mcpguard.db (schema {NEWEST})"
        assert places["operator socket"] == f"{data_dir}/operator.sock"
        assert places["configuration"].startswith("none ")
        assert places["audit log"].endswith(", 3 records")
        assert places["health"].split() == [f"{guard.url}/healthz", f"{guard.url}/readyz"]
        key = run("audit", "key", "--data-dir", data_dir).stdout.strip()
        assert places["signing key"] == f"{data_dir}/audit.key (public: {key})"


def test_it_answers_on_the_network(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as guard:
        assert guard.get("/healthz").json() == {"status": "alive"}
        assert guard.get("/readyz").json() == {"status": "ready"}
        assert "No users yet" in guard.get("/login").text
        assert guard.get("/static/guard.css").headers["content-type"].startswith("text/css")
        assert guard.get("/", host=f"rebound.example:{guard.port}").status_code == 421
        for path in ("/", "/nowhere", "/healthz", "/static/guard.css"):
            headers = guard.get(path).headers
            assert "server" not in headers
            assert headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "localhost:0", "127.0.0.2:0"])
def test_the_address_that_it_announces_is_one_that_it_answers(tmp_path: Path, listen: str) -> None:
    with serving(tmp_path / "data", listen=listen) as guard:
        assert guard.url.startswith(f"http://{listen.removesuffix('0')}")
        assert guard.get("/login").status_code == 200


def test_what_it_keeps_is_for_its_own_account_only_whatever_the_umask(tmp_path: Path) -> None:
    with serving(tmp_path / "data", umask=0) as guard:
        guard.get("/")
        assert mode(guard.data_dir) == 0o700
        assert mode(guard.operator) == 0o600
        assert mode(guard.data_dir / "logs") == 0o700
        kept = {path.name: mode(path) for path in guard.data_dir.iterdir() if not path.is_dir()}
        files = {"mcpguard.db", "mcpguard.db-wal", "audit.key", "digest.key", "guard.lock"}
        assert files | {"operator.sock", "agents.sock"} <= kept.keys()
        assert set(kept.values()) == {0o600}, kept


def test_a_status_is_told_while_it_runs_and_only_then(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with serving(data_dir) as guard:
        told = run("status", "--data-dir", data_dir)
        assert (told.returncode, told.stderr) == (0, "")
        rows = dict(line.split(maxsplit=1) for line in told.stdout.splitlines())
        assert rows["ready"].strip() == "yes"
        assert f"process {guard.pid}" in rows["version"]
        as_json = json.loads(run("status", "--data-dir", data_dir, "-o", "json").stdout)
        assert as_json["ready"]["ready"] is True
        assert as_json["process"] == guard.pid
        guard.signal(signal.SIGTERM)
        assert guard.ended() == 0
    told = run("status", "--data-dir", data_dir)
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr.startswith(f"mcpguard: no guard answers at {data_dir}/operator.sock: ")
    assert "Traceback" not in told.stderr


def test_a_guard_that_cannot_record_says_so_to_its_operator_and_still_stops(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    often = {"MCPGUARD_AUDIT__CHECKPOINT_SECONDS": "0.1", "MCPGUARD_AUDIT__PROBE_SECONDS": "0.1"}
    with serving(data_dir, environ=often) as guard:
        (data_dir / "mcpguard.db").unlink()
        until(lambda: guard.get("/readyz").status_code == 503, "it notices that its database is gone")
        told = run("status", "--data-dir", data_dir)
        assert (told.returncode, told.stderr) == (1, "")
        rows = dict(line.split(maxsplit=1) for line in told.stdout.splitlines())
        assert rows["ready"].startswith("NO: ledger:unavailable since 20")
        assert f"{data_dir}/mcpguard.db was removed or replaced" in rows["ready"]
        guard.signal(signal.SIGTERM)
        assert guard.ended() == 0
        assert guard.logged("ledger.unavailable")
        assert guard.logged("ledger.stop_unrecorded")
    assert not (data_dir / "mcpguard.db").exists(), "and no empty one was put in its place"


def test_every_line_of_its_log_is_json_and_names_the_request_as_the_answer_does(tmp_path: Path) -> None:
    with serving(tmp_path / "data", environ={"MCPGUARD_LOG__LEVEL": "debug"}) as guard:
        answers = {path: guard.get(path) for path in ("/", "/nowhere", "/%0aforged%1b[31m", "/static/../../etc/passwd")}
        answers["foreign"] = guard.get("/", host="rebound.example")
        guard.get("/healthz")
        ids = [answer.headers["x-request-id"] for answer in answers.values()]
        assert len(set(ids)) == len(ids)
        for path, answer in answers.items():
            line = guard.until_logged("request", request=answer.headers["x-request-id"])
            assert (line["status"], line["door"]) == (answer.status_code, "network"), path
        guard.signal(signal.SIGTERM)
        assert guard.ended() == 0
        assert {line["event"] for line in guard.log} >= {"store.upgraded", "ledger.checkpoint", "request", "stopping"}
        assert not guard.logged("request", path="/healthz"), "what machines ask every few seconds is not logged"
        assert all(line.isprintable() for line in guard.lines)


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost: 127"])
def test_a_connection_that_never_says_what_it_wants_is_closed(said: bytes, tmp_path: Path) -> None:
    with serving(tmp_path / "data", environ={"MCPGUARD_LIMITS__HEAD_SECONDS": "0.2"}) as guard:
        with guard.connect() as silent:
            silent.sendall(said)
            with suppress(ConnectionResetError):
                assert silent.recv(1) == b""
        assert guard.get("/healthz").status_code == 200


def test_nor_is_a_connection_kept_on_which_a_second_request_never_comes_whole(tmp_path: Path) -> None:
    environ = {"MCPGUARD_LIMITS__HEAD_SECONDS": "0.5"}
    with serving(tmp_path / "data", environ=environ) as guard, guard.connect() as slow:
        host = b"Host: 127.0.0.1:%d\r\n" % guard.port
        slow.sendall(b"GET /healthz HTTP/1.1\r\n" + host + b"\r\n")
        heard = b""
        while not heard.endswith(b"}"):
            heard += slow.recv(65536)
        assert heard.startswith(b"HTTP/1.1 200")
        slow.sendall(b"GET /healthz HTTP/1.1\r\n" + host)
        with suppress(ConnectionError):
            assert slow.recv(1) == b""


def test_whoever_comes_when_all_places_are_taken_gets_the_place_of_one_that_waits(tmp_path: Path) -> None:
    environ = {"MCPGUARD_LIMITS__CONNECTIONS": "2"}
    with serving(tmp_path / "data", environ=environ) as guard, ExitStack() as held:
        first, second = (held.enter_context(httpx2.Client(trust_env=False)) for _ in range(2))
        assert [client.get(guard.url + "/login").status_code for client in (first, second)] == [200, 200]
        assert guard.get("/login").status_code == 200
        assert run("status", "--data-dir", guard.data_dir).returncode == 0, "the operator has connections of his own"


# It stops.


def idle_connections(guard: Served, held: ExitStack) -> None:
    for _ in range(20):
        connection = held.enter_context(guard.connect())
        connection.sendall(b"GET /login HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % guard.port)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")


def connections_that_say_nothing(guard: Served, held: ExitStack) -> None:
    for _ in range(20):
        held.enter_context(guard.connect())
    operator = held.enter_context(socket.socket(socket.AF_UNIX))
    operator.connect(str(guard.operator))


def half_a_head(guard: Served, held: ExitStack) -> None:
    connection = held.enter_context(guard.connect())
    connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-Slow: " % guard.port)


def half_a_body(guard: Served, held: ExitStack) -> None:
    connection = held.enter_context(guard.connect())
    head = b"POST / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 1000\r\n\r\n" % guard.port
    connection.sendall(head + b"x" * 500)
    connection.recv(65536)


def requests_without_end(guard: Served, held: ExitStack) -> None:
    """Threads that ask as fast as they are answered, until they are not."""
    answers: list[int] = []

    def ask() -> None:
        with suppress(httpx2.TransportError), httpx2.Client(trust_env=False) as client:
            while True:
                answers.append(client.get(guard.url + "/login").status_code)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
        held.callback(thread.join, PATIENCE)
    until(lambda: len(answers) > 40, "the threads are answered")
    held.callback(lambda: answers_were(200, answers))


def answers_were(status: int, answers: list[int]) -> None:
    assert set(answers) == {status}


def answers_that_nobody_reads(guard: Served, held: ExitStack) -> None:
    connection = held.enter_context(guard.connect())
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.setblocking(False)
    request = b"GET /static/guard.css HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % guard.port
    with suppress(BlockingIOError):  # once everybody's buffers are full, the guard waits for us with a request open
        while True:
            connection.sendall(request * 1000)
    lines: list[int] = []

    def at_rest() -> bool:
        lines.append(len(guard.lines))
        return len(lines) > 15 and len(set(lines[-15:])) == 1

    until(at_rest, "the guard has no room for further answers")


WORK = (idle_connections, connections_that_say_nothing, half_a_head, half_a_body, requests_without_end)


@pytest.mark.parametrize(
    ("number", "work"),
    [
        *((signal.SIGTERM, (each,)) for each in WORK),
        (signal.SIGTERM, ()),
        (signal.SIGINT, ()),
        (signal.SIGINT, WORK),
    ],
    ids=lambda value: (
        value.name if isinstance(value, signal.Signals) else "+".join(w.__name__ for w in value) or "idle"
    ),
)
def test_a_signal_ends_it_in_time_whatever_is_in_flight(
    tmp_path: Path, number: signal.Signals, work: tuple[Callable[[Served, ExitStack], None], ...]
) -> None:
    data_dir = tmp_path / "data"
    with ExitStack() as held, serving(data_dir) as guard:
        for each in work:
            each(guard, held)
        guard.signal(number)
        assert guard.ended() == 0  # raises when it takes longer than STOPS_WITHIN
        assert guard.logged("stopping", signal=number.name, within_seconds=STOPS_WITHIN)
        assert not guard.logged("stop.overdue")
        assert not [line for line in guard.log if line["level"] not in ("info", "debug")]
    assert kinds(data_dir) == ["started", "configured", "person", "stopped"]
    assert verified(data_dir / "mcpguard.db").whole
    assert not (data_dir / "operator.sock").exists()


def test_requests_that_do_not_end_are_ended_and_further_signals_change_nothing(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with ExitStack() as held, serving(data_dir) as guard:
        answers_that_nobody_reads(guard, held)
        guard.signal(signal.SIGTERM)
        guard.until_logged("stopping")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGINT, signal.SIGHUP):
            guard.signal(number)
        assert guard.ended() == 0
        assert not guard.logged("stop.overdue")
        assert len(guard.logged("stopping")) == 1
    assert kinds(data_dir) == ["started", "configured", "person", "stopped"]
    assert verified(data_dir / "mcpguard.db").whole


def test_what_it_did_can_be_listed_and_proved_afterwards(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with serving(data_dir) as guard:
        guard.signal(signal.SIGTERM)
        assert guard.ended() == 0
    assert [record["kind"] for record in recorded(data_dir)] == ["started", "configured", "person", "stopped"]
    assert whole(data_dir)


# It starts again.


def test_after_a_kill_the_next_start_works(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with serving(data_dir) as guard:
        guard.kill()
        assert guard.operator.exists()
        assert f'"pid": {guard.pid}' in (data_dir / "guard.lock").read_text()
    with serving(data_dir) as guard:
        assert run("status", "--data-dir", data_dir).returncode == 0
        assert guard.get("/readyz").status_code == 200
        guard.signal(signal.SIGTERM)
        assert guard.ended() == 0
    assert kinds(data_dir) == ["started", "configured", "person", "started", "person", "stopped"]
    assert verified(data_dir / "mcpguard.db").whole


def test_a_second_guard_in_the_same_directory_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with serving(data_dir) as guard:
        sentence = refused(start(data_dir))
        assert f"the data directory {data_dir} is in use by process {guard.pid} (mcpguard serve, since " in sentence
        assert guard.get("/readyz").json() == {"status": "ready"}
        assert json.loads(run("status", "--data-dir", data_dir, "-o", "json").stdout)["process"] == guard.pid
        assert kinds(data_dir) == ["started", "configured", "person"]


def test_a_port_in_use_is_refused_and_the_directory_stays_usable(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        sentence = refused(start(data_dir, listen=listen))
    assert f"cannot listen on {listen}: Address already in use" in sentence
    assert "--listen" in sentence
    assert not data_dir.exists(), "and nothing is left behind"
    with serving(data_dir):
        assert verified(data_dir / "mcpguard.db").whole


# It is told what to do.


def test_sighup_applies_what_is_live_and_nothing_else(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text('{"mcpguard": {"log": {"level": "error"}}}')
    with serving(tmp_path / "data", "--config", str(config)) as guard:
        silent = guard.get("/").headers["x-request-id"]
        config.write_text(
            '{"mcpguard": {"log": {"level": "info", "format": "console"}, "limits": {"body_bytes": 1024}}}'
        )
        guard.signal(signal.SIGHUP)
        assert guard.until_logged("settings.applied")["live"] == ["log.level", "servers"]
        loud = guard.get("/").headers["x-request-id"]
        guard.until_logged("request", request=loud)  # as JSON still: the format waits for a restart
        assert not guard.logged("request", request=silent)
        assert httpx2.post(guard.url, content=b"x" * 2000, trust_env=False).status_code == 405, "not 413"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "column"),
        ('{"mcpguard": {"log": {"level": "loud"}}}', "mcpguard.log.level"),
        ('{"mcpguard": {"no_such": 1, "nor_this": 2}}', "mcpguard.nor_this"),
        (None, "does not exist"),
    ],
)
def test_sighup_on_a_broken_file_changes_nothing_and_says_why(tmp_path: Path, text: str | None, why: str) -> None:
    config = tmp_path / "config.json"
    config.write_text("{}")
    with serving(tmp_path / "data", "--config", str(config)) as guard:
        if text is None:
            config.unlink()
        else:
            config.write_text(text)
        guard.signal(signal.SIGHUP)
        problems = guard.until_logged("settings.refused")["problems"]
        assert any(why in problem for problem in problems)
        answer = guard.get("/login")
        assert answer.status_code == 200
        guard.until_logged("request", request=answer.headers["x-request-id"])
        assert not guard.logged("settings.applied")
        guard.signal(signal.SIGTERM)
        assert guard.ended() == 0


def test_every_problem_of_the_configuration_is_told_at_once_and_nothing_is_made(tmp_path: Path) -> None:
    config, data_dir = tmp_path / "config.json", tmp_path / "data"
    config.write_text('{"mcpguard": {"lissen": "x", "limits": {"body_bytes": -1}, "store": {"batch": "many"}}}')
    told = refused(start(data_dir, "--config", str(config), listen="0.0.0.0:80", MCPGUARD_LOG__LEVEL="loud"))
    lines = told.splitlines()
    assert len(lines) == 5, told
    for problem in ("--listen", "mcpguard.lissen", "mcpguard.limits.body_bytes", "mcpguard.store.batch", "LOG__LEVEL"):
        assert [line for line in lines if problem in line], problem
    assert not data_dir.exists()


# Where it may live.


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder whose path is short enough for a socket, whatever pytest's own are."""
    with tempfile.TemporaryDirectory(prefix="mg-", dir="/tmp") as folder:
        yield Path(folder)


def test_a_path_too_long_for_a_socket_puts_it_into_the_runtime_directory(tmp_path: Path, short: Path) -> None:
    data_dir = tmp_path / ("d" * 100)
    with serving(data_dir, environ={"XDG_RUNTIME_DIR": str(short)}) as guard:
        folder = short / f"mcpguard-{os.getuid()}"
        assert guard.operator.parent == folder
        assert (mode(folder), mode(guard.operator)) == (0o700, 0o600)
        told = run("status", "--data-dir", data_dir, environ={"XDG_RUNTIME_DIR": str(short)})
        assert (told.returncode, told.stderr) == (0, "")
        guard.signal(signal.SIGTERM)
        assert guard.ended() == 0
        assert not list(folder.iterdir())


def test_a_runtime_directory_that_somebody_else_prepared_is_refused(tmp_path: Path, short: Path) -> None:
    data_dir, ours = tmp_path / ("d" * 100), tmp_path / "ours"
    ours.mkdir(mode=0o700)
    (short / f"mcpguard-{os.getuid()}").symlink_to(ours)
    assert "mcpguard-" in refused(start(data_dir, XDG_RUNTIME_DIR=str(short)))
    assert not list(ours.iterdir())


def test_no_place_for_the_socket_is_told_in_a_sentence(tmp_path: Path) -> None:
    told = refused(start(tmp_path / ("d" * 100), XDG_RUNTIME_DIR=str(tmp_path / ("r" * 100))))
    assert "XDG_RUNTIME_DIR" in told


@pytest.mark.parametrize("loose", [0o755, 0o710, 0o701])
def test_a_directory_that_others_can_enter_is_refused(tmp_path: Path, loose: int) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    data_dir.chmod(loose)
    assert f"is accessible to others (mode {loose:o}); run: chmod 700 {data_dir}" in refused(start(data_dir))
    assert not list(data_dir.iterdir())


def test_a_directory_of_somebody_else_is_refused(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir(mode=0o700)
    if os.getuid() == 0:
        os.chown(data_dir, SOMEBODY, SOMEBODY)
    else:
        data_dir = Path("/usr")  # root's: only root can make a folder of somebody else
    before = sorted(data_dir.iterdir())
    assert f"the directory {data_dir} belongs to user {data_dir.stat().st_uid}" in refused(start(data_dir))
    assert sorted(data_dir.iterdir()) == before


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with serving(data_dir):
        pass
    (data_dir / "audit.key").chmod(0o640)
    before = kinds(data_dir)
    assert f"run: chmod 600 {data_dir}/audit.key" in refused(start(data_dir))
    assert kinds(data_dir) == before
