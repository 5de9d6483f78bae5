"""The list of all export forms.

To add one, add a small module and its name here.
"""

from typing import Final

from mcpguard.ledger.export.csv import Csv
from mcpguard.ledger.export.jsonl import Jsonl
from mcpguard.ledger.export.line import ExportForm
from mcpguard.ledger.export.ocsf.form import Ocsf

OWN: Final = Jsonl()
"""The only form from which the chain can be verified."""
FORMS: Final[tuple[ExportForm, ...]] = (OWN, Csv(), Ocsf())
WORDS: Final = tuple(form.word for form in FORMS)


def form(word: str) -> ExportForm:
    """The form of this name. Raises KeyError."""
    return {each.word: each for each in FORMS}[word]
