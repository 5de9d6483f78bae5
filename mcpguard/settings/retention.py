"""How much of the audit log is kept, and for how long: the settings for it."""

from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from mcpguard.settings.fields import DefaultIs, Restart
from mcpguard.settings.group import Group
from mcpguard.settings.trust import AtLeast
from mcpguard.settings.values import none_if_empty

_DAYS: Final = 36_500
_MIB: Final = 1024 * 1024
EVERYTHING: Final = DefaultIs("nothing is pruned because of it")
Optional = BeforeValidator(none_if_empty)


class RetentionSettings(Group):
    """How much of the audit log is kept. Nothing is ever removed unless it is set here, or a person asks for it."""

    record_days: Annotated[int | None, Field(ge=1, le=_DAYS), Optional, EVERYTHING, AtLeast, Restart] = None
    """Days after which records are pruned, with their bodies."""

    records: Annotated[int | None, Field(ge=1, le=10**12), Optional, EVERYTHING, AtLeast, Restart] = None
    """Most records that are kept; the oldest are pruned."""

    database_bytes: Annotated[int | None, Field(ge=16 * _MIB, le=2**50), Optional, EVERYTHING, AtLeast, Restart] = None
    """Bytes that the database may take; the oldest records are pruned until it takes less, or none may go any more."""

    body_days: Annotated[int | None, Field(ge=1, le=_DAYS), Optional, EVERYTHING, AtLeast, Restart] = None
    """Days after which arguments, replies and questions are pruned while their records stay."""

    every_seconds: Annotated[float, Field(ge=1, le=86_400), Restart] = 3600.0
    """Seconds between two looks at what may be pruned."""
