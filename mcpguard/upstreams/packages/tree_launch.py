"""Builds the launch of an installed package: its program, run by its interpreter, from its tree alone.

Nothing is resolved or fetched at this point. A confined process sees the tree at a fixed path, not where it is stored.
"""

import os
from dataclasses import replace
from pathlib import Path
from typing import Final

from mcpguard.upstreams.packages.package import Ecosystem, Package
from mcpguard.upstreams.packages.trees import Tree
from mcpguard.upstreams.process.stdio import ProcessLaunch
from mcpguard.upstreams.sandbox.places import Bind

INSIDE: Final = Path("/opt/package")
"""Where a confined process sees the tree."""


def from_tree(package: Package, tree: Tree, launch: ProcessLaunch, *, inside: bool) -> ProcessLaunch:
    """Return the launch that replaces the declared one. `inside`: the process will be confined."""
    root = INSIDE if inside else tree.folder
    environment = dict(launch.environment)
    if package.ecosystem is Ecosystem.PYTHON:
        theirs = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([str(root), *([theirs] if theirs else [])])
        # Python would write its byte code into the tree and change the digest that was approved.
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    return replace(
        launch,
        command=tree.interpreter,
        arguments=(*tree.program.options, str(root / tree.program.path), *package.arguments),
        environment=environment,
    )


def tree_place(tree: Tree) -> Bind:
    """Return the mount that shows the tree to a confined process."""
    return Bind(INSIDE, tree.folder)
