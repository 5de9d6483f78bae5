"""What the names and URIs mean that agents give the guard face's tools.

Rule kept here: what is beyond a caller's scope helps nobody to be understood. Whether a name means something does not
depend on it, and so tells nothing of it.
"""

from mcpguard.catalog.catalog import Catalog
from mcpguard.codec.names import reference
from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.domain.errors import InvalidName
from mcpguard.gateway.faces.coverage import covering
from mcpguard.gateway.faces.direct import Direct
from mcpguard.gateway.faces.face import Meant
from mcpguard.policy.scopes import within

RESOURCES = (CapabilityKind.RESOURCE, CapabilityKind.TEMPLATE)


def named(catalog: Catalog, scope: Scope, kind: CapabilityKind, name: str) -> Capability | None:
    """`server:name`, or a name as the direct face shows it. None where it names no server."""
    said = _referred(kind, name)
    if said is None or catalog.find(said.server, kind, said.name) is None or not within(scope, said):
        found = [each.capability for each in catalog.qualified(kind, name) if within(scope, each.capability)]
        if len(found) == 1:
            return found[0]
    return said


def resource(direct: Direct, catalog: Catalog, scope: Scope, path: str) -> Meant:
    """A URI as the direct face shows it, or a server's own where only one offers it; `server:` and a server's own; or
    the name that a server gave a resource, by itself where only one has it, or behind `server:`. Raises InvalidName."""
    meant = direct.resource(catalog, path)
    if meant.pinned is not None:
        return meant
    said = _referred(CapabilityKind.RESOURCE, path)
    shelf = catalog.shelves.get(said.server) if said else None
    if said is not None and shelf is not None:
        covered = covering(shelf, said.name)
        if covered is not None:
            return Meant(said, covered)
    found = _entitled(catalog, scope, CapabilityKind.RESOURCE, path)
    if found is not None:
        return Meant(found, found)
    return Meant(said) if said is not None and shelf is not None else meant


def listed(direct: Direct, catalog: Catalog, scope: Scope, path: str) -> Capability | None:
    """What of the lists of resources and templates describes what is meant by a path. Raises InvalidName."""
    template = direct.template(catalog, path)
    said = _referred(CapabilityKind.TEMPLATE, path)
    for found in (template, resource(direct, catalog, scope, path).pinned, said):
        if found is not None and catalog.find(found.server, found.kind, found.name) is not None:
            return found
    return _entitled(catalog, scope, CapabilityKind.TEMPLATE, path)


def _referred(kind: CapabilityKind, text: str) -> Capability | None:
    try:
        server, name = reference(text)
    except InvalidName:
        return None
    return Capability(server, kind, name)


def _entitled(catalog: Catalog, scope: Scope, kind: CapabilityKind, path: str) -> Capability | None:
    """By the name beside its URI, where nothing else has it."""
    found = [each.capability for each in catalog.entitled(kind, path) if within(scope, each.capability)]
    return found[0] if len(found) == 1 else None
