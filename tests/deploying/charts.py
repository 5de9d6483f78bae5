"""The Helm chart, as Helm renders it in an environment of its own."""

import json
import subprocess
from pathlib import Path
from typing import Any, Final

from tests.clients.installed import for_charts
from tests.process import ROOT

CHART: Final = ROOT / "docs" / "deploying" / "chart"


def rendered(values: dict[str, Any], name: str = "guard") -> dict[str, Any]:
    """What Helm makes of the chart with these values: `manifests` and `complaints`, or why it is `refused`."""
    script = Path(__file__).parent / "rendering" / "render.py"
    asked = json.dumps({"chart": str(CHART), "values": values, "name": name})
    done = subprocess.run([for_charts(), script], input=asked, capture_output=True, text=True, check=True, timeout=300)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
