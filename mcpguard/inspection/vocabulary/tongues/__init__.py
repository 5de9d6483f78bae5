"""More words of other languages, by language: to teach a language is to add a table here.

A key is the meanings its words have. Tables may only use meanings that there are: what something means is defined in
the files beside this folder, and what an attack is made of in the detectors.
"""

from typing import Final

from mcpguard.inspection.vocabulary.tongues import asian, eastern, germanic, romance, slavic

TABLES: Final = (
    romance.PORTUGUESE,
    romance.ITALIAN,
    romance.ROMANIAN,
    romance.SPANISH,
    romance.FRENCH,
    germanic.DUTCH,
    germanic.SWEDISH,
    germanic.DANISH_NORWEGIAN,
    germanic.FINNISH,
    germanic.GERMAN,
    slavic.POLISH,
    slavic.CZECH,
    slavic.UKRAINIAN,
    slavic.RUSSIAN,
    eastern.TURKISH,
    eastern.GREEK,
    eastern.ARABIC,
    eastern.PERSIAN,
    eastern.HEBREW,
    eastern.HINDI,
    asian.VIETNAMESE,
    asian.INDONESIAN,
    asian.KOREAN,
    asian.JAPANESE,
    asian.CHINESE,
)
