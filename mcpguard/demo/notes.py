"""The honest server: a few notes, in memory. It does what it says, and its annotations are right."""

import json
import re
from collections.abc import Mapping
from typing import Final

from mcpguard.demo.offer import Json, NotOffered, Offer, ToolFailed, members, words

MOST_NOTES: Final = 100
LONGEST_NAME: Final = 64
LONGEST_TEXT: Final = 10_000
AT_FIRST: Final = {
    "shopping": "Bread, apples, and the good cheese.",
    "garden": "Water the tomatoes in the evening. The beans can wait.",
    "ideas": "A chair that folds into a ladder.",
}
INSTRUCTIONS: Final = "Keeps short notes in memory. list_notes tells which there are."
ABOUT: Final = "Notes for trying mcpguard. They are in memory only: when the server ends, changes are forgotten.\n"

_NAME: Final = words(
    "The note's name: small letters, digits and hyphens.", pattern="^[a-z0-9-]+$", maxLength=LONGEST_NAME
)
_NOTE_TEXT: Final = words("The note's text.", maxLength=LONGEST_TEXT)
_COUNT: Final[Json] = {"type": "integer", "minimum": 0}
_READS: Final = {"readOnlyHint": True, "openWorldHint": False}
_ADDS: Final = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": False}
_DESTROYS: Final = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False}

TOOLS: Final[tuple[Json, ...]] = (
    {
        "name": "list_notes",
        "title": "List notes",
        "description": "Lists the names of all notes, with the length of each in characters.",
        "inputSchema": members(),
        "outputSchema": members(
            notes={
                "type": "array",
                "description": "Sorted by name.",
                "items": members(name=words("The note's name."), characters=_COUNT),
            }
        ),
        "annotations": _READS,
    },
    {
        "name": "read_note",
        "title": "Read a note",
        "description": "Returns the text of one note.",
        "inputSchema": members(name=_NAME),
        "outputSchema": members(name=words("The note's name."), text=words("The note's text.")),
        "annotations": _READS,
    },
    {
        "name": "write_note",
        "title": "Write a note",
        "description": "Writes a new note. A note that is there is never overwritten; delete it first.",
        "inputSchema": members(name=_NAME, text=_NOTE_TEXT),
        "outputSchema": members(name=words("The note's name."), characters=_COUNT),
        "annotations": _ADDS,
    },
    {
        "name": "delete_note",
        "title": "Delete a note",
        "description": "Deletes one note for good.",
        "inputSchema": members(name=_NAME),
        "outputSchema": members(name=words("The name of the note that was deleted."), left=_COUNT),
        "annotations": _DESTROYS,
    },
    {
        "name": "word_count",
        "title": "Count words",
        "description": "Counts the words and characters of a text.",
        "inputSchema": members(text=words("The text to count.", maxLength=LONGEST_TEXT)),
        "outputSchema": members(words=_COUNT, characters=_COUNT),
        "annotations": _READS,
    },
)
RESOURCES: Final[tuple[Json, ...]] = (
    {
        "uri": "notes://about",
        "name": "about",
        "title": "About these notes",
        "description": "What this server is.",
        "mimeType": "text/plain",
    },
    {
        "uri": "notes://index",
        "name": "index",
        "title": "All notes",
        "description": "The names of all notes, as a list in JSON.",
        "mimeType": "application/json",
    },
)
TEMPLATE: Final[Json] = {
    "uriTemplate": "note://{name}",
    "name": "note",
    "title": "A note",
    "description": "The text of the note of this name.",
    "mimeType": "text/plain",
}
PROMPT: Final[Json] = {
    "name": "summarize_note",
    "title": "Summarize a note",
    "description": "Asks for a summary of one note.",
    "arguments": [{"name": "name", "description": "The note's name.", "required": True}],
}


class Notes(Offer):
    """The notes of one client."""

    def __init__(self) -> None:
        super().__init__("mcpguard-demo-notes", "Notes (demonstration)", INSTRUCTIONS)
        self.tools = [*TOOLS]
        self.resources = [*RESOURCES]
        self.templates = [TEMPLATE]
        self.prompts = [PROMPT]
        self._notes = dict(AT_FIRST)

    def call(self, name: str, arguments: Mapping[str, str]) -> Json:
        match name:
            case "list_notes":
                return {"notes": [{"name": each, "characters": len(self._notes[each])} for each in sorted(self._notes)]}
            case "read_note":
                return {"name": arguments["name"], "text": self._note(arguments["name"])}
            case "write_note":
                return self._written(**arguments)
            case "delete_note":
                self._note(arguments["name"])
                del self._notes[arguments["name"]]
                return {"name": arguments["name"], "left": len(self._notes)}
            case _:
                return {"words": len(arguments["text"].split()), "characters": len(arguments["text"])}

    def read(self, uri: str) -> Json:
        if uri == "notes://about":
            return {"uri": uri, "mimeType": "text/plain", "text": ABOUT}
        if uri == "notes://index":
            return {"uri": uri, "mimeType": "application/json", "text": json.dumps(sorted(self._notes))}
        found = re.fullmatch("note://([a-z0-9-]+)", uri)
        if found is None or found[1] not in self._notes:
            return super().read(uri)
        return {"uri": uri, "mimeType": "text/plain", "text": self._notes[found[1]]}

    def prompt(self, name: str, arguments: Json) -> str:
        if name != PROMPT["name"]:
            return super().prompt(name, arguments)
        note = arguments.get("name")
        if not isinstance(note, str) or note not in self._notes:
            raise NotOffered("The argument name must be the name of a note.")
        return f"Summarize this note in one sentence:\n\n{self._notes[note]}"

    def _note(self, name: str) -> str:
        if name not in self._notes:
            raise ToolFailed(f"There is no note {name!a}. list_notes tells which there are.")
        return self._notes[name]

    def _written(self, name: str, text: str) -> Json:
        if name in self._notes:
            raise ToolFailed(f"There is a note {name!a} already. Choose another name, or delete it first.")
        if len(self._notes) >= MOST_NOTES:
            raise ToolFailed(f"There is no room for more than {MOST_NOTES} notes.")
        self._notes[name] = text
        return {"name": name, "characters": len(text)}
