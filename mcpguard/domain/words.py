"""The words of this project: one word for one thing, in the code, on the pages, in the documents and in the API.

docs/words.md is made from this table and from the standing tables.
"""

from dataclasses import dataclass
from enum import Enum

from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.calls.calls import Call, Face, Intent, Sensitivity
from mcpguard.domain.calls.outcomes import Executed, Outcome, OutcomeKind
from mcpguard.domain.calls.records import Opening, Permit, RecordKind
from mcpguard.domain.calls.verdicts import Allow, Deny, Hold
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect, Fingerprint
from mcpguard.domain.decisions import Answer, Decision
from mcpguard.domain.findings import Finding, Severity
from mcpguard.domain.people import OperatorToken, Principal, Right, Role, Session, User
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.standing import CapabilityStanding, UpstreamStanding
from mcpguard.domain.servers.upstreams import Transport, Upstream


@dataclass(frozen=True, slots=True)
class Word:
    """A word, what it means, and the types that carry it."""

    word: str
    meaning: str
    types: tuple[type, ...] = ()

    @property
    def values(self) -> tuple[tuple[str, ...], ...]:
        """For each type that is a closed list, its values; reasons have a document of their own."""
        return tuple(
            tuple(str(member.value) for member in kind)
            for kind in self.types
            if issubclass(kind, Enum) and kind is not Reason
        )


WORDS = (
    Word(
        "upstream",
        "an MCP server we stand in front of (“server” in what people and agents read)",
        (Upstream, Transport),
    ),
    Word("capability", "one thing an upstream offers", (Capability, CapabilityKind)),
    Word(
        "fingerprint",
        "SHA-256 of the canonical JSON of a definition, or of an upstream's launch identity",
        (Fingerprint,),
    ),
    Word("standing", "where a thing stands with the security team", (UpstreamStanding, CapabilityStanding)),
    Word("effect", "what a tool does to the world; declared by the server, assigned by the reviewer", (Effect,)),
    Word("intent", "what the agent says it means to do, and why", (Intent, Sensitivity)),
    Word("caller", "who calls: a named agent with a scope, or anonymous on loopback", (Caller, Scope)),
    Word("call", "a caller, a capability, its arguments and an intent", (Call,)),
    Word("rule", "one question asked of a call"),
    Word("verdict", "what was decided about a call", (Allow, Hold, Deny)),
    Word("reason", "a stable code that says why, such as capability:changed; see reasons.md", (Reason,)),
    Word("outcome", "how a call ended, and whether anything was executed", (Outcome, OutcomeKind, Executed)),
    Word("finding", "something inspection saw, with its evidence", (Finding, Severity)),
    Word(
        "decision",
        "a person's answer about an upstream, a capability or a held call, with a written reason",
        (Decision, Answer),
    ),
    Word("user", "a person who may sign in", (User,)),
    Word(
        "role", "what a user, or a program that acts for people, was let in as: a closed set of rights", (Role, Right)
    ),
    Word("session", "a user who is signed in, at one browser", (Session,)),
    Word("operator's token", "what a program shows on the API that acts for people", (OperatorToken,)),
    Word("principal", "who sent a request to a page or to the API: a user in a session, or a program", (Principal,)),
    Word("ledger", "the audit log: a chain of records that can be proven whole"),
    Word("record", "one fact in the ledger", (RecordKind,)),
    Word("entry", "what the ledger keeps of one call: its opening, at times a release, its closing", (Opening,)),
    Word("permit", "shows that the verdict which allows a call is stored; nothing is sent without one", (Permit,)),
    Word("body", "the masked arguments or reply of a call, kept beside the record that gives its digest"),
    Word("checkpoint", "a signed statement about the ledger as it stood after some record"),
    Word("pruning", "removing what old records or bodies say; numbers and hashes stay, and a record says so first"),
    Word("redaction", "removing the bodies of one call because a person asks for it"),
    Word("catalog", "what may be found and called now"),
    Word("face", "one shape the guard shows to agents", (Face,)),
)
