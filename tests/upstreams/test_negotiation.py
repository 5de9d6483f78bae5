"""Which revision is spoken with which server: with kind ones, with slow ones, and with those who say strange things."""

from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcpguard.domain.servers.launches import Era
from mcpguard.upstreams.exchange.peer import StreamPeer
from mcpguard.upstreams.protocol.calls_in_flight import CallSlots
from mcpguard.upstreams.protocol.negotiation import ClientGreeting, negotiate
from mcpguard.upstreams.protocol.switchboard import Switchboard
from mcpguard.upstreams.supervise.reach import ServerReach
from tests.simulators.asked import Asked, Reply
from tests.simulators.hostile import never, on, once
from tests.simulators.over_http import HttpFace, serving_http
from tests.simulators.script import Next, Script
from tests.simulators.spoken import Spoken
from tests.simulators.web import HttpReply
from tests.simulators.words import LEGACY, MODERN, PROTOCOL_VERSION, UNSUPPORTED_VERSION, Json
from tests.upstreams.conduct import refusing
from tests.upstreams.flock import STARTING, US, Wire, flock, plain, played, reaching, remote, settings
from tests.upstreams.played import dialing

pytestmark = pytest.mark.anyio
TRANSPORTS = ("stdio", "http", "sse")


def asked(script: Script) -> list[str]:
    """The first methods, up to the listing; without the one that asks a modern server to tell of changes."""
    methods = [message["method"] for message in script.calls if message["method"] != "subscriptions/listen"]
    return methods[: methods.index("tools/list")] if "tools/list" in methods else methods


@pytest.mark.parametrize(
    ("how", "eras", "protocol"),
    [
        ("stdio", ("legacy", "modern"), MODERN),
        ("stdio", ("modern",), MODERN),
        ("stdio", ("legacy",), LEGACY[0]),
        ("http", ("legacy", "modern"), MODERN),
        ("http", ("modern",), MODERN),
        ("http", ("legacy",), LEGACY[0]),
        ("sse", ("legacy",), LEGACY[0]),
    ],
)
async def test_the_newest_revision_that_both_know_is_spoken(
    how: str, eras: tuple[str, ...], protocol: str, tmp_path: Path
) -> None:
    script = Script(*eras)
    async with played(how, script, tmp_path) as server, flock(reaching(tmp_path), server) as kept:
        assert (await kept.ready("a")).protocol == protocol
        handshake = ["initialize", "notifications/initialized"] if protocol != MODERN else []
        first = [] if (how, eras) == ("http", ("legacy",)) else ["server/discover"]  # refused by its header there
        assert asked(script) == [*first, *handshake]
        assert (await kept.call("a", "echo", {"a": 1}))["structuredContent"] == {"a": 1}


@pytest.mark.parametrize("version", LEGACY)
async def test_every_earlier_revision_is_understood(version: str) -> None:
    script = Script("legacy")
    script.legacy_versions = (version,) * 4
    async with flock({"a": script}) as kept:
        assert (await kept.ready("a")).protocol == version


@pytest.mark.parametrize("how", TRANSPORTS)
async def test_one_that_never_answers_the_first_question_is_asked_for_the_handshake(how: str, tmp_path: Path) -> None:
    script = Script("legacy")
    script.hooks.append(on("server/discover", never))
    async with (
        played(how, script, tmp_path) as server,
        flock(reaching(tmp_path), server, probe_seconds=0.05) as kept,
    ):
        assert (await kept.ready("a")).protocol == LEGACY[0]
        assert await kept.call("a")
        if how != "http":  # which of the earlier revisions would have to be told is not known over HTTP
            (given_up,) = script.abandoned
            assert given_up["method"] == "server/discover"


@pytest.mark.parametrize("how", ["stdio", "http"])
async def test_one_whose_mind_was_made_up_by_the_first_question_is_asked_again(how: str, tmp_path: Path) -> None:
    """Its answer comes too late, and to the handshake it only says that it speaks the modern revision."""
    script = Script("modern")
    script.hooks.append(on("server/discover", once(never)))
    async with (
        played(how, script, tmp_path) as server,
        flock(reaching(tmp_path), server, probe_seconds=2) as kept,
    ):
        assert (await kept.ready("a")).protocol == MODERN
        assert len(script.called("server/discover")) == 2


async def test_an_answer_that_comes_after_the_handshake_changes_nothing() -> None:
    script = Script("legacy")

    async def late(asked: Asked, _: Next) -> Reply:
        await script.received("tools/list")
        await asked.say({"jsonrpc": "2.0", "id": asked.id, "result": {"supportedVersions": [MODERN]}})
        return None

    async with flock({"a": script}, probe_seconds=0.05) as kept:
        script.hooks.append(on("server/discover", late))
        assert (await kept.ready("a")).protocol == LEGACY[0]
        assert await kept.call("a")


async def test_one_that_speaks_only_what_is_not_known_here_is_not_bothered_further() -> None:
    script = Script("modern")
    script.modern_versions = ("2031-01-01",)
    async with flock({"a": script}) as kept:
        condition = await kept.stands("error", "a")
        assert condition.error == "the server supports only protocol versions that mcpguard does not know"
        assert asked(script) == ["server/discover"]


@pytest.mark.parametrize(
    "data",
    [
        {"supported": ["2031-01-01", "2025-06-18"]},
        {"supported": "2031-01-01"},
        {"supported": None},
        {},
        None,
        "2031-01-01",
        [["2031-01-01"]],
    ],
)
async def test_one_that_refuses_the_first_question_is_asked_for_the_handshake(data: object) -> None:
    script = Script("legacy")
    script.hooks.append(on("server/discover", refusing(UNSUPPORTED_VERSION, data)))
    async with flock({"a": script}) as kept:
        assert (await kept.ready("a")).protocol == LEGACY[0]
        assert asked(script) == ["server/discover", "initialize", "notifications/initialized"]


@pytest.mark.parametrize("how", ["stdio", "http"])
@pytest.mark.parametrize("era", [Era.AUTO, Era.MODERN])
@pytest.mark.parametrize("supported", [[MODERN], ["2031-01-01", MODERN, "2025-11-25", 7]])
async def test_one_that_names_a_revision_in_its_refusal_is_asked_in_that_one(
    supported: list[object], era: Era, how: str, tmp_path: Path
) -> None:
    """Also where it speaks both eras: a server that names a modern revision is not asked for the handshake."""
    script = Script()
    script.hooks.append(on("server/discover", once(refusing(UNSUPPORTED_VERSION, {"supported": supported}))))
    async with played(how, script, tmp_path) as server:
        async with flock(reaching(tmp_path), replace(server, era=era)) as kept:
            assert (await kept.ready("a")).protocol == MODERN
            assert await kept.call("a")
        versions = [message["params"]["_meta"][PROTOCOL_VERSION] for message in script.called("server/discover")]
        assert versions == [MODERN, MODERN]
        assert script.called("initialize") == []


@pytest.mark.parametrize("era", [Era.AUTO, Era.MODERN])
async def test_one_that_refuses_the_revision_it_names_is_asked_no_third_time(era: Era) -> None:
    script = Script()
    script.hooks.append(on("server/discover", refusing(UNSUPPORTED_VERSION, {"supported": [MODERN]})))
    async with flock({"a": script}, plain("a", era=era)) as kept:
        assert (await kept.stands("error", "a")).error == (
            "the server claims to support protocol version 2026-07-28, but probed for it, "
            "the server answered with the error -32022"
        )
        assert asked(script) == ["server/discover", "server/discover"]


@pytest.mark.parametrize("data", [{"supported": [["2031"]]}, {"supported": []}, {"supported": [{}, 7, None]}])
async def test_what_is_no_revision_is_none_that_is_known_here(data: Json) -> None:
    script = Script("legacy")
    script.hooks.append(on("server/discover", refusing(UNSUPPORTED_VERSION, data)))
    async with flock({"a": script}) as kept:
        assert "that mcpguard does not know" in (await kept.stands("error", "a")).error


@pytest.mark.parametrize("offered", [[], ["2031-01-01"], ["2025-11-25"], "2026-07-28", None, [[]], {"2026-07-28": 1}])
async def test_an_answer_that_does_not_offer_the_revision_is_none(offered: object) -> None:
    script = Script("legacy")
    script.answers["server/discover"] = {"supportedVersions": offered, "capabilities": {"tools": {}}}
    async with flock({"a": script}) as kept:
        assert (await kept.ready("a")).protocol == LEGACY[0]


@pytest.mark.parametrize("version", ["2031-01-01", MODERN, "", None, 7, ["2025-11-25"], {}])
async def test_a_handshake_in_a_revision_that_is_not_known_is_none(version: object) -> None:
    script = Script("legacy")
    script.answers["initialize"] = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {}}
    async with flock({"a": script}) as kept:
        condition = await kept.stands("error", "a")
        assert "answered the handshake with an unsupported protocol version" in condition.error
        assert asked(script) == ["server/discover", "initialize"], "it was not even told that it is taken"


async def test_one_that_refuses_both_says_so() -> None:
    script = Script("legacy")
    script.hooks.append(on("initialize", refusing(UNSUPPORTED_VERSION, {"supported": [MODERN]})))
    async with flock({"a": script}) as kept:
        condition = await kept.stands("error", "a")
        assert condition.error == (
            "the server refused the handshake; probed for protocol version 2026-07-28, "
            "the server answered with the error -32601"
        )
        assert asked(script) == ["server/discover", "initialize", "server/discover"]


async def test_one_that_is_set_to_be_legacy_is_asked_for_the_handshake_only() -> None:
    script = Script()
    async with flock({"a": script}, plain("a", era=Era.LEGACY)) as kept:
        assert (await kept.ready("a")).protocol == LEGACY[0]
        assert asked(script) == ["initialize", "notifications/initialized"]


@pytest.mark.parametrize("case", ["refuses", "is silent", "offers others"])
async def test_one_that_is_set_to_be_modern_is_never_asked_for_the_handshake(case: str) -> None:
    script = Script("legacy")
    says = "the server answered with the error -32601"
    if case == "is silent":
        script.hooks.append(on("server/discover", never))
        says = "it did not answer within 0.05 seconds"
    elif case == "offers others":
        script.answers["server/discover"] = {"supportedVersions": ["2025-11-25"]}
        says = "it does not support that version"
    seconds = 0.05 if case == "is silent" else 30
    async with flock({"a": script}, plain("a", era=Era.MODERN), probe_seconds=seconds) as kept:
        condition = await kept.stands("error", "a")
        assert condition.error == f"the server is configured for protocol version 2026-07-28, but {says}"
        assert script.called("initialize") == []


@pytest.mark.parametrize("era", list(Era))
async def test_one_that_wants_credentials_is_asked_once(era: Era, tmp_path: Path) -> None:
    """Whatever the revision is: it has not said that yet."""
    face = HttpFace(Script())
    face.meddle = lambda _: HttpReply(401, {"www-authenticate": "Bearer"})
    async with serving_http(face) as url, flock(reaching(tmp_path), remote("a", url, era=era)) as kept:
        condition = await kept.stands("authenticating", "a")
        assert condition.error.startswith(
            "the server answered with HTTP status 401: it requires credentials; add a header"
        )
        assert len(face.requests) == 1
        assert face.script.calls == []


@pytest.mark.parametrize(
    "reply",
    [
        HttpReply(200, {"content-type": "text/html"}, b"<h1>Hello</h1>"),
        HttpReply(200, {"content-type": "application/json"}, b"not JSON"),
        HttpReply(200, {"content-type": "application/json"}, b'{"half":', torn=True),
        HttpReply(200, {"content-type": "text/event-stream"}, b"data: nothing\n\n"),
        HttpReply(202),
        HttpReply(400, {"content-type": "text/plain"}, b"Bad Request: no session"),
        HttpReply(403),
        HttpReply(404),
        HttpReply(405),
        HttpReply(500),
    ],
    ids=lambda reply: f"{reply.status} {reply.body[:8]!r}",
)
async def test_whatever_comes_over_http_in_the_place_of_an_answer_the_handshake_is_asked_for(
    reply: HttpReply, tmp_path: Path
) -> None:
    face = HttpFace(Script("legacy"))
    face.meddle = lambda request: reply if b"server/discover" in request.body else None
    async with serving_http(face) as url, flock(reaching(tmp_path), remote("a", url)) as kept:
        assert (await kept.ready("a")).protocol == LEGACY[0]


async def test_where_nobody_takes_connections_nothing_more_is_tried(tmp_path: Path) -> None:
    async with serving_http(Script()) as url:
        pass
    async with flock(reaching(tmp_path), remote("a", url)) as kept:
        condition = await kept.stands("error", "a")
        assert "does not accept connections on port" in condition.error
        assert kept.stood("a") == ["starting", "error"]


async def test_that_nobody_was_there_says_nothing_about_the_revision(tmp_path: Path) -> None:
    """It does not count as a server that ends when it is asked in the modern way."""
    face = HttpFace(Script())
    async with serving_http(face) as url:
        forbidden = {(ip_address("127.0.0.1"), int(url.split(":")[2].split("/")[0]))}
        reach = ServerReach(settings(), {}, tmp_path, tmp_path / "secrets", dialing(forbidden=forbidden), STARTING)
        async with flock(reach, remote("a", url)) as kept:
            await kept.stands("error", "a")
            assert face.requests == []
            forbidden.clear()
            await kept.clock.advance(1)
            assert (await kept.ready("a")).protocol == MODERN


class Recorded(StreamPeer):
    """Which revision it was told to speak."""

    def __init__(self, *given: Any) -> None:  # noqa: ANN401 - those of a peer
        super().__init__(*given)
        self.spoken: list[str] = []

    def speak(self, version: str) -> None:
        self.spoken.append(version)


@pytest.mark.parametrize(
    ("era", "first", "spoken"),
    [("modern", None, [MODERN]), ("legacy", None, [LEGACY[0]]), ("legacy", LEGACY[3], [LEGACY[3]])],
)
async def test_the_conversation_goes_on_in_what_was_agreed_on(era: str, first: str | None, spoken: list[str]) -> None:
    script = Script(era)
    if first:
        script.legacy_versions = (first,) * 4
    wire = Wire()
    async with anyio.create_task_group() as tasks:
        with Spoken(script, tasks, wire.say, wire.cut) as played:
            wire.played_by(played)
            board = Switchboard("a", CallSlots(1, 0), lambda _: None)
            peer = Recorded(wire, board.answer_request, board.take_notification)
            tasks.start_soon(peer.run)
            await negotiate(peer, ClientGreeting(US), Era.AUTO, 30)
            tasks.cancel_scope.cancel()
    wire.close()
    assert peer.spoken == spoken
