"""Which of a server's resources, prefixes or templates covers a URI.

Rules kept here:
1. A template covers a URI as a whole or not at all, and what is encoded is decoded once. A query that says more than
   the template asks for, or says it twice, is covered by nothing.
2. A URI that climbs (`..`), that hides a separator in an encoding or in another character, that is no text when it is
   decoded, or that holds a control character is covered by no template: the server might read it differently than we
   do. Nor is one whose variables are places of their own: absolute, a home directory, a drive, a variable of the
   environment. The path of `file://`, and of `https://host{+path}`, alone begins with a separator.
3. Where a template names a host, or a part of one, no variable puts another one behind an `@`, and what stands right
   behind a host of the web begins a path.
4. Looking is bounded, whatever a server wrote into its templates and a client into its URI.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from mcpguard.catalog.shelf import Shelf
from mcpguard.codec.uris import LONGEST_URI, is_harmless, is_relative, users_in
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.policy.prefixes import is_under_prefix
from mcpguard.slow_libraries import import_part

if TYPE_CHECKING:
    from mcp.shared.uri_template import UriTemplate

_TEMPLATES = import_part("mcp.shared", "uri_template")
MOST_STEPS = 1_000_000
"""Characters looked at for one URI, times the variables that may begin or end there; some tens of milliseconds."""

_VARIABLE = re.compile(r"\{[^}]*\}")
_WEB_PATH = re.compile(r"(?:https?|wss?)://(?:[^/?#{}]|\{\w[^}]*\})+\{\+([\w.]+)", re.IGNORECASE)
"""A template that goes on with a variable for a path right behind a host of the web."""
_HOST = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://((?:[^/?#{}]|\{[^/?#}][^}]*\})+)")
"""The part of a template that becomes the host of a URI, with a user and a port."""
_PATH = re.compile(r"[/?#]")


def covering(shelf: Shelf, uri: str) -> Capability | None:
    """Return the capability that allows reading this URI: one in the catalog, or the URI itself below a prefix."""
    exact = shelf.entries_of(CapabilityKind.RESOURCE).get(uri)
    if exact is not None:
        return exact.capability
    if is_under_prefix(shelf.prefixes, uri):
        return Capability(shelf.server, CapabilityKind.RESOURCE, uri)
    templates = shelf.entries_of(CapabilityKind.TEMPLATE)
    if not templates or not is_harmless(uri):
        return None
    left = MOST_STEPS
    for name, template in templates.items():
        if not uri.startswith(name.partition("{")[0]):
            continue
        parsed = _parsed(name)
        left -= len(uri) * (1 + len(parsed.variables)) if parsed else 0
        if left < 0:
            return None
        if parsed is not None and _covers(parsed, uri):
            return template.capability
    return None


def covers(template: str, uri: str) -> bool:
    """Tell whether an honest client could have expanded the template to this URI."""
    parsed = _parsed(template)
    return parsed is not None and is_harmless(uri) and _covers(parsed, uri)


def _covers(parsed: "UriTemplate", uri: str) -> bool:
    values = parsed.match(uri, max_uri_length=LONGEST_URI)
    if values is None or not _is_whole(parsed, uri):
        return False
    template = str(parsed)
    return _is_below(template, uri, values) and _keeps_host(template, uri, values)


def _is_below(template: str, uri: str, values: Mapping[str, str | list[str]]) -> bool:
    """Tell whether no variable, and nothing after the template's fixed beginning, names a place of its own."""
    lead, _, rest = template.partition("{")
    path = _WEB_PATH.match(template)
    file, said = lead == "file://", uri[len(lead) :]
    if file or path or rest.startswith("/"):
        said = said.removeprefix("/")
    every = (
        each.removeprefix("/") if file or (path and path[1] == name) else each
        for name, value in values.items()
        for each in ([value] if isinstance(value, str) else value)
    )
    return is_relative(said) and all(is_relative(each) for each in every)


def _keeps_host(template: str, uri: str, values: Mapping[str, str | list[str]]) -> bool:
    """Tell whether the URI leads to the host, or the part of one, that the template names."""
    found = _HOST.match(template)
    if found is None or not (named := _VARIABLE.sub("", found[1])):
        return True
    path = _WEB_PATH.match(template)
    if path and not str(values[path[1]] or "/").startswith("/"):
        return False
    return users_in(_PATH.split(uri.partition("://")[2], maxsplit=1)[0]) <= named.count("@")


def _is_whole(parsed: "UriTemplate", uri: str) -> bool:
    """Tell whether the match covers the whole URI. Matching ignores unknown query parameters and fragments; servers
    may not.
    """
    wanted = parsed.query_variable_names
    if not wanted:
        return True
    _, mark, query = uri.partition("?")
    said = [pair.partition("=")[0] for pair in query.split("&")] if mark else []
    return "#" not in uri and len({*said}) == len(said) and wanted.issuperset(said)


@lru_cache(maxsize=16_384)
def _parsed(template: str) -> "UriTemplate | None":
    try:
        parsed: UriTemplate = _TEMPLATES.UriTemplate.parse(template)
    except _TEMPLATES.InvalidUriTemplate:
        return None
    return parsed
