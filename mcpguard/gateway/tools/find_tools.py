"""`retrieve_tools` and `describe_tool`: which tools an agent can find, and whether they can be called now.

Rules kept here:
1. A server's own words are shown only of tools that were approved as they are. For everything else there is a reason.
2. What is out of a caller's scope and what does not exist look the same. The names of a scope decide what is found, its
   effects what may be used of that.
3. A tool comes with its server's instructions, if exactly those were approved.
"""

from mcpguard.catalog.shelf import CatalogEntry
from mcpguard.codec.names import parse_reference
from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.json import Json
from mcpguard.gateway.tools.arguments import DescribeArguments, RetrieveArguments
from mcpguard.guard.guard import Guard
from mcpguard.guard.programs.signatures import python_signature
from mcpguard.guard.search.answer_size import fit_descriptions
from mcpguard.guard.search.tool_search import SearchScope


class FindTools:
    """Answers searches with one guard's catalog."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def retrieve(self, caller: Caller, given: RetrieveArguments) -> Json:
        effects = frozenset(Effect if given.effects is None else given.effects)
        wish = SearchScope(caller.scope, effects, None if given.servers is None else frozenset(given.servers))
        answer = await self._guard.search(given.query, given.limit, wish, full=given.detail == "full")
        shown = (parse_reference(each["name"]) for each in answer["tools"])
        self._guard.learning.note_search(caller.id, given.query, shown)
        return answer

    def describe(self, caller: Caller, given: DescribeArguments) -> Json:
        said = [self._one(caller, name) for name in dict.fromkeys(given.names)]
        shelves = self._guard.catalog.shelves
        servers = dict.fromkeys(pinned.capability.server for _, pinned in said if pinned is not None)
        every = {server: shelves[server].instructions for server in servers if server in shelves}
        answer = fit_descriptions(said, {server: text for server, text in every.items() if text})
        if given.form == "python":
            answer["tools"] = [_in_python(tool) for tool in answer["tools"]]
        return answer

    def _one(self, caller: Caller, name: str) -> tuple[Json, CatalogEntry | None]:
        """Return what is told of a tool, and the definition that may be shown with it."""
        try:
            server, own = parse_reference(name)
        except InvalidName:
            server, own = "", name
        capability = Capability(server, CapabilityKind.TOOL, own)
        said: Json = {"name": name, **self._guard.explain(caller, capability)}
        pinned = self._guard.catalog.find(server, CapabilityKind.TOOL, own)
        return said, pinned if said["answer"] != "unknown" else None


def _in_python(tool: Json) -> Json:
    """Return what is told of a tool with its signature in Python in place of its input schema."""
    if "inputSchema" not in tool:
        return tool
    server, _, name = tool["name"].partition(":")
    written = python_signature(server, name, tool["inputSchema"])
    return {key: value for key, value in tool.items() if key != "inputSchema"} | {"python": written}
