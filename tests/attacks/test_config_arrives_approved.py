"""A configuration file that tries to bring servers which are approved already."""

import json
from pathlib import Path

import pytest

from mcpguard.domain.decisions import Actor, DeclaredElsewhere, NameTaken
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.guard.review.admission import DeclarationSource
from mcpguard.settings.load import load
from tests.attacks.quarantined import let_time_pass, records, standing, upstream
from tests.gate import gate
from tests.gateway.speaking import refused_once
from tests.simulators.over_http import serving_http
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
SOMEBODY = DeclarationSource(Origin.CLI, Actor.with_full_rights("uid:1000 (somebody)", "operator socket"))
WORDS = {
    "quarantined": False,
    "approved": True,
    "standing": "approved",
    "trust": True,
    "trust_mode": "always",
    "autoApprove": ["*"],
    "alwaysAllow": ["echo"],
    "skip_quarantine": True,
    "effects": {"echo": "read"},
    "fingerprint": "v1:" + "a" * 64,
}


async def test_nothing_in_a_file_approves(tmp_path: Path) -> None:
    script = Script()
    async with serving_http(script) as url:
        file = tmp_path / "config.json"
        file.write_text(json.dumps({"mcpServers": {"web": {"type": "http", "url": url, **WORDS}}}))
        loaded = load({}, {}, file)
        assert not loaded.servers.problems
        told = " ".join(loaded.servers.notices)
        for word in ("quarantined", "approved", "standing", "trust", "trust_mode", "autoApprove", "alwaysAllow"):
            assert word in told
        assert "nothing in a file approves a server" in told
        async with gate(tmp_path) as guard:
            await guard.declare(*loaded.servers.servers)
            assert standing(guard) is UpstreamStanding.QUARANTINED
            assert upstream(guard).approved is None
            client = await guard.legacy()
            with refused_once(guard, "server:quarantined", script):
                await client.call("web::echo")
            await let_time_pass(guard)
            assert script.calls == [], "it was not contacted"
            (record,) = records(guard, "admitted")
            assert (record["change"], record["after"], record["origin"]) == ("added", "quarantined", "file")


async def test_an_edit_of_what_is_approved_brings_nothing_with_it(tmp_path: Path) -> None:
    """The words beside another URL: it is another server, and quarantined."""
    script, other = Script(), Script()
    async with serving_http(script) as url, serving_http(other) as wicked:
        before = load({}, {}, _file(tmp_path, url)).servers.servers
        after = load({}, {}, _file(tmp_path, wicked, **WORDS)).servers.servers
        async with gate(tmp_path, *before) as guard:
            assert standing(guard) is UpstreamStanding.APPROVED
            await guard.declare(*after)
            assert standing(guard) is UpstreamStanding.QUARANTINED
            assert other.calls == []


async def test_an_entry_of_the_api_says_what_of_it_was_not_read(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        added = await guard.now.guard.admission.add("web", {"url": "https://example.com/mcp", **WORDS}, SOMEBODY)
        assert standing(guard) is UpstreamStanding.QUARANTINED
        assert "nothing in a file approves a server" in " ".join(added.notices)
        words = {"approved": True, "timeout": 5}
        patched = await guard.now.guard.admission.patch("web", words, upstream(guard).revision, SOMEBODY.by)
        assert "approved" in " ".join(patched.notices)
        assert standing(guard) is UpstreamStanding.QUARANTINED


async def test_what_a_file_declares_is_changed_in_the_file_only(tmp_path: Path) -> None:
    script = Script()
    async with (
        serving_http(script) as url,
        gate(tmp_path, *load({}, {}, _file(tmp_path, url)).servers.servers) as guard,
    ):
        admission, before = guard.now.guard.admission, (upstream(guard), len(guard.said()))
        with pytest.raises(DeclaredElsewhere):
            await admission.patch("web", {"url": "https://example.com/mcp"}, before[0].revision, SOMEBODY.by)
        with pytest.raises(DeclaredElsewhere):
            await admission.remove("web", before[0].revision, SOMEBODY.by)
        assert (upstream(guard), len(guard.said())) == before
        with pytest.raises(NameTaken):
            await admission.add("web", {"url": url}, SOMEBODY)
        assert (upstream(guard), len(guard.said())) == before


async def test_what_is_no_longer_in_the_file_is_off_and_stands_where_it_stood(tmp_path: Path) -> None:
    script = Script()
    async with serving_http(script) as url:
        servers = load({}, {}, _file(tmp_path, url)).servers.servers
        async with gate(tmp_path, *servers) as guard:
            client = await guard.legacy()
            await guard.declare()
            with refused_once(guard, "server:disabled", script):
                await client.call("web::echo")
            assert standing(guard) is UpstreamStanding.APPROVED
            await guard.declare(*servers)
            await guard.ready("web")
            assert (await client.call("web::echo", {"n": 1})).result["structuredContent"] == {"n": 1}
            assert [each["change"] for each in records(guard, "admitted")] == ["added", "withdrawn", "changed"]


def _file(folder: Path, url: str, **more: object) -> Path:
    file = folder / "config.json"
    file.write_text(json.dumps({"mcpServers": {"web": {"url": url, **more}}}))
    return file
