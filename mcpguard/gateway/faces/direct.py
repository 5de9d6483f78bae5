"""The direct face: everything that is offered, as if it were one server.

Names carry their server. A resource's URI is wrapped so that it names its server and can be read without a list; a
template keeps a form that clients can expand, behind a prefix that names its server.

    tool, prompt    <server>::<name>
    resource        proxy://resource/<base64url of {"server": …, "uri": …}>
    template        proxy://template/<server>/<the server's own template>

A server's own URI is understood as well, where only one server offers it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from mcpguard.catalog.catalog import Catalog
from mcpguard.catalog.shelf import CatalogEntry, Shelf
from mcpguard.codec.names import REFERENCE, SEPARATORS, Separator, is_server_name, qualified_name
from mcpguard.codec.uris import PREFIX, unwrap_uri, wrap_uri
from mcpguard.domain.calls import calls
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.servers.listings import KEYS
from mcpguard.gateway.faces.coverage import covering
from mcpguard.gateway.faces.face import NamedCapability
from mcpguard.proxy.filtering import ORIGIN

TEMPLATES = "proxy://template/"


class DirectFace:
    """Shows all servers as one."""

    word = calls.Face.DIRECT
    own: tuple[dict[str, Any], ...] = ()

    def __init__(self, separator: Separator, *, instructs: bool = False) -> None:
        """Build the face. `instructs` says whether clients are greeted with the instructions of all servers."""
        self.key = f"direct {separator}"
        self.separator = separator
        self._instructs = instructs

    def shelves(self, catalog: Catalog) -> Iterable[Shelf]:
        return catalog.shelves.values()

    def instructions(self, catalog: Catalog) -> Mapping[str, str]:
        shelves = self.shelves(catalog) if self._instructs else ()
        return {shelf.server: shelf.instructions for shelf in shelves if shelf.instructions}

    def shown_definition(self, pinned: CatalogEntry) -> dict[str, Any]:
        capability, definition = pinned.capability, pinned.definition
        origin = {"server": capability.server, "name": capability.name}
        proxy: dict[str, Any] = {"server": capability.server}
        match capability.kind:
            case CapabilityKind.RESOURCE:
                name = wrap_uri(capability.server, capability.name)
                origin = {"server": capability.server, "uri": capability.name}
                proxy |= {"originalUri": capability.name}
            case CapabilityKind.TEMPLATE:
                name = f"{TEMPLATES}{capability.server}/{capability.name}"
                origin = {"server": capability.server, "uriTemplate": capability.name}
                proxy |= {"originalUri": capability.name}
            case _:
                name = qualified_name(capability.server, capability.name, self.separator)
                proxy |= {"originalName": capability.name}
        return {
            **definition,
            KEYS[capability.kind]: name,
            "_meta": {**_object(definition.get("_meta")), ORIGIN: origin},
            "metadata": {**_object(definition.get("metadata")), "proxy": proxy},
        }

    def named_capability(self, catalog: Catalog, kind: CapabilityKind, name: str) -> Capability:
        found = catalog.by_qualified_name(kind, name)
        if len(found) == 1:
            return found[0].capability
        for separator in (*SEPARATORS, REFERENCE):  # else whose it would be, for the record and for the reason
            server, between, own = name.partition(separator)
            if between and own and is_server_name(server):
                return Capability(server if not found else "", kind, own)
        return Capability("", kind, name)

    def resource(self, catalog: Catalog, uri: str) -> NamedCapability:
        server, own = self._placed(uri)
        shelves = [shelf for shelf in self.shelves(catalog) if server in (None, shelf.server)]
        covered = [(shelf, covered) for shelf in shelves if (covered := covering(shelf, own)) is not None]
        if len(covered) == 1:
            shelf, pinned = covered[0]
            return NamedCapability(Capability(shelf.server, CapabilityKind.RESOURCE, own), pinned)
        return NamedCapability(Capability(server or "", CapabilityKind.RESOURCE, own))

    def uri(self, server: str, own: str) -> str:
        return wrap_uri(server, own)

    def template(self, catalog: Catalog, uri: str) -> Capability:
        server, own = self._placed(uri)
        found = [
            (shelf.server, kind)
            for shelf in self.shelves(catalog)
            for kind in (CapabilityKind.TEMPLATE, CapabilityKind.RESOURCE)
            if server in (None, shelf.server) and own in shelf.entries_of(kind)
        ]
        if len(found) == 1:
            return Capability(found[0][0], found[0][1], own)
        return Capability(server or "", CapabilityKind.TEMPLATE, own)

    def _placed(self, uri: str) -> tuple[str | None, str]:
        """Split a URI into the server that it names, if it names one, and that server's own URI."""
        if uri.startswith(PREFIX):
            return unwrap_uri(uri)
        if uri.startswith(TEMPLATES):
            server, slash, own = uri.removeprefix(TEMPLATES).partition("/")
            if not slash or not own or not is_server_name(server):
                raise InvalidName("the resource URI must name a server and a resource")
            return server, own
        return None, uri


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
