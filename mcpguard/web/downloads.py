"""The audit log as a file that somebody takes away: how it is named, and that it is let go of when they go.

Rules kept here:
1. What is let out is recorded before its first byte.
2. A stream that breaks never ends as if it were whole.
"""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Final

from fastapi.responses import StreamingResponse
from starlette.types import Send

from mcpguard.domain.decisions import Actor, Undecidable
from mcpguard.guard.audit.exports import AuditExportRequest, AuditExports, BegunExport
from mcpguard.ledger.export.formats import form

GZIP: Final = "application/gzip"
TAR: Final = "application/x-tar"


class Streamed(StreamingResponse):
    """An answer whose source is let go of in the same moment in which nobody takes it any more."""

    def __init__(self, parts: AsyncIterator[bytes], media: str, name: str) -> None:
        headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
        super().__init__(parts, headers=headers, media_type=media)
        self._parts = parts

    async def stream_response(self, send: Send) -> None:
        async with aclosing(self._parts):  # type: ignore[type-var]
            await super().stream_response(send)


async def let_out(exporting: AuditExports, wanted: AuditExportRequest, by: Actor) -> Streamed:
    """Record it, and then hand it out. Raises what `AuditExports.begin` raises; nothing is let out then."""
    begun = await exporting.begin(wanted, by)
    make = exporting.bundle if wanted.bundle else exporting.stream
    return Streamed(make(begun, wanted), media(wanted), _name(begun, wanted))


def checked(wanted: AuditExportRequest) -> AuditExportRequest:
    """Raises Undecidable for what there is not."""
    if wanted.bundle and wanted.upto is not None:
        raise Undecidable("a bundle goes to the newest record; choose by time instead")
    if wanted.bodies and not wanted.bundle:
        raise Undecidable("bodies are for a bundle")
    return wanted


def media(wanted: AuditExportRequest) -> str:
    if wanted.bundle:
        return TAR
    return GZIP if wanted.packed else form(wanted.forms[0]).media


def _name(begun: BegunExport, wanted: AuditExportRequest) -> str:
    span = begun.span
    suffix = ".tar" if wanted.bundle else form(wanted.forms[0]).suffix + (".gz" if wanted.packed else "")
    return f"mcpguard-{span.chain}-{span.after}-{span.upto}{suffix}"
