"""The vocabulary of mcpguard: one word per concept, in the code, on web pages, in documents and in the API.

docs/words.md is generated from this table and from the tables of moves.
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
    """A word, its meaning, and the types that carry it."""

    word: str
    meaning: str
    types: tuple[type, ...] = ()

    @property
    def values(self) -> tuple[tuple[str, ...], ...]:
        """The values of each type that is an enumeration; reasons have a document of their own."""
        return tuple(
            tuple(str(member.value) for member in kind)
            for kind in self.types
            if issubclass(kind, Enum) and kind is not Reason
        )


WORDS = (
    Word(
        "upstream",
        "an MCP server that mcpguard stands in front of; users and agents read “server”",
        (Upstream, Transport),
    ),
    Word(
        "capability",
        "one tool, resource, resource template or prompt of a server, or its instructions",
        (Capability, CapabilityKind),
    ),
    Word(
        "fingerprint",
        "SHA-256 of the canonical JSON of a definition or of a launch identity; any change gives another one",
        (Fingerprint,),
    ),
    Word(
        "standing",
        "the review status of a server or a capability; users and agents read “status”",
        (UpstreamStanding, CapabilityStanding),
    ),
    Word(
        "effect",
        "what a tool does to the world: the server declares it, the reviewer assigns it, and what is assigned counts",
        (Effect,),
    ),
    Word(
        "intent",
        "the purpose of a call, as the agent declares it: operation, sensitivity of the data, and reason",
        (Intent, Sensitivity),
    ),
    Word("caller", "an agent with a token and a scope, or anonymous on loopback", (Caller, Scope)),
    Word("call", "a request of a caller to use a capability, with arguments and an intent", (Call,)),
    Word("rule", "one check of a call; the first rule that objects decides"),
    Word("verdict", "the decision about a call: allow it, hold it for approval, or deny it", (Allow, Hold, Deny)),
    Word(
        "reason",
        "a stable code for why a call was refused, held or ended without a response; see reasons.md",
        (Reason,),
    ),
    Word("outcome", "how a call ended, and whether the server executed it", (Outcome, OutcomeKind, Executed)),
    Word(
        "finding",
        "something suspicious that inspection found in a definition or a launch, with severity and evidence",
        (Finding, Severity),
    ),
    Word(
        "decision",
        "a reviewer's answer about a server, a capability or a held call, with a written reason",
        (Decision, Answer),
    ),
    Word("user", "a person who may sign in", (User,)),
    Word("role", "the closed set of rights that a user, or a program with an operator's token, has", (Role, Right)),
    Word("session", "a signed-in user in one browser", (Session,)),
    Word("operator's token", "the API token of a program that acts for users", (OperatorToken,)),
    Word(
        "principal",
        "who sent a request to a page or the API: a user in a session, or a program with a token",
        (Principal,),
    ),
    Word("ledger", "the audit log: a hash chain of records whose integrity can be verified"),
    Word("record", "one event in the audit log", (RecordKind,)),
    Word(
        "entry", "the records of one call: its opening, a release if it was held and approved, its closing", (Opening,)
    ),
    Word(
        "permit",
        "proof that the verdict which allows a call is stored; nothing is sent to a server without one",
        (Permit,),
    ),
    Word("body", "the masked arguments or reply of a call, kept beside the record that has its digest"),
    Word("checkpoint", "a signed statement about the hash chain up to some record"),
    Word(
        "pruning", "removing the content of old records or bodies; numbers and hashes stay, and a record says so first"
    ),
    Word("redaction", "removing the bodies of one call because a user asks for it"),
    Word("catalog", "the capabilities that can be found and called at the moment"),
    Word("face", "one interface that mcpguard shows to agents", (Face,)),
)
