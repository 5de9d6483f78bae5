"""The words and phrases that detectors search for, by meaning and in several languages.

They are data. `meanings` holds English and the basic words of other languages, and defines which meanings exist;
`languages` holds more words of each language. To add a language, add a file to `languages`: its sections are named by
meanings, and one section may have several. Which combinations of meanings form an attack is defined in the detectors.

Words are separated by blanks. `_` stands for a blank within a phrase, `*` at the end for any ending, and `+` for the
endings of an English verb. Case, accents and invisible characters make no difference.
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from mcpguard.inspection.reading.vocabulary import Vocabulary, forms
from mcpguard.text.word_lists import read_sections

_HERE: Final = files(__package__)


def _read_tables(folder: str) -> Mapping[str, Mapping[str, str]]:
    """Return the tables of a folder by the names of their files."""
    table_files = sorted(_HERE.joinpath(folder).iterdir(), key=lambda file: file.name)
    return {file.name.removesuffix(".txt"): read_sections(file.read_text("utf-8")) for file in table_files}


MEANINGS: Final = _read_tables("meanings")
LANGUAGES: Final = _read_tables("languages")
TABLES: Final = (*MEANINGS.values(), *LANGUAGES.values())
WORDS: Final = Vocabulary(*TABLES)
ACTS: Final = frozenset(MEANINGS["acts"])
"""The meanings of verbs."""
_PATHS: Final = read_sections(_HERE.joinpath("secret_paths.txt").read_text("utf-8"))
PATHS_ANYWHERE: Final = tuple(_PATHS["ANYWHERE"].split())
"""Parts of paths, in lower case, that give away a file of secrets wherever they stand."""
PATHS_ALONE: Final = tuple(_PATHS["ALONE"].split())
"""Parts of paths that do so only where a blank or a mark stands before them and no letter after."""
CHANGE_WORDS: Final = Vocabulary(read_sections(_HERE.joinpath("changes.txt").read_text("utf-8")))
"""More words, which are searched for only in what was added to a definition."""
ORDERED_ACTS: Final = ("SEND", "PAY", "GRANT", "DESTROY", "RUN", "SAY")
"""The meanings of verbs in orders amid other content."""


def deed_of(act: str) -> str:
    """Return the name of the meaning of a verb as it is said of one who does it: "sends" and "pays"."""
    return f"{act}S"


def _third_person(entries: str) -> str:
    """Return the verbs as they are said of one who does it: `sends` for `send`, `turns_on` for `turn_on`."""
    verbs = (entry.partition("_") for entry in entries.split() if entry.isascii())
    return " ".join(forms(f"{verb}+{joint}{rest}")[1] for verb, joint, rest in verbs)


def _with_deeds(sections: Mapping[str, str]) -> Mapping[str, str]:
    return {**sections, **{deed_of(act): _third_person(sections[act]) for act in ORDERED_ACTS}}


STRAY_ORDERS: Final = _with_deeds(read_sections(_HERE.joinpath("stray_orders.txt").read_text("utf-8")))
STRAY_ORDER_WORDS: Final = Vocabulary(STRAY_ORDERS)
"""Words that are searched for only in replies, sentence by sentence."""
SUBJECTS: Final = read_sections(_HERE.joinpath("subjects.txt").read_text("utf-8"))
"""The words of each subject that tools are about, in the singular."""
_FUNCTION_WORDS: Final = read_sections(_HERE.joinpath("function_words.txt").read_text("utf-8"))
FUNCTION_WORDS: Final = frozenset(" ".join(_FUNCTION_WORDS.values()).split())
"""Words that hold a sentence together, and that no list of words has."""
