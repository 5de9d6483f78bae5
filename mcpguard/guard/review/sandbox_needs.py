"""Hints for the reviewer: what a sandboxed server probably needs and does not get.

Rules kept here:
1. Hints use only what is already known: the server's standard error, the failure of its last inspection, and its tools'
   descriptions of themselves. Nothing is run, watched or requested for them.
2. Hints suggest, and decide nothing. Each is a sentence of the guard's with the phrase that was found and the name of a
   tool; nothing else that a server wrote.
3. Nothing is suggested that the profile already gives.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Final

from mcpguard.domain.capabilities import Effect, Fingerprint
from mcpguard.domain.servers.launches import DeclaredServer, StdioLaunch
from mcpguard.domain.servers.needs import Need, NeedSign
from mcpguard.domain.servers.pins import Pin
from mcpguard.guard.servers.registry import ServerState
from mcpguard.guard.servers.tool_effects import ToolEffects
from mcpguard.policy.denials import denied_needs, need_phrases
from mcpguard.text.visible import visible

MOST_BYTES: Final = 64 * 1024
"""Bytes of the end of its log that are read."""
MOST_NAMED: Final = 3
Lines = Callable[[DeclaredServer, int], Awaitable[tuple[str, ...]]]


class SandboxNeeds:
    """Tells what servers need. `lines` reads the end of a server's log."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    async def signs(self, known: ServerState, told: Mapping[Fingerprint, ToolEffects]) -> tuple[NeedSign, ...]:
        """The signs that a server needs more than its sandbox gives. `told`: the effects of its tools, by
        fingerprint."""
        launch = known.declared.launch
        if not (kept := denied_needs(launch)) or not isinstance(launch, StdioLaunch):
            return ()
        wrote, failed = await self._lines(known.declared, MOST_BYTES), known.upstream.inspection
        said = [failed.why, *failed.wrote] if failed is not None else []
        found = {need: f"log: {phrase}" for need, phrase in need_phrases(wrote, launch).items()}
        found |= {need: f"inspection error: {phrase}" for need, phrase in need_phrases(said, launch).items()}
        present = [pin for _, pin in sorted(known.pins.items()) if pin.present]
        if Need.NETWORK in kept:
            reaching, changing = list(_reaching(present, told)), _changing(present, told)
            if reaching:
                found.setdefault(Need.NETWORK, _named(reaching))
            elif changing and not any(mount.writable for mount in launch.mounts):
                found.setdefault(Need.WRITING, f"{_list(changing)}, and it reaches nothing that lasts")
        return tuple(NeedSign(need, found[need]) for need in Need if need in found)


def _reaching(pins: Iterable[Pin], told: Mapping[Fingerprint, ToolEffects]) -> Iterator[tuple[str, str]]:
    for pin in pins:
        said = told.get(pin.listed) if pin.listed else None
        if said is not None and said.reaches:
            yield pin.name, said.reaches


def _changing(pins: Iterable[Pin], told: Mapping[Fingerprint, ToolEffects]) -> list[str]:
    """The tools that the server itself declares to change something."""
    every = ((pin.name, told.get(pin.listed)) for pin in pins if pin.listed)
    return [name for name, said in every if said is not None and said.declared not in (None, Effect.READ)]


def _named(reaching: list[tuple[str, str]]) -> str:
    name, how = reaching[0]
    more = f", and {len(reaching) - 1} more are alike" if len(reaching) > 1 else ""
    return f"its tool {visible(name)} {how}{more}"


def _list(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    shown = ", ".join(map(visible, names[:MOST_NAMED]))
    return f"it says that {shown}{more} {'changes' if len(names) == 1 else 'change'} something"
