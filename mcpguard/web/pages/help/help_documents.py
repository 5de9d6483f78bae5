"""The documentation that this version brings: each document by its name, and all that their headings say.

Rules kept here:
1. Only what is in the folder has a page. A name that comes with a request is looked up, and never becomes a path.
2. A document is read when somebody first asks for it, and kept: its file is part of the program.
3. Callers that must not be held up ask in a thread.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from mcpguard.web.pages.help.document_markup import DocumentMarkup, document_markup, headings_of

INDEX: Final = "index"
HELP: Final = "/help"


@dataclass(frozen=True, slots=True)
class DocumentPlace:
    """A document, or a part of it, by its heading. `within`: the title of the document of which it is a part."""

    heading: str
    address: str
    within: str = ""


class HelpDocuments:
    """The documents in a folder, as pages."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: dict[str, DocumentMarkup] = {}

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(path.stem for path in self._folder.glob("*.md"))

    @cached_property
    def places(self) -> tuple[DocumentPlace, ...]:
        """All documents in the order of the first one, and after them their parts."""
        first = self.document(INDEX)
        addresses = dict.fromkeys(first.leads_to) if first else {}
        headings = {address: headings_of(self._text(address.removeprefix(f"{HELP}/"))) for address in addresses}
        documents = (DocumentPlace(title.text, address) for address, (title, *_) in headings.items())
        parts = (
            DocumentPlace(each.text, f"{address}#{each.anchor}", title.text)
            for address, (title, *others) in headings.items()
            for each in others
        )
        return (*documents, *parts)

    def address(self, name: str) -> str | None:
        """Return the address of the page of a document; None if there is none of this name."""
        if name not in self.names:
            return None
        return HELP if name == INDEX else f"{HELP}/{name}"

    def document(self, name: str) -> DocumentMarkup | None:
        """Return a document; None if there is none of this name."""
        if name not in self.names:
            return None
        if name not in self._kept:
            self._kept[name] = document_markup(self._text(name), self.address)
        return self._kept[name]

    def find(self, wanted: str) -> Iterator[DocumentPlace]:
        """Yield the documents that have these letters in their name or title, and then the parts, in their heading."""
        for place in self.places:
            name = "" if place.within else place.address.removeprefix(HELP)
            if wanted in place.heading.casefold() or wanted in name:
                yield place

    def _text(self, name: str) -> str:
        return (self._folder / f"{name}.md").read_text(encoding="utf-8")
