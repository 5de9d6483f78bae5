"""A guard that speaks TLS: on any address, for callers with a token, with a certificate that is exchanged meanwhile."""

import signal
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import httpx2
import pytest

from tests.app.certificates import NAME, Pair, pair, write
from tests.benchmarks.gateway.processes import free_port
from tests.patience import PATIENCE
from tests.process import Served, run, serving, until

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "somebody", "version": "1"}}
NAME_OF_GUARD = '"name":"mcpguard"'
BEGIN = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}


LINKED = {"certificate": "cert", "key": "key"}
AGENT = {"accept": "application/json, text/event-stream"}


def begun(answer: httpx2.Response) -> bool:
    """Whether an agent was let in."""
    return answer.status_code == 200 and NAME_OF_GUARD in answer.text


@contextmanager
def guarded(folder: Path, listen: str = "127.0.0.1:0", **more: str) -> Iterator[tuple[Served, Pair]]:
    """A guard with a certificate in `folder`."""
    files = pair(folder)
    environ = {"MCPGUARD_TLS__CERTIFICATE": str(files.certificate), "MCPGUARD_TLS__KEY": str(files.key)}
    with serving(folder / "data", listen=listen, environ=environ | more) as guard:
        yield guard, files


@contextmanager
def client(files: Pair, port: int) -> Iterator[httpx2.Client]:
    """Somebody who trusts this certificate."""
    trusts = ssl.create_default_context(cafile=files.certificate)
    url = f"https://127.0.0.1:{port}"
    with httpx2.Client(base_url=url, verify=trusts, trust_env=False, timeout=PATIENCE) as each:
        yield each


def serial(port: int, name: str | None = NAME) -> bytes:
    """The certificate that is shown to somebody who asks for this name now."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection(("127.0.0.1", port), PATIENCE) as plain,
        context.wrap_socket(plain, server_hostname=name) as safe,
    ):
        shown = safe.getpeercert(binary_form=True)
    assert shown is not None
    return shown


def test_pages_and_agents_are_reached_over_tls_and_not_without(tmp_path: Path) -> None:
    with guarded(tmp_path) as (guard, files), client(files, guard.port) as somebody:
        assert guard.url == f"https://127.0.0.1:{guard.port}"
        assert somebody.get("/healthz").status_code == 200
        assert "Sign in" in somebody.get("/login").text
        assert begun(somebody.post("/mcp", json=BEGIN, headers=AGENT)), "on this host agents need no token, as usual"
        with pytest.raises(httpx2.HTTPError):
            httpx2.get(f"http://127.0.0.1:{guard.port}/healthz", trust_env=False, timeout=PATIENCE)


def test_on_all_addresses_every_agent_needs_a_token(tmp_path: Path) -> None:
    port = free_port()
    names = {"MCPGUARD_HOSTS": NAME, "MCPGUARD_ANONYMOUS__ENABLED": "true"}
    with guarded(tmp_path, f"0.0.0.0:{port}", **names) as (guard, files), client(files, port) as somebody:
        assert guard.url == f"https://{NAME}"
        for host in (f"127.0.0.1:{port}", NAME):
            answer = somebody.post("/mcp", json=BEGIN, headers=AGENT | {"host": host})
            assert (answer.status_code, answer.json()["error"]["message"]) == (401, "a token is required")
        made = run("caller", "add", "desk", "--effects", "read", "-o", "json", "--data-dir", guard.data_dir)
        token = httpx2.Response(200, content=made.stdout).json()["token"]
        shows = AGENT | {"host": NAME, "authorization": f"Bearer {token}"}
        assert begun(somebody.post("/mcp", json=BEGIN, headers=shows))
        assert somebody.get("/healthz", headers={"host": "other.example"}).status_code == 421


def test_browsers_are_told_to_keep_to_tls_but_not_for_localhost(tmp_path: Path) -> None:
    with guarded(tmp_path, MCPGUARD_HOSTS=NAME) as (guard, files), client(files, guard.port) as somebody:
        told = "strict-transport-security"
        assert somebody.get("/login", headers={"host": NAME}).headers[told] == "max-age=31536000"
        assert told not in somebody.get("/login", headers={"host": f"localhost:{guard.port}"}).headers


def test_a_certificate_is_exchanged_while_requests_are_made_and_none_fails(tmp_path: Path) -> None:
    with guarded(tmp_path) as (guard, files):
        seen, over = {serial(guard.port)}, Event()

        def ask() -> int:
            made = 0
            while not over.is_set():
                answer = httpx2.get(f"{guard.url}/healthz", verify=False, trust_env=False, timeout=PATIENCE)
                assert answer.status_code == 200
                made += 1
            return made

        with ThreadPoolExecutor(4) as pool:
            asking = [pool.submit(ask) for _ in range(4)]
            try:
                for again in range(3):
                    write(files)
                    if again == 0:
                        guard.signal(signal.SIGHUP)
                    until(lambda: serial(guard.port) not in seen or None, "the new one is shown")
                    seen.add(serial(guard.port))
            finally:
                over.set()
            assert sum(each.result() for each in asking) > 20
        assert len(seen) == 4
        assert serial(guard.port, None) in seen, "also to somebody who names nobody"


def test_a_link_that_leads_to_a_renewed_certificate_is_followed(tmp_path: Path) -> None:
    old, new, live = pair(tmp_path / "1"), pair(tmp_path / "2"), tmp_path / "live"
    live.symlink_to(old.certificate.parent)
    environ = {f"MCPGUARD_TLS__{name.upper()}": str(live / f"{short}.pem") for name, short in LINKED.items()}
    with serving(tmp_path / "data", environ=environ) as guard:
        before, next_one = serial(guard.port), tmp_path / "next"
        next_one.symlink_to(new.certificate.parent)
        next_one.replace(live)
        until(lambda: serial(guard.port) != before or None, "the one that the link leads to now is shown")


@pytest.mark.parametrize("name", ["key", "client_ca"])
def test_what_is_of_no_use_without_a_certificate_is_refused_at_the_start(tmp_path: Path, name: str) -> None:
    environ = {f"MCPGUARD_TLS__{name.upper()}": str(pair(tmp_path).key)}
    ended = run("serve", "--listen", "127.0.0.1:0", "--data-dir", tmp_path / "data", environ=environ)
    assert ended.returncode == 1
    assert f"tls.{name} is set without tls.certificate" in ended.stderr


def test_authorities_that_cannot_be_read_are_refused_at_the_start(tmp_path: Path) -> None:
    files, none = pair(tmp_path), tmp_path / "authorities.pem"
    none.write_text("no certificate")
    given = {"CERTIFICATE": files.certificate, "KEY": files.key, "CLIENT_CA": none}
    environ = {f"MCPGUARD_TLS__{name}": str(path) for name, path in given.items()}
    ended = run("serve", "--listen", "127.0.0.1:0", "--data-dir", tmp_path / "data", environ=environ)
    assert ended.returncode == 1
    assert "(tls.client_ca) has no certificate in PEM" in ended.stderr


def garbled(files: Pair) -> None:
    files.certificate.write_text("no certificate")


def another_key(files: Pair) -> None:
    other = pair(files.key.parent / "other")
    other.key.replace(files.key)


def locked(files: Pair) -> None:
    write(files, password=b"secret")


def expired(files: Pair) -> None:
    write(files, days=-1)


def open_to_all(files: Pair) -> None:
    write(files)
    files.key.chmod(0o644)


def gone(files: Pair) -> None:
    files.certificate.unlink()


UNUSABLE: Mapping[Callable[[Pair], None], str] = {
    garbled: "is no certificate in PEM",
    another_key: "is no key of",
    locked: "is encrypted",
    open_to_all: "may be read by everyone (chmod o-r",
    gone: "cannot be read: No such file",
}


def metrics(guard: Served) -> str:
    """What the operator's socket tells of the guard."""
    transport = httpx2.HTTPTransport(uds=str(guard.operator))
    with httpx2.Client(transport=transport, base_url="http://operator", timeout=PATIENCE) as operator:
        return operator.get("/metrics").text


@pytest.mark.parametrize("spoil", [*UNUSABLE, expired])
def test_what_cannot_be_used_replaces_nothing(spoil: Callable[[Pair], None], tmp_path: Path) -> None:
    with guarded(tmp_path) as (guard, files):
        before, trusted = serial(guard.port), tmp_path / "trusted.pem"
        trusted.write_bytes(files.certificate.read_bytes())
        spoil(files)
        guard.signal(signal.SIGHUP)
        why = guard.until_logged("tls.kept")["why"]
        assert UNUSABLE.get(spoil, "has expired on") in why
        assert serial(guard.port) == before
        with client(Pair(trusted, files.key), guard.port) as somebody:
            assert somebody.get("/readyz").json()["tls"].startswith("The files of the certificate cannot be used")
        assert "mcpguard_tls_certificate_kept 1.0" in metrics(guard)
        write(files)
        until(lambda: serial(guard.port) != before or None, "it is mended without a restart")
        assert "mcpguard_tls_certificate_kept 0.0" in metrics(guard)
        assert 29 < float(metrics(guard).partition("\nmcpguard_tls_certificate_days ")[2].split()[0]) <= 30


@pytest.mark.parametrize("spoil", [*UNUSABLE])
def test_a_guard_does_not_start_with_what_cannot_be_used(spoil: Callable[[Pair], None], tmp_path: Path) -> None:
    files = pair(tmp_path)
    spoil(files)
    environ = {"MCPGUARD_TLS__CERTIFICATE": str(files.certificate), "MCPGUARD_TLS__KEY": str(files.key)}
    ended = run("serve", "--listen", "127.0.0.1:0", "--data-dir", tmp_path / "data", environ=environ)
    assert ended.returncode == 1
    assert "cannot speak TLS: " in ended.stderr
    assert UNUSABLE[spoil] in ended.stderr


def test_who_says_nothing_keeps_nobody_out_and_is_cut_off(tmp_path: Path) -> None:
    limits = {"MCPGUARD_LIMITS__CONNECTIONS": "8", "MCPGUARD_LIMITS__HEAD_SECONDS": "60"}
    with guarded(tmp_path, **limits) as (guard, files), client(files, guard.port) as somebody:
        silent = [socket.create_connection(("127.0.0.1", guard.port), PATIENCE) for _ in range(40)]
        try:
            assert somebody.get("/healthz").status_code == 200
            assert silent[0].recv(1) == b"", "the one that has waited longest had to go"
        finally:
            for each in silent:
                each.close()
    with guarded(tmp_path / "b", MCPGUARD_LIMITS__HEAD_SECONDS="0.2") as (guard, _), guard.connect() as alone:
        assert alone.recv(1) == b"", "and so does one that takes too long"


def test_a_guard_with_connections_over_tls_stops_in_time(tmp_path: Path) -> None:
    with guarded(tmp_path) as (guard, files), client(files, guard.port) as somebody, guard.connect() as silent:
        assert somebody.get("/healthz").status_code == 200
        guard.signal(signal.SIGTERM)
        assert guard.ended() == 0
        assert silent.recv(1) == b""
