"""What may stand between server and name. Some models take no colons, and some no dots."""

from typing import Final, Literal

Separator = Literal["::", "__", "."]
SEPARATORS: Final[tuple[Separator, ...]] = ("::", "__", ".")
