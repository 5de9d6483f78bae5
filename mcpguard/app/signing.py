"""What the audit log is proven by: the key that signs it, and the file outside that its checkpoints go to."""

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
    """The key's file, and the anchor file where one is wanted. `found`: what is to be recorded of them at the start."""

    file: KeyFile
    anchoring: Anchoring | None
    found: tuple[tuple[RecordKind, Fields], ...]


async def signing(settings: Settings, file: KeyFile, chain: Chain, store: Store, tasks: TaskGroup) -> Signing:
    """Before anything is recorded: have the right key sign, and hold the anchor file against the store."""
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
