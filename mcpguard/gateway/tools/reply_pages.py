"""`read_more`: long replies are sent in pages, of which the first comes with the answer.

Rules kept here:
1. A page is a call of the same tool with the same intent, by the caller of the first: it is judged and recorded as
   that, and names the call that it continues. The server is not asked again, and need not be running.
2. Each page says where it ends, how long the whole is, and how to get the next one. For models that is an item of its
   own, which says that the guard speaks; all other items are the server's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcpguard.codec import envelope
from mcpguard.codec.envelope import CUT, MORE
from mcpguard.domain.clock import Clock
from mcpguard.domain.json import Json
from mcpguard.gateway.client_request import Exchange, call_request
from mcpguard.gateway.clients import Client
from mcpguard.gateway.tools.arguments import ReadMoreArguments, UnusableArguments
from mcpguard.gateway.tools.kept_replies import KeptReplies, Rest
from mcpguard.gateway.tools.shortening import shorten
from mcpguard.guard.calls.request import CallRequest, CallResult, ReplyPage
from mcpguard.settings.call_groups import ReplySettings


@dataclass(frozen=True, slots=True)
class WantedPage:
    """A requested page of a reply."""

    rest: Rest
    offset: int
    limit: int
    result: Json

    def to_call_request(self, exchange: Exchange) -> CallRequest:
        params = {"call": self.rest.call, "offset": self.offset, "limit": self.limit}
        page = ReplyPage(self.rest.call, self.result)
        return call_request(exchange, MORE, self.rest.capability, params, stated=self.rest.stated, page=page)


class ReplyPages:
    """Cuts long replies into pages and serves them."""

    def __init__(self, clock: Clock, settings: ReplySettings) -> None:
        self.replies = KeptReplies(clock, settings.kept_seconds, settings.kept)
        self._shown = settings.shown

    def first_page(self, client: Client, call: CallRequest, ended: CallResult, result: Json) -> Json:
        """Return the reply, whole or cut to its first page."""
        reply = ended.outcome.reply
        if reply is not None and reply.size <= self._shown:
            return result
        cut = shorten(result, self._shown)
        if cut is None:
            return result
        if cut.shown == len(cut.text):
            return cut.told
        rest = Rest(ended.call, call.capability, call.stated, cut.text, cut.shown)
        return _with_way_on(cut.told, self.replies.keep(client, rest), rest, 0, cut.shown)

    def next_page(self, client: Client, given: ReadMoreArguments) -> WantedPage:
        """Return the requested page. Raises UnusableArguments."""
        rest = self.replies.find(client, given.key)
        if rest is None:
            raise UnusableArguments("key: unknown or expired")
        offset = rest.shown if given.offset is None else given.offset
        if offset >= len(rest.text):
            raise UnusableArguments(f"offset: the reply has {len(rest.text)} characters")
        limit = min(self._shown if given.limit is None else given.limit, self._shown)
        end = min(offset + limit, len(rest.text))
        result = {"content": [{"type": "text", "text": rest.text[offset:end]}]}
        return WantedPage(rest, offset, limit, _with_way_on(result, given.key, rest, offset, end))


def _with_way_on(result: Mapping[str, Any], key: str | None, rest: Rest, offset: int, end: int) -> Json:
    """Add which part of the reply this is: for programs, and as the last text for models."""
    total = len(rest.text)
    place: Json = {**({"key": key} if key else {}), "offset": offset, "end": end, "total": total}
    said = f"[The guard cut this reply: characters {offset} to {end} of {total}."
    if key is None:
        said += " The rest is too long to keep."
    elif end < total:
        said += f' The rest: {MORE} with "key": "{key}", "offset": {end}.'
    content = [*result["content"], {"type": "text", "text": said + "]", "_meta": dict(envelope.BY_GUARD)}]
    return envelope.with_meta({**result, "content": content}, {CUT: place})
