"""Exports a call as spans: one for the whole call, and a child span for each stage.

Rules kept here:
1. Spans are created after the call has ended, so no call waits for them.
2. They contain only fixed words and the names of existing servers and approved capabilities.
3. A client can name the parent span, but cannot decide whether the call is recorded.
"""

from collections.abc import Callable
from typing import Final

from opentelemetry.context import Context
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    set_span_in_context,
)

from mcpguard.codec.traces import parent
from mcpguard.domain.calls.outcomes import OutcomeKind
from mcpguard.guard.traffic.counts import NONE
from mcpguard.guard.traffic.events import EndedCall
from mcpguard.guard.traffic.tallies import OTHER

_WENT_WRONG: Final = frozenset({OutcomeKind.FAILED, OutcomeKind.UNKNOWN})


class Spans:
    """Makes spans of ended calls. `exists`: whether there is a server with this name."""

    def __init__(self, tracer: Tracer, exists: Callable[[str], bool]) -> None:
        self._tracer = tracer
        self._exists = exists

    def __call__(self, ended: EndedCall) -> None:
        kind, outcome = ended.opening.capability.kind.value, ended.outcome
        span = self._tracer.start_span(
            f"call {kind}",
            _above(ended.trace),
            SpanKind.SERVER,
            attributes=self._said(ended),
            start_time=_at(ended, 0),
        )
        if span.is_recording():
            below = set_span_in_context(span, Context())
            for part in ended.parts():
                inner = self._tracer.start_span(part.stage.value, below, start_time=_at(ended, part.began))
                inner.end(_at(ended, part.ended))
            if outcome.kind in _WENT_WRONG:
                span.set_status(Status(StatusCode.ERROR, outcome.reason.value if outcome.reason else None))
        span.end(_at(ended, ended.took))

    def _said(self, ended: EndedCall) -> dict[str, str]:
        opening, outcome, server = ended.opening, ended.outcome, ended.opening.capability.server
        said = {
            "call": opening.entry,
            "server": server if self._exists(server) else OTHER,
            "kind": opening.capability.kind.value,
            "face": opening.face.value,
            "effect": opening.effect.value if opening.effect else NONE,
            "verdict": opening.verdict.word,
            "outcome": outcome.kind.value,
            "executed": outcome.executed.value,
            "reason": outcome.reason.value if outcome.reason else NONE,
        }
        if ended.approved:
            said["name"] = ended.approved
        return {f"mcpguard.{key}": value for key, value in said.items()}


def _above(trace: str) -> Context:
    """Return the context with the client's span as parent, and nothing of the current context."""
    named = parent(trace)
    if named is None:
        return Context()
    return set_span_in_context(NonRecordingSpan(SpanContext(named.trace, named.span, is_remote=True)), Context())


def _at(ended: EndedCall, seconds: float) -> int:
    """Return a time of the call in nanoseconds, as spans need it."""
    return ended.began * 1000 + round(seconds * 1e9)
