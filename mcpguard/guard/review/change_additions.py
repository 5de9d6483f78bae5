"""Compares two versions of a definition for a reviewer, and tells what the listed one adds to the approved one.

What is added depends on both definitions and on the names of other tools alone, so it is judged once for as long as
these stay. Slow work runs in a thread.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from anyio import to_thread

from mcpguard.codec.exact import read_back
from mcpguard.domain.additions import Additions
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.json import Json
from mcpguard.domain.servers.listings import INSTRUCTIONS
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CapabilityStanding
from mcpguard.guard.servers.listed_findings import definition_findings, resting_on
from mcpguard.guard.servers.neighbours import Neighbours, own_tools
from mcpguard.guard.servers.registry import Registry, ServerState
from mcpguard.inspection.additions.find_additions import find_additions
from mcpguard.inspection.definitions.told_findings import finding_with_reason
from mcpguard.inspection.detectors.detector import Surroundings
from mcpguard.inspection.diff.diff import compare_definitions
from mcpguard.inspection.diff.excerpts import cut_excerpt
from mcpguard.inspection.diff.shown_values import as_json as diff_as_json
from mcpguard.inspection.diff.shown_values import render_lines
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.store import Store
from mcpguard.store.rows import versions

MOST_KEPT: Final = 2_000
MOST_READ: Final = 2 * 1024 * 1024
"""Bytes of definitions that are judged for one page: a second of the worst. The rest is judged for the next one."""
_Rests = tuple[Fingerprint, Fingerprint, bytes]
"""What a judgement depends on: the approved and the listed definition, and the other tools."""


class AdditionReader:
    """Tells what changed definitions add to the approved ones, each change once."""

    def __init__(self, registry: Registry, store: Store) -> None:
        self._neighbours = Neighbours(registry)
        self._store = store
        self._judged: dict[_Rests, Additions] = {}

    async def by_pin(self, changed: Iterable[tuple[ServerState, Pin]]) -> Mapping[str, Additions]:
        """What each of these changed capabilities adds, by the id of its pin; none for versions that are not kept."""
        wanted = {pin.id: (known, pin, rests) for known, pin in changed if (rests := self._rests(known, pin))}
        missing = [each for each in wanted.values() if each[2] not in self._judged]
        found = dict[_Rests, Additions]()
        if missing:
            pairs = await self._store.readers.run(lambda connection: _pairs(connection, missing))
            beside = {known.name: self._neighbours.surroundings_of(known) for known, _, _ in missing}
            found = await to_thread.run_sync(_judge, pairs, {rests: beside[known.name] for known, _, rests in missing})
            # Emptied as a whole: a server that changes its definitions all the time must not fill the memory.
            if len(self._judged) + len(found) > MOST_KEPT:
                self._judged.clear()
            self._judged |= found
        every = {**self._judged, **found}
        return {id_: every[rests] for id_, (_, _, rests) in wanted.items() if rests in every}

    def _rests(self, known: ServerState, pin: Pin) -> _Rests | None:
        if pin.standing is not CapabilityStanding.CHANGED or pin.approved is None or pin.listed is None:
            return None
        return pin.approved, pin.listed, resting_on(self._neighbours.other_tools(known), own_tools(known))


def compare_versions(before: bytes, after: bytes, surroundings: Surroundings) -> Json:
    """Return how two versions of a definition differ, as JSON: what changed, what is added, and the findings."""
    old, new = read_back(before), read_back(after)
    diff = compare_definitions(old, new)
    return {
        **diff_as_json(diff),
        "text": "\n".join(render_lines(diff)),
        "additions": _additions_json(find_additions(old, new, surroundings), new),
        "findings": _findings_differ(old, new, surroundings),
    }


def _pairs(
    connection: Connection, missing: Iterable[tuple[ServerState, Pin, _Rests]]
) -> dict[_Rests, tuple[bytes, bytes]]:
    pairs: dict[_Rests, tuple[bytes, bytes]] = {}
    left = MOST_READ
    for _, pin, rests in missing:
        if left <= 0:
            break
        before, after = (versions.definition(connection, pin.id, each) for each in rests[:2])
        if before is not None and after is not None:
            pairs[rests] = before, after
            left -= len(before) + len(after)
    return pairs


def _judge(
    pairs: Mapping[_Rests, tuple[bytes, bytes]], beside: Mapping[_Rests, Surroundings]
) -> dict[_Rests, Additions]:
    return {
        rests: find_additions(read_back(before), read_back(after), beside[rests])
        for rests, (before, after) in pairs.items()
    }


def _additions_json(added: Additions, definition: object) -> Json:
    """Return what is added, each with an excerpt of its place."""
    whole = {INSTRUCTIONS: definition} if isinstance(definition, str) else definition
    found = [
        {
            "kind": each.kind.value,
            "title": each.title,
            "detail": each.detail,
            "alarming": each.alarming,
            "evidence": {"path": each.evidence.path, "start": each.evidence.start, "end": each.evidence.end},
            "excerpt": cut_excerpt(whole, each.evidence),
        }
        for each in added.found
    ]
    return {"summary": added.summary, "alarming": added.alarming, "found": found, "more": added.more}


def _findings_differ(before: object, after: object, surroundings: Surroundings) -> Json:
    """The findings that only one of two versions has. Both are inspected now, beside the same other tools."""
    old, new = definition_findings(before, surroundings).findings, definition_findings(after, surroundings).findings
    return {
        "new": [finding_with_reason(each) for each in new if each.rule not in {other.rule for other in old}],
        "gone": [finding_with_reason(each) for each in old if each.rule not in {other.rule for other in new}],
    }
