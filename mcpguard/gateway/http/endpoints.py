"""Which face answers at which path below /mcp."""

from urllib.parse import parse_qs

from mcpguard.codec.messages import INVALID_REQUEST
from mcpguard.codec.names import SEPARATORS, Separator, is_server_name
from mcpguard.domain.callers import Caller
from mcpguard.gateway.faces.direct import DirectFace
from mcpguard.gateway.faces.direct_with_proxy import DirectFaceWithProxy
from mcpguard.gateway.faces.face import AgentFace
from mcpguard.gateway.faces.transparent import TransparentFace
from mcpguard.gateway.http.plain import HttpRefusal
from mcpguard.gateway.http.request_head import AGENTS, RequestHead
from mcpguard.gateway.tools.guard_face import GuardFace
from mcpguard.guard.guard import Guard
from mcpguard.policy.scopes import is_server_in_scope

ALL = f"{AGENTS}/all"
PROXY = f"{AGENTS}/proxy"
ONLY = f"{AGENTS}/only/"


class Endpoints:
    """The faces, by the paths and queries that lead to them."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        proxy, instructs = guard.settings.proxy, guard.settings.merged_instructions
        self._direct = {each: DirectFace(each, instructs=instructs) for each in SEPARATORS}
        self._proxied = {
            each: DirectFaceWithProxy(each, proxy.name, instructs=instructs) for each in SEPARATORS if proxy.enabled
        }
        self._guarding = GuardFace(guard.settings)

    def face(self, head: RequestHead, caller: Caller) -> AgentFace:
        """Return the face that a request means. Raises HttpRefusal where there is none for this caller."""
        path = head.path
        if head.raw_path.endswith(b"/"):  # some clients put one behind every URL; encoded, it is part of a name
            path = path.removesuffix("/")
        head.face = self._face_for_all(path, head.query)
        if head.face is not None:
            return head.face
        server = path.removeprefix(ONLY) if path.startswith(ONLY) else ""
        if is_server_name(server) and is_server_in_scope(caller.scope, server) and self._guard.servers.knows(server):
            return TransparentFace(server)
        places = [AGENTS, ALL, *([PROXY] if self._proxied else [])]
        raise HttpRefusal(
            404,
            INVALID_REQUEST,
            f"there is no endpoint at this path; agents connect to {', '.join(places)} and {ONLY}<server>",
            "path",
        )

    def _face_for_all(self, path: str, query: bytes) -> AgentFace | None:
        """Return the face at a path that means the same for every caller, if it is one."""
        if path == AGENTS:
            return self._guarding
        if path == ALL:
            return self._direct[self._separator(query)]
        if path == PROXY and self._proxied:
            return self._proxied[self._separator(query)]
        return None

    def _separator(self, query: bytes) -> Separator:
        """Return the separator that the client asks for in its URL, or else the configured one."""
        said = parse_qs(query.decode("latin-1"), keep_blank_values=True).get("separator") if query else None
        if said is None:
            return self._guard.settings.separator
        for each in SEPARATORS:
            if said == [each]:
                return each
        raise HttpRefusal(
            400, INVALID_REQUEST, f"separator must be one of {' '.join(SEPARATORS)}, given once", "separator"
        )
