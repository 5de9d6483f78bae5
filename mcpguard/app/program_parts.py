"""Assembles the parts of a guard that run programs of agents, where they may run any."""

from mcpguard.app.places import server_logs
from mcpguard.domain.clock import Clock, Ids
from mcpguard.engines.engines import CodeEngines
from mcpguard.guard.calls.handle import Calls
from mcpguard.guard.calls.open_call import CallServices
from mcpguard.guard.programs.programs import Programs
from mcpguard.guard.review.admission import Admission
from mcpguard.guard.scripts.script_runs import ScriptRuns
from mcpguard.guard.scripts.scripts import Scripts
from mcpguard.guard.servers.intake import Intake
from mcpguard.ledger.ledger import Ledger
from mcpguard.settings.model import Settings
from mcpguard.store.engine.store import Store
from mcpguard.upstreams.sandbox.confinement import ProcessConfinement, limits
from mcpguard.upstreams.sandbox.probe import NoSandbox, UsableSandbox
from mcpguard.upstreams.transports.own import OwnServer


def make_programs(
    settings: Settings,
    sandbox: UsableSandbox | NoSandbox,
    services: CallServices,
    calls: Calls,
    ledger: Ledger,
    clock: Clock,
    new_id: Ids,
) -> Programs | None:
    """Return what runs programs of agents, and have calls run the approved scripts; None where none may run."""
    if not settings.code.enabled:
        return None
    confinement = ProcessConfinement(sandbox, limits(settings.sandbox), settings.data_dir)
    engines = CodeEngines(confinement, server_logs(settings), settings.code.at_once)
    bodies, screener, servers = services.bodies, services.screener, services.servers
    programs = Programs(engines, ledger, bodies, screener, servers, clock, new_id, settings, handle=calls.handle)
    calls.run_script = ScriptRuns(programs).run
    return programs


async def make_scripts(
    programs: Programs | None,
    admission: Admission,
    intake: Intake,
    own: OwnServer | None,
    ledger: Ledger,
    clock: Clock,
    store: Store,
) -> Scripts | None:
    """Return the scripts as the store has them; None where no programs may run."""
    if programs is None or own is None:
        return None
    scripts = Scripts(programs, admission, intake, own, ledger, clock)
    await scripts.load(store.readers)
    return scripts
