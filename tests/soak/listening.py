"""Clients that listen to what changes: a stream, or a subscription, that opens and closes."""

import anyio

from tests.simulators.http_client import HttpClient
from tests.simulators.words import SUBSCRIPTION_ID
from tests.soak.book import ANSWERED
from tests.soak.seat import ACKNOWLEDGED, NEWS, PATIENCE, Seat

ALL_NEWS = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}


async def listen(seat: Seat) -> None:
    """Be told of changes for a while. A legacy client on a stream is told anyway."""
    seconds = seat.dice.uniform(0.05, 0.6)
    if isinstance(seat.client, HttpClient):
        await _listen_over_http(seat, seat.client, seconds)
    elif seat.modern:
        id_ = seat.next_id()
        seat.subscriptions.add(id_)
        with anyio.move_on_after(seconds):
            await seat.client.request("subscriptions/listen", {"notifications": ALL_NEWS}, id_=id_)
            seat.book.blame(f"{seat.name}: a subscription has ended")
        seat.give_up(id_)
        await seat.client.notify("notifications/cancelled", {"requestId": id_})
        _enter_listening(seat)


async def _listen_over_http(seat: Seat, client: HttpClient, seconds: float) -> None:
    wanted = ALL_NEWS if seat.modern else {}
    async with client.listening(**wanted) as heard:
        if seat.modern:
            with anyio.fail_after(PATIENCE):
                first = await heard.until(ACKNOWLEDGED)
            seat.subscriptions.add(first["params"]["_meta"][SUBSCRIPTION_ID])
            seat.book.check(heard.heard[0] == first, f"{seat.name} heard before it was acknowledged: {heard.heard}")
        with anyio.move_on_after(seconds):
            await heard.until_ended()
    methods = {said.get("method") for said in heard.heard}
    seat.book.check(methods <= {*NEWS, ACKNOWLEDGED}, f"{seat.name} heard as news: {heard.heard}")
    _enter_listening(seat)


def _enter_listening(seat: Seat) -> None:
    seat.book.ended["listen", ANSWERED] += 1
