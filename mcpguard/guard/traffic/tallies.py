"""Facts that are recorded once a minute instead of each time, so that nobody can flood the audit log with them.

Rules kept here:
1. Equal facts within a minute are one record with a count. The number of different ones is bounded; those beyond it
   count as `other`. So do disclosures to one caller beyond `MOST_OF_ONE`: callers choose the names they ask about, and
   must not crowd out others.
2. Of a query only the beginning is kept, and nothing if any of it looks like a secret.
3. Rejected requests and sign-ins are also counted in total since the start (`since_start`), by door and cause.
4. Counts that could not be recorded are kept, and recorded when the ledger can write again.
"""

from collections import Counter
from collections.abc import Mapping

from mcpguard.codec.canonical import Scalar
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.clock import Clock
from mcpguard.domain.errors import LedgerUnavailable
from mcpguard.ledger.ledger import Ledger
from mcpguard.policy.secrets.detection import find_secrets
from mcpguard.text.visible import visible

MOST_DIFFERENT = 1000
MOST_OF_ONE = 100
MOST_WHYS = 200
OTHER = "(other)"
LONGEST_QUERY = 200
PERIOD_SECONDS = 60.0
Key = tuple[RecordKind, tuple[tuple[str, Scalar], ...]]


class Tallies:
    """Counts disclosures and refusals, and records the counts once a minute."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger = ledger
        self._clock = clock
        self._counts: Counter[Key] = Counter()
        self.since_start: Counter[tuple[RecordKind, str, str]] = Counter()
        self._shown: dict[Key, str] = {}
        """The callers to whom something was disclosed, by what is counted."""

    def count_disclosure(self, *, caller: str, names: int, digest: str, query: str | None = None, **by: Scalar) -> None:
        """Count that a caller was shown a list of tools; `query`: what it searched for, if it did."""
        who = {"caller": caller, **by}
        facts = {**who, "names": names, "digest": digest, **({} if query is None else recorded_query(query))}
        key = _key(RecordKind.DISCLOSED, facts)
        if key not in self._counts:
            # The many queries of one caller must not crowd out the records of others.
            if sum(each == caller for each in self._shown.values()) >= MOST_OF_ONE:
                self._count(RecordKind.DISCLOSED, {**who, "other": True})
                return
            self._shown[key] = caller
        self._count(RecordKind.DISCLOSED, facts)

    def count_refused(self, **facts: Scalar) -> None:
        """Count a request that could not be understood, or came from where none is accepted."""
        self._count(RecordKind.TURNED_AWAY, facts)

    def count_refused_sign_in(self, **facts: Scalar) -> None:
        """Count a failed try to sign in."""
        self._count(RecordKind.SIGN_IN_REFUSED, facts)

    async def run(self) -> None:
        while True:
            await self._clock.sleep(PERIOD_SECONDS)
            await self.flush()

    async def flush(self) -> None:
        """Record the counts. They are kept until they are stored, also if this is cancelled."""
        for key, count in tuple(self._counts.items()):
            kind, facts = key
            try:
                await self._ledger.note(kind, {**dict(facts), "count": count})
            except LedgerUnavailable:
                return
            # Subtracted, not deleted: more may have been counted while this was being stored.
            self._counts[key] -= count
            if not self._counts[key]:
                del self._counts[key]
                self._shown.pop(key, None)

    def _count(self, kind: RecordKind, facts: Mapping[str, Scalar]) -> None:
        if kind is not RecordKind.DISCLOSED:
            self._count_for_ever(kind, str(facts.get("door", "")), str(facts.get("why", "")))
        key = _key(kind, facts)
        if key not in self._counts and len(self._counts) >= MOST_DIFFERENT:
            self._shown.pop(key, None)
            key = (kind, (("other", True),))
        self._counts[key] += 1

    def _count_for_ever(self, kind: RecordKind, door: str, why: str) -> None:
        if (kind, door, why) not in self.since_start and len(self.since_start) >= MOST_WHYS:
            door = why = OTHER
        self.since_start[kind, door, why] += 1


def _key(kind: RecordKind, facts: Mapping[str, Scalar]) -> Key:
    return kind, tuple(sorted(facts.items()))


def recorded_query(query: str) -> dict[str, Scalar]:
    """What is recorded of a query: its beginning as `query`, or what it looks like as `secrets`."""
    found = find_secrets({"query": query})
    if found.sure or found.maybe:
        return {"secrets": " ".join((*found.sure, *found.maybe))}
    text = visible(query[: LONGEST_QUERY + 1])
    return {"query": text if len(text) <= LONGEST_QUERY else text[: LONGEST_QUERY - 1] + "…"}
