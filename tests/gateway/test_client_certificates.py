"""Client certificates: one that an authority of the settings has signed names its caller, and nothing else does."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.decisions import Undecidable
from mcpguard.domain.grants import LabelTaken
from mcpguard.guard.callers.grants import CallerRequest
from tests.app.certificates import Authority, Pair, digest_of, pair
from tests.gate import DIRECT, Gate
from tests.gateway.speaking import EVERYTHING, TOKEN, callers, guarded, nothing_happens
from tests.patience import PATIENCE
from tests.review import DECISION
from tests.simulators.http_client import HttpClient
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
ALL = Scope(("*",), ("*",), frozenset(Effect))
AGENT = "dns:agent.example"


@asynccontextmanager
async def certifying(folder: Path, script: Script) -> AsyncIterator[tuple[Gate, Pair, Authority]]:
    """A guard over TLS that asks for certificates, and knows one caller by its own."""
    own, authority = pair(folder / "own"), Authority(folder / "authority")
    tls: dict[str, Any] = {"tls__certificate": own.certificate, "tls__key": own.key, "tls__client_ca": authority.file}
    async with guarded(folder, script, callers=callers(**{TOKEN: EVERYTHING}), **tls) as guard:
        wanted = CallerRequest("agent", ALL, None, certificate=" dns:Agent.example ")
        grant, token = await guard.now.guard.granting.add(wanted, DECISION)
        assert (grant.certificate, token) == (AGENT, "")
        yield guard, own, authority


@asynccontextmanager
async def client(
    guard: Gate, own: Pair, shown: Pair | None = None, token: str | None = None
) -> AsyncIterator[HttpClient]:
    """A client that trusts the guard, and shows this certificate."""
    context = ssl.create_default_context(cafile=own.certificate)
    if shown is not None:
        context.load_cert_chain(*shown)
    async with httpx2.AsyncClient(verify=context, trust_env=False, timeout=PATIENCE) as http:
        made = HttpClient(http, guard.where.url + DIRECT, modern=True)
        if token is not None:
            made.headers["authorization"] = f"Bearer {token}"
        yield made


async def test_a_caller_is_known_by_its_certificate(tmp_path: Path) -> None:
    async with certifying(tmp_path, Script()) as (guard, own, authority):
        shown = authority.issue("agent.example")
        async with client(guard, own, shown) as agent:
            assert (await agent.call("web::echo", {})).status == 200
        entry = guard.entries()[-1]
        assert (entry["caller_label"], entry["certificate"]) == ("agent", digest_of(shown))
        async with client(guard, own, token=TOKEN) as other:
            assert (await other.call("web::echo", {})).status == 200, "whoever has a token needs no certificate"
        entry = guard.entries()[-1]
        assert entry["caller"] == f"caller-{TOKEN}"
        assert "certificate" not in entry


async def test_whoever_shows_another_certificate_is_nobody(tmp_path: Path) -> None:
    script = Script()
    async with certifying(tmp_path, script) as (guard, own, authority):
        with nothing_happens(guard, script):
            async with client(guard, own, authority.issue("agent.example.evil")) as agent:
                assert (await agent.call("web::echo", {})).status == 401
            async with client(guard, own, authority.issue("agent.example"), TOKEN) as agent:
                assert (await agent.call("web::echo", {})).status == 401, "token and certificate mean two callers"
            for shown in (Authority(tmp_path / "other").issue("agent.example"), authority.issue("agent.example", -1)):
                async with client(guard, own, shown) as agent:
                    with pytest.raises(httpx2.HTTPError):
                        await agent.call("web::echo", {})


async def test_a_certificate_that_expires_on_an_open_connection_is_accepted_no_more(tmp_path: Path) -> None:
    script = Script()
    async with (
        certifying(tmp_path, script) as (guard, own, authority),
        client(guard, own, authority.issue("agent.example", days=30)) as agent,
    ):
        assert (await agent.call("web::echo", {})).status == 200
        guard.clock.jump(10_000 * 86_400)
        with nothing_happens(guard, script):
            assert (await agent.call("web::echo", {})).status == 401


async def test_a_revoked_caller_is_nobody_at_once_and_its_name_can_be_given_again(tmp_path: Path) -> None:
    script = Script()
    async with certifying(tmp_path, script) as (guard, own, authority):
        granting = guard.now.guard.granting
        with pytest.raises(LabelTaken, match=AGENT):
            await granting.add(CallerRequest("second", ALL, certificate=AGENT), DECISION)
        async with client(guard, own, authority.issue("agent.example")) as agent:
            assert (await agent.call("web::echo", {})).status == 200
            await granting.revoke(granting.callers_json()[0]["id"], DECISION)
            with nothing_happens(guard, script):
                assert (await agent.call("web::echo", {})).status == 401
            await granting.add(CallerRequest("second", ALL, certificate=AGENT), DECISION)
            assert (await agent.call("web::echo", {})).status == 200
        assert guard.entries()[-1]["caller_label"] == "second"
        assert [each["known_by"] for each in guard.said() if each["kind"] == "granted"] == [AGENT, AGENT]


async def test_authorities_are_exchanged_while_it_runs_and_no_handshake_is_resumed(tmp_path: Path) -> None:
    async with certifying(tmp_path, Script()) as (guard, own, authority):
        certificate = guard.where.certificate
        assert certificate is not None
        shown = authority.issue("agent.example")
        async with client(guard, own, shown) as agent:
            assert (await agent.call("web::echo", {})).status == 200
        before = authority.file.read_bytes()
        authority.file.write_bytes(b"no certificate")
        await certificate.reload()
        assert "tls.client_ca" in certificate.trouble
        async with client(guard, own, shown) as agent:
            assert (await agent.call("web::echo", {})).status == 200, "what cannot be used replaces nothing"
        authority.file.write_bytes(Authority(tmp_path / "next").file.read_bytes())
        await certificate.reload()
        assert not certificate.trouble
        async with client(guard, own, shown) as agent:
            with pytest.raises(httpx2.HTTPError):
                await agent.call("web::echo", {})
        authority.file.write_bytes(before)
        await certificate.reload()
        async with client(guard, own, shown) as agent:
            assert (await agent.call("web::echo", {})).status == 200


async def test_a_guard_that_asks_for_no_certificates_names_nobody_by_one(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        with pytest.raises(Undecidable, match=r"set tls\.client_ca"):
            await guard.now.guard.granting.add(CallerRequest("agent", ALL, certificate=AGENT), DECISION)
        assert not guard.now.guard.granting.count
