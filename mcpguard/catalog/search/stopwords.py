"""Words that say nothing about what a tool does (`stopwords.txt`).

They are removed from tools and from queries; a query that consists only of them keeps them. `ASKING` lists words with
which people address an agent. They are removed from queries only: a tool may well be about "help".
"""

from importlib.resources import files
from typing import Final

from mcpguard.text.word_lists import read_sections

_WORDS: Final = read_sections(files(__package__).joinpath("stopwords.txt").read_text("utf-8"))
STOP: Final = frozenset(f"{_WORDS['ENGLISH']} {_WORDS['OTHER LANGUAGES']}".split())
ASKING: Final = frozenset(_WORDS["ASKING"].split())
