"""Words that say nothing about what a tool does (`lists/stopwords.txt`).

They are removed from tools and from queries; a query that consists only of them keeps them. `ASKING` lists words with
which people address an agent. They are removed from queries only: a tool may well be about "help".
"""

from importlib.resources import files
from typing import Final

from mcpguard.text.word_lists import read_sections

_WORDS: Final = read_sections(files(__package__).joinpath("lists", "stopwords.txt").read_text("utf-8"))
ASKING: Final = frozenset(_WORDS.pop("ASKING").split())
SMALL_WORDS: Final = {language.lower(): frozenset(some.split()) for language, some in _WORDS.items()}
"""The stop words of each language. Those of a language other than English are only removed from queries in it."""
STOP: Final = SMALL_WORDS["english"]
