"""The types of all responses. The OpenAPI document is made from them, and tests check every response against them.

Responses are sent without passing through these types, so that text from servers is passed on unchanged.
"""

from mcpguard.web.api.answers.call_answers import EndedAnswer, ForeseenAnswer, HitsAnswer
from mcpguard.web.api.answers.caller_answers import CallerAnswer, CallersAnswer, NewCallerAnswer, RevokedCallerAnswer
from mcpguard.web.api.answers.capability_answers import (
    CapabilityAnswer,
    DifferenceAnswer,
    ExplainedAnswer,
    LearnedAnswer,
)
from mcpguard.web.api.answers.count_answers import DayOfServersAnswer, SpanNumbersAnswer
from mcpguard.web.api.answers.guarding import ConfirmedAnswer, RotatedAnswer, WaitingAnswer
from mcpguard.web.api.answers.held_answers import (
    AllowanceAnswer,
    AllowancesAnswer,
    HeldCallAnswer,
    HeldCallInContextAnswer,
    HeldCallsAnswer,
)
from mcpguard.web.api.answers.people_answers import (
    NewOperatorAnswer,
    OperatorsAnswer,
    PersonAnswer,
    RevokedOperatorAnswer,
    SessionsAnswer,
    SetupLinkAnswer,
    UsersAnswer,
)
from mcpguard.web.api.answers.program_answers import (
    CheckedProgramAnswer,
    EndedRunAnswer,
    ScriptAnswer,
    ScriptsAnswer,
)
from mcpguard.web.api.answers.record_answers import (
    CallRecordsAnswer,
    ExportedAnswer,
    KeptAnswer,
    PrunedAnswer,
    RecordsAnswer,
    RedactedAnswer,
    WholeRecordAnswer,
)
from mcpguard.web.api.answers.server_answers import (
    ApprovedAnswer,
    DescriptionsAnswer,
    InspectedAnswer,
    NewServerAnswer,
    ServerAnswer,
    ServersAnswer,
)

__all__ = [
    "AllowanceAnswer",
    "AllowancesAnswer",
    "ApprovedAnswer",
    "CallRecordsAnswer",
    "CallerAnswer",
    "CallersAnswer",
    "CapabilityAnswer",
    "CheckedProgramAnswer",
    "ConfirmedAnswer",
    "DayOfServersAnswer",
    "DescriptionsAnswer",
    "DifferenceAnswer",
    "EndedAnswer",
    "EndedRunAnswer",
    "ExplainedAnswer",
    "ExportedAnswer",
    "ForeseenAnswer",
    "HeldCallAnswer",
    "HeldCallInContextAnswer",
    "HeldCallsAnswer",
    "HitsAnswer",
    "InspectedAnswer",
    "KeptAnswer",
    "LearnedAnswer",
    "NewCallerAnswer",
    "NewOperatorAnswer",
    "NewServerAnswer",
    "OperatorsAnswer",
    "PersonAnswer",
    "PrunedAnswer",
    "RecordsAnswer",
    "RedactedAnswer",
    "RevokedCallerAnswer",
    "RevokedOperatorAnswer",
    "RotatedAnswer",
    "ScriptAnswer",
    "ScriptsAnswer",
    "ServerAnswer",
    "ServersAnswer",
    "SessionsAnswer",
    "SetupLinkAnswer",
    "SpanNumbersAnswer",
    "UsersAnswer",
    "WaitingAnswer",
    "WholeRecordAnswer",
]
