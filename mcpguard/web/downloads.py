"""Exports of the audit log as downloads: file names, and the release of the source when the client disconnects.

Rules kept here:
1. An export is recorded before its first byte is sent.
2. An interrupted stream never ends as if it were complete.
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


class StreamedDownload(StreamingResponse):
    """A streamed answer whose source is closed as soon as the client leaves."""

    def __init__(self, parts: AsyncIterator[bytes], media: str, name: str) -> None:
        headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
        super().__init__(parts, headers=headers, media_type=media)
        self._parts = parts

    async def stream_response(self, send: Send) -> None:
        async with aclosing(self._parts):  # type: ignore[type-var]
            await super().stream_response(send)


async def export_response(exporting: AuditExports, wanted: AuditExportRequest, by: Actor) -> StreamedDownload:
    """Record an export and return its answer. Raises what `AuditExports.begin` raises; nothing is sent then."""
    begun = await exporting.begin(wanted, by)
    make = exporting.bundle if wanted.bundle else exporting.stream
    return StreamedDownload(make(begun, wanted), media(wanted), _name(begun, wanted))


def check_export(wanted: AuditExportRequest) -> AuditExportRequest:
    """Check the options of an export. Raises Undecidable for a combination that is not supported."""
    if wanted.bundle and wanted.upto is not None:
        raise Undecidable("a bundle always ends at the newest record; leave out `upto`, or filter by time")
    if wanted.bodies and not wanted.bundle:
        raise Undecidable("bodies can only be exported in a bundle")
    return wanted


def media(wanted: AuditExportRequest) -> str:
    if wanted.bundle:
        return TAR
    return GZIP if wanted.packed else form(wanted.forms[0]).media


def _name(begun: BegunExport, wanted: AuditExportRequest) -> str:
    span = begun.span
    suffix = ".tar" if wanted.bundle else form(wanted.forms[0]).suffix + (".gz" if wanted.packed else "")
    return f"mcpguard-{span.chain}-{span.after}-{span.upto}{suffix}"
