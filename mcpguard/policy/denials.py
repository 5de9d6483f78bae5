"""Recognises output of a server which suggests that its sandbox denied it something.

Rules kept here:
1. Only phrases that operating systems, interpreters, git and common libraries are known to write count. A server's own
   wording does not.
2. A need that the sandbox profile already meets is ignored: with network access, an unknown host name is not an effect
   of the sandbox.
3. The result contains only phrases of the table, and nothing of the text around them.
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from mcpguard.domain.servers.launches import Launch, Profile, StdioLaunch
from mcpguard.domain.servers.needs import Need

LONGEST: Final = 32 * 1024
"""The number of characters of one text that are searched."""
_PHRASES: Final = MappingProxyType(
    {
        Need.NETWORK: (
            "Temporary failure in name resolution",
            "Name or service not known",
            "nodename nor servname provided",
            "Could not resolve host",
            "Network is unreachable",
            "getaddrinfo failed",
            "All connection attempts failed",
            "due to a connection issue",
            "getaddrinfo ENOTFOUND",
            "fetch failed",
            "EAI_AGAIN",
            "ENETUNREACH",
        ),
        Need.WRITING: ("Read-only file system", "EROFS"),
        Need.FILES: ("[Errno 13] Permission denied", "EACCES"),
        Need.OWNERSHIP: ("dubious ownership",),
    }
)
_NEEDS: Final = MappingProxyType({phrase.lower(): need for need, every in _PHRASES.items() for phrase in every})
_WRITTEN: Final = MappingProxyType({phrase.lower(): phrase for every in _PHRASES.values() for phrase in every})
_ANY: Final = re.compile(rf"(?<![a-z0-9_])(?:{'|'.join(map(re.escape, _NEEDS))})(?![a-z0-9_])")


def denied_needs(launch: Launch) -> frozenset[Need]:
    """Return the needs that the sandbox of this launch denies."""
    if not isinstance(launch, StdioLaunch) or launch.profile is Profile.NONE:
        return frozenset()
    return frozenset(Need) - ({Need.NETWORK} if launch.profile is Profile.CONTAINED else frozenset())


def need_phrases(texts: Iterable[str], launch: Launch) -> Mapping[Need, str]:
    """Return the needs that the texts suggest, each with the phrase of the table that was found."""
    denied, found = denied_needs(launch), dict[Need, str]()
    if not denied:
        return found
    for text in texts:
        for match in _ANY.finditer(text[:LONGEST].lower()):
            need = _NEEDS[match[0]]
            if need in denied:
                found.setdefault(need, _WRITTEN[match[0]])
    return dict(sorted(found.items()))


def texts_of_result(result: Mapping[str, Any]) -> list[str]:
    """Return the texts of a failed result; none of any other."""
    content = result.get("content")
    if result.get("isError") is not True or not isinstance(content, list):
        return []
    return [each["text"] for each in content if isinstance(each, dict) and isinstance(each.get("text"), str)]


def texts_of_error(error: Mapping[str, Any]) -> list[str]:
    """Return the texts of an error."""
    return [each for each in (error.get("message"), error.get("data")) if isinstance(each, str)]
