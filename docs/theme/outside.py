"""Links of the documents to files beside them, such as a test: on the site there is no such file, so the words stay."""

import re
from pathlib import Path
from typing import Any

LINK = re.compile(r"\[([^\[\]]+)\]\(((?:\.\./)+[^()#\s]+)(#[^()\s]*)?\)")


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """A link that leads to nothing is as wrong here as any other."""
    docs = Path(config["docs_dir"])
    here = Path(page.file.abs_src_path).parent

    def word(found: re.Match[str]) -> str:
        target = (here / found[2]).resolve()
        if target.is_relative_to(docs):
            return found[0]
        if not target.exists():
            raise FileNotFoundError(f"{page.file.src_uri} links to {found[2]}, which is not there")
        return f'<abbr title="{target.relative_to(docs.parent)}">{found[1]}</abbr>'

    return LINK.sub(word, markdown)
