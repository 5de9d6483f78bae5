"""One client's conversation with a demonstration server, in both eras of the protocol.

Rules kept here:
1. The `_meta` of a request decides its era: modern if it names a protocol version, else the handshake's.
2. Every message is answered or ignored; nothing that a client sends ends the server.
3. A change of the tools is announced once, after the answer to the call that changed them, to a client that has made
   the handshake or listens.
"""

import json
from collections.abc import Callable
from typing import Final

from mcpguard.demo.methods import INVALID_PARAMS, ErrorAnswer, Method, introduction, methods
from mcpguard.demo.offer import Json, NotOffered, Offer

MODERN: Final = "2026-07-28"
HANDSHAKE: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
RESERVED: Final = "io.modelcontextprotocol/"
REVISION: Final = RESERVED + "protocolVersion"
CLIENT_CAPABILITIES: Final = RESERVED + "clientCapabilities"
SERVER: Final = RESERVED + "serverInfo"
SUBSCRIPTION: Final = RESERVED + "subscriptionId"
TOOLS: Final = "toolsListChanged"

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
NO_SUCH_RESOURCE: Final = -32002  # in the handshake's era only
UNSUPPORTED_REVISION: Final = -32022

KEPT_BY_NOBODY: Final[Json] = {"ttlMs": 0, "cacheScope": "public"}
CACHEABLE: Final = ("server/discover", "resources/read")  # and every list
Id = str | int


class Dialogue:
    """Takes the client's messages, line by line. `say` receives the server's."""

    def __init__(self, offer: Offer, say: Callable[[Json], None]) -> None:
        both = methods(offer)
        self._legacy: dict[str, Method] = {**both, "initialize": self._initialize, "ping": lambda _: {}}
        self._modern: dict[str, Method] = {**both, "server/discover": self._discover}
        self._offer = offer
        self._say = say
        self._told = list(offer.tools)
        self._greeted = self._ready = False
        self._listening: list[Id] = []

    def take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._fail(None, ErrorAnswer(PARSE_ERROR, "This is no JSON."))
            return
        match message:
            case {"jsonrpc": "2.0", "method": str(method), "id": str() | int() as id_} if not isinstance(id_, bool):
                self._answer(id_, method, message.get("params", {}))
            case {"jsonrpc": "2.0", "method": str(method)} if "id" not in message:
                self._heed(method, message.get("params", {}))
            case {"jsonrpc": "2.0", "result": _} | {"jsonrpc": "2.0", "error": _}:
                return  # an answer, though nothing was asked
            case _:
                self._fail(None, ErrorAnswer(INVALID_REQUEST, "This is no message of JSON-RPC."))
        self._tell()

    def _answer(self, id_: Id, method: str, params: object) -> None:
        try:
            result = self._result(id_, method, params)
        except ErrorAnswer as error:
            self._fail(id_, error)
        else:
            if result is not None:
                self._say({"jsonrpc": "2.0", "id": id_, "result": result})

    def _result(self, id_: Id, method: str, params: object) -> Json | None:
        """Return the result, or None if the request stays open. Raises ErrorAnswer."""
        if not isinstance(params, dict):
            raise ErrorAnswer(INVALID_PARAMS, "The parameters must be an object.")
        modern = self._is_modern(method, params)
        if modern and method == "subscriptions/listen":
            self._listen(id_, params)
            return None
        found = (self._modern if modern else self._legacy).get(method)
        if found is None:
            raise ErrorAnswer(METHOD_NOT_FOUND, "There is no such method.")
        try:
            result = found(params)
        except NotOffered as error:
            missing = method == "resources/read" and not modern
            raise ErrorAnswer(NO_SUCH_RESOURCE if missing else INVALID_PARAMS, str(error)) from None
        return self._dressed(method, result) if modern else result

    def _is_modern(self, method: str, params: Json) -> bool:
        """Tell which era a request belongs to. Raises ErrorAnswer if it is neither."""
        meta = params.get("_meta")
        if not isinstance(meta, dict) or REVISION not in meta:
            if not self._greeted and method not in {"initialize", "ping"}:
                raise ErrorAnswer(INVALID_REQUEST, "There was no handshake, and the request names no revision.")
            return False
        revision = meta[REVISION]
        if not isinstance(revision, str) or not isinstance(meta.get(CLIENT_CAPABILITIES), dict):
            raise ErrorAnswer(INVALID_PARAMS, "The request must name its revision and what the client can do.")
        if revision != MODERN:
            raise ErrorAnswer(UNSUPPORTED_REVISION, "Unsupported revision.", supported=[MODERN], requested=revision)
        return True

    def _dressed(self, method: str, result: Json) -> Json:
        """Return a result in the form of the modern era."""
        kept = KEPT_BY_NOBODY if method in CACHEABLE or method.endswith("/list") else {}
        return {"resultType": "complete", **kept, **result, "_meta": {SERVER: self._offer.info}}

    def _heed(self, method: str, params: object) -> None:
        """Act on a notification; an unknown one is ignored."""
        if method == "notifications/initialized":
            self._ready = self._greeted
        elif method == "notifications/cancelled" and isinstance(params, dict):
            self._listening = [id_ for id_ in self._listening if id_ != params.get("requestId")]

    def _tell(self) -> None:
        if self._offer.tools == self._told:
            return
        self._told = list(self._offer.tools)
        changed: Json = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        if self._ready:
            self._say(changed)
        for id_ in self._listening:
            self._say({**changed, "params": {"_meta": {SUBSCRIPTION: id_}}})

    def _fail(self, id_: Id | None, refused: ErrorAnswer) -> None:
        self._say({"jsonrpc": "2.0", "id": id_, "error": refused.error})

    # The methods that only one era has.

    def _initialize(self, params: Json) -> Json:
        self._greeted = True
        wanted = params.get("protocolVersion")
        revision = wanted if wanted in HANDSHAKE else HANDSHAKE[0]
        return {"protocolVersion": revision, "serverInfo": self._offer.info, **introduction(self._offer)}

    def _discover(self, _: Json) -> Json:
        return {"supportedVersions": [MODERN], **introduction(self._offer)}

    def _listen(self, id_: Id, params: Json) -> None:
        """Open a request that stays open until the client cancels it. The acknowledgement says what will be told."""
        wanted = params.get("notifications")
        told = self._offer.tells and isinstance(wanted, dict) and wanted.get(TOOLS) is True
        if told:
            self._listening.append(id_)
        said = {"notifications": {TOOLS: True} if told else {}, "_meta": {SUBSCRIPTION: id_}}
        self._say({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": said})
