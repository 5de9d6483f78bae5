"""Which calls wait for a person, and for how long: the settings for it."""

from typing import Annotated

from pydantic import AfterValidator, Field

from mcpguard.codec.demands import demand
from mcpguard.domain.errors import InvalidName
from mcpguard.settings.fields import Restart
from mcpguard.settings.group import Group
from mcpguard.settings.trust import Demands


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
