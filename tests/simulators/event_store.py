"""What a server made with the MCP SDK keeps of its streams."""

from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import JSONRPCMessage


class RememberedEvents(EventStore):
    """Keeps every event, so that a stream can be taken up again after any of them."""

    def __init__(self) -> None:
        self._events: list[tuple[str, JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        stream = self._events[int(last_event_id) - 1][0]
        for number, (stream_id, message) in enumerate(self._events, 1):
            if stream_id == stream and number > int(last_event_id) and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream
