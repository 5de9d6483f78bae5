"""Three different valid values for every setting, for laws that hold for all of them."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

WriteFile = Callable[[str], Path]

SAMPLES: Final[Mapping[str, tuple[object, object, object]]] = {
    "listen": ("127.0.0.1:1", "[::1]:2", "localhost:3"),
    "hosts": (["a.example"], ["b.example:8080", "[::1]:80"], []),
    "data_dir": ("/srv/a", "/srv/b", "/srv/c"),
    "store.url": ("postgresql://a/a", "postgresql://b/b", "postgresql://c/c"),
    "store.busy_timeout": (0.5, 7, 60),
    "store.readers": (1, 2, 16),
    "store.batch": (1, 2, 4096),
    "audit.checkpoint_records": (1, 2, 1_000_000),
    "audit.checkpoint_seconds": (0.25, 1, 86_400),
    "audit.key_file": ("/srv/a.key", "/srv/b.key", "/srv/c.key"),
    "audit.probe_seconds": (0.1, 2, 30),
    "log.level": ("debug", "warning", "error"),
    "log.format": ("console", "json", "auto"),
    "limits.body_bytes": (1024, 5_000, 1_000_000),
    "limits.stop_seconds": (1, 2.5, 9),
    "limits.head_seconds": (0.5, 1, 60),
    "limits.connections": (1, 2, 65_536),
}


def as_text(value: object) -> str:
    """Return the value as an environment variable has it."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def as_file(values: Mapping[str, object]) -> str:
    """Return a configuration file with these values, by dotted key."""
    ours: dict[str, object] = {}
    for key, value in values.items():
        group, _, name = key.rpartition(".")
        if not group:
            ours[name] = value
            continue
        members = ours.setdefault(group, {})
        assert isinstance(members, dict)
        members[name] = value
    return json.dumps({"mcpServers": {"x": {"command": "x"}}, "mcpguard": ours})
