"""The order of all pages is that of the links on the first one, so that it is written only once."""

import re
from pathlib import Path
from typing import Any

PART = re.compile(r"^## (?P<part>.+)$|^- \[(?P<title>[^\]]+)\]\((?P<file>[^)#]+\.md)\)", re.MULTILINE)


def on_config(config: Any) -> Any:
    """A page without a place on the first one is left out of the navigation, which the build complains about."""
    nav: list[Any] = ["index.md"]
    for found in PART.finditer((Path(config["docs_dir"]) / "index.md").read_text(encoding="utf-8")):
        if found["part"]:
            nav.append({found["part"]: []})
        elif isinstance(nav[-1], dict):
            (under,) = nav[-1].values()
            under.append({found["title"]: found["file"]})
    config["nav"] = nav
    return config
