"""How a server is confined is chosen in the decision: never for a person, never wider than they say, and recorded."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcpguard.domain.decisions import Actor, Approval, Stale, Undecidable
from mcpguard.domain.servers.launches import Confinement, Mount, Profile, StdioLaunch
from mcpguard.domain.servers.needs import Need
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.guard.review.admission import DeclarationSource
from mcpguard.guard.review.confirmations import findings_to_confirm
from mcpguard.settings.entries.members import as_members
from tests.attacks.quarantined import records, standing, upstream
from tests.attacks.sandboxed import works
from tests.gate import Gate, gate
from tests.gateway.needy import needy
from tests.review import DECISION, seen, taken_in

pytestmark = pytest.mark.anyio
SOMEBODY = DeclarationSource(Origin.CLI, Actor.with_full_rights("uid:1000 (somebody)", "operator socket"))


@pytest.fixture(autouse=True)
def _there_is_a_sandbox() -> None:
    works()


async def inspected(guard: Gate, name: str = "web") -> None:
    done = await guard.now.guard.inspecting.inspect(name, DECISION, consent=False, give=frozenset())
    assert not done.error


async def added(guard: Gate, name: str = "web", **entry: object) -> None:
    """A server that was inspected, as somebody brought it."""
    await guard.now.guard.admission.add(name, as_members(needy()) | entry, SOMEBODY)
    await inspected(guard, name)


async def approve(guard: Gate, name: str = "web", **chosen: Any) -> None:  # noqa: ANN401 - of `Approval`
    known = guard.now.guard.servers.find(name)
    assert known is not None
    approval = replace(Approval(await seen(guard.now, name), read=findings_to_confirm(known).rules), **chosen)
    await guard.now.guard.decisions.approve(name, approval, DECISION)


def launched(guard: Gate, name: str = "web") -> StdioLaunch:
    known = guard.now.guard.servers.find(name)
    assert known is not None
    assert isinstance(known.declared.launch, StdioLaunch)
    return known.declared.launch


async def needs(guard: Gate) -> dict[str, str]:
    box = (await guard.now.guard.queries.server("web"))["confinement"]
    return {each["need"]: each["seen"] for each in box["needs"]}


def folder(tmp_path: Path, name: str = "notes") -> Path:
    made = tmp_path / name
    made.mkdir()
    made.chmod(0o777)
    return made


async def test_what_it_probably_needs_is_said_and_not_chosen(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await guard.declare(needy(complains="Error: EROFS: read-only file system, open '/usr/lib/memory.json'"))
        await inspected(guard)
        assert await needs(guard) == {
            "network": "its tool open declares network access (openWorldHint)",
            "writing": "log: EROFS",
        }
        await approve(guard)
        assert launched(guard).profile is Profile.STRICT, "a suggestion chooses nothing"
        (decision,) = [each for each in records(guard, "decided") if "capability" not in each]
        assert (decision["profile"], "mounts" in decision) == ("strict", False)


async def test_a_server_that_ends_for_want_of_something_says_what(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await guard.declare(needy(complains="fatal: detected dubious ownership in repository", falls=True))
        done = await guard.now.guard.inspecting.inspect("web", DECISION, consent=False, give=frozenset())
        assert done.error
        assert await needs(guard) == {Need.OWNERSHIP: "inspection error: dubious ownership"}


async def test_what_the_profile_gives_is_not_suggested(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await guard.declare(needy(Profile.CONTAINED))
        await inspected(guard)
        assert await needs(guard) == {}


@pytest.mark.parametrize("origin", ["file", "cli"])
async def test_it_runs_as_the_decision_says_and_the_record_has_it(origin: str, tmp_path: Path) -> None:
    place = folder(tmp_path)
    async with gate(tmp_path) as guard:
        if origin == "file":
            await guard.declare(needy())
            await inspected(guard)
        else:
            await added(guard)
        before = upstream(guard)
        await approve(guard, sandbox=Profile.CONTAINED, mounts=(f"{place}:rw",))
        how = launched(guard)
        assert (how.profile, how.mounts) == (Profile.CONTAINED, (Mount(str(place), writable=True),))
        assert how.instead_of == Confinement(Profile.STRICT)
        now = upstream(guard)
        assert now.identity == now.approved
        assert before.identity is not None
        assert now.identity is not None
        assert now.identity.observed == before.identity.observed
        assert now.identity.launch != before.identity.launch, "it is another launch, which they approved"
        (decision,) = [each for each in records(guard, "decided") if "capability" not in each]
        assert (decision["profile"], decision["mounts"]) == ("contained", f"{place}:rw")
        assert decision["fingerprint"] == now.identity.launch.text
        await taken_in(guard.now, ["web"])
        client = await guard.legacy()
        assert (await client.call("web::own")).result["isError"] is True
        assert standing(guard) is UpstreamStanding.APPROVED
        if origin == "file":
            await guard.declare(needy())
            assert (standing(guard), launched(guard)) == (UpstreamStanding.APPROVED, how), "the file is as it was"


async def test_one_that_runs_is_started_anew_with_what_is_chosen_later(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await added(guard)
        await approve(guard)
        await taken_in(guard.now, ["web"])
        client = await guard.legacy()
        generation = upstream(guard).generation
        assert "mcpguard/sandbox" in (await client.call("web::write")).result["_meta"]
        assert (await client.call("web::resolve")).result["_meta"]["mcpguard/sandbox"]["profile"] == "strict"
        await approve(guard, only=frozenset(), sandbox=Profile.CONTAINED)
        assert upstream(guard).generation == generation + 1
        await taken_in(guard.now, ["web"])
        assert "mcpguard/sandbox" not in (await client.call("web::resolve")).result["_meta"]
        await approve(guard, only=frozenset(), sandbox=Profile.STRICT)
        assert launched(guard).instead_of is None, "it is as it was declared"


@pytest.mark.parametrize(
    ("chosen", "why"),
    [
        ({"sandbox": Profile.NONE}, "cannot remove the sandbox"),
        ({"mounts": ("notes",)}, "must be an absolute path"),
        ({"mounts": ("/srv/../etc",)}, "must be an absolute path"),
    ],
)
async def test_what_cannot_be_chosen_is_refused_and_nothing_happens(
    chosen: dict[str, Any], why: str, tmp_path: Path
) -> None:
    async with gate(tmp_path) as guard:
        await added(guard)
        before = upstream(guard), launched(guard)
        with pytest.raises(Undecidable, match=why):
            await approve(guard, **chosen)
        assert (upstream(guard), launched(guard)) == before
        assert records(guard, "decided") == []


async def test_what_was_seen_otherwise_is_not_confined_otherwise(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await added(guard)
        looked = await seen(guard.now, "web")
        await approve(guard, sandbox=Profile.CONTAINED)
        stands = upstream(guard), launched(guard)
        with pytest.raises(Stale):
            await guard.now.guard.decisions.approve("web", Approval(looked, mounts=("/srv",)), DECISION)
        assert (upstream(guard), launched(guard)) == stands


async def test_what_was_blocked_is_known_again_however_it_was_confined(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await added(guard)
        await approve(guard, sandbox=Profile.CONTAINED, mounts=(str(folder(tmp_path)),))
        await guard.now.guard.decisions.block("web", DECISION)
        assert launched(guard) == launched(guard).as_declared()
        await guard.now.guard.admission.remove("web", upstream(guard).revision, SOMEBODY.by)
        await guard.now.guard.admission.add("other", as_members(needy()), SOMEBODY)
        assert standing(guard, "other") is UpstreamStanding.BLOCKED


async def test_no_choice_leads_to_a_launch_that_is_blocked(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await guard.now.guard.admission.add("other", as_members(needy(Profile.CONTAINED)), SOMEBODY)
        await guard.now.guard.decisions.block("other", DECISION)
        await added(guard)
        with pytest.raises(Undecidable, match="blocked"):
            await approve(guard, sandbox=Profile.CONTAINED)
        assert standing(guard) is UpstreamStanding.QUARANTINED
        assert launched(guard).profile is Profile.STRICT
        assert len(records(guard, "decided")) == 1, "that the other one is blocked"


@pytest.mark.parametrize("patch", [{"args": ["-c", "pass"]}, {"sandbox": "strict"}, {"mounts": []}])
async def test_the_choice_is_forgotten_with_another_declaration(patch: dict[str, object], tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await added(guard)
        await approve(guard, sandbox=Profile.CONTAINED)
        await guard.now.guard.admission.patch("web", patch, upstream(guard).revision, SOMEBODY.by)
        assert (launched(guard).profile, launched(guard).instead_of) == (Profile.STRICT, None)
        assert standing(guard) is UpstreamStanding.QUARANTINED


async def test_looking_at_it_again_takes_nothing_back(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await added(guard)
        await approve(guard, sandbox=Profile.CONTAINED)
        await guard.now.guard.decisions.disable("web", DECISION)
        await inspected(guard)
        assert launched(guard).profile is Profile.CONTAINED
        assert standing(guard) is UpstreamStanding.APPROVED
        assert records(guard, "inspected")[-1]["profile"] == "contained"
