"""Words that say nothing about what a tool does (`stopwords.txt`).

They are left out of tools and of queries alike; a query made of nothing else keeps them. `ASKING` is how people speak
to an agent. It is left out of queries only: a tool may well be about "help".
"""

from importlib.resources import files
from typing import Final

from mcpguard.text.word_lists import read_sections

_WORDS: Final = read_sections(files(__package__).joinpath("stopwords.txt").read_text("utf-8"))
STOP: Final = frozenset(f"{_WORDS['ENGLISH']} {_WORDS['OTHER LANGUAGES']}".split())
ASKING: Final = frozenset(_WORDS["ASKING"].split())
