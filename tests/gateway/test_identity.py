"""Who calls: a credential names a caller or is refused, and anonymous is only who is on this very machine."""

import json
import socket
from pathlib import Path

import anyio
import pytest

from mcpguard.codec.headers.client_address import Proxies
from mcpguard.domain.callers import Caller
from mcpguard.domain.certificates import ClientCertificate, certificate_name
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.grants import Grant
from mcpguard.gateway.identity import (
    NO_PROXIES,
    Address,
    ConnectionEnds,
    Credential,
    CredentialFault,
    Unauthorized,
    caller_of_token,
)
from mcpguard.guard.callers.callers import Callers
from tests.clock import FakeClock
from tests.gate import Gate
from tests.gateway.speaking import EVERYTHING, TOKEN, callers, guarded, nothing_happens, speaking, turned_away
from tests.simulators.client import Reply
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
ANYBODY = Caller("anonymous", "anonymous", EVERYTHING)
GIVEN = {"good": Caller("one", "one", EVERYTHING)}
KNOWN = Callers(FakeClock(), ANYBODY, GIVEN, cut=lambda _: None)
PORT = 8080


def shown(
    *headers: tuple[str, str],
    listener: Address = ("127.0.0.1", PORT),
    peer: Address = ("127.0.0.1", 5),
    certificate: ClientCertificate | None = None,
    proxies: Proxies = NO_PROXIES,
) -> Credential:
    given = headers if any(name == "host" for name, _ in headers) else (("host", f"127.0.0.1:{PORT}"), *headers)
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in given]
    return Credential(pairs, ConnectionEnds(listener, peer, certificate, proxies))


@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", f"localhost:{PORT}", f"LOCALHOST:{PORT}", f"[::1]:{PORT}"])
def test_on_this_machine_nobody_needs_a_token(host: str) -> None:
    assert shown(("host", host)).caller(KNOWN) is KNOWN.anonymous
    ipv6 = shown(("host", host), listener=("::1", PORT), peer=("::1", 5))
    assert ipv6.caller(KNOWN) is KNOWN.anonymous


@pytest.mark.parametrize(
    "host",
    [
        "",
        "127.0.0.1",
        "localhost",
        f"127.0.0.1:{PORT + 1}",
        f"127.0.0.2:{PORT}",
        f"127.0.0.1.:{PORT}",
        f"localhost.:{PORT}",
        f"guard.example:{PORT}",
        f"::1:{PORT}",
        f"[::]:{PORT}",
        f"127.0.0.1:{PORT},guard.example",
        f" 127.0.0.1:{PORT}",
    ],
)
def test_under_another_name_everybody_does(host: str) -> None:
    """The name may be allowed by the setting `hosts`: then somebody reaches us by it, from wherever they are."""
    with pytest.raises(Unauthorized, match="a token is required"):
        shown(("host", host)).caller(KNOWN)
    with pytest.raises(Unauthorized):
        shown(("host", host), ("host", f"127.0.0.1:{PORT}")).caller(KNOWN)
    assert shown(("host", host), ("authorization", "Bearer good")).caller(KNOWN).id == "one"


@pytest.mark.parametrize(
    "name",
    [
        "forwarded",
        "via",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
        "x-forwarded-port",
        "x-forwarded-server",
        "x-forwarded-prefix",
        "x-real-ip",
    ],
)
@pytest.mark.parametrize("value", ["", "127.0.0.1", "unknown"])
def test_nobody_is_anonymous_through_somebody_else(name: str, value: str) -> None:
    with pytest.raises(Unauthorized):
        shown((name, value)).caller(KNOWN)
    assert shown((name, value), ("authorization", "Bearer good")).caller(KNOWN).id == "one"


@pytest.mark.parametrize(
    ("listener", "peer"),
    [
        (("0.0.0.0", PORT), ("127.0.0.1", 5)),  # noqa: S104 - nothing is bound
        (("192.0.2.1", PORT), ("127.0.0.1", 5)),
        (("127.0.0.1", PORT), ("192.0.2.1", 5)),
        (("::", PORT), ("::1", 5)),
        (("127.0.0.1", PORT), None),
        (None, ("127.0.0.1", 5)),
        (("127.0.0.1", PORT), ("", 5)),
    ],
)
def test_both_ends_must_be_on_this_machine(listener: Address, peer: Address) -> None:
    with pytest.raises(Unauthorized):
        shown(listener=listener, peer=peer).caller(KNOWN)


WRONG = {
    "": CredentialFault.UNREADABLE,
    "Bearer": CredentialFault.UNREADABLE,
    "Bearer ": CredentialFault.UNREADABLE,
    "Bearer good bad": CredentialFault.UNREADABLE,
    "Bearer bad good": CredentialFault.UNREADABLE,
    "Bearer good,bad": CredentialFault.UNREADABLE,
    'Bearer "good"': CredentialFault.UNREADABLE,
    "Bearer \tgood": CredentialFault.UNREADABLE,
    "Bearer \xfc": CredentialFault.UNREADABLE,
    "Bearer bad": CredentialFault.INVALID,
    "Bearer Good": CredentialFault.INVALID,
    "Bearer good=": CredentialFault.INVALID,
    "Bearer mcpg_good": CredentialFault.INVALID,
    "Bearer " + "x" * 5000: CredentialFault.INVALID,
    "Basic Z29vZDo=": CredentialFault.MISSING,
    "good": CredentialFault.MISSING,
    "Token good": CredentialFault.MISSING,
    "Bearer\tgood": CredentialFault.MISSING,
}
"""What is given, and what RFC 6750 calls it. Another way to authorize is none that could be wrong here."""


@pytest.mark.parametrize("given", WRONG, ids=lambda given: given[:20])
def test_a_wrong_credential_makes_nobody_anonymous(given: str) -> None:
    with pytest.raises(Unauthorized) as refused:
        shown(("authorization", given)).caller(KNOWN)
    assert refused.value.wrong is WRONG[given]
    assert not {"good", "bad", "xxx"} & {*str(refused.value).replace(",", " ").split()}


def test_one_credential_is_enough_and_two_are_too_many() -> None:
    assert shown(("authorization", "bearer good")).caller(KNOWN).id == "one"
    assert shown(("authorization", "BEARER   good")).caller(KNOWN).id == "one"
    with pytest.raises(Unauthorized) as refused:
        shown(("authorization", "Bearer good"), ("authorization", "Bearer good")).caller(KNOWN)
    assert refused.value.wrong is CredentialFault.UNREADABLE


def test_where_nobody_is_anonymous_nothing_makes_anybody_so() -> None:
    closed = Callers(FakeClock(), None, GIVEN, cut=lambda _: None)
    with pytest.raises(Unauthorized) as refused:
        shown().caller(closed)
    assert refused.value.wrong is CredentialFault.MISSING
    with pytest.raises(Unauthorized, match="MCPGUARD_TOKEN"):
        caller_of_token(None, closed)
    assert shown(("authorization", "Bearer good")).caller(closed).id == "one"


def test_on_a_stream_no_token_is_anonymous_and_a_wrong_one_is_refused() -> None:
    assert caller_of_token(None, KNOWN) is KNOWN.anonymous
    assert caller_of_token("good", KNOWN).id == "one"
    for token in ("", "bad", "good ", "Good", "\u00fc"):
        with pytest.raises(Unauthorized):
            caller_of_token(token, KNOWN)


def certificate(*names: str, expires: int = 10**18) -> ClientCertificate:
    """A certificate with these names, as it was verified."""
    return ClientCertificate(frozenset(names), "00", expires)


def certified(**names: str) -> Callers:
    """Callers that are known by a name in their certificate, besides the usual ones."""
    clock = FakeClock()
    known = Callers(clock, ANYBODY, GIVEN, cut=lambda _: None)
    for label, name in names.items():
        known.add(Grant(Caller(label, label, EVERYTHING), clock.now(), "test", None, name), label.encode())
    return known


def test_a_certificate_names_its_caller() -> None:
    known = certified(agent="dns:agent.example", other="uri:spiffe://example/other")
    assert shown(certificate=certificate("dns:agent.example", "subject:CN=x")).caller(known).id == "agent"
    assert shown(certificate=certificate("uri:spiffe://example/other")).caller(known).id == "other"
    known.remove("agent")
    with pytest.raises(Unauthorized, match="names no caller"):
        shown(certificate=certificate("dns:agent.example")).caller(known)


@pytest.mark.parametrize(
    ("shows", "sentence"),
    [
        (certificate("dns:nobody.example"), "names no caller"),
        (certificate("dns:agent.example.evil"), "names no caller"),
        (certificate("email:agent.example"), "names no caller"),
        (certificate(), "names no caller"),
        (certificate("dns:agent.example", expires=1), "has expired"),
        (certificate("dns:agent.example", "dns:other.example"), "several callers"),
    ],
)
def test_a_certificate_of_nobody_makes_nobody_anonymous(shows: ClientCertificate, sentence: str) -> None:
    known = certified(agent="dns:agent.example", other="dns:other.example")
    with pytest.raises(Unauthorized, match=sentence):
        shown(certificate=shows).caller(known)


def test_with_a_token_and_a_certificate_both_must_mean_the_same() -> None:
    known, token = certified(agent="dns:agent.example"), ("authorization", "Bearer good")
    assert shown(token, certificate=certificate("dns:nobody.example")).caller(known).id == "one"
    with pytest.raises(Unauthorized, match="different callers"):
        shown(token, certificate=certificate("dns:agent.example")).caller(known)
    with pytest.raises(Unauthorized):
        shown(("authorization", "Bearer bad"), certificate=certificate("dns:agent.example")).caller(known)
    with pytest.raises(Unauthorized):
        shown(("authorization", "Basic x"), certificate=certificate("dns:agent.example")).caller(known)


def test_no_token_leads_to_a_caller_that_has_a_certificate() -> None:
    known = certified(agent="dns:agent.example")
    for token in ("dns:agent.example", "mcpguard/certificate/1", "agent"):
        with pytest.raises(Unauthorized):
            caller_of_token(token, known)


@pytest.mark.parametrize(
    ("written", "compared"),
    [
        (" dns:Agent.EXAMPLE ", "dns:agent.example"),
        ("uri:spiffe://example/A", "uri:spiffe://example/A"),
        ("subject:CN=agent,O=Example", "subject:CN=agent,O=Example"),
    ],
)
def test_names_are_compared_as_they_are_written(written: str, compared: str) -> None:
    assert certificate_name(written) == compared


@pytest.mark.parametrize(
    "written",
    ["", "agent.example", "dns:", "dns:*.example", "ip:192.0.2.1", "dns:a\nb", "dns:a\0", "DNS:a", "dns:" + "a" * 501],
)
def test_what_cannot_be_a_name_is_refused(written: str) -> None:
    with pytest.raises(InvalidName, match="write a name as the certificate has it"):
        certificate_name(written)


def test_a_named_proxy_is_never_anonymous() -> None:
    """It may stand on this host, and forget to say for whom it asks."""
    proxies = Proxies(["127.0.0.1/32"])
    with pytest.raises(Unauthorized):
        shown(proxies=proxies).caller(KNOWN)
    assert shown(("authorization", "Bearer good"), proxies=proxies).caller(KNOWN).id == "one"
    assert shown(listener=("::1", PORT), peer=("::1", 5), proxies=proxies).caller(KNOWN) is KNOWN.anonymous


async def ask(guard: Gate, **headers: str) -> Reply:
    return await guard.client().request("tools/call", {"name": "web::echo"}, headers=headers)


async def test_over_the_network_a_refusal_says_how_to_do_better(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, callers=callers(**{TOKEN: EVERYTHING})) as guard:
        with nothing_happens(guard, script):
            wrong = await ask(guard, authorization="Bearer wrong")
            behind = await ask(guard, via="1.1 proxy")
            for method in ("GET", "DELETE", "PUT"):
                reply = await guard.http.request(
                    method, guard.where.url + "/mcp/all", headers={"authorization": "Bearer x"}
                )
                assert reply.status_code == 401
        assert (wrong.status, behind.status) == (401, 401)
        assert wrong.headers["www-authenticate"] == 'Bearer realm="mcpguard", error="invalid_token"'
        assert behind.headers["www-authenticate"] == 'Bearer realm="mcpguard"', "no credential, so none was wrong"
        assert "wrong" not in wrong.body.decode()
        with nothing_happens(guard, script):
            unreadable, other = (
                await ask(guard, authorization="Bearer a b"),
                await ask(guard, authorization="Basic YTpi"),
            )
        assert (unreadable.status, other.status) == (400, 401)
        assert unreadable.headers["www-authenticate"] == 'Bearer realm="mcpguard", error="invalid_request"'
        assert other.headers["www-authenticate"] == 'Bearer realm="mcpguard"'
        assert (await turned_away(guard)) == {("network", "credential"): 7}
        assert (await guard.client(token=TOKEN).call("web::echo", {})).status == 200
        assert guard.entries()[-1]["caller"] == f"caller-{TOKEN}"


async def test_a_host_that_is_allowed_by_a_setting_needs_a_token(tmp_path: Path) -> None:
    script = Script()
    known = callers(**{TOKEN: EVERYTHING})
    async with guarded(tmp_path, script, callers=known, hosts=["guard.example"]) as guard:
        assert (await ask(guard, host="guard.example")).status == 401
        assert (await ask(guard, host="guard.example", authorization=f"Bearer {TOKEN}")).status == 200
        assert (await ask(guard, host="other.example", authorization=f"Bearer {TOKEN}")).status == 421


async def test_on_a_stream_a_wrong_token_is_the_end(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, callers=callers(**{TOKEN: EVERYTHING})) as guard:
        with nothing_happens(guard, script):
            for token in ("wrong", ""):
                async with await anyio.connect_unix(guard.where.agents) as stream:
                    hello = {"mcpguard": 1, "face": "direct", "only": None, "token": token}
                    await stream.send(json.dumps(hello).encode() + b'\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
                    said = json.loads(await stream.receive())
                    assert "token" in said["error"]
                    with pytest.raises(anyio.EndOfStream):
                        await stream.receive()
        assert (await turned_away(guard)) == {("streams", "credential"): 2}
        async with speaking(guard, "stream modern", token=TOKEN) as client:
            await client.call("web::echo", {})
        assert guard.entries()[-1]["caller"] == f"caller-{TOKEN}"


async def test_the_agents_socket_is_for_our_own_account_only(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        assert guard.where.agents.stat().st_mode & 0o777 == 0o600
        assert guard.where.agents.parent.stat().st_mode & 0o777 == 0o700
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(str(guard.where.agents))
