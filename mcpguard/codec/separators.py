"""What may stand between server and name. Some models take no colons, and some no dots."""

from typing import Final, Literal

Separator = Literal["::", "__", "."]
SEPARATORS: Final[tuple[Separator, ...]] = ("::", "__", ".")
REFERENCE: Final = ":"
"""What stands there in what the guard's own tools answer. No server's name has one, so it is understood everywhere."""
