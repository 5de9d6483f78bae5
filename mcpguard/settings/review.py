"""The settings of the quarantine: who may decide, and how fresh the definitions are that decisions rest on."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from mcpguard.settings.fields import Restart
from mcpguard.settings.group import Group
from mcpguard.settings.trust import ranked


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
