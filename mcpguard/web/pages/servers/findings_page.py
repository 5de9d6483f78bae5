"""`/findings`: all findings of inspection, on all servers, the worst first."""

from collections import Counter
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.decisions import CapabilityKey
from mcpguard.domain.findings import Finding, Severity, sentence_parts
from mcpguard.domain.json import Json
from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.guard.servers.registry import ServerState
from mcpguard.inspection.definitions.told_findings import reason_of
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console
from mcpguard.web.pages.base.paging import part
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.servers.evidence import worse
from mcpguard.web.pages.servers.one_server import path_of

PAGE: Final = 100
SEVERITIES: Final = tuple(each.value for each in reversed(Severity))


@dataclass(frozen=True, slots=True)
class FindingsQuery:
    """Which findings are shown: of this severity, of this server, by this rule."""

    severity: str = ""
    server: str = ""
    rule: str = ""

    @classmethod
    def from_request(cls, request: Request) -> Self:
        given = request.query_params
        severity = given.get("severity", "")
        return cls(
            severity if severity in SEVERITIES else "",
            given.get("server", "").strip()[:100],
            given.get("rule", "").strip()[:100],
        )

    def fits(self, known: ServerState, found: Finding) -> bool:
        return (
            self.severity in ("", found.severity.value)
            and self.server in ("", known.name)
            and self.rule in ("", found.rule)
        )

    def url(self, **changed: object) -> str:
        """Return the URL of these findings, with the query changed by `changed`."""
        now = {"severity": self.severity, "server": self.server, "rule": self.rule} | changed
        said = urlencode({name: value for name, value in now.items() if value})
        return f"/findings?{said}" if said else "/findings"


def findings(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    @router.get("/findings", dependencies=[may(Right.LOOK)])
    async def page(request: Request) -> Response:
        wanted = FindingsQuery.from_request(request)
        all_ = [(known, found, key) for known in guard.servers.every() for found, key in known.findings()]
        chosen = [each for each in all_ if wanted.fits(each[0], each[1])]
        chosen.sort(key=lambda each: worse(each[1]), reverse=True)
        found = part(chosen, request, PAGE)
        return desk.page(
            request,
            "findings",
            "findings.html",
            rows=[_row(*each) for each in found.of],
            found=found,
            all=len(all_),
            counts=_counts(all_, wanted),
            wanted=wanted,
            why=reason_of(found.of[0][1]) if wanted.rule and found.of else "",
            more=wanted.url(start=found.next) if found.next else "",
            first=wanted.url() if found.start else "",
        )

    return router


def _row(known: ServerState, found: Finding, key: CapabilityKey | None) -> Json:
    sentence = sentence_parts(found.title, found.about)
    return {"known": known, "finding": found, "sentence": sentence, "key": key, "path": path_of(known.name)}


def _counts(
    all_: list[tuple[ServerState, Finding, CapabilityKey | None]], wanted: FindingsQuery
) -> list[tuple[str, int, str, bool]]:
    """Return each severity with the number of its findings in the rest of the query, and its URL."""
    others = FindingsQuery("", wanted.server, wanted.rule)
    counts = Counter(found.severity.value for known, found, _ in all_ if others.fits(known, found))
    return [
        (word, counts[word], wanted.url(severity="" if wanted.severity == word else word), wanted.severity == word)
        for word in SEVERITIES
    ]
