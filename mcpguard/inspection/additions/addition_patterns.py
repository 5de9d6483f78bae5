"""What is searched for in the new text of a changed definition, as patterns over meanings.

Less is needed here than in a whole definition (`detectors`): in what is new, an honest change hardly ever asks for data
or tells the model to do something beside the call. These meanings come besides those of all texts (`changes.txt`):
`OTHER_TOOL` is the name of a tool that the server does not list, and does not merely look something up; `FULL_PATH` a
path from the root or the home folder; `FIRST_SECRET` a credential with which the description of an argument begins.
"""

from typing import Final

from mcpguard.domain.findings import Severity
from mcpguard.inspection.detectors.detector import Phrases
from mcpguard.inspection.reading.patterns import pattern
from mcpguard.inspection.rules.rule_table import DetectorRule

SURE: Final = 0.3
"""The confidence from which on a finding in a new text is an addition."""


def _asks(purpose: str, *patterns: str) -> Phrases:
    """Return what to search for; the title of the rule is what is asked for."""
    rule = DetectorRule("addition", "T2", Severity.MEDIUM, SURE, purpose)
    return Phrases(rule, tuple(map(pattern, patterns)))


CONVERSATION: Final = "for conversation content"
PROMPT: Final = "for the system prompt"
REASONING: Final = "for the model's reasoning"
OUTPUT: Final = "for other tools' output"
TOOLS: Final = "for the list of tools"
MODEL: Final = "for the model's name"
LOCAL: Final = "for local files or settings"
CREDENTIALS: Final = "for credentials"
PERSON: Final = "for personal data"
CONTEXT: Final = "for the model's context"
_DATA: Final = "TALK_CONTENT|PROMPTS|REASONS|TOOL_OUTPUT|TOOL_LIST|MODEL_NAME|LOCAL_DATA|PERSON_DATA|CREDENTIAL"

_OF_ARGUMENTS: Final = (
    _asks(CONVERSATION, "TALK_CONTENT", "RECAP 4 TALKED", "TALKED 1 RECAP"),
    _asks(PROMPT, "PROMPTS", "INNER", "SYSTEM_PROMPT"),
    _asks(REASONING, "REASONS"),
    _asks(OUTPUT, "TOOL_OUTPUT", "RESULTS_ELSEWHERE", "RESULTS 3 OTHER 1 TOOLS"),
    _asks(TOOLS, "TOOL_LIST"),
    _asks(MODEL, "MODEL_NAME"),
    _asks(LOCAL, "LOCAL_DATA", "KEPT_DATA", "SECRET_FILE"),
    _asks(PERSON, "PERSON_DATA"),
)
NAMES: Final = (*_OF_ARGUMENTS, _asks(CREDENTIALS, "CREDENTIAL"))
"""What the name of a new argument must not speak of: an argument is there to be filled in."""
ARGUMENTS: Final = (*_OF_ARGUMENTS, _asks(CREDENTIALS, "FIRST_SECRET", "OBLIGED|PASS_ON|USER 4 CREDENTIAL"))
"""What must not be newly said of an argument."""
REQUESTS: Final = (
    _asks(CONVERSATION, "PASS_ON 8 TALK_CONTENT", "PASS_ON 6 RECAP 4 TALKED", "TALK_CONTENT 6 PASS_ON"),
    _asks(PROMPT, "PASS_ON 8 PROMPTS", "PROMPTS 6 PASS_ON"),
    _asks(REASONING, "PASS_ON 8 REASONS", "REASONS 6 PASS_ON"),
    _asks(OUTPUT, "PASS_ON 10 TOOL_OUTPUT", "TOOL_OUTPUT 6 PASS_ON"),
    _asks(TOOLS, "PASS_ON 8 TOOL_LIST", "TOOL_LIST 6 PASS_ON"),
    _asks(MODEL, "PASS_ON 8 MODEL_NAME"),
    _asks(LOCAL, "PASS_ON 8 LOCAL_DATA|KEPT_DATA", "LOCAL_DATA|KEPT_DATA 3 OBLIGED 4 PASS_ON"),
    _asks(CREDENTIALS, "OBLIGED 6 PASS_ON 6 CREDENTIAL", "CREDENTIAL 4 OBLIGED 3 PASS_ON", "ASK_FOR 3 CREDENTIAL"),
    _asks(PERSON, "PASS_ON 8 PERSON_DATA", "PERSON_DATA 3 OBLIGED 4 PASS_ON"),
)
"""What must not be newly requested elsewhere."""
ORDERS: Final = (
    _asks(
        "",
        "ROUND_CALL 14 SEND_ON|OPEN_UP|ADVERTISE",
        f"ROUND_CALL 14 PASS_ON 8 {_DATA}",
        "SEND_ON|OPEN_UP|ADVERTISE 12 ROUND_CALL",
        "LASTING 14 PASS_ON|ADVERTISE|OPEN_UP|OBEY",
        "OBLIGED|PASS_ON|ADVERTISE|OPEN_UP 10 LASTING",
        "OBLIGED 2 SEND_ON",
        "OBLIGED 4 ADVERTISE",
        "ADVERTISE 8 CREDENTIAL|PERSON_DATA",
        "UNSAID",
        "UNASKED",
        "OVERRULE",
        "EXCLUSIVE",
        "CHANGE_WHAT 4 TARGETS",
        "OPEN_UP 5 SECRET_FILE|LOCAL_DATA|KEPT_DATA",
        "OBLIGED 4 OPEN_UP 6 RETURNED",
        "OBLIGED|ROUND_CALL 5 CALL 3 OTHER_TOOL",
        "CALL 2 OTHER_TOOL 4 ROUND_CALL",
        "OBLIGED|ROUND_CALL 8 SEND_ON|PASS_ON 8 OTHER_TOOL",
        "OBLIGED 10 OPEN_UP 10 FULL_PATH",
        "OPEN_UP 10 FULL_PATH 10 PASS_ON",
        "NEEDLESS 1 SPEAK",
        "SAY_THAT",
        "PASS_ON 6 CARRY_ALONG|NEXT_CALL",
        "VIA 0 OTHER_TOOL",
        "STORED 6 ELSEWHERE",
        "OBEY 5 DIRECTIONS",
        "DIRECTIONS 5 RETURNED 6 OBEY",
        "AGREED",
        "VOICE 5 LASTING",
        "LASTING 8 VOICE",
        "CALL 4 FIRST_OF_ALL",
        "FIRST_OF_ALL 6 CALL",
        "ERASE 4 LOGS 3 ROUND_CALL",
        "ROUND_CALL 6 ERASE 4 LOGS",
        "APPROVE 6 AUTO",
        "SET_RECIPIENT",
        "READ 6 PERSON_DATA|LOCAL_DATA|KEPT_DATA|MAILBOX 10 PASS_ON",
        "ROUND_CALL 8 READ|OPEN_UP 5 MAILBOX",
    ),
)
"""What the model must not be newly told to do."""
PURPOSES: Final = {
    "handing.talk": CONVERSATION,
    "handing.inner": PROMPT,
    "handing.others": OUTPUT,
    "handing.kept": LOCAL,
    "handing.person": PERSON,
    "handing.held": CREDENTIALS,
    "handing.called": CREDENTIALS,
    "handing.secrets": CREDENTIALS,
    "context.name": CONTEXT,
    "context.asked": CONVERSATION,
    "context.whole": CONTEXT,
    "asking.credentials": CREDENTIALS,
}
"""What the rules of detectors that are about requests for data find them to be for."""
WHOLE_DEFINITION: Final = frozenset({"schema", "lookalike", "contradiction", "header", "resemblance"})
"""The families of rules that look at a whole definition, or at what is no text."""
HIDING: Final = frozenset({"hidden", "mixed", "encoded", "padding"})
"""The families of rules about text that a reader does not see."""
UNSURE: Final = frozenset(
    {
        "steering.values",
        "steering.forbids",
        "steering.replaces",
        "steering.forces",
        "safeguard.agreed",
        "safeguard.trust",
    }
)
"""Rules that are broken by what honest changes say of tools of the same server, and of the user's consent."""
SAFEGUARDS: Final = (_asks("by which the user confirms", "CONFIRMED"), _asks("that it changes nothing", "HARMLESS"))
"""What an honest change does not take away."""
