"""The settings of single calls: what one may carry, what of its reply is told, and how many a caller may make."""

from typing import Annotated, Final, Literal

from pydantic import Field

from mcpguard.domain.screening import Screening as Mode
from mcpguard.settings.fields import Restart
from mcpguard.settings.group import Group
from mcpguard.settings.trust import ranked

_MIB: Final = 1024 * 1024


class ArgumentSettings(Group):
    """What a call may carry."""

    largest: Annotated[int, Field(ge=1024, le=256 * _MIB), Restart] = _MIB
    """Largest parameters of a call in bytes, as they are sent to the server; a larger call is refused."""

    deepest: Annotated[int, Field(ge=4, le=100), Restart] = 48
    """Deepest nesting of the parameters of a call; a deeper call is refused. `limits.depth` is that of all messages."""

    secrets: Annotated[Literal["refuse", "note"], ranked("refuse", "note"), Restart] = "refuse"
    """What becomes of a call whose arguments hold what surely is a secret; `note` lets it go and records the rule."""


class ReplySettings(Group):
    """How much a server may answer, and how much of it an agent is told at once on the guard face (`read_more`)."""

    largest: Annotated[int, Field(ge=1024, le=256 * _MIB), Restart] = 8 * _MIB
    """Largest reply in bytes, on every face; a larger one is withheld."""

    shown: Annotated[int, Field(ge=1000, le=100_000_000), Restart] = 50_000
    """Longest text in characters; what is longer is cut. So is structured content, which then follows as text."""

    kept_seconds: Annotated[float, Field(gt=0, le=86_400), Restart] = 600.0
    """Seconds for which what was cut can be read."""

    kept: Annotated[int, Field(ge=1000, le=10_000_000_000), Restart] = 64_000_000
    """Characters that are kept for all callers together; beyond it the oldest of whoever has most goes."""


class ScreeningSettings(Group):
    """What is looked for in what servers answer, say and ask, and what becomes of it."""

    mode: Annotated[Literal["off", "note", "mask", "refuse"], ranked(*reversed(Mode)), Restart] = "note"
    """What becomes of a reply in which something is found; `mcpguard server screen` decides otherwise for a server."""

    patience_seconds: Annotated[float, Field(gt=0, le=60), Restart] = 5.0
    """Seconds that screening one reply may take; a reply that takes longer is withheld."""


class BudgetSettings(Group):
    """How many calls one caller may make. 0 is without end. Refused calls do not count."""

    caller_minute: Annotated[int, Field(ge=0, le=10_000_000), Restart] = 6000
    """Calls of one caller in any 60 seconds; each handshake of it (`initialize`) counts as one."""

    capability_minute: Annotated[int, Field(ge=0, le=10_000_000), Restart] = 3000
    """Calls that one caller makes of one tool, resource or prompt in any 60 seconds."""

    at_once: Annotated[int, Field(ge=0, le=100_000), Restart] = 256
    """Calls of one caller that are in progress at once."""
