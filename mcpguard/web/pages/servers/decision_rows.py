"""What was decided about a server, in words: a row for each decision, with a line for each capability in it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mcpguard.domain.capabilities import Effect
from mcpguard.domain.json import Json
from mcpguard.guard.audit.server_decisions import RecordedDecision
from mcpguard.web.views import count_with_noun

_SANDBOXES: Final[Mapping[str, str]] = {"": "", "none": "no sandbox"}
MOST_LINES: Final = 200
"""Capabilities of one decision that a page lists."""
_SERVER: Final[Mapping[str, str]] = {
    "approve": "Approved",
    "reject": "Kept in quarantine",
    "quarantine": "Quarantined",
    "unblock": "Unblocked",
    "block": "Blocked",
    "enable": "Enabled",
    "disable": "Disabled",
    "restart": "Restarted",
}
_CAPABILITY: Final[Mapping[str, str]] = {
    "approve": "Approved",
    "reject": "Kept blocked",
    "revoke": "Approval revoked",
    "block": "Blocked",
    "unblock": "Unblocked",
    "differs": "Definition changed",
    "returned": "Approved definition returned",
    "identity_changed": "Approval suspended",
}
_HELD: Final[Mapping[str, str]] = {
    "allow": "Held call allowed",
    "deny": "Held call denied",
    "expire": "Held call expired",
    "void": "Held call void after a change",
    "withdraw": "Held call withdrawn",
}
_ADMITTED: Final[Mapping[str, str]] = {
    "added": "Added",
    "changed": "Configuration changed",
    "removed": "Removed",
    "withdrawn": "Withdrawn from its configuration file",
    "confined": "Sandbox enabled",
    "unconfined": "Sandbox removed",
}


@dataclass(frozen=True, slots=True)
class CapabilityLine:
    """What became of one capability by a decision."""

    kind: str
    name: str
    what: str
    seq: int


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """A decision. `notes`: what belongs to it; `named`: the one capability that it is about; `lines`: several of them;
    `more`: how many of them are not among the lines."""

    at: int
    what: str
    notes: tuple[str, ...]
    by: str
    why: str
    first: int
    last: int
    named: CapabilityLine | None = None
    lines: tuple[CapabilityLine, ...] = ()
    more: int = 0
    is_whole: bool = True


def decision_row(decision: RecordedDecision) -> DecisionRow:
    """Make the row of a decision."""
    records, first = decision.records, decision.first
    own = next((each for each in records if "capability" not in each), None)
    lines = _lines(records, leaves_out=own is not None and own.get("answer") == "approve")
    what, notes = _about_capabilities(records, lines) if own is None else _about_server(own, records, lines)
    alone = own is None and len(lines) == 1
    return DecisionRow(
        at=first["at"],
        what=what,
        notes=tuple(each for each in (*notes, _status(own or first, own or records[-1])) if each),
        by=str(first.get("by", "")),
        why=str(first.get("why", "")),
        first=first["seq"],
        last=records[-1]["seq"],
        named=lines[0] if alone else None,
        lines=() if alone else lines[:MOST_LINES],
        more=0 if alone else max(0, len(lines) - MOST_LINES),
        is_whole=decision.is_whole,
    )


def _lines(records: Sequence[Json], *, leaves_out: bool) -> tuple[CapabilityLine, ...]:
    """List what became of each capability; of several answers about the same one the last one counts."""
    last = {(each["capability"], each["name"]): each for each in records if "capability" in each}
    revoked = {(each["capability"], each["name"]) for each in records if each.get("answer") == "revoke"}
    lines: list[CapabilityLine] = []
    for key, each in last.items():
        word = _word(each)
        if leaves_out and each.get("answer") != "approve":
            word = "Left out, approval revoked" if key in revoked else "Left out"
        is_tool = key[0] == "tool" and each.get("answer") == "approve"
        word += f" as {each['effect']}" if is_tool and each.get("effect") else ""
        lines.append(CapabilityLine(str(key[0]), str(key[1]), word, each["seq"]))
    return tuple(lines)


def _word(record: Json) -> str:
    said = str(record.get("answer") or record.get("move") or "")
    words = _HELD if "ticket" in record else _CAPABILITY
    return words.get(said, said.replace("_", " ").capitalize())


def _about_capabilities(records: Sequence[Json], lines: Sequence[CapabilityLine]) -> tuple[str, tuple[str, ...]]:
    return (f"{_word(records[0])}: {_many(lines)}" if len(lines) > 1 else lines[0].what), ()


def _status(first: Json, last: Json) -> str:
    """Tell how the status changed; that of a held call is told by the decision itself."""
    before, after = first.get("before"), last.get("after")
    return f"{before} → {after}" if before and after and before != after and "ticket" not in first else ""


def _about_server(own: Json, records: Sequence[Json], lines: Sequence[CapabilityLine]) -> tuple[str, tuple[str, ...]]:
    if own.get("answer") == "approve":
        return _approval(own, records, lines)
    note = _many(lines) if lines else ""
    match own["kind"]:
        case "admitted":
            what = _ADMITTED.get(str(own["change"]), str(own["change"]))
        case "inspected":
            what, note = "Inspection requested", "" if own.get("started") else "without starting it"
        case "inspection_failed":
            what, note = "Inspection failed", "recorded at the next start" if own.get("late") else ""
        case "moved":
            what = "Quarantined: launch or identity changed"
        case _:
            what = _answer(own)
    return what, (note,)


def _answer(own: Json) -> str:
    answer = str(own["answer"])
    if answer == "screen":
        return f"Screening: {own.get('screening', 'default')}"
    if answer == "permit":
        return f"Requests to clients: {own.get('may_ask') or 'none'}"
    return _SERVER.get(answer, answer.capitalize())


def _approval(own: Json, records: Sequence[Json], lines: Sequence[CapabilityLine]) -> tuple[str, tuple[str, ...]]:
    """Tell an approval by how much of the server it covers, and with which effects, sandbox and permissions."""
    approved = [each for each in records if "capability" in each and each["answer"] == "approve"]
    left_out = len(lines) - len(approved)
    effects = Counter(str(each.get("effect")) for each in approved if each["capability"] == "tool")
    of = f"{len(approved):,} of " if left_out else ""
    prefixes = len(str(own.get("prefixes", "")).splitlines())
    return f"Approved {of}{_many(lines)}" if lines else "Approved, without capabilities", (
        f"left out {left_out:,}" if left_out else "",
        ", ".join(f"{effects[each.value]:,} {each.value}" for each in reversed(Effect) if effects[each.value]),
        _SANDBOXES.get(str(own.get("profile", "")), f"sandbox {own.get('profile')}"),
        f"may request {own['may_ask']}" if own.get("may_ask") else "",
        count_with_noun(prefixes, "URI prefix", "URI prefixes") if prefixes else "",
        "grave findings read" if any(each.get("read") for each in records) else "",
    )


def _many(lines: Sequence[CapabilityLine]) -> str:
    """Count capabilities, as what they are if all are the same."""
    kinds = {each.kind for each in lines}
    one = kinds.pop() if len(kinds) == 1 else "capability"
    return count_with_noun(len(lines), one, {"capability": "capabilities", "instructions": "instructions"}.get(one, ""))
