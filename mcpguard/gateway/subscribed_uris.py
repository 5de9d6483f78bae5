"""What one session, stream or listen of a client is subscribed to, by the client's own words.

Rules kept here:
1. The client's last word counts: what it gives back while it is still being asked for does not come to be.
2. When the client is gone, so is all of it.
"""

from mcpguard.guard.servers.subscriptions import Subscription


class Subscribed:
    """The subscriptions of one client. Whoever makes this closes it."""

    def __init__(self) -> None:
        self._of: dict[str, list[Subscription]] = {}

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, words: str) -> bool:
        return words in self._of

    def begin(self, words: str, subscription: Subscription) -> None:
        """It is about to be asked for."""
        self._of.setdefault(words, []).append(subscription)

    def hold(self, words: str, subscription: Subscription) -> None:
        """It was agreed to. It takes the place of an earlier one, unless the client has given it back meanwhile."""
        every = self._of.get(words, [])
        if subscription not in every:
            subscription.close()
            return
        for earlier in [each for each in every if each.agreed]:
            self.lose(words, earlier)
        subscription.agreed = True

    def lose(self, words: str, subscription: Subscription) -> None:
        """It was refused, or has come to an end."""
        every = self._of.get(words, [])
        if subscription in every:
            every.remove(subscription)
        if not every:
            self._of.pop(words, None)
        subscription.close()

    def end(self, words: str) -> None:
        """The client gives it back. It need not have it; one that is still being asked for is closed by who asks."""
        for subscription in self._of.pop(words, []):
            if subscription.agreed:
                subscription.close()

    def close(self) -> None:
        """The client is gone."""
        for words in tuple(self._of):
            self.end(words)
