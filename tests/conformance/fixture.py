"""A server that has everything the conformance suite's server scenarios ask for, in both of its requirement sets.

The names of the tools, prompts and resources are the suite's; it calls them. Run as a program it speaks on its standard
streams.
"""

from tests.conformance import fixture_asking, fixture_content, fixture_tools
from tests.simulators.over_http import HttpFace
from tests.simulators.script import Script
from tests.simulators.standalone import play


def everything() -> Script:
    """A script that speaks both eras."""
    script = Script(tools=())
    script.info = {"name": "everything", "version": "1.0"}
    script.resources, script.templates = fixture_content.RESOURCES, fixture_content.TEMPLATES
    script.prompts = fixture_content.PROMPTS + fixture_asking.PROMPTS
    script.answers = fixture_content.ANSWERS | fixture_asking.ANSWERS
    for name, (answer, definition) in (fixture_tools.TOOLS | fixture_asking.TOOLS).items():
        script.tool(name, answer, **definition)
    return script


def face() -> HttpFace:
    """The server over HTTP, with streams that can be taken up again."""
    found = HttpFace(everything())
    found.event_ids = True
    return found


if __name__ == "__main__":
    play(everything())
