"""Which of a server's resources or templates covers a URI.

Rules kept here:
1. A template covers a URI as a whole or not at all, and values are decoded once.
2. A value that climbs (`..`), that hides a separator in an encoding, or that holds a control character is covered by
   nothing: the server might read it differently than we do.
3. Matching takes linear time, whatever the server wrote into its template.
"""

import re
from functools import lru_cache

from mcp.shared.uri_template import InvalidUriTemplate, UriTemplate

from mcpguard.catalog.shelf import Shelf
from mcpguard.domain.capabilities import Capability, CapabilityKind

LONGEST_URI = 8192
_HIDDEN = re.compile(r"[\x00-\x20\x7f]|%(?:2f|5c|00)|%25", re.IGNORECASE)


def covering(shelf: Shelf, uri: str) -> Capability | None:
    """The capability in the catalog under which this URI may be read."""
    exact = shelf.of(CapabilityKind.RESOURCE).get(uri)
    if exact is not None:
        return exact.capability
    for name, template in shelf.of(CapabilityKind.TEMPLATE).items():
        if covers(name, uri):
            return template.capability
    return None


def covers(template: str, uri: str) -> bool:
    """Whether the template could have been expanded to this URI by someone who means no harm."""
    parsed = _parsed(template)
    if parsed is None or len(uri) > LONGEST_URI or _HIDDEN.search(uri):
        return False
    values = parsed.match(uri, max_uri_length=LONGEST_URI)
    if values is None:
        return False
    texts = [text for value in values.values() for text in ([value] if isinstance(value, str) else value)]
    return not any(_climbs(text) for text in texts)


def _climbs(value: str) -> bool:
    return ".." in re.split(r"[/\\]", value) or any(ord(character) < 32 for character in value)


@lru_cache(maxsize=4096)
def _parsed(template: str) -> UriTemplate | None:
    try:
        return UriTemplate.parse(template)
    except InvalidUriTemplate:
        return None
