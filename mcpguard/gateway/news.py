"""What clients are told when something else is offered than before."""

from mcpguard.codec.messages import Notification
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.guard.publish import Changed

_METHODS = {
    CapabilityKind.TOOL: "notifications/tools/list_changed",
    CapabilityKind.RESOURCE: "notifications/resources/list_changed",
    CapabilityKind.TEMPLATE: "notifications/resources/list_changed",
    CapabilityKind.PROMPT: "notifications/prompts/list_changed",
}


def announcements(changed: Changed) -> list[Notification]:
    """One notification for each list that differs, without saying in what."""
    return [Notification(method) for method in dict.fromkeys(_METHODS[kind] for kind in sorted(changed))]
