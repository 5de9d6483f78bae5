"""What the routes answer, as types: the document of the API is made from them, and tests hold every answer to them.

An answer is written as it is, and not read through its type: what a server wrote is passed on unchanged.
"""

from mcpguard.web.api.answers.call_answers import Ended, Foreseen, Hits
from mcpguard.web.api.answers.caller_answers import Caller, Callers, NewCaller, RevokedCaller
from mcpguard.web.api.answers.capability_answers import Capability, Difference, Explained
from mcpguard.web.api.answers.guarding import Confirmed, Rotated, Waiting
from mcpguard.web.api.answers.held_answers import HeldCall, HeldCalls
from mcpguard.web.api.answers.people_answers import (
    NewOperator,
    Operators,
    Person,
    RevokedOperator,
    Sessions,
    SetupLink,
    Users,
)
from mcpguard.web.api.answers.record_answers import CallRecords, Exported, Kept, Pruned, Records, Redacted, WholeRecord
from mcpguard.web.api.answers.server_answers import Approved, Descriptions, Inspected, NewServer, Server, Servers

__all__ = [
    "Approved",
    "CallRecords",
    "Caller",
    "Callers",
    "Capability",
    "Confirmed",
    "Descriptions",
    "Difference",
    "Ended",
    "Explained",
    "Exported",
    "Foreseen",
    "HeldCall",
    "HeldCalls",
    "Hits",
    "Inspected",
    "Kept",
    "NewCaller",
    "NewOperator",
    "NewServer",
    "Operators",
    "Person",
    "Pruned",
    "Records",
    "Redacted",
    "RevokedCaller",
    "RevokedOperator",
    "Rotated",
    "Server",
    "Servers",
    "Sessions",
    "SetupLink",
    "Users",
    "Waiting",
    "WholeRecord",
]
