"""Renders a chart with Helm's own engine, and holds each manifest against the schemas of Kubernetes.

Reads `{"chart", "values", "name"}` as JSON and writes `{"manifests", "complaints"}`, or `{"refused"}`.
"""

import json
import sys

import kubernetes_validate
import yaml
from helm_python.chart import Chart, lint
from helm_python.errors import HelmError

VERSIONS = ("1.28", "1.33")
wanted = json.load(sys.stdin)
try:
    chart = Chart.load(wanted["chart"])
    chart.validate_schema(wanted["values"])
    rendered = chart.render(wanted["values"], name=wanted["name"], namespace="mcp")
except HelmError as error:
    print(json.dumps({"refused": str(error)}))
    sys.exit()

found = lint(wanted["chart"], wanted["values"], strict=True)
complaints = [each["error"] for each in found["messages"] if each["severity"] > 1] + found["errors"]
manifests = []
for text in rendered.values():
    for manifest in yaml.safe_load_all(text) if "apiVersion" in text else ():
        if manifest is None:
            continue
        manifests.append(manifest)
        for version in VERSIONS:
            try:
                kubernetes_validate.validate(manifest, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                complaints.append(f"{manifest['kind']}, {version}: {error.message}")
print(json.dumps({"manifests": manifests, "complaints": complaints}))
