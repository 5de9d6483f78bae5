"""The compose file, held against the published schema, and what it opens.

`compose-spec.json` is of github.com/compose-spec/compose-spec, schema/compose-spec.json at
170098ba07d9f53c383a41bfd4c5166b0a4529a6, under the Apache License 2.0.
"""

import json
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]
from jsonschema_rs import validator_for

from mcpguard.settings.environment import environment
from tests.process import ROOT

FILE = ROOT / "compose.yaml"
SPECIFICATION = Path(__file__).parent / "compose-spec.json"


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(FILE.read_text())
    return found


def test_it_is_what_the_specification_says() -> None:
    validator_for(json.loads(SPECIFICATION.read_text())).validate(compose())


def test_only_the_proxy_is_reached_from_outside() -> None:
    services = compose()["services"]
    assert {name for name, each in services.items() if "ports" in each} == {"caddy"}
    assert not [name for name, each in services.items() if each.get("privileged") or each.get("network_mode")]
    assert not [each for each in services.values() for volume in each["volumes"] if volume.startswith(("/", "."))]
    for name in ("guard", "caddy"):
        assert services[name]["cap_drop"] == ["ALL"]
        assert services[name]["read_only"] is True
        assert services[name]["security_opt"] == ["no-new-privileges:true"]


def test_the_proxy_that_is_believed_is_the_one_there_is() -> None:
    found = compose()
    services, networks = found["services"], found["networks"]
    caddy, guard = (ip_address(services[name]["networks"]["inside"]["ipv4_address"]) for name in ("caddy", "guard"))
    inside = ip_network(networks["inside"]["ipam"]["config"][0]["subnet"])
    assert services["guard"]["environment"]["MCPGUARD_PROXIES"] == f"{caddy}/32"
    assert {caddy, guard} < {*inside}
    assert f"reverse_proxy {guard}:8080" in found["configs"]["caddyfile"]["content"]


def test_no_secret_stands_in_it() -> None:
    found = compose()
    every = [each.get("environment", {}) for each in found["services"].values()]
    environ = {name: str(value) for each in every for name, value in each.items()}
    assert not [name for name, value in environ.items() if "PASSWORD" in name.upper() and not value.startswith("/run/")]
    assert all(each["file"].startswith("./secrets/") for each in found["secrets"].values())
    ignored = {line.strip() for line in (ROOT / ".gitignore").read_text().splitlines()}
    assert "/secrets/" in ignored, "nobody commits them"


def test_the_guard_understands_its_environment() -> None:
    environ = {name: str(value) for name, value in compose()["services"]["guard"]["environment"].items()}
    environ.pop("MCPGUARD_STORE__URL_FILE")
    layer = environment(
        {name: value.replace("${GUARD_NAME:-localhost}", "guard.example") for name, value in environ.items()}
    )
    assert not layer.problems
