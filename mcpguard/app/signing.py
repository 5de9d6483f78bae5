"""The proof of the audit log's integrity: the key that signs it, and the file for external anchors."""

from dataclasses import dataclass

from anyio.abc import TaskGroup

from mcpguard.app.places import anchor_file
from mcpguard.domain.calls.records import RecordKind
from mcpguard.ledger.anchoring import Anchoring
from mcpguard.ledger.chain import Chain
from mcpguard.ledger.format import Fields
from mcpguard.ledger.keyfile import KeyFile
from mcpguard.settings.model import Settings
from mcpguard.store.engine.store import Store


@dataclass(frozen=True, slots=True)
class Signing:
    """The key file, and the anchors where configured. `found`: facts about them to record at the start."""

    file: KeyFile
    anchoring: Anchoring | None
    found: tuple[tuple[RecordKind, Fields], ...]


async def begin_signing(settings: Settings, file: KeyFile, chain: Chain, store: Store, tasks: TaskGroup) -> Signing:
    """Choose the signing key, and compare the anchor file with the store, before anything is recorded."""
    key, retired = await store.readers.run(file.load_at_start)
    chain.sign_with(key)
    found: list[tuple[RecordKind, Fields]] = [(RecordKind.RETIRED, {"key": retired})] if retired else []
    elsewhere = anchor_file(settings)
    if elsewhere is None:
        return Signing(file, None, tuple(found))
    anchoring = Anchoring(elsewhere, chain, store)
    await anchoring.begin()
    if anchoring.rolled_back is not None:
        found.append((RecordKind.ROLLED_BACK, anchoring.rolled_back.fields()))
    tasks.start_soon(anchoring.run, name="anchors")
    return Signing(file, anchoring, tuple(found))
