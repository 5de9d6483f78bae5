"""The Helm chart: rendered by Helm's own engine, held against the schemas of Kubernetes, its configuration started."""

import json
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mcpguard import __version__
from tests.app.certificates import pair
from tests.benchmarks.gateway.processes import free_port
from tests.deploying.charts import CHART, rendered
from tests.patience import PATIENCE
from tests.process import run, serving

IMAGE = {"repository": "registry.example/mcpguard"}
OWN_TLS: dict[str, Any] = {"image": IMAGE, "tls": {"secretName": "guard-tls"}, "hosts": ["guard.example"]}
BEHIND: dict[str, Any] = {"image": IMAGE, "proxies": ["10.244.3.0/24"], "hosts": ["https://guard.example"]}
EVERYTHING: dict[str, Any] = {
    **OWN_TLS,
    "image": {**IMAGE, "digest": f"sha256:{'0' * 64}", "pullSecrets": [{"name": "registry"}]},
    "tls": {"secretName": "guard-tls", "clientCaSecretName": "agents"},
    "publicUrl": "https://guard.example",
    "config": {"holds": {"calls": ["destructive"]}, "listen": "0.0.0.0:1"},
    "database": {"secretName": "db", "key": "uri"},
    "serverSecrets": "tokens",
    "persistence": {"storageClass": "fast", "size": "50Gi"},
    "ingress": {"enabled": True, "host": "guard.example", "className": "nginx", "tlsSecretName": "web"},
    "networkPolicy": {"from": [{"namespaceSelector": {"matchLabels": {"a": "b"}}}]},
    "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"key": "a", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
}
WAYS = pytest.mark.parametrize("values", [OWN_TLS, BEHIND, EVERYTHING], ids=["own TLS", "behind a proxy", "everything"])


def manifest(values: dict[str, Any], kind: str) -> dict[str, Any]:
    answer = rendered(values)
    found: list[dict[str, Any]] = [each for each in answer["manifests"] if each["kind"] == kind]
    assert len(found) == 1, answer
    return found[0]


@WAYS
def test_helm_and_kubernetes_take_it(values: dict[str, Any]) -> None:
    answer = rendered(values)
    assert answer["complaints"] == []
    kinds = {each["kind"] for each in answer["manifests"]}
    assert {"Deployment", "Service", "ConfigMap", "PersistentVolumeClaim", "NetworkPolicy"} <= kinds
    assert ("Ingress" in kinds) is ("ingress" in values)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"image": IMAGE}, "set tls.secretName"),
        ({"image": IMAGE, "proxies": ["10.0.0.5/32"], "tls": {"clientCaSecretName": "a"}}, "needs tls.secretName"),
        ({"tls": {"secretName": "guard-tls"}}, "repository"),
        (OWN_TLS | {"replicas": 2}, "replicas"),
        (OWN_TLS | {"publicUrl": "guard.example/x"}, "publicUrl"),
        (OWN_TLS | {"ingress": {"enabled": True}}, "ingress.host is needed"),
    ],
)
def test_what_would_be_unsafe_or_is_misspelt_is_refused(values: dict[str, Any], sentence: str) -> None:
    assert sentence in rendered(values)["refused"]


@WAYS
def test_the_pod_has_no_right_that_it_does_not_need(values: dict[str, Any]) -> None:
    deployment = manifest(values, "Deployment")["spec"]
    assert (deployment["replicas"], deployment["strategy"]) == (1, {"type": "Recreate"})
    pod = deployment["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    writable = {each["mountPath"] for each in container["volumeMounts"] if not each.get("readOnly")}
    assert writable == {"/data", "/tmp"}  # noqa: S108 - of the pod
    secrets = [each["secret"] for each in pod["volumes"] if "secret" in each]
    assert all(each["defaultMode"] == 0o440 for each in secrets), "a key that everyone may read is refused"


def test_the_chart_is_of_this_version() -> None:
    text = (CHART / "Chart.yaml").read_text()
    assert re.findall(r'^appVersion: "(.*)"$', text, re.MULTILINE) == [__version__]


@pytest.fixture
def run_secrets(tmp_path: Path) -> Path:
    """The secrets of a pod, as Kubernetes mounts them: links into a folder that is exchanged as a whole."""
    made = pair(tmp_path / "made")
    place = tmp_path / "secrets" / "mcpguard-tls"
    (place / "..now").mkdir(parents=True)
    for name, file in (("tls.crt", made.certificate), ("tls.key", made.key)):
        (place / "..now" / name).write_bytes(file.read_bytes())
        (place / "..now" / name).chmod(0o440)
        (place / name).symlink_to(Path("..data") / name)
    (place / "..data").symlink_to("..now")
    return tmp_path / "secrets"


@pytest.mark.parametrize("values", [OWN_TLS, BEHIND], ids=["own TLS", "behind a proxy"])
def test_a_guard_starts_with_its_configuration_and_answers_the_probes(
    values: dict[str, Any], tmp_path: Path, run_secrets: Path
) -> None:
    said = manifest(values, "ConfigMap")["data"]["config.json"].replace("/run/secrets", str(run_secrets))
    port, config = json.loads(said)["mcpguard"]["listen"].partition(":")[2], tmp_path / "config.json"
    config.write_text(said)
    assert run("config", "check", str(config)).returncode == 0
    (container,) = manifest(values, "Deployment")["spec"]["template"]["spec"]["containers"]
    environ = {each["name"]: each["value"] for each in container["env"]}
    assert environ == {"MCPGUARD_DATA_DIR": "/data"}
    free = free_port()
    with serving(tmp_path / "data", "--config", str(config), listen=f"0.0.0.0:{free}"):
        for name in ("startupProbe", "livenessProbe", "readinessProbe"):
            probe = container[name]["httpGet"]
            host = {each["name"]: each["value"] for each in probe["httpHeaders"]}
            assert host == {"Host": f"localhost:{port}"}
            url = f"{probe['scheme'].lower()}://127.0.0.1:{free}{probe['path']}"
            answer = httpx2.get(
                url,
                headers={"host": f"localhost:{free}"},
                verify=False,
                trust_env=False,
                timeout=PATIENCE,
            )
            assert answer.status_code == 200, answer.text
