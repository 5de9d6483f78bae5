"""The methods that 2026-07-28 did away with, for clients of the revisions before it.

`MCPServer` has no decorator for them; the SDK's guide to migration sends its users to the server below.
"""

from mcp.server import ServerRequestContext
from mcp_types import EmptyResult, SetLevelRequestParams, SubscribeRequestParams, UnsubscribeRequestParams

from tests.conformance.sdk_server.app import server

subscribed: set[str] = set()


async def set_level(_ctx: ServerRequestContext, _params: SetLevelRequestParams) -> EmptyResult:
    """Accept any level: the tools log at one only."""
    return EmptyResult()


async def subscribe(_ctx: ServerRequestContext, params: SubscribeRequestParams) -> EmptyResult:
    """Remember that somebody wants to hear of a resource."""
    subscribed.add(str(params.uri))
    return EmptyResult()


async def unsubscribe(_ctx: ServerRequestContext, params: UnsubscribeRequestParams) -> EmptyResult:
    """Forget it again."""
    subscribed.discard(str(params.uri))
    return EmptyResult()


server._lowlevel_server.add_request_handler("logging/setLevel", SetLevelRequestParams, set_level)
server._lowlevel_server.add_request_handler("resources/subscribe", SubscribeRequestParams, subscribe)
server._lowlevel_server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, unsubscribe)
