"""What is approved with grave findings that nobody confirmed reading: the inbox names it until somebody answers.

So it is with approvals from before that was asked, and where an unchanged definition has a finding that is new.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Table, update

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.decisions import Answer, Approval, CapabilityKey
from mcpguard.guard.review.confirmations import findings_to_confirm
from mcpguard.store.rows.tables import capabilities, upstreams
from tests import people, review
from tests.attacks.unread import FORECAST, approve, one, rules
from tests.web.measured import metric
from tests.web.pages.filling import reviewer
from tests.web.reviewing import POISONED, SERVERS, WHY, decisions, inspected, said, show
from tests.world import World, world

pytestmark = pytest.mark.anyio
Json = dict[str, Any]
NAME = "weather"
SET_UNITS: CapabilityKey = (CapabilityKind.TOOL, "set_units")


async def old(folder: Path, table: Table, read: Callable[[str], str] = lambda _: "") -> None:
    """A guard that ran before, and somebody approved all of a poisoned server; of that, so much was read."""
    async with world(folder) as guard:
        await inspected(guard, NAME, **POISONED)
        known = guard.now.guard.servers.find(NAME)
        assert known is not None
        approval = Approval(await review.seen(guard.now, NAME), read=findings_to_confirm(known).rules)
        await guard.now.guard.decisions.approve(NAME, approval, people.BY)
        assert guard.now.guard.inbox.every() == [], "what was said to be read is not named"
        rows = await guard.now.store.readers.run(lambda connection: connection.execute(table.select()).all())

        def rewritten(connection: Connection) -> None:
            for row in rows:
                values = {"findings_read": read(row.findings_read)}
                connection.execute(update(table).where(table.c.id == row.id).values(values))

        await guard.now.store.writer.submit(rewritten)


def unread(guard: World) -> dict[CapabilityKey | None, frozenset[str]]:
    return {each.key: each.rules for waiting in guard.now.guard.inbox.every() for each in waiting.unread}


async def test_an_approval_from_before_is_named_until_it_is_read_and_not_again(tmp_path: Path) -> None:
    await old(tmp_path, capabilities)
    async with world(tmp_path) as guard:
        before = len(decisions(guard))
        server = await show(guard, NAME)
        named = unread(guard)
        assert named[FORECAST] == frozenset(rules(server, "forecast"))
        assert len(named) == server["unread"] > 3
        about = one(server, "forecast")
        assert (about["unread"], about["callable"]) == (rules(server, "forecast"), True), "calls go on as approved"
        body = {"why": WHY, "kind": "tool", "name": "forecast", "seen": about["fingerprint"]}
        url = f"{SERVERS}/{NAME}/capability/approve"
        said(await guard.operator.post(url, json=body))
        assert FORECAST in unread(guard), "an approval that does not say so changes nothing"
        said(await guard.operator.post(url, json=body | {"findings_read": about["unread"]}))
        assert unread(guard).keys() == named.keys() - {FORECAST}
        record = decisions(guard)[-1]
        assert (len(decisions(guard)), record["answer"], record["read"].split()) == (
            before + 2,
            "approve",
            rules(server, "forecast"),
        )
        assert one(await show(guard, NAME), "forecast")["callable"]
    async with world(tmp_path) as guard:
        assert unread(guard).keys() == named.keys() - {FORECAST}, "nor after a restart"


async def test_a_grave_finding_that_is_new_in_an_unchanged_definition_is_named_alone(tmp_path: Path) -> None:
    await old(tmp_path, capabilities, lambda before: " ".join(before.split()[1:]))
    async with world(tmp_path) as guard:
        server = await show(guard, NAME)
        assert unread(guard)[FORECAST] == {rules(server, "forecast")[0]}
        done = await approve(
            guard, only=["tool:forecast"], findings_read={"tool:forecast": rules(server, "forecast")[:1]}
        )
        assert done["unread"] == {}
        assert FORECAST not in unread(guard), "what was read before need not be said again"


@pytest.mark.parametrize("answer", [Answer.REVOKE, Answer.BLOCK])
async def test_taking_the_approval_back_answers_it_too(answer: Answer, tmp_path: Path) -> None:
    await old(tmp_path, capabilities)
    async with world(tmp_path) as guard:
        known = guard.now.guard.servers.find(NAME)
        assert known is not None
        await guard.now.guard.decisions.decide(NAME, FORECAST, answer, known.pins[FORECAST].listed, people.BY)
        assert FORECAST not in unread(guard)
        assert not known.pins[FORECAST].callable


async def test_another_definition_has_to_be_read_for_itself(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:
        await inspected(guard, NAME, **POISONED)
        known = guard.now.guard.servers.find(NAME)
        assert known is not None
        approval = Approval(await review.seen(guard.now, NAME), read=findings_to_confirm(known).rules)
        decide = guard.now.guard.decisions
        await decide.approve(NAME, approval, people.BY)
        assert known.pins[FORECAST].findings_read
        await decide.decide(NAME, FORECAST, Answer.REVOKE, known.pins[FORECAST].listed, people.BY)
        assert known.pins[FORECAST].findings_read == frozenset()


async def test_findings_in_the_launch_are_named_and_answered_for_the_server_alone(tmp_path: Path) -> None:
    launch = {"args": ["-c", "from mcpguard.demo.__main__ import main; main(['honest'], {})"]}
    async with world(tmp_path) as guard:
        server = await inspected(guard, "inline", **launch)
        read = {"server": ["launch.inline"]}
        await approve(guard, "inline", findings_read=read, only=["tool:read_note"])
        assert unread(guard) == {}
        await guard.now.store.writer.submit(
            lambda connection: connection.execute(update(upstreams).values(findings_read=""))
        )
    async with world(tmp_path) as guard:
        assert unread(guard) == {None: {"launch.inline"}}
        server = await show(guard, "inline")
        assert (server["unread"], server["unread_itself"]) == (1, ["launch.inline"])
        standings = [each["standing"] for each in server["capabilities"]]
        await approve(guard, "inline", only=[], findings_read=read)
        assert unread(guard) == {}
        now = await show(guard, "inline")
        assert (now["unread"], [each["standing"] for each in now["capabilities"]]) == (0, standings)


async def test_it_stands_in_the_inbox_on_the_pages_and_in_the_metrics(tmp_path: Path) -> None:
    await old(tmp_path, capabilities)
    async with world(tmp_path) as guard:
        by = await reviewer(guard)
        count = len(unread(guard))
        page = await by.open("/")
        assert "Approved with unread grave findings" in page.text
        assert "weather:forecast" in page.text
        assert f"{count} with unread findings" in (await by.open("/servers", waiting="1")).text
        assert guard.now.guard.inbox.tally().waiting == count
        assert await metric(guard, "mcpguard_unread_approvals") == count
        page = await by.open(f"/servers/{NAME}")
        assert "Approved with unread grave findings" in page.text
        done = await by.send(page, "decide", decision="approve", why=WHY)
        assert len(unread(guard)) == count, "without the tick nothing is read"
        done = await by.send(done, "decide", decision="approve", why=WHY, read=page.offers("decide", "read")[0])
        assert done.status == 200
        assert unread(guard) == {}
        assert "Approved with unread" not in (await by.open("/")).text


async def test_one_is_answered_on_its_own_page(tmp_path: Path) -> None:
    await old(tmp_path, capabilities)
    async with world(tmp_path) as guard:
        by = await reviewer(guard)
        page = await by.open(f"/servers/{NAME}/capability", kind="tool", name="forecast")
        assert "No reviewer has confirmed reading these grave findings" in page.text
        read = page.offers("decide", "read")[0]
        await by.send(page, "decide", decision="approve", why=WHY, read=read)
        assert FORECAST not in unread(guard)
        assert SET_UNITS in unread(guard)


async def test_a_server_that_is_not_approved_has_no_approvals_to_read(tmp_path: Path) -> None:
    await old(tmp_path, capabilities)
    async with world(tmp_path) as guard:
        await guard.now.guard.decisions.quarantine(NAME, people.BY)
        assert unread(guard) == {}
        known = guard.now.guard.servers.find(NAME)
        assert known is not None
        assert (await show(guard, NAME))["unread"] == 0
