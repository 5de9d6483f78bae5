"""The clients are there in the versions that are promised to have been tried."""

import json
from importlib.metadata import distributions
from pathlib import Path

from tests.clients import installed
from tests.process import ROOT

PROMISED = (ROOT / "docs" / "clients.md").read_text()
HERE = Path(installed.__file__).parent


def test_the_documentation_names_each_with_its_version() -> None:
    wanted: dict[str, str] = json.loads((HERE / "npm" / "package.json").read_text())["dependencies"]
    for name, source in wanted.items():
        package, _, version = source.removeprefix("npm:").rpartition("@")
        manifest = installed.for_node() / "node_modules" / name / "package.json"
        assert json.loads(manifest.read_text())["version"] == version
        assert (package in PROMISED, version in PROMISED) == (True, True), source
    for each in sorted((HERE / "python").glob("*.in")):
        package, _, version = each.read_text().split()[0].partition("==")
        (packages,) = installed.for_python(each.stem).parents[1].glob("lib/python*/site-packages")
        assert version in {found.version for found in distributions(name=package, path=[str(packages)])}
        assert version in PROMISED, each


def test_the_lock_file_names_no_registry() -> None:
    assert '"resolved"' not in (HERE / "npm" / "package-lock.json").read_text()
