"""The reasons why a call was not simply answered: a closed list, each with a constant sentence and a next step.

Rules kept here:
1. Sentences are constants. Text from a server or an agent is never inserted (prompt injection).
2. A next step never suggests repeating a call that may already have been executed.
3. A code is `subject:state`, and never changes its meaning once released.
"""

from enum import StrEnum
from typing import Self


class Reason(StrEnum):
    """A stable code, what it means, and what to do next."""

    sentence: str
    next: str

    def __new__(cls, code: str, sentence: str, next_step: str) -> Self:
        reason = str.__new__(cls, code)
        reason._value_ = code
        reason.sentence = sentence
        reason.next = next_step
        return reason

    SERVER_QUARANTINED = (
        "server:quarantined",
        "This server is in quarantine until a reviewer approves it.",
        "The call was not sent. Ask the security team to review the server.",
    )
    SERVER_BLOCKED = (
        "server:blocked",
        "This server is blocked by the security team.",
        "The call was not sent. Use another server, or ask the security team why.",
    )
    SERVER_DISABLED = (
        "server:disabled",
        "This server is disabled.",
        "The call was not sent. Ask the security team to enable it, or use another server.",
    )
    SERVER_STARTING = (
        "server:starting",
        "This server is connecting for the first time since it was approved or mcpguard was started.",
        "Nothing was sent. Retry: a call waits until the server is connected or the attempt times out.",
    )
    SERVER_UNREACHABLE = (
        "server:unreachable",
        "This server is not connected.",
        "Nothing was sent. Retry later.",
    )
    SERVER_LOST = (
        "server:lost",
        "The connection to the server was lost during the call; whether the call was executed is unknown.",
        "Check the result with a read-only call before you repeat it.",
    )
    SERVER_BUSY = (
        "server:busy",
        "Too many calls are queued for this server.",
        "Nothing was sent. Retry when earlier calls have finished.",
    )
    CAPABILITY_PENDING = (
        "capability:pending",
        "This capability has not been approved yet.",
        "The call was not sent. Ask the security team to review it.",
    )
    CAPABILITY_CHANGED = (
        "capability:changed",
        "The definition of this capability is no longer the one that was approved.",
        "The call was not sent. Ask the security team to review the change.",
    )
    CAPABILITY_BLOCKED = (
        "capability:blocked",
        "This capability is blocked by the security team.",
        "The call was not sent. Use another capability, or ask the security team why.",
    )
    CAPABILITY_UNCONFIRMED = (
        "capability:unconfirmed",
        "mcpguard could not confirm in time that this capability is still the one that was approved.",
        "Nothing was sent. Retry later.",
    )
    CAPABILITY_WITHDRAWN = (
        "capability:withdrawn",
        "This capability was withdrawn during the call; whether the call was executed is unknown.",
        "Find out what happened before you repeat it, and ask the security team why it was withdrawn.",
    )
    CAPABILITY_TASKS = (
        "capability:tasks",
        "This tool can only be called as a task, which mcpguard does not support.",
        "Nothing was sent. Do not retry; use another tool.",
    )
    CAPABILITY_UNKNOWN = (
        "capability:unknown",
        "Unknown tool, resource or prompt, or not in this caller's scope.",
        "List or search what is available, and use a name from there.",
    )
    INTENT_UNDERSTATED = (
        "intent:understated",
        "The declared intent is weaker than the effect of the tool.",
        "Use the call_tool variant that matches the effect.",
    )
    INTENT_MISMATCH = (
        "intent:mismatch",
        "operation_type differs from the call_tool variant that was used.",
        "Set operation_type to the variant, or leave it out.",
    )
    INTENT_INVALID = (
        "intent:invalid",
        "The declared intent is malformed.",
        "Correct the intent; the tool's description lists its fields.",
    )
    INTENT_UNDECLARED = (
        "intent:undeclared",
        "This caller must declare an intent for calls that do more than read.",
        "Use call_tool_write or call_tool_destructive and declare the intent.",
    )
    CALLER_REVOKED = (
        "caller:revoked",
        "This caller's token was revoked or has expired.",
        "If executed is no, nothing was sent; otherwise find out what happened. Ask the security team for a new token.",
    )
    CALLER_ANONYMOUS = (
        "caller:anonymous",
        "Callers without a token may not do this.",
        "Ask the security team for a token.",
    )
    SCOPE_EFFECT = (
        "scope:effect",
        "The effect of this capability is not in this caller's scope.",
        "Ask the security team for a token with this effect.",
    )
    ARGUMENTS_INVALID = (
        "arguments:invalid",
        "The arguments do not match the approved schema.",
        "Read the schema with describe_tool and correct the arguments.",
    )
    ARGUMENTS_UNVERIFIABLE = (
        "arguments:unverifiable",
        "The arguments could not be checked against the approved schema.",
        "The call was not sent. Send less, or ask the security team to check the tool's schema.",
    )
    ARGUMENTS_TOO_LARGE = (
        "arguments:too_large",
        "The arguments exceed the limit of size or depth.",
        "Send less, or ask the operator to raise the limit.",
    )
    ARGUMENTS_SECRET = (
        "arguments:secret",
        "The arguments contain what looks like a secret.",
        "The call was not sent. Remove the secret.",
    )
    BUDGET_CALLS = (
        "budget:calls",
        "This caller's call budget is used up.",
        "Nothing was sent. Wait, or ask the security team for a larger budget.",
    )
    BUDGET_CONNECTIONS = (
        "budget:connections",
        "Cancelled or timed-out calls of this caller have cost the server too many connections.",
        "Nothing was sent. Retry in a minute, and let calls finish.",
    )
    HOLD_WAITING = (
        "hold:waiting",
        "This call is held for approval.",
        "Nothing was sent. Once it is approved, make the same call again with the same arguments.",
    )
    HOLD_DENIED = (
        "hold:denied",
        "A reviewer denied this call.",
        "Do not repeat it; ask the security team why.",
    )
    HOLD_EXPIRED = (
        "hold:expired",
        "The held call expired: nobody answered in time, or what it calls changed meanwhile.",
        "Nothing was sent. Ask the security team before you call again.",
    )
    HOLD_USED = (
        "hold:used",
        "The approval of this call was used by another request.",
        "Nothing was sent this time. Check the result of that request before you call again.",
    )
    HOLD_CROWDED = (
        "hold:crowded",
        "Too many calls of this caller are held for approval.",
        "Nothing was sent. Wait until some of them are answered.",
    )
    UPSTREAM_REQUEST_DENIED = (
        "upstream:request_denied",
        "The server made a request to the client that it is not allowed to make.",
        "Whether the call was executed is unknown. Ask the security team to allow such requests of the server.",
    )
    UPSTREAM_REQUEST_EXCESSIVE = (
        "upstream:request_excessive",
        "The server exceeded the limits for requests to the client.",
        "Check the result with a read-only call before you repeat it; the operator sets the limits.",
    )
    UPSTREAM_REQUEST_SCREENED = (
        "upstream:request_screened",
        "The server's request to the client was blocked because of its content.",
        "Check the result with a read-only call before you repeat it; ask the security team why.",
    )
    CLIENT_UNABLE = (
        "client:unable",
        "The server needs to make a request that this client does not support.",
        "Use a client that supports it (roots, sampling or elicitation), or another tool.",
    )
    CLIENT_UNANSWERED = (
        "client:unanswered",
        "The client did not answer a request that the server made.",
        "Check the result with a read-only call before you repeat it, and answer the request.",
    )
    REPLY_TOO_LARGE = (
        "reply:too_large",
        "The call was executed, but its response exceeds the size limit.",
        "Do not repeat it; ask for less in a read-only call.",
    )
    REPLY_SCREENED = (
        "reply:screened",
        "The call was executed, but its response is blocked because of its content.",
        "Do not repeat it; a reviewer can read the response in the audit log.",
    )
    REPLY_INVALID = (
        "reply:invalid",
        "The call was executed, but its response does not match the approved output schema.",
        "Do not repeat it; ask the security team to check the tool.",
    )
    REPLY_UNSCREENED = (
        "reply:unscreened",
        "The call was executed, but its response is withheld: it could not be scanned in time.",
        "Do not repeat it; ask for less in a read-only call.",
    )
    REPLY_TIMEOUT = (
        "reply:timeout",
        "The server did not answer in time; whether the call was executed is unknown.",
        "Check the result with a read-only call before you repeat it.",
    )
    AUTHORITY_PERSON = (
        "authority:person",
        "Only a user may do this.",
        "Ask the security team to do it in the console.",
    )
    LEDGER_UNAVAILABLE = (
        "ledger:unavailable",
        "The audit log is unavailable, so the call was not sent.",
        "Retry later. Operators find the cause in mcpguard's log.",
    )
    LEDGER_OUTCOME_UNRECORDED = (
        "ledger:outcome_unrecorded",
        "The call was sent, but its outcome could not be recorded yet.",
        "Do not repeat it; check the result with a read-only call.",
    )
    GUARD_STOPPING = (
        "guard:stopping",
        "mcpguard is shutting down and takes no more calls.",
        "Nothing was sent. Retry when it is back.",
    )
    GUARD_ERROR = (
        "guard:error",
        "mcpguard failed to handle this call.",
        "If executed is no, retry; otherwise find out what happened first. Operators find the cause in mcpguard's log.",
    )
    GUARD_CRASHED = (
        "guard:crashed",
        "mcpguard ended while this call was open; whether the call was executed is unknown.",
        "Check the result with a read-only call before you repeat it.",
    )
