"""The settings of people's sessions."""

from typing import Annotated, Final

from pydantic import Field

from mcpguard.settings.fields import Restart
from mcpguard.settings.group import Group
from mcpguard.settings.trust import at_most

LEAST: Final = 60
_DAY: Final = 86_400


class PeopleSettings(Group):
    """The people who sign in, and for how long they are."""

    idle_seconds: Annotated[int, Field(ge=LEAST, le=30 * _DAY), at_most(LEAST), Restart] = 43_200
    """Seconds without a request after which a session ends."""

    session_seconds: Annotated[int, Field(ge=LEAST, le=30 * _DAY), at_most(LEAST), Restart] = 604_800
    """Seconds after which a session ends, whatever is done in it."""

    recent_seconds: Annotated[int, Field(ge=LEAST, le=_DAY), at_most(LEAST), Restart] = 900
    """Seconds after somebody gave their password for which they may let more happen than before."""
