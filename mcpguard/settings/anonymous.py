"""What agents may do that show no token: the settings for it, each of which carries trust."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from mcpguard.codec import globs
from mcpguard.domain.errors import InvalidName
from mcpguard.settings.fields import Restart
from mcpguard.settings.group import Group
from mcpguard.settings.trust import Each, Off, Patterns


def _pattern(text: str) -> str:
    try:
        return globs.checked(text)
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
