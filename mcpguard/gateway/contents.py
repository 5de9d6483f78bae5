"""The contents of a resource under the name by which its client knows it: the one that an update of it has, too."""

from collections.abc import Callable, Mapping
from typing import Any

from mcpguard.codec.uris import LONGEST_URI


def renamed(result: Mapping[str, Any], own: str, words: str, shown: Callable[[str], str]) -> dict[str, Any]:
    """What a server read, in the words of the client: `own` is the server's URI of what was asked for, `words` the
    client's. What is a part of it is named as `shown` says, where that can be asked for."""
    contents = result.get("contents")
    if not isinstance(contents, list):
        return dict(result)

    def name(uri: str) -> str:
        if uri == own:
            return words
        return found if len(found := shown(uri)) <= LONGEST_URI else uri

    def one(content: object) -> object:
        uri = content.get("uri") if isinstance(content, dict) else None
        return {**content, "uri": name(uri)} if isinstance(content, dict) and isinstance(uri, str) else content

    return {**result, "contents": [one(content) for content in contents]}
