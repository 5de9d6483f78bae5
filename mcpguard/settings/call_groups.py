"""Settings for calls: their limits, which are held for approval, and what agents without a token may do."""

from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from mcpguard.codec import globs
from mcpguard.codec.demands import demand
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.screening import Screening
from mcpguard.settings.fields import Restart
from mcpguard.settings.group import Group
from mcpguard.settings.trust import Demands, Each, Off, Patterns, strictest_first

_MIB: Final = 1024 * 1024


class AskingSettings(Group):
    """Requests of servers to clients while they work on a call: roots, sampling, elicitation."""

    answer_seconds: Annotated[float, Field(gt=0, le=86_400), Restart] = 300.0
    """Time limit for an answer of the client in seconds; not part of the time limit of the call."""

    per_call: Annotated[int, Field(ge=1, le=1000), Restart] = 16
    """Maximum number of requests of a server during one call; further ones are refused."""

    question_bytes: Annotated[int, Field(ge=1024, le=256 * _MIB), Restart] = _MIB
    """Maximum size of a request to a client in bytes; larger ones are refused."""

    waiting: Annotated[int, Field(ge=1, le=10_000), Restart] = 64
    """Calls of one caller that may wait for its answers; requests of servers in further calls are refused."""


class ArgumentSettings(Group):
    """Limits for the arguments of calls."""

    largest: Annotated[int, Field(ge=1024, le=256 * _MIB), Restart] = _MIB
    """Maximum size of a call's parameters in bytes, as they are sent to the server; larger calls are refused."""

    deepest: Annotated[int, Field(ge=4, le=100), Restart] = 48
    """Maximum nesting depth of a call's parameters; deeper calls are refused. `limits.depth` is for all messages."""

    secrets: Annotated[Literal["refuse", "note"], strictest_first("refuse", "note"), Restart] = "refuse"
    """What to do with a call whose arguments contain a secret: `refuse` it, or send it and record the rule (`note`)."""


class ReplySettings(Group):
    """Limits for responses of servers, and how much of one an agent gets at once on the guard face (`read_more`)."""

    largest: Annotated[int, Field(ge=1024, le=256 * _MIB), Restart] = 8 * _MIB
    """Maximum size of a response in bytes, on every face; larger ones are withheld."""

    shown: Annotated[int, Field(ge=1000, le=100_000_000), Restart] = 50_000
    """Maximum length in characters of a text, or of structured content as text; the rest is read with `read_more`."""

    kept_seconds: Annotated[float, Field(gt=0, le=86_400), Restart] = 600.0
    """Seconds for which the rest of a cut response can be read."""

    kept: Annotated[int, Field(ge=1000, le=10_000_000_000), Restart] = 64_000_000
    """Characters kept for all callers together; beyond that, the oldest of the caller with the most is dropped."""


class ScreeningSettings(Group):
    """Scanning of responses, messages and requests of servers for prompt injection and secrets."""

    mode: Annotated[Literal["off", "note", "mask", "refuse"], strictest_first(*reversed(Screening)), Restart] = "note"
    """Responses with findings: `note` records, `mask` masks, `refuse` withholds; can be set for each server."""

    resemblance: Annotated[Literal["on", "off"], strictest_first("on", "off"), Restart] = "on"
    """Whether definitions and responses are also compared with published attacks by the words that they share."""

    patience_seconds: Annotated[float, Field(gt=0, le=60), Restart] = 5.0
    """Time limit for scanning one response in seconds; a response that takes longer is withheld."""


class BudgetSettings(Group):
    """Rate limits per caller. 0 is unlimited. Refused calls do not count."""

    caller_minute: Annotated[int, Field(ge=0, le=10_000_000), Restart] = 6000
    """Calls of one caller in any 60 seconds; each handshake (`initialize`) counts as one."""

    capability_minute: Annotated[int, Field(ge=0, le=10_000_000), Restart] = 3000
    """Calls of one caller to one tool, resource or prompt in any 60 seconds."""

    at_once: Annotated[int, Field(ge=0, le=100_000), Restart] = 256
    """Concurrent calls of one caller."""


def _phrase(text: str) -> str:
    try:
        return demand(text).text
    except InvalidName as error:
        raise ValueError(str(error)) from None


class Holds(Group):
    """Calls that are held for approval, one by one. Only calls that are named here are held."""

    calls: Annotated[tuple[Annotated[str, AfterValidator(_phrase)], ...], Field(max_length=100), Demands, Restart] = ()
    """Calls to hold, as `EFFECT [of SERVER[:NAME]] [by CALLER]`: `destructive`, `any of prod-*`, `write by desk`."""

    wait_seconds: Annotated[float, Field(ge=0, le=3600), Restart] = 25.0
    """Seconds that a call waits for an answer before its client is told to retry later."""

    life_seconds: Annotated[float, Field(ge=1, le=86_400), Restart] = 300.0
    """Seconds until a held call expires; for as long, the same call is refused immediately after it was denied."""

    allowed_seconds: Annotated[float, Field(ge=1, le=86_400), Restart] = 600.0
    """Seconds for which an approval can be used."""

    per_caller: Annotated[int, Field(ge=1, le=1000), Restart] = 10
    """Maximum number of held calls per caller; further ones are refused. All anonymous agents are one caller."""


class CodeSettings(Group):
    """Programs of agents that make many calls (`code_execution`). They run in a sandbox; without one, none runs."""

    enabled: Annotated[bool, Off, Restart] = False
    """Whether agents may run programs. Each call of a program is judged and recorded by itself."""

    wall_seconds: Annotated[float, Field(gt=0, le=3600), Restart] = 120.0
    """Maximum duration of a run in seconds, its calls included; a run can only ask for less."""

    engine_seconds: Annotated[float, Field(gt=0, le=600), Restart] = 10.0
    """Maximum time that a program itself takes in seconds, its calls not included."""

    calls: Annotated[int, Field(ge=1, le=10_000), Restart] = 100
    """Maximum number of calls of one run; a run can only ask for less."""

    parallel: Annotated[int, Field(ge=1, le=64), Restart] = 8
    """Maximum number of calls that one run makes at once."""

    memory_bytes: Annotated[int, Field(ge=4 * _MIB, le=192 * _MIB), Restart] = 64 * _MIB
    """Maximum memory of a program in bytes."""

    at_once: Annotated[int, Field(ge=1, le=64), Restart] = 4
    """Programs that run at once; others wait in turn."""

    per_caller: Annotated[int, Field(ge=1, le=64), Restart] = 2
    """Programs of one caller that run or wait at once; further ones are refused."""


TAKEN: Final = frozenset(
    {
        *("retrieve_tools", "describe_tool", "call_tool", "read_more", "upstream_servers", "code_execution"),
        *("call_tool_read", "call_tool_write", "call_tool_destructive"),
    }
)
"""The names of the other tools on the guard face."""


def _free(name: str) -> str:
    if name in TAKEN:
        raise ValueError("is the name of another tool of mcpguard; choose another one")
    return name


class Proxy(Group):
    """The tool with which programs list, describe and call all others, on the guard face and at /mcp/proxy."""

    enabled: Annotated[bool, Restart] = True
    """Whether the tool is offered."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:/-]{1,64}$"), AfterValidator(_free), Restart] = "proxy"
    """Name of the tool; some models accept no colons, dots or slashes in it."""


def _pattern(text: str) -> str:
    try:
        return globs.check_pattern(text)
    except InvalidName as error:
        raise ValueError(f"must be a name pattern: {error}") from None


Pattern = Annotated[str, AfterValidator(_pattern)]


class Anonymous(Group):
    """Access for agents on this host without a token."""

    enabled: Annotated[bool, Off, Restart] = True
    """Whether agents may connect without a token."""

    servers: Annotated[tuple[Pattern, ...], Field(max_length=globs.MOST), Patterns, Restart] = (globs.EVERYTHING,)
    """Patterns for names of servers in scope; `*` matches any characters, `?` one."""

    tools: Annotated[tuple[Pattern, ...], Field(max_length=globs.MOST), Patterns, Restart] = (globs.EVERYTHING,)
    """Patterns for capabilities in scope, by name or URI; a prefix `tool:`, `prompt:` … limits one to that kind."""

    effects: Annotated[tuple[Literal["read", "write", "destructive"], ...], Each, Restart] = ("read",)
    """Allowed effects: `read`, `write`, `destructive`. Tools with others are listed, but calls to them are refused."""


class Definitions(Group):
    """Definitions of capabilities: how long a listing is valid, and how many old versions are kept."""

    max_age: Annotated[float, Field(gt=0, le=86_400), Restart] = 300.0
    """Seconds for which a listing is valid; a later call waits for a new listing."""

    min_age: Annotated[float, Field(ge=0, le=86_400), Restart] = 30.0
    """Minimum interval between two listings in seconds; at most `definitions.max_age`."""

    sweep_seconds: Annotated[float, Field(gt=0, le=86_400), Restart] = 240.0
    """Seconds after which an unused server is listed again."""

    confirm_seconds: Annotated[float, Field(gt=0, le=600), Restart] = 30.0
    """Seconds that a call waits for a listing that confirms the definition it uses."""

    versions: Annotated[int, Field(ge=2, le=10_000), Restart] = 20
    """Maximum number of versions kept per capability; the approved and the listed one are always kept."""

    @model_validator(mode="after")
    def _young_before_old(self) -> Self:
        if self.min_age > self.max_age:
            raise ValueError("must have a min_age that is not greater than its max_age")
        return self


class Authority(Group):
    """Who may loosen protection."""

    shell: Annotated[Literal["full", "tighten"], strictest_first("tighten", "full"), Restart] = "full"
    """Decisions from a shell in mcpguard's account: `full` allows all, `tighten` only those that tighten protection."""

    tokens: Annotated[Literal["full", "tighten"], strictest_first("tighten", "full"), Restart] = "tighten"
    """Decisions with an operator's token whose role may decide; with `full`, programs approve without a user."""
