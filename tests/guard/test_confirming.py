"""Settings that carry trust: the first start confirms what it finds, later ones only less, and a person more."""

import json
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from mcpguard.settings.confirmation import DEFAULTS
from tests.postgres import fresh_database
from tests.world import World, world

pytestmark = pytest.mark.anyio
HOST = "guard.example"
EVERY = {**DEFAULTS, "anonymous.effects": ["read", "write", "destructive"], "authority.tokens": "full"}
CONFIRM = "/api/v1/settings/confirm"


def configured(records: list[dict[str, Any]]) -> list[tuple[str, str, dict[str, object]]]:
    """Of every record of a confirmation: by whom, what, and which values."""
    found = [record for record in records if record["kind"] == "configured"]
    for record in found:
        assert record["keys"].split() == sorted(json.loads(record["values"]))
    return [(record["by"], record["what"], json.loads(record["values"])) for record in found]


def unconfirmed(guard: World) -> tuple[str, ...]:
    return guard.now.guard.status().unconfirmed


async def confirm(guard: World, **values: object) -> httpx2.Response:
    dotted = {key.replace("__", "."): value for key, value in values.items()}
    return await guard.operator.post(CONFIRM, json={"values": dotted})


async def answers_to(guard: World, host: str) -> bool:
    """Whether this host is one of the guard's own."""
    return (await guard.network.get("/login", headers={"host": host})).status_code == 200


async def lived(folder: Path, **given: object) -> None:
    """Let a guard start and end."""
    async with world(folder, **given):
        pass


# What a start confirms by itself.


async def test_the_first_start_confirms_what_it_finds_and_records_it(tmp_path: Path) -> None:
    async with world(tmp_path, hosts=[HOST]) as guard:
        assert await answers_to(guard, HOST)
        assert unconfirmed(guard) == ()
        assert configured(guard.said()) == [("start", "found", EVERY | {"hosts": [HOST]})]
        assert [record["kind"] for record in guard.said()] == ["started", "configured"]
    async with world(tmp_path, hosts=[HOST]) as guard:
        assert await answers_to(guard, HOST)
        assert unconfirmed(guard) == ()
        assert len(configured(guard.said())) == 1, "nothing is new"
        assert guard.verified().whole


async def test_what_lets_more_happen_waits_and_is_told(tmp_path: Path) -> None:
    await lived(tmp_path)
    async with world(tmp_path, hosts=[HOST], upstreams__networks=["127.0.0.0/8"], limits__page=7) as guard:
        assert unconfirmed(guard) == ("hosts", "upstreams.networks")
        assert (await guard.operator.get("/api/v1/status")).json()["unconfirmed"] == ["hosts", "upstreams.networks"]
        assert (await guard.operator.get("/api/v1/settings/unconfirmed")).json() == [
            {"key": "hosts", "in_force": [], "found": [HOST]},
            {"key": "upstreams.networks", "in_force": [], "found": ["127.0.0.0/8"]},
        ]
        assert not await answers_to(guard, HOST)
        settings = guard.now.settings
        assert (settings.hosts, settings.upstreams.networks, settings.limits.page) == ((), (), 7)
        started = [record for record in guard.said() if record["kind"] == "started"]
        assert started[-1]["settings"] == settings.version == guard.now.guard.settings.version
        assert len(configured(guard.said())) == 1, "and nothing was confirmed"


async def test_what_lets_less_happen_is_in_force_at_once_and_confirmed(tmp_path: Path) -> None:
    await lived(tmp_path, hosts=[HOST, "b.example"])
    async with world(tmp_path, hosts=["b.example"]) as guard:
        assert not await answers_to(guard, HOST)
        assert await answers_to(guard, "b.example")
        assert unconfirmed(guard) == ()
        assert configured(guard.said())[1:] == [("start", "tightened", {"hosts": ["b.example"]})]
    async with world(tmp_path, hosts=["b.example", HOST]) as guard:
        assert not await answers_to(guard, HOST), "what was taken away has to be confirmed again"
        assert unconfirmed(guard) == ("hosts",)
        assert len(configured(guard.said())) == 2


async def test_of_a_value_with_both_what_was_taken_away_is_gone_and_what_was_added_waits(tmp_path: Path) -> None:
    await lived(tmp_path, upstreams__networks=["10.0.0.0/8", "fd00::/8"])
    async with world(tmp_path, upstreams__networks=["10.1.0.0/16", "127.0.0.0/8"]) as guard:
        assert guard.now.settings.upstreams.networks == ("10.1.0.0/16",)
        assert unconfirmed(guard) == ("upstreams.networks",)
        assert configured(guard.said())[1:] == [("start", "tightened", {"upstreams.networks": ["10.1.0.0/16"]})]
        assert (await confirm(guard, upstreams__networks=["10.1.0.0/16", "127.0.0.0/8"])).status_code == 200
    async with world(tmp_path, upstreams__networks=["10.1.0.0/16", "127.0.0.0/8"]) as guard:
        assert guard.now.settings.upstreams.networks == ("10.1.0.0/16", "127.0.0.0/8")
        assert unconfirmed(guard) == ()


async def test_what_was_taken_back_before_it_was_confirmed_leaves_nothing(tmp_path: Path) -> None:
    await lived(tmp_path)
    await lived(tmp_path, hosts=[HOST])
    async with world(tmp_path) as guard:
        assert unconfirmed(guard) == ()
        assert len(configured(guard.said())) == 1


# What a person confirms.


async def test_what_was_confirmed_is_in_force_after_the_next_start_and_the_record_says_who(tmp_path: Path) -> None:
    await lived(tmp_path)
    async with world(tmp_path, hosts=[HOST]) as guard:
        answer = await confirm(guard, hosts=[HOST])
        assert (answer.status_code, answer.json()) == (200, {"confirmed": ["hosts"]})
        assert unconfirmed(guard) == ()
        assert not await answers_to(guard, HOST), "until the next start"
        (_, (by, what, values)) = configured(guard.said())
        assert by.startswith("uid:")
        assert (what, values) == ("confirmed", {"hosts": [HOST]})
        record = guard.said()[-1]
        assert record["via"] == "operator socket"
        assert "(" in record["process"]
    async with world(tmp_path, hosts=[HOST]) as guard:
        assert await answers_to(guard, HOST)
        assert unconfirmed(guard) == ()
        assert len(configured(guard.said())) == 2
        assert guard.verified().whole


async def test_it_is_confirmed_once_however_many_confirm_it(tmp_path: Path) -> None:
    await lived(tmp_path)
    async with world(tmp_path, hosts=[HOST]) as guard:
        answers: list[int] = []

        async def one() -> None:
            answers.append((await confirm(guard, hosts=[HOST])).status_code)

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(one)
        assert sorted(answers) == [200, 409, 409]
        assert len(configured(guard.said())) == 2
        assert (await confirm(guard)).json() == {"confirmed": []}
        assert len(configured(guard.said())) == 2


@pytest.mark.parametrize(
    ("values", "moved"),
    [
        ({}, ["hosts"]),
        ({"hosts": []}, ["hosts"]),
        ({"hosts": [HOST, "evil.example"]}, ["hosts"]),
        ({"hosts": [HOST], "upstreams__networks": ["0.0.0.0/0"]}, ["upstreams.networks"]),
        ({"hosts": [HOST], "no_such": None}, ["no_such"]),
    ],
)
async def test_what_was_not_seen_is_not_confirmed(tmp_path: Path, values: dict[str, object], moved: list[str]) -> None:
    await lived(tmp_path)
    async with world(tmp_path, hosts=[HOST]) as guard:
        answer = await confirm(guard, **values)
        assert (answer.status_code, answer.json()["moved"]) == (409, moved)
        assert unconfirmed(guard) == ("hosts",)
        assert len(configured(guard.said())) == 1
    async with world(tmp_path, hosts=[HOST]) as guard:
        assert unconfirmed(guard) == ("hosts",)


@pytest.mark.parametrize(
    "body", [b"", b"{}", b'{"values": 5}', b'{"values": {"hosts": {}}}', b'{"values": {}, "values": {"hosts": ["a"]}}']
)
async def test_a_body_of_another_form_confirms_nothing(tmp_path: Path, body: bytes) -> None:
    await lived(tmp_path)
    async with world(tmp_path, hosts=["a"]) as guard:
        answer = await guard.operator.post(CONFIRM, content=body, headers={"content-type": "application/json"})
        assert answer.status_code in {400, 422}
        assert unconfirmed(guard) == ("hosts",)
        assert len(configured(guard.said())) == 1


async def test_agents_and_browsers_confirm_nothing(tmp_path: Path) -> None:
    await lived(tmp_path)
    async with world(tmp_path, hosts=[HOST]) as guard:
        answer = await guard.network.post(CONFIRM, json={"values": {"hosts": [HOST]}})
        assert answer.status_code == 401
        assert unconfirmed(guard) == ("hosts",)
        assert len(configured(guard.said())) == 1


async def test_while_nothing_can_be_recorded_nothing_is_confirmed(tmp_path: Path) -> None:
    await lived(tmp_path)
    async with world(tmp_path, hosts=[HOST]) as guard:
        away = guard.database.with_name("away.db")
        guard.database.rename(away)
        assert (await confirm(guard, hosts=[HOST])).status_code == 503
        assert unconfirmed(guard) == ("hosts",)
        away.rename(guard.database)
        await guard.recovered()
        assert len(configured(guard.said())) == 1
        assert (await confirm(guard, hosts=[HOST])).status_code == 200
        assert len(configured(guard.said())) == 2


# Who may confirm.


async def test_a_shell_that_may_only_tighten_confirms_nothing(tmp_path: Path) -> None:
    await lived(tmp_path, authority__shell="tighten")
    async with world(tmp_path, authority__shell="tighten", hosts=[HOST]) as guard:
        answer = await confirm(guard, hosts=[HOST])
        assert answer.status_code == 403
        assert "authority.shell" in answer.json()["detail"]
        assert unconfirmed(guard) == ("hosts",)
        assert len(configured(guard.said())) == 1


async def test_a_shell_cannot_give_itself_back_what_was_taken_from_it(tmp_path: Path) -> None:
    await lived(tmp_path)
    async with world(tmp_path, authority__shell="tighten") as guard:
        assert guard.now.settings.authority.shell == "tighten"
        assert configured(guard.said())[1:] == [("start", "tightened", {"authority.shell": "tighten"})]
    async with world(tmp_path, authority__shell="full") as guard:
        assert guard.now.settings.authority.shell == "tighten", "what counts is what was confirmed"
        assert unconfirmed(guard) == ("authority.shell",)
        assert (await confirm(guard, authority__shell="full")).status_code == 403
        assert len(configured(guard.said())) == 2
    async with world(tmp_path, authority__shell="full") as guard:
        assert guard.now.settings.authority.shell == "tighten"


async def test_on_postgresql_too(tmp_path: Path, postgres_server: str) -> None:
    url = fresh_database(postgres_server)
    await lived(tmp_path, store__url=url)
    async with world(tmp_path, store__url=url, hosts=[HOST]) as guard:
        assert unconfirmed(guard) == ("hosts",)
        assert (await confirm(guard, hosts=[HOST])).status_code == 200
    async with world(tmp_path, store__url=url, hosts=[HOST], authority__shell="tighten") as guard:
        assert await answers_to(guard, HOST)
        assert [what for _, what, _ in configured(guard.said())] == ["found", "confirmed", "tightened"]
        assert guard.verified().whole
