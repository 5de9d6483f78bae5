"""Resolves the names and URIs that agents pass to the guard face's tools.

Rule kept here: what is out of a caller's scope never helps to resolve a name. Whether a name resolves does not depend
on it, and so discloses nothing of it.
"""

from dataclasses import replace

from mcpguard.catalog.catalog import Catalog
from mcpguard.catalog.shelf import Shelf
from mcpguard.codec.names import parse_reference
from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.domain.errors import InvalidName
from mcpguard.gateway.faces.coverage import covering
from mcpguard.gateway.faces.direct import DirectFace
from mcpguard.gateway.faces.face import NamedCapability
from mcpguard.policy.scopes import is_in_scope

RESOURCES = (CapabilityKind.RESOURCE, CapabilityKind.TEMPLATE)


def find_named(catalog: Catalog, scope: Scope, kind: CapabilityKind, name: str) -> Capability | None:
    """Resolve `server:name`, or a name as the direct face shows it. None where it names no server.

    A name that is not offered, or not any more, is taken for what the direct face would have shown so: a caller of
    something that has changed since it was listed is told that.
    """
    said = _referred(kind, name)
    if said is not None and catalog.find(said.server, kind, said.name) is not None and is_in_scope(scope, said):
        return said
    found = [each.capability for each in catalog.by_qualified_name(kind, name) if is_in_scope(scope, each.capability)]
    if len(found) == 1:
        return found[0]
    own = said.name.removeprefix(":") if said is not None else ""
    return replace(said, name=own) if said is not None and own else said


def find_resource(direct: DirectFace, catalog: Catalog, scope: Scope, path: str) -> NamedCapability:
    """Resolve what is to be read. `server:` and a URI, or a title, is that server's and nobody else's. Otherwise it is
    a URI as the direct face shows it, a URI that only one server offers, or a title that only one resource has; what
    could be two of these is none. Raises InvalidName.
    """
    placed = _placed(catalog, path)
    if placed is not None:
        shelf, own = placed
        said = Capability(shelf.server, CapabilityKind.RESOURCE, own)
        covered = covering(shelf, own)
        found = None if covered else _entitled(catalog, scope, CapabilityKind.RESOURCE, own, shelf.server)
        return NamedCapability(found, found) if found else NamedCapability(said, covered)
    meant = direct.resource(catalog, path)
    reached = meant.pinned is not None and is_in_scope(scope, meant.capability)
    titled = _entitled(catalog, scope, CapabilityKind.RESOURCE, path)
    if titled is None or (reached and _exactly(catalog, meant)):
        return meant
    return (
        NamedCapability(Capability("", CapabilityKind.RESOURCE, path)) if reached else NamedCapability(titled, titled)
    )


def find_listed(direct: DirectFace, catalog: Catalog, scope: Scope, path: str) -> Capability | None:
    """Return the listed resource or template that a path means. Raises InvalidName."""
    placed = _placed(catalog, path)
    if placed is not None:
        shelf, own = placed
        template, server = Capability(shelf.server, CapabilityKind.TEMPLATE, own), shelf.server
    else:
        own, template, server = path, direct.template(catalog, path), ""
    for found in (template, find_resource(direct, catalog, scope, path).pinned):
        if found and is_in_scope(scope, found) and catalog.find(found.server, found.kind, found.name):
            return found
    return _entitled(catalog, scope, CapabilityKind.TEMPLATE, own, server)


def _placed(catalog: Catalog, path: str) -> tuple[Shelf, str] | None:
    """Split a path into the server that it names and that server's own URI. A URI with `//` after its scheme names no
    server.
    """
    said = _referred(CapabilityKind.RESOURCE, path)
    shelf = catalog.shelves.get(said.server) if said is not None and not said.name.startswith("//") else None
    return (shelf, said.name) if said is not None and shelf is not None else None


def _exactly(catalog: Catalog, meant: NamedCapability) -> bool:
    """Tell whether a resource's own URI was named, and not one that a template or a prefix would cover too."""
    found = meant.pinned
    return found == meant.capability and catalog.find(found.server, found.kind, found.name) is not None


def _referred(kind: CapabilityKind, text: str) -> Capability | None:
    try:
        server, name = parse_reference(text)
    except InvalidName:
        return None
    return Capability(server, kind, name)


def _entitled(catalog: Catalog, scope: Scope, kind: CapabilityKind, title: str, server: str = "") -> Capability | None:
    """Find a resource by its title, if nothing else in scope has the same; in one server, if one is given."""
    found = [each.capability for each in catalog.by_title(kind, title) if server in ("", each.capability.server)]
    reached = [each for each in found if is_in_scope(scope, each)]
    return reached[0] if len(reached) == 1 else None
