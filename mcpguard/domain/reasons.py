"""Why a call was not simply answered: one closed list, each with a constant sentence and a next step.

Rules kept here:
1. Sentences are ours and constant. Nothing an upstream or an agent said is ever put into them.
2. A next step never suggests repeating what may already have happened.
3. A code is `subject:state`, and once released it keeps its meaning.
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
        "This server waits for a person to review it.",
        "Ask the security team to review the server; the call was not sent.",
    )
    SERVER_BLOCKED = (
        "server:blocked",
        "This server was blocked by the security team.",
        "Use another server, or ask the security team why.",
    )
    SERVER_DISABLED = (
        "server:disabled",
        "This server is switched off.",
        "Ask whoever switched it off, or use another server.",
    )
    SERVER_STARTING = (
        "server:starting",
        "This server is being connected for the first time since it was approved or mcpguard was started.",
        "Nothing was sent; try again: a call waits for the connection as long as it may take.",
    )
    SERVER_UNREACHABLE = (
        "server:unreachable",
        "This server is not connected now.",
        "Nothing was sent; try again later.",
    )
    SERVER_LOST = (
        "server:lost",
        "The connection to the server ended during the call; whether it was executed is unknown.",
        "Find out what happened by a call that only reads before you do it again.",
    )
    SERVER_BUSY = (
        "server:busy",
        "Too many calls are waiting for this server.",
        "Nothing was sent; try again when earlier calls have been answered.",
    )
    CAPABILITY_PENDING = (
        "capability:pending",
        "This capability waits for a person to review it.",
        "Ask the security team to review it; the call was not sent.",
    )
    CAPABILITY_CHANGED = (
        "capability:changed",
        "This capability differs from what was approved.",
        "Ask the security team to review the change; the call was not sent.",
    )
    CAPABILITY_BLOCKED = (
        "capability:blocked",
        "This capability was blocked by the security team.",
        "Use another capability, or ask the security team why.",
    )
    CAPABILITY_UNCONFIRMED = (
        "capability:unconfirmed",
        "It could not be confirmed in time that this capability is still as it was approved.",
        "Nothing was sent; try again later.",
    )
    CAPABILITY_WITHDRAWN = (
        "capability:withdrawn",
        "What was called was taken out of use during the call; whether it was executed is unknown.",
        "Find out what happened before you do it again, and ask the security team why.",
    )
    CAPABILITY_TASKS = (
        "capability:tasks",
        "This tool needs tasks, which the guard does not carry.",
        "Nothing was sent, and calling it again changes nothing; use another tool.",
    )
    CAPABILITY_UNKNOWN = (
        "capability:unknown",
        "No such capability is within your reach.",
        "List or search what there is, and use the name that is given there.",
    )
    INTENT_UNDERSTATED = (
        "intent:understated",
        "The tool does more than the call says it means to do.",
        "Call it through the variant that matches its effect.",
    )
    INTENT_MISMATCH = (
        "intent:mismatch",
        "The declared operation and the variant that was called differ.",
        "Make operation_type equal to the variant, or leave it out.",
    )
    INTENT_INVALID = (
        "intent:invalid",
        "The declared intent does not have the form it must have.",
        "Correct the intent; the tool's description lists the fields.",
    )
    INTENT_UNDECLARED = (
        "intent:undeclared",
        "This caller must declare what it means to do.",
        "Use call_tool_write or call_tool_destructive and declare the intent.",
    )
    CALLER_REVOKED = (
        "caller:revoked",
        "This caller was revoked, or its time is over.",
        "If executed is no, nothing was sent; otherwise find out first. Ask the security team for another token.",
    )
    CALLER_ANONYMOUS = (
        "caller:anonymous",
        "Only callers that are known by a token may do this.",
        "Ask the security team for a token.",
    )
    SCOPE_EFFECT = (
        "scope:effect",
        "This caller may not use capabilities with this effect.",
        "Ask the security team for a wider scope.",
    )
    ARGUMENTS_INVALID = (
        "arguments:invalid",
        "The arguments do not match the approved schema.",
        "Read the schema with describe_tool and correct the arguments.",
    )
    ARGUMENTS_UNVERIFIABLE = (
        "arguments:unverifiable",
        "The arguments cannot be checked against the approved schema.",
        "Send less, or ask the security team to look at the schema of the tool; the call was not sent.",
    )
    ARGUMENTS_TOO_LARGE = (
        "arguments:too_large",
        "The arguments are larger than the limit.",
        "Send less, or ask the operator to raise the limit.",
    )
    ARGUMENTS_SECRET = (
        "arguments:secret",
        "The arguments contain something that looks like a secret.",
        "Leave the secret out; the call was not sent.",
    )
    BUDGET_CALLS = (
        "budget:calls",
        "This caller has used up its calls for now.",
        "Nothing was sent; wait, or ask the security team for a larger budget.",
    )
    BUDGET_CONNECTIONS = (
        "budget:connections",
        "Calls that this caller took back, or that took too long, have cost the server too many connections.",
        "Nothing was sent; try again in a minute, and let calls come to their end.",
    )
    HOLD_WAITING = (
        "hold:waiting",
        "The call waits for a person to allow it.",
        "Nothing was sent. Make the same call again, with the same arguments, after a person has allowed it.",
    )
    HOLD_DENIED = (
        "hold:denied",
        "A person refused this call.",
        "Do not repeat it; ask the security team why.",
    )
    HOLD_EXPIRED = (
        "hold:expired",
        "Nobody answered in time, or what was called is not as it was, so the call was refused.",
        "Nothing was sent; ask the security team before you call again.",
    )
    HOLD_USED = (
        "hold:used",
        "A person allowed this call once, and it was made by another request.",
        "Nothing was sent this time. Find out what came of the other one before you call again.",
    )
    HOLD_CROWDED = (
        "hold:crowded",
        "Too many calls of this caller wait for a person already.",
        "Nothing was sent; wait until those were answered.",
    )
    UPSTREAM_REQUEST_DENIED = (
        "upstream:request_denied",
        "The server asked for something that it is not permitted to ask for.",
        "Whether it did anything is unknown. Ask the security team to permit this kind of request for the server.",
    )
    UPSTREAM_REQUEST_EXCESSIVE = (
        "upstream:request_excessive",
        "The server asked for more than may be asked of a client in one call, or at once.",
        "Find out what happened by a call that only reads before you do it again; the operator sets the limits.",
    )
    UPSTREAM_REQUEST_SCREENED = (
        "upstream:request_screened",
        "What the server asked of the client was not passed on because of what it contains.",
        "Find out what happened by a call that only reads before you do it again; ask the security team why.",
    )
    CLIENT_UNABLE = (
        "client:unable",
        "The server needs to ask something that this client cannot be asked.",
        "Use a client that can be asked for this (roots, sampling or elicitation), or another tool.",
    )
    CLIENT_UNANSWERED = (
        "client:unanswered",
        "The server asked the client something, and the client did not answer it.",
        "Find out what happened by a call that only reads before you do it again, and answer what is asked.",
    )
    REPLY_TOO_LARGE = (
        "reply:too_large",
        "The call was executed, and its reply is larger than the limit.",
        "Do not repeat it; ask for less in a call that only reads.",
    )
    REPLY_SCREENED = (
        "reply:screened",
        "The call was executed, and its reply is withheld because of what it contains.",
        "Do not repeat it; a person can read the reply in the audit log.",
    )
    REPLY_INVALID = (
        "reply:invalid",
        "The call was executed, and its reply is not what the approved definition of the tool says it returns.",
        "Do not repeat it; ask the security team to look at the tool.",
    )
    REPLY_UNSCREENED = (
        "reply:unscreened",
        "The call was executed, and its reply is withheld because it could not be screened in time.",
        "Do not repeat it; ask for less in a call that only reads.",
    )
    REPLY_TIMEOUT = (
        "reply:timeout",
        "The server did not answer in time; whether it executed the call is unknown.",
        "Find out what happened by a call that only reads before you do it again.",
    )
    AUTHORITY_PERSON = (
        "authority:person",
        "Only a person may do this.",
        "Ask the security team to do it in the console.",
    )
    LEDGER_UNAVAILABLE = (
        "ledger:unavailable",
        "The call cannot be recorded, so it was not sent.",
        "Try again later; the operator finds the cause with mcpguard status and in the guard's log.",
    )
    LEDGER_OUTCOME_UNRECORDED = (
        "ledger:outcome_unrecorded",
        "The call was sent, and what became of it could not be recorded yet.",
        "Do not repeat it; find out what happened by a call that only reads.",
    )
    GUARD_STOPPING = (
        "guard:stopping",
        "The guard is stopping and takes no more calls.",
        "Nothing was sent; try again when it is back.",
    )
    GUARD_ERROR = (
        "guard:error",
        "The guard failed at this call.",
        "If executed is no, try again; otherwise find out first. The operator finds the cause in the log.",
    )
    GUARD_CRASHED = (
        "guard:crashed",
        "The guard ended while this call was open; whether it was executed is unknown.",
        "Find out what happened by a call that only reads before you do it again.",
    )
