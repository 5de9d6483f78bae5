"""Which texts of a server look as if its sandbox had kept something from it.

Rules kept here:
1. Only what operating systems, interpreters, git and libraries that many servers use are known to write counts. A
   server's own words say nothing here.
2. A need that the profile meets is none: with a network, a name that is not found was not kept from anybody.
3. What is said of a need is a constant of ours: the phrase of the table, and nothing of the text around it.
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from mcpguard.domain.servers.launches import Launch, Profile, StdioLaunch
from mcpguard.domain.servers.needs import Need

LONGEST: Final = 32 * 1024
"""Characters of one text that are looked at."""
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


def kept_from(launch: Launch) -> frozenset[Need]:
    """What this launch does not get."""
    if not isinstance(launch, StdioLaunch) or launch.profile is Profile.NONE:
        return frozenset()
    return frozenset(Need) - ({Need.NETWORK} if launch.profile is Profile.CONTAINED else frozenset())


def phrases(texts: Iterable[str], launch: Launch) -> Mapping[Need, str]:
    """The needs that the texts suggest, each with the phrase that does, as our table writes it."""
    kept, found = kept_from(launch), dict[Need, str]()
    if not kept:
        return found
    for text in texts:
        for match in _ANY.finditer(text[:LONGEST].lower()):
            need = _NEEDS[match[0]]
            if need in kept:
                found.setdefault(need, _WRITTEN[match[0]])
    return dict(sorted(found.items()))


def texts_of_result(result: Mapping[str, Any]) -> list[str]:
    """The texts of a result that says that it failed; none of any other."""
    content = result.get("content")
    if result.get("isError") is not True or not isinstance(content, list):
        return []
    return [each["text"] for each in content if isinstance(each, dict) and isinstance(each.get("text"), str)]


def texts_of_error(error: Mapping[str, Any]) -> list[str]:
    """The texts of an error."""
    return [each for each in (error.get("message"), error.get("data")) if isinstance(each, str)]
