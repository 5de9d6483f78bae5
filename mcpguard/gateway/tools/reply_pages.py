"""`read_more`: long replies are told in pages, of which the first comes with the answer.

Rules kept here:
1. A page is a call of the same tool with the same intent, in the name of who made the first: it is judged and recorded
   as that, and names the call that it continues. The server is not asked again, and need not be there.
2. Whoever gets a page is told where it ends, how long the whole is, and how the next one is had. What tells a model so
   is an item of its own, which says that the guard speaks; all other items are the server's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcpguard.codec import envelope
from mcpguard.domain.clock import Clock
from mcpguard.domain.json import Json
from mcpguard.gateway.client_request import Exchange
from mcpguard.gateway.clients import Client
from mcpguard.gateway.faces.face import Meant
from mcpguard.gateway.requested_call import asked
from mcpguard.gateway.tools.arguments import More, UnusableArguments
from mcpguard.gateway.tools.definitions import CUT, MORE
from mcpguard.gateway.tools.kept_replies import KeptReplies, Rest
from mcpguard.gateway.tools.shortening import shortened
from mcpguard.guard.calls.request import CallRequest, CallResult, ReplyPage
from mcpguard.settings.call_groups import ReplySettings as Settings


@dataclass(frozen=True, slots=True)
class WantedPage:
    """A page of a reply."""

    rest: Rest
    offset: int
    limit: int
    result: Json

    def asked(self, exchange: Exchange) -> CallRequest:
        params = {"call": self.rest.call, "offset": self.offset, "limit": self.limit}
        page = ReplyPage(self.rest.call, self.result)
        return asked(exchange, MORE, Meant(self.rest.capability), params, stated=self.rest.stated, page=page)


class Reading:
    """Cuts replies, and gives what was cut."""

    def __init__(self, clock: Clock, settings: Settings) -> None:
        self.replies = KeptReplies(clock, settings.kept_seconds, settings.kept)
        self._shown = settings.shown

    def first(self, client: Client, call: CallRequest, ended: CallResult, result: Json) -> Json:
        """A reply as it is told: whole, or its first page."""
        reply = ended.outcome.reply
        if reply is not None and reply.size <= self._shown:
            return result
        cut = shortened(result, self._shown)
        if cut is None:
            return result
        if cut.shown == len(cut.text):
            return cut.told
        rest = Rest(ended.call, call.capability, call.stated, cut.text, cut.shown)
        return _with_way_on(cut.told, self.replies.keep(client, rest), rest, 0, cut.shown)

    def on(self, client: Client, given: More) -> WantedPage:
        """Raises UnusableArguments."""
        rest = self.replies.find(client, given.key)
        if rest is None:
            raise UnusableArguments("key: no reply is kept under it; its time is over, or it is not yours")
        offset = rest.shown if given.offset is None else given.offset
        if offset >= len(rest.text):
            raise UnusableArguments(f"offset: the reply has {len(rest.text)} characters")
        limit = min(self._shown if given.limit is None else given.limit, self._shown)
        end = min(offset + limit, len(rest.text))
        result = {"content": [{"type": "text", "text": rest.text[offset:end]}]}
        return WantedPage(rest, offset, limit, _with_way_on(result, given.key, rest, offset, end))


def _with_way_on(result: Mapping[str, Any], key: str | None, rest: Rest, offset: int, end: int) -> Json:
    """What of the reply this is: for programs, and as the last text for models."""
    total = len(rest.text)
    place: Json = {**({"key": key} if key else {}), "offset": offset, "end": end, "total": total}
    said = f"[The guard cut this reply: characters {offset} to {end} of {total}."
    if key is None:
        said += " The rest is too long to be kept."
    elif end < total:
        said += f' The rest: {MORE} with "key": "{key}", "offset": {end}.'
    content = [*result["content"], {"type": "text", "text": said + "]", "_meta": dict(envelope.BY_GUARD)}]
    return envelope.with_meta({**result, "content": content}, {CUT: place})
