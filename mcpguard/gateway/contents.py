"""Resource contents under the URI that the client knows, the same that an update notification uses."""

from collections.abc import Callable, Mapping
from typing import Any

from mcpguard.codec.uris import LONGEST_URI


def rename_contents(result: Mapping[str, Any], own: str, words: str, shown: Callable[[str], str]) -> dict[str, Any]:
    """Return a server's read result with the client's URIs: `own` is the URI that was sent to the server, `words` the
    client's for it. Parts with other URIs are named by `shown`, if that name is short enough to be read back.
    """
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
