"""Clients that listen to what changes: a stream, or a subscription, that opens and closes."""

import anyio

from tests.patience import PATIENCE
from tests.simulators.http_client import HttpClient
from tests.simulators.words import SUBSCRIPTION_ID, Json
from tests.soak.book import ANSWERED
from tests.soak.seat import ACKNOWLEDGED, NEWS, Seat

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
        try:
            if seat.modern:
                with anyio.fail_after(PATIENCE):
                    await heard.until(ACKNOWLEDGED)
            with anyio.move_on_after(seconds):
                await heard.until_ended()
            _enter_listening(seat)
        finally:
            seat.book.check(_is_right(heard.heard, seat), f"{seat.name} heard as news: {heard.heard}")


def _is_right(heard: list[Json], seat: Seat) -> bool:
    """A modern stream begins with its acknowledgement, and belongs to one subscription. All else is news."""
    methods = [said.get("method") for said in heard if not seat.watches(said)]
    if seat.modern:
        first, *methods = methods or [ACKNOWLEDGED]
        meant = {said["params"]["_meta"][SUBSCRIPTION_ID] for said in heard}
        return first == ACKNOWLEDGED and len(meant) <= 1 and NEWS.issuperset(methods)
    return NEWS.issuperset(methods)


def _enter_listening(seat: Seat) -> None:
    seat.book.ended["listen", ANSWERED] += 1
