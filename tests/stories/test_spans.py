"""A call as spans: what they say, what they are a part of, and where they go."""

import json
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anyio
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import TraceIdRatioBased
from opentelemetry.trace import SpanKind, StatusCode, format_span_id, format_trace_id

from mcpguard.app.spans import Spans
from mcpguard.settings.problems import SettingsError
from tests.gate import Gate
from tests.gateway.holding import HELD, Making, allowed, held
from tests.gateway.speaking import guarded
from tests.simulators.script import Script
from tests.world import world

pytestmark = pytest.mark.anyio
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-00"
CANARY = "canary-7f3a"


def listening(guard: Gate, share: float = 1.0) -> InMemorySpanExporter:
    kept = InMemorySpanExporter()
    provider = TracerProvider(TraceIdRatioBased(share), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    guard.now.guard.events.subscribe(Spans(provider.get_tracer("test"), guard.now.guard.servers.knows))
    return kept


def whole(kept: InMemorySpanExporter) -> tuple[ReadableSpan, list[ReadableSpan]]:
    """The span of the one call, and those below it in their order."""
    spans = kept.get_finished_spans()
    (call,) = (span for span in spans if span.kind is SpanKind.SERVER)
    below = [span for span in spans if span is not call]
    kept.clear()
    assert call.context is not None
    assert all(span.parent is not None and span.parent.span_id == call.context.span_id for span in below)
    return call, sorted(below, key=lambda span: span.start_time or 0)


def said(span: ReadableSpan) -> dict[str, object]:
    return {key.removeprefix("mcpguard."): value for key, value in (span.attributes or {}).items()}


async def test_a_call_is_a_span_with_its_parts_below(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), **HELD) as guard, anyio.create_task_group() as tasks:
        kept, making = listening(guard), Making(guard.client())
        tasks.start_soon(making)
        await held(guard)
        await guard.clock.advance(9)
        await allowed(guard)
        await making.done()
        call, below = whole(kept)
        (entry,) = guard.entries()
        assert call.name == "call tool"
        assert said(call) == {
            "call": entry["entry"],
            "server": "web",
            "kind": "tool",
            "name": "echo",
            "face": "direct",
            "effect": "read",
            "verdict": "hold",
            "outcome": "answered",
            "executed": "yes",
            "reason": "none",
        }
        assert call.status.status_code is StatusCode.UNSET
        assert call.parent is None
        (person,) = (span for span in below if span.name == "person")
        assert (person.end_time or 0) - (person.start_time or 0) == 9 * 10**9
        assert all((call.start_time or 0) <= (each.start_time or 0) for each in below)
        assert all((each.end_time or 0) <= (call.end_time or 0) for each in below)


@pytest.mark.parametrize("given", [PARENT, PARENT[:-1] + "1", f"cc-{TRACE}-{SPAN}-00-more"])
async def test_a_call_is_part_of_what_its_client_says(given: str, tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        kept, client = listening(guard), guard.client()
        client.meta = {"traceparent": given}
        await client.call("web::echo", {})
        call, _ = whole(kept)
        assert call.context is not None
        assert call.parent is not None
        assert (format_trace_id(call.context.trace_id), format_span_id(call.parent.span_id)) == (TRACE, SPAN)
        assert call.context.trace_flags.sampled, "whatever the client's flag says"


async def test_no_client_has_spans_sent_that_are_not_wanted(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        kept, client = listening(guard, 0.0), guard.client()
        client.meta = {"traceparent": f"00-{TRACE}-{SPAN}-01"}
        await client.call("web::echo", {})
        assert kept.get_finished_spans() == ()
        assert [entry["outcome"] for entry in guard.entries()] == ["answered"]


@pytest.mark.parametrize("given", ["", "x", "\u202e" * 5000, f"00-{'0' * 32}-{SPAN}-01", f"ff-{TRACE}-{SPAN}-01"])
async def test_what_is_no_parent_is_none(given: str, tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        kept, client = listening(guard), guard.client()
        client.meta = {"traceparent": given}
        await client.call("web::echo", {})
        assert whole(kept)[0].parent is None


async def test_spans_hold_nothing_that_an_agent_or_a_server_wrote(tmp_path: Path) -> None:
    script = Script()
    script.answers["tools/call echo"] = {
        "content": [{"type": "text", "text": CANARY}],
        "structuredContent": {"a": CANARY},
    }
    async with guarded(tmp_path, script) as guard:
        kept, client = listening(guard), guard.client()
        await client.call("web::echo", {"text": CANARY})
        await client.call(f"web::{CANARY}", {})
        await client.call(f"{CANARY}::x", {})
        await client.call("web::fail", {"message": CANARY})
        await client.request("resources/read", {"uri": f"mcpguard://web/{CANARY}"})
        spans = kept.get_finished_spans()
        assert CANARY not in json.dumps([span.to_json() for span in spans])
        calls = [said(span) for span in spans if span.kind is SpanKind.SERVER]
        assert [each.get("name") for each in calls[:4]] == ["echo", None, None, "fail"]
        assert [each["server"] for each in calls[:4]] == ["web", "web", "(other)", "web"]
        failed = [span for span in spans if said(span).get("outcome") == "failed"]
        assert [span.status.status_code for span in failed] == [StatusCode.ERROR]


async def test_what_is_sent_to_a_server_is_what_its_client_sent(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        listening(guard)
        client = guard.client()
        await client.call("web::echo", {})
        client.meta = {"traceparent": PARENT}
        await client.call("web::echo", {})
        without, with_ = (each["params"].get("_meta", {}).get("traceparent") for each in script.called("tools/call"))
        assert (without, with_) == (None, PARENT)


@contextmanager
def collector(status: int = 200) -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    """Takes spans over HTTP, as a collector does."""
    got: list[ExportTraceServiceRequest] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = ExportTraceServiceRequest()
            request.ParseFromString(self.rfile.read(int(self.headers["content-length"])))
            got.append(request)
            self.send_response(status)
            self.send_header("location", f"http://127.0.0.1:{server.server_address[1]}/elsewhere")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1/traces", got
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def names(got: Sequence[ExportTraceServiceRequest]) -> list[str]:
    return [
        span.name
        for request in got
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


async def test_spans_are_sent_where_the_setting_says_and_the_last_ones_at_the_end(tmp_path: Path) -> None:
    with collector() as (url, got):
        async with guarded(tmp_path, Script(), telemetry__otlp_endpoint=url) as guard:
            await guard.client().call("web::echo", {})
        assert names(got).count("call tool") == 1
        assert got[0].resource_spans[0].resource.attributes[0].value.string_value == "mcpguard"


async def test_a_collector_that_sends_elsewhere_is_not_followed(tmp_path: Path) -> None:
    with collector(307) as (url, got):
        async with guarded(tmp_path, Script(), telemetry__otlp_endpoint=url) as guard:
            assert (await guard.client().call("web::echo", {})).result["content"]
        assert len(got) == 1


async def test_a_collector_that_is_away_costs_nothing_but_the_spans(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), telemetry__otlp_endpoint="http://127.0.0.1:9/v1/traces") as guard:
        assert (await guard.client().call("web::echo", {})).result["content"]
        entries = guard.entries()
    assert [entry["outcome"] for entry in entries] == ["answered"]


async def test_without_the_setting_nobody_listens_but_who_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collector() as (url, got):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", url)
        async with guarded(tmp_path, Script()) as guard:
            await guard.client().call("web::echo", {})
            assert len(guard.now.guard.events._listeners) == 2, "who counts, and who knows when a caller was here last"
        assert got == []


async def test_where_the_sdk_is_missing_the_start_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(BaseExceptionGroup) as raised:
        async with world(tmp_path, telemetry__otlp_endpoint="http://127.0.0.1:9/v1/traces"):
            pass
    error = raised.value.split(SettingsError)[0]
    assert error is not None
    assert "mcpguard-firewall[otel]" in str(error.exceptions[0])
