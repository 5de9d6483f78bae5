"""A refusal says what happened, why, and what to do next, in sentences of ours; and it is one entry in the ledger."""

from pathlib import Path

import anyio
import pytest

from mcpguard.codec.uris import wrap_uri
from mcpguard.domain.calls.bodies import KeptBody
from mcpguard.domain.calls.outcomes import Executed, Outcome, OutcomeKind
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.domain.findings import Evidence, Finding, Severity
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.launches import Era
from mcpguard.gateway.wire import refused_error, refused_result
from mcpguard.guard.calls.refusals import refusal
from mcpguard.guard.calls.request import CallResult
from tests.gateway.speaking import HOWS, guarded, nothing_happens, refused_once, speaking
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
OURS = {"mcpguard/speaker": "guard"}
KEYS = {"status", "executed", "reason", "message", "next", "call_id"}
ASKED: list[tuple[str, Json]] = [
    ("tools/call", {"name": "web::nothing", "arguments": {"secret": "planted"}}),
    ("resources/read", {"uri": wrap_uri("web", "note://planted")}),
    ("prompts/get", {"name": "web::planted", "arguments": {"a": "planted"}}),
    (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "web::planted"}, "argument": {"name": "planted", "value": "planted"}},
    ),
]


def outcomes() -> list[Outcome]:
    """Every way in which a call can end other than with the server's own answer."""
    found = [Outcome.refusal(reason) for reason in Reason]
    found += [Outcome.hold(reason) for reason in Reason]
    found += [Outcome.unknown(reason) for reason in Reason]
    found += [Outcome.answer(reason=reason) for reason in Reason]
    found += [Outcome.failure(reason=reason) for reason in Reason]
    return found


@pytest.mark.parametrize("outcome", outcomes(), ids=lambda outcome: f"{outcome.kind}-{outcome.reason}")
def test_a_refusal_is_made_of_constants(outcome: Outcome) -> None:
    said = refusal(CallResult("the-call", outcome))
    assert said.keys() == KEYS
    (reason,) = [each for each in Reason if each.value == said["reason"]]
    assert (said["message"], said["next"], said["call_id"]) == (reason.sentence, reason.next, "the-call")
    assert said["executed"] in {"no", "yes", "unknown"}
    assert said["status"] == (
        "held" if outcome.kind is OutcomeKind.HELD else "refused" if outcome.executed is Executed.NO else "withheld"
    )
    for structured, structure in ((True, {"structuredContent": said}), (False, {})):
        assert refused_result(said, structured=structured) == {
            "content": [{"type": "text", "text": f"{reason.sentence} {reason.next}"}],
            "isError": True,
            "_meta": OURS | {"mcpguard/refusal": said},
            **structure,
        }
    is_unknown = reason is Reason.CAPABILITY_UNKNOWN
    for era, uri, code in ((Era.MODERN, "a:b", -32602), (Era.LEGACY, "a:b", -32002), (Era.MODERN, None, -32602)):
        named = {"uri": uri} if is_unknown and uri else {}
        assert refused_error(said, era, uri).error == {
            "code": code if is_unknown else -31010,
            "message": f"{reason.sentence} {reason.next}",
            "data": said | named | {"_meta": OURS},
        }


@pytest.mark.parametrize(
    ("capability", "reason", "helps"),
    [
        (Capability("web", CapabilityKind.TOOL, "add"), Reason.SERVER_BLOCKED, "mcpguard server show web"),
        (Capability("web", CapabilityKind.TOOL, "add"), Reason.CAPABILITY_CHANGED, "mcpguard tool ready web:add"),
        (Capability("web", CapabilityKind.TOOL, "add"), Reason.SCOPE_EFFECT, "mcpguard tool ready web:add"),
        (
            Capability("web", CapabilityKind.PROMPT, "it's; \x1b[2J"),
            Reason.CAPABILITY_PENDING,
            "mcpguard tool ready 'web:it'\"'\"'s; ⟨U+001B⟩[2J' --kind prompt",
        ),
        (
            Capability("web", CapabilityKind.RESOURCE, "x" * 201),
            Reason.CAPABILITY_PENDING,
            "mcpguard server show web",
        ),
        (Capability("web", CapabilityKind.TOOL, "add"), Reason.CAPABILITY_UNKNOWN, ""),
        (Capability("web", CapabilityKind.TOOL, "add"), Reason.ARGUMENTS_INVALID, ""),
    ],
)
def test_whoever_runs_the_guard_is_told_the_command_that_tells_more(
    capability: Capability, reason: Reason, helps: str
) -> None:
    """Of what lies out of reach nothing is told that could say that it is there."""
    said = refusal(CallResult("x", Outcome.refusal(reason), capability=capability))
    assert said.get("detail", {}).get("helps", "") == helps
    text = refused_result(said, structured=True)["content"][0]["text"]
    assert (f"`{helps}`" in text) is bool(helps)


def test_an_outcome_without_a_reason_is_the_guards_own_mistake() -> None:
    said = refusal(CallResult("x", Outcome.cancellation(Executed.UNKNOWN)))
    assert (said["reason"], said["executed"], said["status"]) == ("guard:error", "unknown", "withheld")


def test_of_findings_the_titles_are_told_once_each_and_not_too_many() -> None:
    place = Evidence("key:/planted", 0, 7)
    findings = [
        Finding(f"rule.{at}", "T1", severity, 0.5, at == 0, f"title {at}", place)
        for severity in (Severity.HIGH, Severity.LOW)
        for at in range(12)
    ]
    said = refusal(CallResult("x", Outcome.refusal(Reason.SERVER_QUARANTINED), findings=tuple(findings)))
    assert said["findings"] == [{"title": f"title {at}", "severity": "high"} for at in range(10)]
    assert refused_error(said, Era.MODERN).error["data"] == said | {"_meta": OURS}
    assert "planted" not in str(said)


async def test_every_way_of_asking_gets_the_same_refusal_in_its_form(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                for method, params in ASKED:
                    with refused_once(guard, "capability:unknown", script) as entry:
                        reply = await client.request(method, params)
                    if method == "tools/call":
                        result = reply.result
                        assert result["isError"] is True
                        said = result["_meta"]["mcpguard/refusal"]
                        assert result["content"] == [{"type": "text", "text": f"{said['message']} {said['next']}"}]
                    else:
                        said = reply.error["data"]
                        assert said.pop("_meta") == OURS
                        is_resource = method == "resources/read"
                        assert reply.error["code"] == (-32002 if is_resource and not client.modern else -32602)
                        assert said.pop("uri", None) == params.get("uri"), "as the client named it"
                        assert reply.error["message"] == f"{said['message']} {said['next']}"
                    assert said.keys() == KEYS
                    assert (said["status"], said["executed"], said["call_id"]) == ("refused", "no", entry["entry"])
                    assert reply.status in (200, 400, None)
                    repeated = str(reply.message).replace(str(params.get("uri")), "")
                    assert "planted" not in repeated, "nothing else of what was asked is repeated"
                    assert entry["method"] == method
                    assert entry["client"] == "simulated client"


async def test_what_a_server_says_of_itself_is_passed_on_and_is_no_refusal(tmp_path: Path) -> None:
    """Its failure is its answer: it was executed, and the record says so."""
    script = Script()
    script.tool("failing", {"content": [{"type": "text", "text": "x"}], "isError": True})
    script.tool("odd", {"content": [], "isError": "true"})
    async with guarded(tmp_path, script) as guard:
        client = guard.client()
        assert (await client.call("web::failing")).result["content"][0]["text"] == "x"
        assert (await client.call("web::odd")).result["isError"] == "true"
        assert [(each["outcome"], each["executed"]) for each in guard.entries()] == [
            ("failed", "yes"),
            ("answered", "yes"),
        ]


async def test_a_full_line_at_a_server_is_a_refusal(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, upstreams__concurrency=1, upstreams__queue=0) as guard:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(guard.client().call, "web::slow")
            await script.until(lambda: script.held == 1)
            said = (await guard.client().call("web::echo")).result["structuredContent"]
            assert (said["reason"], said["executed"], said["status"]) == ("server:busy", "no", "refused")
            script.go()
        assert len(script.called("tools/call")) == 1
        assert sorted(each["outcome"] for each in guard.entries()) == ["answered", "refused"]


def test_no_body_is_ever_part_of_a_refusal() -> None:
    outcome = Outcome.answer(KeptBody(b"planted"), Reason.REPLY_SCREENED)
    assert "planted" not in str(refusal(CallResult("x", outcome)))


async def test_without_a_record_there_is_no_call_and_everything_else_goes_on(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        await guard.now.store.writer.submit(lambda c: c.exec_driver_sql("PRAGMA query_only=ON").close())
        for how in HOWS:
            async with speaking(guard, how) as client:
                with nothing_happens(guard, script):
                    for name in ("web::echo", "web::fail", "web::nothing"):
                        said = (await client.call(name)).result["_meta"]["mcpguard/refusal"]
                        assert (said["reason"], said["executed"]) == ("ledger:unavailable", "no")
                    read = await client.request("resources/read", {"uri": "note://first"})
                    assert read.error["data"]["reason"] == "ledger:unavailable"
                assert "web::echo" in await client.names(), "what is there can still be looked up"
        while not guard.now.guard.readiness().ready:
            await guard.clock.advance(1)
        assert (await guard.client().call("web::echo", {"x": 1})).result["structuredContent"] == {"x": 1}
