"""Events of calls and of programs that make some, of server requests, of disclosures and of refused requests: API
Activity.

Rules kept here:
1. All events of one call have its entry as `metadata.correlation_uid`; the openings of the calls that a program makes
   have that of its run.
2. The verdict determines whether a call is allowed, denied or held; the outcome whether it succeeded. The opening of an
   allowed call does not claim success.
3. Findings in a call produce no separate event: they are an enrichment, and the call is an alert.
"""

from typing import Any, Final

from mcpguard.ledger.export.line import ExportLine
from mcpguard.ledger.export.ocsf.actors import caller
from mcpguard.ledger.export.ocsf.disposition import DONE, MASKED, ODD, OUTCOMES, REFUSED, VERDICTS, judge
from mcpguard.ledger.export.ocsf.event import (
    INFORMATIONAL,
    LOW,
    MEDIUM,
    SECURITY_CONTROL,
    UNKNOWN,
    Class,
    Event,
    Texts,
    count_of,
    event,
    number,
    texts,
    uid_of,
    words,
)

_CAPTIONS: Final = {0: "Unknown", 1: "Create", 2: "Read", 3: "Update", 4: "Delete", 99: "Other"}
API: Final = Class(6003, "API Activity", (6, "Application Activity"), _CAPTIONS)
_READ: Final = API.activity(2)
_NOT_KNOWN: Final = API.activity(0)
_EFFECTS: Final = {"read": _READ, "write": API.activity(3), "destructive": API.activity(4)}
_READING: Final = frozenset({"resources/read", "prompts/get", "completion/complete", "read_more"})
"""Methods that only read, whatever they name; a tool has an effect of its own."""
_ASKS: Final = API.other("Ask")
_ANSWERS: Final = API.other("Answer")
_RUNS: Final = API.other("Run")
_OPENED: Final = {"allow": "A call was allowed", "hold": "A call is held for approval", "deny": "A call was refused"}
_RAN: Final = {
    "answered": "A program ended with a value",
    "failed": "A program failed",
    "refused": "A program was refused",
    "held": "A program waits for the approval of a call",
    "cancelled": "A program was cancelled",
    "unknown": "A program ended with an unknown outcome",
}
_CLOSED: Final = {
    "answered": "A call was answered",
    "failed": "A call failed at the server",
    "refused": "A call was refused",
    "held": "A call ended while it is held for approval",
    "cancelled": "A call was cancelled",
    "unknown": "A call ended with an unknown outcome",
}


def opened_event(record: ExportLine) -> Event:
    """A call was opened, with its verdict."""
    said = texts(record.said)
    verdict = said.get("verdict")
    made = _of_a_call(record, said, _OPENED.get(verdict or "", "A call was opened"))
    found = _found(made, "secrets", said.get("secrets"), "secret")
    judge(made, VERDICTS.get(verdict, ODD), said.get("reason"), found)
    return made


def released_event(record: ExportLine) -> Event:
    """A held call was decided again, after a person allowed it."""
    said = texts(record.said)
    verdict = said.get("verdict")
    made = _of_a_call(record, said, "A held call was decided again")
    judge(made, VERDICTS.get(verdict, ODD), said.get("reason"))
    return made


def closed_event(record: ExportLine) -> Event:
    """A call ended, with its outcome."""
    said = texts(record.said)
    outcome, reason, executed = said.get("outcome"), said.get("reason"), said.get("executed", UNKNOWN)
    made = _of_a_call(record, said, _CLOSED.get(outcome or "", "A call ended"))
    took = number(record.said, "took_us")
    if took is not None:
        made["duration"] = took // 1000
    response: dict[str, Any] = {"data": {"executed": executed, "outcome": outcome or UNKNOWN}}
    if reason is not None:
        response["error"] = reason
    made["api"]["response"] = response
    so = OUTCOMES.get(outcome, ODD)
    if outcome == "answered" and reason is not None:
        so = REFUSED  # executed, but its reply was withheld
    # Secrets in the reply were masked before the agent saw it.
    elif outcome == "answered" and (number(record.said, "masked") or 0) > 0:
        so = MASKED
    found = _found(made, "reply", said.get("found"), said.get("screened", UNKNOWN))
    judge(made, so, reason, max(found, _unclear(outcome, executed)))
    return made


def run_event(record: ExportLine) -> Event:
    """A program was accepted that makes calls, each of which is an event of its own."""
    said = texts(record.said)
    made = _event(record, said, _RUNS, "A program is run")
    judge(made, VERDICTS["allow"], None, _found(made, "secrets", said.get("secrets"), "secret"))
    return made


def ended_run_event(record: ExportLine) -> Event:
    """A program ended, with its outcome."""
    said = texts(record.said)
    outcome, reason = said.get("outcome"), said.get("reason")
    made = _event(record, said, _RUNS, _RAN.get(outcome or "", "A program ended"))
    took = number(record.said, "took_us")
    if took is not None:
        made["duration"] = took // 1000
    made["api"]["response"] = {"data": {"outcome": outcome or UNKNOWN}}
    if (failure := said.get("failure")) is not None:
        made["api"]["response"]["error"] = failure
    found = _found(made, "reply", said.get("found"), said.get("screened", UNKNOWN))
    judge(made, OUTCOMES.get(outcome, ODD), reason, found)
    return made


def question_event(record: ExportLine) -> Event:
    """A server sent a request to the client, as for sampling."""
    said = texts(record.said)
    server, reason = said.get("server", UNKNOWN), said.get("reason")
    made = _event(record, said, _ASKS, "A server sent a request to the client")
    made["actor"] = {"app_name": server}
    made["src_endpoint"] = {"svc_name": server}
    found = _found(made, "question", said.get("found"), "screened")
    judge(made, DONE if reason is None else REFUSED, reason, found)
    return made


def question_outcome_event(record: ExportLine) -> Event:
    """A request of a server to the client ended."""
    said = texts(record.said)
    reason = said.get("reason")
    made = _event(record, said, _ANSWERS, "A request of a server to the client ended")
    judge(made, DONE if reason is None else REFUSED, reason)
    return made


def disclosure_event(record: ExportLine) -> Event:
    """A caller was shown what is available."""
    said = texts(record.said)
    made = _event(record, said, _READ, "A caller was shown what is available")
    made |= count_of(record.said)
    judge(made, DONE, None, _found(made, "query", said.get("secrets"), "secret"))
    return made


def search_use_event(record: ExportLine) -> Event:
    """A caller called a tool that a search had shown it."""
    said = texts(record.said)
    made = _event(record, said, _READ, "A search led to the call of a tool")
    judge(made, DONE, None)
    return made


def refused_request_event(record: ExportLine) -> Event:
    """A request was refused before it became a call."""
    said = texts(record.said)
    made = _event(record, said, _NOT_KNOWN, "A request was refused at the door")
    made |= count_of(record.said)
    made["api"]["operation"] = said.get("operation", UNKNOWN)
    judge(made, REFUSED, said.get("why"))
    made.setdefault("status_code", UNKNOWN)
    return made


def _of_a_call(record: ExportLine, said: Texts, message: str) -> Event:
    """An event of a call, with the capability that was called as its resource."""
    what = _EFFECTS.get(said.get("effect", ""))
    if what is None:
        what = _READ if said.get("method") in _READING else _NOT_KNOWN
    made = _event(record, said, what, message)
    name = said.get("name")
    if name is not None:
        capability, server = said.get("capability", UNKNOWN), said.get("server")
        resource = {"name": name, "type": capability, "uid": uid_of(capability, server, name)}
        if server is not None:
            resource["namespace"] = server
        if (fingerprint := said.get("fingerprint")) is not None:
            resource["version"] = fingerprint
        made["resources"] = [resource]
    return made


def _event(record: ExportLine, said: Texts, what: Any, message: str) -> Event:  # noqa: ANN401 - attributes
    """An event of this class, with caller, server, client and trace."""
    get = said.get
    entry, server, client, parts = get("entry"), get("server"), get("client"), get("trace", "").split("-")
    profiles = [SECURITY_CONTROL]
    if client is not None:
        profiles.append("ai_operation")
    if len(parts) >= 4:
        # A W3C traceparent: version, trace id, span id, flags.
        profiles.append("trace")
    made = event(record, what, INFORMATIONAL, message, entry, *profiles)
    api: dict[str, Any] = {"operation": get("method", UNKNOWN)}
    if entry is not None:
        api["request"] = {"uid": entry}
    if server is not None:
        api["service"] = {"name": server}
    made["api"] = api
    if (parent := get("parent")) is not None:
        made["metadata"]["correlation_uid"] = parent
    made["actor"] = caller(said)
    made["src_endpoint"] = _from(said)
    if client is not None:
        context: dict[str, Any] = {"application": {"name": client}}
        if server is not None:
            context["service"] = {"name": server}
        made["message_context"] = context
    if len(parts) >= 4:
        made["trace"] = {"uid": parts[1]}
    return made


def _unclear(outcome: str | None, executed: str) -> int:
    """The severity of not knowing whether a call was executed. Clients cancel calls all the time."""
    if executed != UNKNOWN:
        return INFORMATIONAL
    return LOW if outcome == "cancelled" else MEDIUM


def _from(said: Texts) -> Event:
    """The agent, as the guard knows it, the door it came through, and its address where that is not this host."""
    id_, door, address = said.get("caller"), said.get("face") or said.get("door"), said.get("address")
    endpoint = {} if id_ is None else {"uid": id_}
    if address is not None:
        endpoint["ip"] = address
    if door is not None:
        endpoint["svc_name"] = door
    return endpoint or {"name": UNKNOWN}


def _found(made: Event, where: str, rules: str | None, how: str) -> int:
    """Add the findings in a call to its event. Returns the severity."""
    if rules is None:
        return INFORMATIONAL
    made["enrichments"] = [{"name": where, "type": how, "value": rules, "data": {"rules": words(rules)}}]
    return MEDIUM
