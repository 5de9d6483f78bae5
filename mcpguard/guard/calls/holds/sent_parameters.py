"""What a held call would send, from the body that its record has: suspected secrets are masked in it."""

from typing import Final

from mcpguard.codec.strict import parse
from mcpguard.domain.json import Json

DEEPEST: Final = 200
"""The arguments of a call are never nested deeper (settings `limits.depth`)."""


def sent_parameters(params: bytes | None) -> Json:
    """Return the arguments of a call, or all its parameters where it has no `arguments`; its `_meta`; and everything
    that is sent. None where they are not kept, because they are too large, pruned, or the setting says so."""
    said = None if params is None else parse(params, max_bytes=len(params), max_depth=DEEPEST)
    if not isinstance(said, dict):
        return {"arguments": said, "meta": None, "sent": said}
    rest = {name: value for name, value in said.items() if name != "_meta"}
    return {"arguments": rest.get("arguments", rest), "meta": said.get("_meta"), "sent": said}
