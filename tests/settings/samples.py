"""Three different valid values for every setting, for laws that hold for all of them."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

WriteFile = Callable[[str], Path]

SAMPLES: Final[Mapping[str, tuple[object, object, object]]] = {
    "listen": ("127.0.0.1:1", "[::1]:2", "localhost:3"),
    "hosts": (["a.example"], ["b.example:8080", "[::1]:80"], []),
    "public_url": ("https://a.example", "https://b.example", "https://c.example"),
    "search.semantic": (True, False, True),
    "registry.enabled": (False, True, False),
    "registry.public": (True, False, True),
    "tls.client_ca": ("/srv/a.pem", "/srv/b.pem", "/srv/c.pem"),
    "proxies": (["10.0.0.5/32"], ["10.0.0.0/8"], ["192.0.2.1/32"]),
    "tls.certificate": ("/srv/a.pem", "/srv/b.pem", "/srv/c.pem"),
    "tls.key": ("/srv/a.pem", "/srv/b.pem", "/srv/c.pem"),
    "data_dir": ("/srv/a", "/srv/b", "/srv/c"),
    "separator": ("__", ".", "::"),
    "merged_instructions": (True, False, True),
    "store.url": ("postgresql://a/a", "postgresql://b/b", "postgresql://c/c"),
    "store.busy_timeout": (0.5, 7, 60),
    "store.readers": (1, 2, 16),
    "store.batch": (1, 2, 4096),
    "audit.checkpoint_records": (1, 2, 1_000_000),
    "audit.checkpoint_seconds": (0.25, 1, 86_400),
    "audit.key_file": ("/srv/a.key", "/srv/b.key", "/srv/c.key"),
    "audit.anchor_file": ("/srv/a.jsonl", "/srv/b.jsonl", "/srv/c.jsonl"),
    "audit.bodies": ("digest", "keep", "digest"),
    "audit.body_bytes": (1024, 5_000, 1_000_000),
    "audit.probe_seconds": (0.1, 2, 30),
    "retention.record_days": (30, 365, 36_500),
    "retention.records": (1, 1000, 10**12),
    "retention.database_bytes": (16_777_216, 20_000_000, 10**12),
    "retention.body_days": (1, 7, 36_500),
    "retention.every_seconds": (1, 2.5, 86_400),
    "log.level": ("debug", "warning", "error"),
    "log.format": ("console", "json", "auto"),
    "limits.body_bytes": (1024, 5_000, 1_000_000),
    "limits.stop_seconds": (1, 2.5, 9),
    "limits.head_seconds": (0.5, 1, 60),
    "limits.connections": (1, 2, 65_536),
    "limits.caller_share": (0.1, 0.5, 1),
    "limits.reserved": (0.05, 0.2, 0.5),
    "limits.sessions": (1, 2, 1_000_000),
    "limits.session_seconds": (1, 2.5, 86_400),
    "limits.depth": (8, 65, 200),
    "limits.values": (1000, 2000, 1_000_000),
    "limits.client_calls": (1, 2, 10_000),
    "limits.subscriptions": (1, 2, 1000),
    "limits.page": (1, 2, 100_000),
    "asking.answer_seconds": (1, 2.5, 86_400),
    "asking.per_call": (1, 2, 1000),
    "asking.question_bytes": (1024, 5_000, 1_000_000),
    "asking.waiting": (1, 2, 10_000),
    "arguments.largest": (1024, 5_000, 1_000_000),
    "arguments.deepest": (4, 5, 100),
    "arguments.secrets": ("note", "refuse", "note"),
    "replies.largest": (1024, 5_000, 1_000_000),
    "replies.shown": (1000, 2000, 1_000_000),
    "replies.kept_seconds": (1, 2.5, 86_400),
    "replies.kept": (1000, 2000, 1_000_000),
    "screening.mode": ("off", "refuse", "mask"),
    "screening.resemblance": ("off", "on", "off"),
    "screening.patience_seconds": (0.5, 1, 60),
    "budgets.caller_minute": (0, 1, 10_000_000),
    "budgets.capability_minute": (0, 1, 10_000_000),
    "budgets.at_once": (0, 1, 100_000),
    "holds.calls": (["destructive"], ["any of prod-*", "write of files:move_* by desk"], []),
    "holds.wait_seconds": (0, 2.5, 3600),
    "holds.life_seconds": (1, 2.5, 86_400),
    "holds.allowed_seconds": (1, 2.5, 86_400),
    "holds.per_caller": (1, 2, 1000),
    "code.enabled": (True, False, True),
    "code.wall_seconds": (1, 2.5, 3600),
    "code.engine_seconds": (1, 2.5, 600),
    "code.calls": (1, 2, 10_000),
    "code.parallel": (1, 2, 64),
    "code.memory_bytes": (4_194_304, 5_000_000, 100_000_000),
    "code.at_once": (1, 2, 64),
    "code.per_caller": (1, 2, 64),
    "proxy.enabled": (False, True, False),
    "search.learn": (False, True, False),
    "proxy.name": ("all", "mcp:proxy", "a.b/c"),
    "definitions.max_age": (250, 300.5, 86_400),
    "definitions.min_age": (0, 2.5, 200),
    "definitions.sweep_seconds": (1, 2.5, 86_400),
    "definitions.confirm_seconds": (0.5, 2.5, 600),
    "definitions.versions": (2, 3, 10_000),
    "anonymous.enabled": (True, False, True),
    "anonymous.servers": (["a*"], ["a?", "b"], []),
    "anonymous.tools": (["tool:a*"], ["a", "prompt:*"], []),
    "anonymous.effects": (["write"], ["read", "destructive"], []),
    "authority.shell": ("tighten", "full", "tighten"),
    "authority.tokens": ("full", "tighten", "full"),
    "telemetry.otlp_endpoint": (
        "http://127.0.0.1:4318/v1/traces",
        "https://collector.example/v1/traces",
        "http://[::1]:4318/",
    ),
    "telemetry.sampled": (0.0, 0.25, 1.0),
    "people.idle_seconds": (3600, 60, 86_400),
    "people.session_seconds": (3600, 60, 1_000_000),
    "people.recent_seconds": (300, 60, 3600),
    "sandbox.processes": (8, 300, 65_536),
    "sandbox.memory_bytes": (16_777_216, 20_000_000, 2_000_000_000),
    "sandbox.scratch_bytes": (1_048_576, 2_000_000, 100_000_000),
    "sandbox.file_bytes": (1_048_576, 2_000_000, 300_000_000),
    "sandbox.open_files": (32, 64, 2048),
    "upstreams.connect_seconds": (1, 2.5, 600),
    "upstreams.install_seconds": (1, 2.5, 400),
    "upstreams.probe_seconds": (1, 2.5, 60),
    "upstreams.call_seconds": (1, 2.5, 86_400),
    "upstreams.health_seconds": (1, 2.5, 3600),
    "upstreams.health_timeout": (1, 2.5, 600),
    "upstreams.retry_seconds": (0.5, 2.5, 600),
    "upstreams.retry_most_seconds": (1, 2.5, 3600),
    "upstreams.settle_seconds": (0, 2.5, 60),
    "upstreams.concurrency": (1, 2, 1024),
    "upstreams.queue": (0, 2, 65_536),
    "upstreams.message_bytes": (1024, 5_000, 1_000_000),
    "upstreams.list_pages": (1, 2, 10_000),
    "upstreams.list_entries": (1, 2, 100_000),
    "upstreams.log_bytes": (4096, 5_000, 1_000_000),
    "upstreams.networks": (["127.0.0.0/8"], ["10.0.0.0/8", "fd00::/8"], []),
    "upstreams.secret_folders": (["/run/secrets"], ["/a", "/b"], []),
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
