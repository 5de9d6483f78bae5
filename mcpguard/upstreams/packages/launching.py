"""How an installed package is run: its program, by the interpreter that it was installed for, from its tree alone.

Nothing is resolved or fetched any more. A process that is confined sees the tree at one place and not where it is kept.
"""

import os
from dataclasses import replace
from pathlib import Path
from typing import Final

from mcpguard.upstreams.packages.package import Ecosystem, Package
from mcpguard.upstreams.packages.trees import Tree
from mcpguard.upstreams.process.stdio import Launch
from mcpguard.upstreams.sandbox.places import Bind

INSIDE: Final = Path("/opt/package")
"""Where a confined process sees it."""


def from_tree(package: Package, tree: Tree, launch: Launch, *, inside: bool) -> Launch:
    """The launch that takes the place of the one that was declared. `inside` is for a process that will be confined."""
    root = INSIDE if inside else tree.folder
    environment = dict(launch.environment)
    if package.ecosystem is Ecosystem.PYTHON:
        theirs = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([str(root), *([theirs] if theirs else [])])
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    return replace(
        launch,
        command=tree.interpreter,
        arguments=(*tree.program.options, str(root / tree.program.path), *package.arguments),
        environment=environment,
    )


def place(tree: Tree) -> Bind:
    """What a confined process has to see."""
    return Bind(INSIDE, tree.folder)
