"""The lifetimes that forms offer for tokens."""

from typing import Final

from mcpguard.domain.decisions import Undecidable
from mcpguard.domain.grants import USUAL_SECONDS

DAY: Final = 86_400
NEVER: Final = "never"
CHOICES: Final = (
    (DAY, "1 day"),
    (7 * DAY, "7 days"),
    (30 * DAY, "30 days"),
    (90 * DAY, "90 days"),
    (365 * DAY, "1 year"),
    (NEVER, "never"),
)
USUAL: Final = str(USUAL_SECONDS)


def seconds(given: str) -> int | None:
    """Return the chosen lifetime; None for a token that does not expire, which has to be chosen explicitly. Raises
    Undecidable.
    """
    if given == NEVER:
        return None
    if given not in {str(each) for each, _ in CHOICES}:
        raise Undecidable("choose an expiry from the list")
    return int(given)
