"""What one session, stream or listen request is subscribed to, by the client's own URIs.

Rules kept here:
1. The client's last word counts: an unsubscribe that overtakes the server's answer wins.
2. When the client is gone, so are all its subscriptions.
"""

from mcpguard.guard.servers.subscriptions import Subscription


class SubscribedUris:
    """The subscriptions of one client. Whoever creates this closes it."""

    __slots__ = ("_of",)

    def __init__(self) -> None:
        self._of: dict[str, list[Subscription]] = {}

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, words: str) -> bool:
        return words in self._of

    def begin(self, words: str, subscription: Subscription) -> None:
        """Note that a subscription is about to be requested of the server."""
        self._of.setdefault(words, []).append(subscription)

    def hold(self, words: str, subscription: Subscription) -> None:
        """Keep a subscription that the server agreed to. It replaces an earlier one, unless the client unsubscribed
        meanwhile.
        """
        every = self._of.get(words, [])
        if subscription not in every:
            subscription.close()
            return
        for earlier in [each for each in every if each.agreed]:
            self.lose(words, earlier)
        subscription.agreed = True

    def lose(self, words: str, subscription: Subscription) -> None:
        """Drop a subscription that was refused or has ended."""
        every = self._of.get(words, [])
        if subscription in every:
            every.remove(subscription)
        if not every:
            self._of.pop(words, None)
        subscription.close()

    def end(self, words: str) -> None:
        """Unsubscribe, whether or not there is a subscription. One that is still being requested is closed by whoever
        requests it.
        """
        for subscription in self._of.pop(words, []):
            if subscription.agreed:
                subscription.close()

    def close(self) -> None:
        """End all subscriptions: the client is gone."""
        for words in tuple(self._of):
            self.end(words)
