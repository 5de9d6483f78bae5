"""Subscriptions to changes of resources.

Rules kept here:
1. A subscription receives nothing before its call was allowed, and nothing after it was closed.
2. The owner of a subscription closes it, however it ended. The server is told when the last one closes.
3. A subscription ends when its resource may no longer be read, or the server's declaration changes: the client has to
   subscribe again.
"""

from collections.abc import Callable

from mcpguard.codec.uris import is_below
from mcpguard.domain.decisions import CapabilityKey


class Subscription:
    """One resource of one server that `owner` is subscribed to. Both callbacks run at once and cannot wait.

    `under`: the capability that allows it, which may be a template.
    """

    def __init__(
        self,
        server: str,
        uri: str,
        under: CapabilityKey,
        owner: object,
        on_update: Callable[[str], None],
        on_end: Callable[[], None],
        on_close: "Callable[[Subscription], None]",
    ) -> None:
        self.server = server
        self.uri = uri
        self.under = under
        self.owner = owner
        self.on_update = on_update
        self.on_end = on_end
        self.agreed = False
        self._on_close = on_close

    def close(self) -> None:
        """End the subscription. Closing again does no harm."""
        self._on_close(self)


class Subscriptions:
    """All subscriptions. `unwatch` is called for each that is closed."""

    def __init__(self, unwatch: Callable[[Subscription], None]) -> None:
        self._unwatch = unwatch
        self._of: dict[str, dict[str, dict[Subscription, None]]] = {}

    def open(
        self,
        server: str,
        uri: str,
        under: CapabilityKey,
        owner: object,
        on_update: Callable[[str], None],
        on_end: Callable[[], None],
    ) -> Subscription:
        """Open a subscription that its server has not agreed to yet. The caller sets `agreed`, and closes it in the
        end."""
        subscription = Subscription(server, uri, under, owner, on_update, on_end, self._close)
        self._of.setdefault(server, {}).setdefault(uri, {})[subscription] = None
        return subscription

    def notify(self, server: str, uri: str) -> None:
        """Tell that a resource has changed: its subscribers first, then those of resources that it is a part of.

        No owner is told twice.
        """
        of = self._of.get(server, {})
        exact = [each for each in of.get(uri, ()) if each.agreed]
        told = {id(each.owner) for each in exact}
        parts = [each for whole, every in of.items() if is_below(uri, whole) for each in every if each.agreed]
        for each in exact:
            each.on_update(uri)
        for each in parts:
            if id(each.owner) not in told:
                told.add(id(each.owner))
                each.on_update(uri)

    def withdraw(self, server: str, lost: Callable[[CapabilityKey], bool]) -> None:
        """End the subscriptions that rested on capabilities which are no longer allowed."""
        every = [each for of in self._of.get(server, {}).values() for each in of if lost(each.under)]
        for subscription in every:
            # First, so that no update slips through while the subscription is being ended.
            subscription.agreed = False
            subscription.on_end()
            subscription.close()

    def _close(self, subscription: Subscription) -> None:
        subscription.agreed = False
        of = self._of.get(subscription.server, {})
        every = of.get(subscription.uri, {})
        every.pop(subscription, None)
        if not every:
            of.pop(subscription.uri, None)
        if not of:
            self._of.pop(subscription.server, None)
        self._unwatch(subscription)
