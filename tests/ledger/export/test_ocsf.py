"""Records as OCSF events: whatever a record holds, its event is valid, says what the record says, and loses nothing."""

import json
import re
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.calls.holds import HoldMove
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.decisions import Answer
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.standing import CapabilityMove, UpstreamMove
from mcpguard.ledger.export.line import ExportLine
from mcpguard.ledger.export.ocsf.form import KINDS, Ocsf
from tests.documents import DOCS
from tests.ledger.export.ocsf_examples import EXAMPLES, HASH, line, place
from tests.ledger.export.ocsf_validator import problems

FORMAT = (DOCS / "ledger-format.md").read_text()
PAGE = (DOCS / "ocsf.md").read_text()
_KINDS = FORMAT.partition("### Kinds")[2].partition("\n## ")[0]
DOCUMENTED = [kind for kind in re.findall(r"^\| `([a-z_]+)` \|", _KINDS, re.MULTILINE) if kind != "kind"]
FIELDS = sorted({*re.findall(r"`([a-z_]+)`", _KINDS), "v", "chain", "seq", "at", "kind"})
WORDS = st.sampled_from(
    [
        *("allow", "hold", "deny", "answered", "failed", "refused", "held", "cancelled", "unknown", "yes", "no"),
        *("read", "write", "destructive", "added", "changed", "removed", "unconfined", "tool", "resource", "agent"),
        *("admin", "password", "guard", "127.0.0.1", "::1", "tools/call", "resources/read", "differs", "setup link"),
        *("uid:1000 (ada)", "user:u1 (a (b))", "token:t", "uid:", "a--b-c", "00-aa-bb-01", "secret.aws secret.github"),
        *Answer,
        *Reason,
    ]
)
HOSTILE = st.one_of(
    st.text(),  # control characters, other scripts
    st.sampled_from(["\ud800", "a\nb", "\u2028\u0085", "\x00", "", " ", "\udc80(", "x" * 5000, "=1+1", '"}\n{"a":"']),
    st.integers(),
    st.sampled_from([0, -1, 2**31, 2**53, 2**63, 2**64, 10**400, True, False, None, 1.5]),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
)
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1)
VALUES = st.one_of(WORDS.map(str), HOSTILE, NUMBERS, st.booleans())
KIND = st.one_of(st.sampled_from([*KINDS]), st.sampled_from([*KINDS]), HOSTILE)


@st.composite
def lines(draw: st.DrawFn) -> ExportLine:
    """A record of any kind with anything in it, as somebody who can write the store could leave it."""
    said = draw(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=30))
    if draw(st.integers(0, 9)):
        said["kind"] = draw(KIND)
    if draw(st.booleans()):
        said["at"] = draw(NUMBERS)
    raw = json.dumps(said, indent=draw(st.sampled_from([None, None, None, 1])), ensure_ascii=draw(st.booleans()))
    chain, hash_ = draw(st.one_of(st.just("chain"), st.text())), draw(st.binary(min_size=32, max_size=32))
    return stored(raw.encode(errors="surrogatepass"), chain, draw(st.integers(1, 2**53)), hash_)


def stored(raw: bytes, chain: str = "main", seq: int = 7, hash_: bytes = HASH) -> ExportLine:
    """Content as an export reads it: what is no JSON object says nothing."""
    try:
        said = orjson.loads(raw)
    except ValueError:
        said = {}
    return ExportLine(chain, seq, hash_, raw, said if isinstance(said, dict) else {})


def event(record: ExportLine) -> dict[str, Any]:
    """Its event, which is valid and one line."""
    written = Ocsf().line(record)
    assert written.endswith(b"\n")
    assert written.count(b"\n") == 1
    assert b"\r" not in written
    read: dict[str, Any] = json.loads(written)
    assert problems(read) == []
    return read


@given(lines())
def test_whatever_a_record_holds_its_event_is_one_valid_line_and_nothing_is_lost(record: ExportLine) -> None:
    read = event(record)
    assert read["metadata"]["sequence"] == record.seq
    assert read.get("is_alert", False) is (read["severity_id"] >= 3)
    assert record.raw is not None
    if "record" in read["unmapped"]:
        assert b'"record":' + record.raw in Ocsf().line(record), "byte for byte"
        assert read["unmapped"].keys() == {"record", "record_hash"}
    else:
        assert read["activity_name"] == "Unreadable"
        assert read["unmapped"]["content"] == record.raw.decode(errors="replace")
    assert read["unmapped"]["record_hash"] == record.hash.hex()


@given(st.one_of(st.binary(), st.sampled_from([b"{}", b"[1]", b"null", b'{"a":"\\ud800"}', b'{"a":NaN}', b'{"a":1}x'])))
def test_content_that_is_no_record_is_given_as_text(raw: bytes) -> None:
    read = event(stored(raw))
    assert (read["class_uid"], read["activity_name"], read["severity"]) == (0, "Unreadable", "High")
    assert read["unmapped"] == {"content": raw.decode(errors="replace"), "record_hash": HASH.hex()}


@pytest.mark.parametrize("end", ["\n", "\r"])
def test_content_on_more_than_one_line_is_given_as_text_too(end: str) -> None:
    """What it says cannot be trusted either: the guard writes none such."""
    raw = f'{{"kind":"opened",{end}"entry":"e"}}'
    read = event(stored(raw.encode()))
    assert (read["activity_name"], read["unmapped"]["content"]) == ("Unreadable", raw)


@pytest.mark.parametrize("what", ["[" * 600 + "]" * 600, str(10**300), '{"a":1,"a":2}'])
def test_what_others_cannot_write_is_passed_on_as_it_is(what: str) -> None:
    raw = f'{{"kind":"opened","x":{what}}}'.encode()
    assert b'"record":' + raw in Ocsf().line(stored(raw))


def test_a_record_that_was_pruned_is_still_an_event() -> None:
    read = event(ExportLine("main", 3, HASH, None, {}))
    assert (read["class_uid"], read["activity_name"], read["time"]) == (0, "Pruned", 0)
    assert (read["metadata"]["uid"], read["unmapped"]) == ("main:3", {"record_hash": HASH.hex()})


def test_every_kind_has_an_event_of_its_own() -> None:
    assert {*RecordKind} == {*DOCUMENTED} == KINDS.keys()
    assert 0 not in {event(line({"kind": kind}))["class_uid"] for kind in DOCUMENTED}


def test_a_kind_that_a_later_version_brings_is_a_base_event_that_names_it() -> None:
    read = event(line({"kind": "invented", "detail": "x"}))
    assert (read["class_uid"], read["activity_id"], read["activity_name"]) == (0, 99, "invented")
    assert read["unmapped"]["record"]["detail"] == "x"


@pytest.mark.parametrize("kind", DOCUMENTED)
def test_the_page_says_which_class_each_kind_becomes(kind: str) -> None:
    found = re.search(rf"^\| `{kind}`[^|]*\| (\d+) ", PAGE, re.MULTILINE)
    assert found is not None, kind
    assert int(found[1]) == event(line({"kind": kind, "findings": 1}))["class_uid"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_on_the_page_are_what_is_written(name: str) -> None:
    found = place(name).search(PAGE)
    assert found is not None
    shown = json.loads(found[0])
    written = event(line(EXAMPLES[name]))
    assert json.dumps(of_any_version(written), indent=1) == json.dumps(of_any_version(shown), indent=1)


def of_any_version(read: dict[str, Any]) -> dict[str, Any]:
    """The same of every release: the version of whoever exports is the one thing that is not the record's."""
    read["metadata"]["product"]["version"] = "0"
    return read


def test_microseconds_are_in_the_original_time_and_in_the_record() -> None:
    read = event(line({"kind": "opened"}))
    assert read["time"] == 1_732_345_678_901
    assert read["metadata"]["original_time"] == "1732345678901234"
    assert read["unmapped"]["record"]["at"] == 1_732_345_678_901_234


def test_what_belongs_to_a_call_is_bound_by_its_entry() -> None:
    for kind in ("opened", "released", "asked", "heard", "closed"):
        read = event(line({"kind": kind, "entry": "e1"}))
        assert (read["metadata"]["correlation_uid"], read["api"]["request"]["uid"]) == ("e1", "e1")
    answered = event(line({"kind": "decided", "answer": "allow", "ticket": "e1", "decision": "d1"}))
    assert answered["metadata"]["correlation_uid"] == "e1"


@pytest.mark.parametrize(
    ("effect", "activity"), [("read", "Read"), ("write", "Update"), ("destructive", "Delete"), (None, "Unknown")]
)
def test_the_effect_is_the_activity(effect: str | None, activity: str) -> None:
    for kind in ("opened", "closed"):
        said = {"kind": kind, "method": "tools/call", **({"effect": effect} if effect else {})}
        assert event(line(said))["activity_name"] == activity


@pytest.mark.parametrize(
    ("said", "status", "disposition"),
    [
        ({"kind": "opened", "verdict": "allow"}, "allow", "Allowed"),
        ({"kind": "opened", "verdict": "hold", "reason": "hold:waiting"}, "hold", "Delayed"),
        ({"kind": "opened", "verdict": "deny", "reason": "capability:changed"}, "Failure", "Blocked"),
        ({"kind": "opened", "verdict": "deny", "reason": "scope:effect"}, "Failure", "Unauthorized"),
        ({"kind": "opened", "verdict": "odd"}, "Unknown", "Unknown"),
        ({"kind": "closed", "outcome": "answered", "executed": "yes"}, "Success", "Allowed"),
        ({"kind": "closed", "outcome": "answered", "executed": "yes", "masked": 2}, "Success", "Corrected"),
        (
            {"kind": "closed", "outcome": "answered", "executed": "yes", "reason": "reply:screened"},
            "Failure",
            "Blocked",
        ),
        ({"kind": "closed", "outcome": "failed", "executed": "yes"}, "Failure", "Allowed"),
        ({"kind": "closed", "outcome": "refused", "executed": "no", "reason": "guard:error"}, "Failure", "Error"),
        ({"kind": "closed", "outcome": "held", "executed": "no", "reason": "hold:waiting"}, "held", "Delayed"),
        ({"kind": "closed", "outcome": "cancelled", "executed": "no"}, "cancelled", "Allowed"),
        ({"kind": "closed", "outcome": "unknown", "executed": "unknown"}, "Unknown", "Allowed"),
        ({"kind": "released", "verdict": "allow"}, "allow", "Allowed"),
        ({"kind": "asked", "reason": "client:unable"}, "Failure", "Blocked"),
        ({"kind": "heard"}, "Success", "Allowed"),
        ({"kind": "turned_away", "why": "arguments", "count": 3}, "Failure", "Blocked"),
        ({"kind": "turned_away", "why": "authority:person"}, "Failure", "Unauthorized"),
    ],
)
def test_a_verdict_and_an_outcome_are_status_and_disposition(
    said: dict[str, Any], status: str, disposition: str
) -> None:
    read = event(line(said))
    assert (read["status"], read["disposition"]) == (status, disposition)
    assert read.get("status_code") == (said.get("reason") or said.get("why"))


@pytest.mark.parametrize("reason", Reason)
def test_a_reason_is_the_status_code_with_its_constant_sentence(reason: Reason) -> None:
    read = event(line({"kind": "closed", "outcome": "refused", "executed": "no", "reason": reason.value}))
    assert (read["status_code"], read["status_detail"]) == (reason.value, reason.sentence)
    assert read.get("is_alert", False) is (read["severity"] != "Low")


@pytest.mark.parametrize(
    ("said", "severity"),
    [
        ({"kind": "opened", "verdict": "allow"}, "Informational"),
        ({"kind": "opened", "verdict": "allow", "secrets": "aws.key"}, "Medium"),
        ({"kind": "closed", "outcome": "answered", "executed": "yes", "found": "steer.order"}, "Medium"),
        ({"kind": "closed", "outcome": "refused", "executed": "no", "reason": "scope:effect"}, "Low"),
        ({"kind": "closed", "outcome": "refused", "executed": "no", "reason": "capability:changed"}, "Medium"),
        ({"kind": "closed", "outcome": "unknown", "executed": "unknown", "reason": "reply:timeout"}, "Medium"),
        ({"kind": "closed", "outcome": "cancelled", "executed": "unknown"}, "Low"),
        ({"kind": "listed", "findings": 1, "risk": 5, "rules": "a"}, "Low"),
        ({"kind": "listed", "findings": 1, "risk": 50, "rules": "a"}, "Medium"),
        ({"kind": "listed", "findings": 1, "hard": 1, "rules": "a"}, "High"),
        ({"kind": "listed", "findings": 1, "hard": 0, "grave": 1, "rules": "a"}, "High"),
        ({"kind": "listed", "findings": 1, "hard": 0, "grave": 0, "risk": 9, "rules": "a"}, "Low"),
        ({"kind": "moved", "move": "differs"}, "Medium"),
        ({"kind": "decided", "answer": "approve"}, "Informational"),
        ({"kind": "decided", "answer": "approve", "rules": "a"}, "Medium"),
        ({"kind": "sign_in_refused", "why": "password"}, "Low"),
        ({"kind": "sign_in_refused", "why": "too many tries"}, "Medium"),
        ({"kind": "pruned", "what": "records"}, "Low"),
        ({"kind": "pruned", "what": "records", "by": "user:u1 (ada)"}, "Medium"),
        ({"kind": "resumed"}, "High"),
        ({"kind": "lost"}, "Critical"),
        ({"kind": "rolled_back"}, "Critical"),
    ],
)
def test_how_much_it_matters(said: dict[str, Any], severity: str) -> None:
    assert event(line(said))["severity"] == severity


def test_a_reason_lowers_no_severity() -> None:
    said = {"kind": "closed", "outcome": "refused", "executed": "no", "reason": "scope:effect"}
    assert event(line(said))["severity"] == "Low"
    assert event(line({**said, "found": "steer.order"}))["severity"] == "Medium"


ACTIVITIES = {
    Answer.APPROVE: "Activate",
    Answer.REVOKE: "Deactivate",
    Answer.QUARANTINE: "Suspend",
    Answer.BLOCK: "Suspend",
    Answer.UNBLOCK: "Resume",
    Answer.ENABLE: "Enable",
    Answer.DISABLE: "Disable",
    Answer.PERMIT: "Update",
    Answer.SCREEN: "Update",
    Answer.INSPECT: "Read",
    Answer.REJECT: "reject",
    Answer.ALLOW: "allow",
    Answer.RESTART: "restart",
    Answer.DENY: "deny",
}


@pytest.mark.parametrize("answer", Answer)
def test_an_answer_is_the_activity_that_the_schema_has_for_it_or_our_word(answer: Answer) -> None:
    assert event(line({"kind": "decided", "answer": answer.value}))["activity_name"] == ACTIVITIES[answer]


@pytest.mark.parametrize(
    ("move", "activity"),
    [
        (UpstreamMove.IDENTITY_CHANGED, "Suspend"),
        (CapabilityMove.DIFFERS, "Suspend"),
        (CapabilityMove.RETURNED, "Resume"),
        *((move, move.value) for move in (HoldMove.EXPIRE, HoldMove.VOID, HoldMove.WITHDRAW)),
    ],
)
def test_a_move_of_the_guard_is_likewise(move: str, activity: str) -> None:
    assert event(line({"kind": "moved", "move": str(move)}))["activity_name"] == activity


@pytest.mark.parametrize(
    ("kind", "change", "activity"),
    [
        ("admitted", "added", "Create"),
        ("admitted", "changed", "Update"),
        ("admitted", "removed", "Delete"),
        ("admitted", "withdrawn", "Delete"),
        ("admitted", "unconfined", "Update"),
        ("person", "added", "Create"),
        ("person", "role", "Update"),
        ("person", "disabled", "Disable"),
        ("person", "enabled", "Enable"),
        ("person", "signed_out", "signed_out"),
        ("operator", "revoked", "Delete"),
    ],
)
def test_a_change_is_likewise(kind: str, change: str, activity: str) -> None:
    assert event(line({"kind": kind, "change": change}))["activity_name"] == activity


def test_a_listing_is_a_finding_only_where_something_was_found() -> None:
    found = event(line({"kind": "listed", "server": "s", "findings": 2, "hard": 0, "risk": 9, "rules": "a b"}))
    clean = event(line({"kind": "listed", "server": "s", "findings": 0, "hard": 0, "new": 3}))
    assert (found["class_uid"], clean["class_uid"]) == (2004, 3004)
    assert found["finding_info"]["types"] == ["a", "b"]
    assert clean["entity"]["name"] == "s"


@pytest.mark.parametrize(
    ("said", "actor"),
    [
        ({"by": "uid:1000 (ada)", "via": "operator socket"}, {"user": "1000", "app_name": "operator socket"}),
        ({"by": "user:u1 (ada)", "via": "api"}, {"user": "u1", "app_name": "api"}),
        ({"by": "token:t1 (ci)", "via": "api"}, {"user": "t1", "app_name": "api"}),
        ({"by": "c1", "via": "agent", "process": "claude"}, {"app_uid": "c1", "app_name": "claude"}),
        ({"by": "configuration file", "via": "file"}, {"app_name": "configuration file"}),
        ({}, {"app_name": "mcpguard"}),
    ],
)
def test_who_decided_is_a_user_only_where_it_is_one(said: dict[str, Any], actor: dict[str, str]) -> None:
    read = event(line({"kind": "decided", **said}))["actor"]
    flat = {key: value["uid"] if key == "user" else value for key, value in read.items()}
    assert flat == actor


def test_a_change_of_role_says_both_roles() -> None:
    read = event(line({"kind": "person", "change": "role", "user": "u1", "before": "viewer", "role": "admin"}))
    assert (read["entity"]["user"]["type"], read["entity_result"]["user"]["type"]) == ("User", "Admin")
    assert (read["entity"]["uid"], read["entity_result"]["uid"]) == ("u1", "u1")
    added = event(line({"kind": "person", "change": "added", "user": "u1", "role": "admin"}))
    assert added["entity"]["user"]["type"] == "Admin"
    assert "entity_result" not in added


def test_calls_and_decisions_name_a_capability_alike() -> None:
    which = {"server": "files", "capability": "tool", "name": "a:b"}
    (called,) = event(line({"kind": "opened", **which}))["resources"]
    decided = event(line({"kind": "decided", "answer": "block", **which}))["entity"]
    assert called["uid"] == decided["uid"] == "tool:files:a:b"


@given(st.ip_addresses().map(str))
def test_every_address_is_one_of_the_schema_too(peer: str) -> None:
    read = event(line({"kind": "signed_in", "peer": peer}))
    assert read["src_endpoint"] == {"ip": peer}


@pytest.mark.parametrize(
    "peer", ["192.0.2.7", "fe80::1%a\nb", "2001:db8::1", "fe80::1%eth0", "unix", "127.0.0.1:80", "::1%" + "x" * 60]
)
def test_an_address_is_one_only_where_it_is_one(peer: str) -> None:
    endpoint = event(line({"kind": "signed_in", "peer": peer}))["src_endpoint"]
    assert endpoint == ({"ip": peer} if peer in ("192.0.2.7", "2001:db8::1", "fe80::1%eth0") else {"name": peer})
