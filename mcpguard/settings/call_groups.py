"""Settings of calls: what one may carry, which wait for a person, what agents without a token may do."""

from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from mcpguard.codec import globs
from mcpguard.codec.demands import demand
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.screening import Screening as Mode
from mcpguard.settings.fields import Restart
from mcpguard.settings.group import Group
from mcpguard.settings.trust import Demands, Each, Off, Patterns, ranked

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


def _phrase(text: str) -> str:
    try:
        return demand(text).text
    except InvalidName as error:
        raise ValueError(str(error)) from None


class Holds(Group):
    """Calls that a person must allow, one by one. Nothing is held unless it is named here."""

    calls: Annotated[tuple[Annotated[str, AfterValidator(_phrase)], ...], Field(max_length=100), Demands, Restart] = ()
    """Which calls, each as `EFFECT [of SERVER[:NAME]] [by CALLER]`: `destructive`, `any of prod-*`, `write by desk`."""

    wait_seconds: Annotated[float, Field(ge=0, le=3600), Restart] = 25.0
    """Seconds for which a call waits for a person's answer before its client is told to come back."""

    life_seconds: Annotated[float, Field(ge=1, le=86_400), Restart] = 300.0
    """Seconds in which a person can answer; for as long, the same call is refused at once after they denied it."""

    allowed_seconds: Annotated[float, Field(ge=1, le=86_400), Restart] = 600.0
    """Seconds in which a call that a person allowed can be made."""

    per_caller: Annotated[int, Field(ge=1, le=1000), Restart] = 10
    """Calls of one caller that may wait for a person; further ones are refused. All anonymous agents are one caller."""


TAKEN: Final = frozenset(
    {
        *("retrieve_tools", "describe_tool", "call_tool", "read_more", "upstream_servers"),
        *("call_tool_read", "call_tool_write", "call_tool_destructive"),
    }
)
"""What the guard face's other tools are called."""


def _free(name: str) -> str:
    if name in TAKEN:
        raise ValueError("another tool of the guard has this name")
    return name


class Proxy(Group):
    """The tool through which programs list, describe and call everything else, on the guard face and at /mcp/proxy."""

    enabled: Annotated[bool, Restart] = True
    """Whether it is there."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:/-]{1,64}$"), AfterValidator(_free), Restart] = "proxy"
    """What it is called; some models take no colons, dots and slashes in the name of a tool."""


def _pattern(text: str) -> str:
    try:
        return globs.check_pattern(text)
    except InvalidName as error:
        raise ValueError(f"must be a name pattern: {error}") from None


Pattern = Annotated[str, AfterValidator(_pattern)]


class Anonymous(Group):
    """What agents on this machine may do that show no token."""

    enabled: Annotated[bool, Off, Restart] = True
    """Whether there are any; otherwise every agent needs a token."""

    servers: Annotated[tuple[Pattern, ...], Field(max_length=globs.MOST), Patterns, Restart] = (globs.EVERYTHING,)
    """Patterns of the names of the servers that they reach; `*` stands for any characters, `?` for one."""

    tools: Annotated[tuple[Pattern, ...], Field(max_length=globs.MOST), Patterns, Restart] = (globs.EVERYTHING,)
    """Patterns of what they reach there, by name or URI; `tool:`, `prompt:` … before one keep it to that kind."""

    effects: Annotated[tuple[Literal["read", "write", "destructive"], ...], Each, Restart] = ("read",)
    """Effects of what they may use: `read`, `write`, `destructive`. They find the rest, and cannot use it."""


class Definitions(Group):
    """What servers offer: how old what was listed last may be, and how much of what was listed before is kept."""

    max_age: Annotated[float, Field(gt=0, le=86_400), Restart] = 300.0
    """Seconds after a listing for which its definitions count; a call that comes later waits for a new listing."""

    min_age: Annotated[float, Field(ge=0, le=86_400), Restart] = 30.0
    """Seconds after a listing for which no further one is asked for. It must not exceed `definitions.max_age`."""

    sweep_seconds: Annotated[float, Field(gt=0, le=86_400), Restart] = 240.0
    """Seconds after the last listing at which a server that nobody uses is listed again."""

    confirm_seconds: Annotated[float, Field(gt=0, le=600), Restart] = 30.0
    """Seconds a call waits for a listing that confirms the definition of what it calls."""

    versions: Annotated[int, Field(ge=2, le=10_000), Restart] = 20
    """Most definitions that are kept of one capability; the approved and the listed one are kept always."""

    @model_validator(mode="after")
    def _young_before_old(self) -> Self:
        if self.min_age > self.max_age:
            raise ValueError("must have a min_age that does not exceed its max_age")
        return self


class Authority(Group):
    """Who may decide what."""

    shell: Annotated[Literal["full", "tighten"], ranked("tighten", "full"), Restart] = "full"
    """What a shell in the guard's own account may decide: everything, or only what lets no more happen than before."""

    tokens: Annotated[Literal["full", "tighten"], ranked("tighten", "full"), Restart] = "tighten"
    """The same of a program with an operator's token whose role decides; with `full` it approves without any person."""
