"""Which part of the documentation helps on which page."""

from collections.abc import Mapping
from typing import Final

from mcpguard.web.pages.help.help_documents import HELP

_SCOPES: Final = "reviewing#scopes"
_CALLERS: Final = "operating#callers"
_SERVER: Final = "operating#the-life-of-a-server"
TARGETS: Final[Mapping[str, str]] = {
    "activity.html": "audit#how-many-calls",
    "add_server.html": "operating#add",
    "audit.html": "audit",
    "call.html": "audit#in-the-console",
    "caller.html": _CALLERS,
    "caller_add.html": _CALLERS,
    "caller_added.html": "clients#tokens",
    "callers.html": _CALLERS,
    "capabilities.html": "reviewing",
    "capability.html": "reviewing",
    "changes.html": "reviewing#a-change",
    "configuration.html": "operating#the-sandbox",
    "edit_server.html": "operating#the-sandbox",
    "export.html": "export",
    "find.html": "",
    "findings.html": "findings",
    "held.html": "console#a-held-call",
    "held_gone.html": "console#a-held-call",
    "help.html": "",
    "inbox.html": "reviewing",
    "inspect.html": "operating#inspect",
    "inspecting.html": "operating#inspect",
    "me.html": "operating#people",
    "missing.html": "",
    "overview.html": "audit#how-many-calls",
    "policy.html": _SCOPES,
    "record.html": "ledger-format",
    "review.html": "reviewing#a-new-server",
    "script_edit.html": "programs#scripts",
    "scripts.html": "programs#scripts",
    "search.html": "reviewing#what-an-agent-finds",
    "server_calls.html": "audit",
    "server_decisions.html": _SERVER,
    "server_logs.html": "doctor",
    "servers.html": _SERVER,
    "sessions.html": "operating#people",
    "settings.html": "settings",
    "token_added.html": "operating#programs-that-act-for-people",
    "tokens.html": "operating#programs-that-act-for-people",
    "user.html": "operating#users",
    "users.html": "operating#users",
    "verify.html": "audit",
}
"""A document, with an anchor in it if only that part helps, by the template of the page; none: all documents."""


def help_address(template: str) -> str:
    """Return where the help for a page is."""
    target = TARGETS[template]
    return f"{HELP}/{target}" if target else HELP
