"""Records about what search learns, and the uses that are read back from them.

Nothing that is read is believed to have the right form: anybody who can write to the store can make a record say
anything, and a record that does not say what is needed is left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from mcpguard.catalog.search.learned_weights import ToolName
from mcpguard.codec.canonical import Scalar
from mcpguard.domain.calls.records import Opening, RecordKind
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.decisions import Decision
from mcpguard.guard.search.search_uses import MOST, SearchUse, UsedTool
from mcpguard.ledger.format import parse_content, without_empty
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import records

EVERYTHING: Final = "everything"
ReadUse = tuple[SearchUse, frozenset[str]]
"""A use with the stems of its query."""


def used_fields(use: SearchUse, opening: Opening) -> dict[str, Scalar]:
    """The fields of the record of a use. `opening`: of the call."""
    return without_empty(
        entry=opening.entry,
        caller=use.caller,
        caller_label=opening.caller.label,
        server=use.tool.server,
        upstream=use.tool.upstream,
        capability=CapabilityKind.TOOL.value,
        name=use.tool.name,
        fingerprint=use.tool.fingerprint,
        query=use.query,
    )


def forgotten_fields(tool: ToolName | None, decision: Decision) -> dict[str, Scalar]:
    """The fields of the record that what was learned of a tool is forgotten; None stands for all tools."""
    by = decision.by
    who = without_empty(by=by.id, via=by.via, process=by.process, why=decision.why)
    if tool is None:
        return {"what": EVERYTHING, **who}
    return {"what": "tool", "server": tool[0], "capability": CapabilityKind.TOOL.value, "name": tool[1], **who}


def read_uses(connection: Connection, chain: str) -> list[ReadUse]:
    """Return the newest uses that were not forgotten, in the order of their records."""
    used = records.newest_of_kind(connection, chain, RecordKind.SEARCH_USED.value, MOST)
    forgotten = records.newest_of_kind(connection, chain, RecordKind.SEARCH_FORGOTTEN.value, MOST)
    connection.rollback()  # reading the words takes long, and the writer is not kept waiting
    last = _last_forgotten(forgotten)
    return [
        (use, use.stems())
        for seq, use in _uses(used)
        if seq > max(last.get(None, 0), last.get((use.tool.server, use.tool.name), 0))
    ]


def _uses(stored: Sequence[records.StoredRecord]) -> Iterator[tuple[int, SearchUse]]:
    for one in stored:
        said = parse_content(one.content)
        caller, server, upstream, name, fingerprint, query = _texts(
            said, "caller", "server", "upstream", "name", "fingerprint", "query"
        )
        if caller and name and query and type(said.get("at")) is int:
            yield one.seq, SearchUse(caller, UsedTool(server, name, upstream, fingerprint), query, said["at"])


def _last_forgotten(stored: Sequence[records.StoredRecord]) -> dict[ToolName | None, int]:
    """Return by which record each tool was last forgotten."""
    last: dict[ToolName | None, int] = {}
    for one in stored:
        said = parse_content(one.content)
        server, name = _texts(said, "server", "name")
        last[None if said.get("what") == EVERYTHING else (server, name)] = one.seq
    return last


def _texts(said: Mapping[str, Any], *names: str) -> Iterator[str]:
    return (text if isinstance(text := said.get(name), str) else "" for name in names)
