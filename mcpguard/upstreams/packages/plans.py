"""How each kind of package is installed: the command, and what it has to see.

Rules kept here:
1. No script of a package runs and nothing is built: what runs at an installation is npm or uv, and nothing else. What a
   package needs comes from a registry too, and not from an address that it names.
2. Nothing that is configured elsewhere takes part: no file of a project, an account or the system.
3. Nothing is compiled or written that two installations of the same packages could have in different ways.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from anyio import to_thread

from mcpguard.upstreams.packages import npmrc, sources, tools
from mcpguard.upstreams.packages.package import Ecosystem, Package
from mcpguard.upstreams.packages.sources import Origin
from mcpguard.upstreams.packages.tools import Search
from mcpguard.upstreams.sandbox.command_files import needed
from mcpguard.upstreams.sandbox.places import Bind, Place, in_system
from mcpguard.upstreams.sandbox.wrapping import OUR_PATH

OF_NPM: Final = (
    *("--ignore-scripts", "--omit=dev", "--install-strategy=hoisted", "--install-links", "--git=/nonexistent"),
    *("--no-audit", "--no-fund", "--no-save", "--no-package-lock", "--no-update-notifier", "--no-progress"),
    *("--globalconfig=/nonexistent/global", "--userconfig=/nonexistent/user", "--loglevel=error", "--logs-max=0"),
    *("--allow-git=none", "--allow-remote=none", "--allow-file=none", "--allow-directory=none"),
    *("--fetch-retries=1", "--fetch-retry-mintimeout=1000"),
)
OF_UV: Final = (
    *("--only-binary=:all:", "--no-sources", "--no-config", "--no-python-downloads"),
    *(
        "--no-compile-bytecode",
        "--keyring-provider=disabled",
        "--link-mode=hardlink",
        "--no-progress",
        "--color=never",
        "--quiet",
    ),
)
TREE: Final = "tree"
CACHE: Final = "cache"


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """`interpreter` is what will run the package, `besides` what the command has to see besides its
    own, `registries` those that nobody but the machine's owner names, wherever they are.
    """

    command: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    interpreter: Path
    besides: tuple[Place, ...]
    registries: frozenset[Origin]


async def planned(package: Package, where: Search, declared: Mapping[str, str], root: Path) -> InstallPlan:
    """`declared` is the server's own environment, `root` the folder to install into as the command sees it."""
    if package.ecosystem is Ecosystem.NPM:
        return await _npm(package, where, declared, root)
    return await _uv(package, where, declared, root)


async def _npm(package: Package, where: Search, declared: Mapping[str, str], root: Path) -> InstallPlan:
    node = await tools.node(where)

    def plan() -> InstallPlan:
        npm = tools.npm(where, node)
        scope = package.name.partition("/")[0] if package.name.startswith("@") else None
        configured = npmrc.configured(where.environ, node, scope)
        registry = configured.pop(f"{scope}:registry", None)
        environment = sources.for_npm(where.environ, declared, configured)
        sources.without_secrets({f"{scope}:registry": registry or ""})
        of_scope = [f"--{scope}:registry={registry}"] if registry else []
        places = [f"--cache={root / CACHE}", f"--prefix={root / TREE}"]
        folder = npm.parent.parent
        return InstallPlan(
            str(node),
            (str(npm), "install", *OF_NPM, *places, *of_scope, "--", *package.specifications),
            {**environment, "PATH": f"{node.parent}:{OUR_PATH}"},
            node,
            (*([] if in_system(folder) else [Bind(folder, folder)]), *_certificates(environment)),
            sources.origins([registry or "", *sources.for_npm(where.environ, {}, configured).values()]),
        )

    return await to_thread.run_sync(plan)


async def _uv(package: Package, where: Search, declared: Mapping[str, str], root: Path) -> InstallPlan:
    uv = await to_thread.run_sync(tools.uv, where)
    python = await tools.python(where, package.python)

    def plan() -> InstallPlan:
        environment = sources.for_uv(where.environ, declared)
        sources.no_index_of_uv(environment, where.environ)
        places = [f"--cache-dir={root / CACHE}", f"--target={root / TREE}", f"--python={python}"]
        return InstallPlan(
            str(uv),
            ("pip", "install", *OF_UV, *places, "--", *package.specifications),
            {**environment, "PATH": OUR_PATH},
            python,
            (*needed(python, {"PATH": OUR_PATH}), *_certificates(environment)),
            sources.origins(sources.for_uv(where.environ, {}).values()),
        )

    return await to_thread.run_sync(plan)


def _certificates(environment: Mapping[str, str]) -> list[Bind]:
    """Those that lie elsewhere than where the system has them: files alone, for a folder may be anybody's."""
    files = [path for path in sources.certificates(environment) if path.is_file() and not in_system(path)]
    return [Bind(path, path.resolve()) for path in files]
