"""How a server is confined after an approval that says so.

Rules kept here:
1. What is not said stays as it is; nothing is chosen for anybody.
2. A decision confines, more or less closely. That a server runs without a sandbox is agreed to at its inspection, where
   it is shown what would be executed.
"""

from dataclasses import replace
from typing import Final

from mcpguard.domain.decisions import Approval, NotDeclared, Undecidable
from mcpguard.domain.servers.launches import Declared, Profile, StdioLaunch
from mcpguard.settings.entries.members import confinement

_NO_SANDBOX: Final = "an approval takes no sandbox away: inspect {} with consent to have it run without one"
_NOT_OURS: Final = "{} is reached by a URL: it runs elsewhere, and cannot be confined from here"


def without_choice(declared: Declared) -> Declared:
    """As it was declared, where a person had it confined otherwise. That it runs unconfined stays what it is."""
    launch = declared.launch
    if not isinstance(launch, StdioLaunch) or launch.profile is Profile.NONE:
        return declared
    return replace(declared, launch=launch.as_declared())


def confined(declared: Declared, approval: Approval) -> Declared:
    """How it is declared then. Raises Undecidable."""
    if approval.sandbox is None and approval.mounts is None:
        return declared
    launch = declared.launch
    if not isinstance(launch, StdioLaunch):
        raise Undecidable(_NOT_OURS.format(declared.name))
    try:
        how = confinement(launch, approval.sandbox, approval.mounts)
    except NotDeclared as error:
        raise Undecidable("; ".join(error.problems)) from error
    if how.profile is Profile.NONE and launch.profile is not Profile.NONE:
        raise Undecidable(_NO_SANDBOX.format(declared.name))
    return replace(declared, launch=launch.confined(how))
