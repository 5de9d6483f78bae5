"""What is recorded of a run of a program, before it starts and when it has ended."""

from collections.abc import Sequence
from hashlib import sha256

from mcpguard.codec.canonical import Scalar
from mcpguard.codec.messages import dumps
from mcpguard.domain.calls.calls import CODE_EXECUTION
from mcpguard.domain.calls.outcomes import OutcomeKind
from mcpguard.domain.grants import ANONYMOUS
from mcpguard.guard.programs.run_request import RunAnswer, RunRequest, ToldCall
from mcpguard.ledger.format import without_empty

LANGUAGE = "python"


def same_run(asked: RunRequest) -> bytes:
    """Return a digest that is the same if the same caller sends the same program again."""
    caller, intent = asked.caller.id, asked.stated.intent
    # Anonymous callers share one id: without the session one of them could go on with the program of another.
    who = [caller, asked.session if caller == ANONYMOUS else ""]
    what = [asked.script, asked.program.source, asked.program.input, asked.servers, intent.operation.value]
    return sha256(dumps([who, what])).digest()


def ran_fields(asked: RunRequest, entry: str, engine: str, settings: str, secrets: Sequence[str]) -> dict[str, Scalar]:
    """The record of a run that is about to start, without the program itself."""
    intent = asked.stated.intent
    return without_empty(
        entry=entry,
        caller=asked.caller.id,
        caller_label=asked.caller.label,
        client=asked.client,
        address=asked.peer.address,
        certificate=asked.peer.certificate,
        face=asked.face.value,
        method=CODE_EXECUTION,
        operation=intent.operation.value,
        declared=intent.declared,
        sensitivity=intent.sensitivity.value,
        intent_reason=intent.reason,
        language=LANGUAGE,
        engine=engine,
        source=sha256(asked.program.source.encode(errors="replace")).hexdigest(),
        allowed=None if asked.servers is None else " ".join(asked.servers),
        most_calls=asked.most_calls,
        seconds=round(asked.wall_seconds),
        settings=settings,
        trace=asked.trace,
        secrets=" ".join(secrets),
        by=asked.by,
        script=asked.script,
        parent=asked.parent,
    )


def ended_fields(
    asked: RunRequest, entry: str, outcome: OutcomeKind, answer: RunAnswer, calls: Sequence[ToldCall], took_us: int
) -> dict[str, Scalar]:
    """The record of how a run ended, without its answer."""
    screened = answer.screened
    return without_empty(
        entry=entry,
        caller=asked.caller.id,
        caller_label=asked.caller.label,
        outcome=outcome.value,
        reason=answer.waits,
        failure=None if answer.failure is None else answer.failure.code.value,
        calls=len(calls),
        refused=sum(call.status in ("refused", "held") for call in calls),
        took_us=took_us,
        screened=screened.get("mode"),
        found=" ".join(screened.get("rules", ())),
        masked=screened.get("masked"),
    )
