"""Names and prose come down to the same words."""

import pytest

from mcpguard.catalog.search.stems import stem
from mcpguard.catalog.search.thesaurus import synonyms_of
from mcpguard.catalog.search.translations import english_in, meanings_in_any, meanings_in_stretches, meanings_of
from mcpguard.catalog.search.words import LONGEST_WORD, words


@pytest.mark.parametrize(
    ("text", "taken_apart"),
    [
        ("create_issue", "create issue"),
        ("create-issue", "create issue"),
        ("issues.create", "issues create"),
        ("createIssue", "create issue createissue"),
        ("HTTPServer", "http server httpserver"),
        ("GitHub", "git hub github"),
        ("GITHUB", "github"),
        ("s3_upload", "s3 upload"),
        ("base64", "base 64 base64"),
        ("v1/youtube/search", "v1 youtube search"),
        ("don't", "don"),
        ("l'utilisateur", "l utilisateur"),
        ("R\u00e9cup\u00e9rer \u00dcBER", "recuperer uber"),
        ("\uff32\uff45\uff41\uff44", "read"),
        ("re\u200bad", "read"),
        ("\u8bfb\u53d6\u6587\u4ef6", "\u8bfb\u53d6 \u53d6\u6587 \u6587\u4ef6"),
        ("PDF\u6587\u4ef6", "pdf \u6587\u4ef6"),
        ("\u0444\u0430\u0439\u043b", "\u0444\u0430\u0439\u043b"),
        ("  !?  ", ""),
    ],
)
def test_a_text_is_taken_apart(text: str, taken_apart: str) -> None:
    assert words(text) == taken_apart.split()


def test_no_word_is_long() -> None:
    made = words("a" * 10_000 + " " + "\u00e4\u0436" * 5_000 + " " + "aB" * 5_000)
    assert made
    assert max(map(len, made)) == LONGEST_WORD


@pytest.mark.parametrize("forms", ["delete deletes deleting deleted", "query queries querying", "файл файла файлы"])
def test_forms_of_a_word_have_one_stem(forms: str) -> None:
    assert len(set(map(stem, forms.split()))) == 1


def test_synonyms_go_both_ways_and_not_further() -> None:
    assert stem("remove") in synonyms_of(stem("delete"))
    assert stem("delete") in synonyms_of(stem("remove"))
    assert stem("show") in synonyms_of(stem("list"))
    assert stem("retrieve") not in synonyms_of(stem("list"))


def test_words_of_other_languages_are_known() -> None:
    assert meanings_in_any("datei")[0] == ("file",)
    assert meanings_of("dateien", "german")[0] == ("file",)
    assert meanings_in_any("wechselkurs")[0] == (stem("exchange"), stem("rate"))
    assert english_in("\u8bfb\u53d6\u6587\u4ef6") == ["read", "document", "file"]
    assert set(meanings_in_stretches("\u8bfb\u53d6\u6587\u4ef6")) == {"\u8bfb\u53d6", "\u6587\u4ef6"}
