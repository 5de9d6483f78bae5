"""Plans how each kind of package is installed: the command, and the files that the command has to see.

Rules kept here:
1. No script of a package runs and nothing is built: only npm or uv itself runs. Dependencies come from a registry too,
   never from a URL that a package names.
2. No other configuration is read: none of a project, an account or the system.
3. Nothing is compiled or written that could differ between two installations of the same packages.
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
from mcpguard.upstreams.sandbox.bwrap_command import OUR_PATH
from mcpguard.upstreams.sandbox.command_files import needed_places
from mcpguard.upstreams.sandbox.places import Bind, Place, in_system

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
    """The command that installs a package.

    `interpreter` will run the package, `besides` are further files that the command has to see, and `registries` may be
    reached at any address, because the host's owner named them.
    """

    command: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    interpreter: Path
    besides: tuple[Place, ...]
    registries: frozenset[Origin]


async def plan_install(package: Package, where: Search, declared: Mapping[str, str], root: Path) -> InstallPlan:
    """Return the plan. `declared` is the server's environment, `root` the target folder as the command sees it."""
    if package.ecosystem is Ecosystem.NPM:
        return await _npm(package, where, declared, root)
    return await _uv(package, where, declared, root)


async def _npm(package: Package, where: Search, declared: Mapping[str, str], root: Path) -> InstallPlan:
    # Asked first and outside of the sandbox, but only a program on the guard's own PATH (`tools`).
    node = await tools.node(where)

    def plan() -> InstallPlan:
        npm = tools.npm(where, node)
        scope = package.name.partition("/")[0] if package.name.startswith("@") else None
        configured = npmrc.npm_settings(where.environ, node, scope)
        registry = configured.pop(f"{scope}:registry", None)
        environment = sources.for_npm(where.environ, declared, configured)
        sources.check_no_secrets({f"{scope}:registry": registry or ""})
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
        sources.check_no_uv_index(environment, where.environ)
        places = [f"--cache-dir={root / CACHE}", f"--target={root / TREE}", f"--python={python}"]
        return InstallPlan(
            str(uv),
            ("pip", "install", *OF_UV, *places, "--", *package.specifications),
            {**environment, "PATH": OUR_PATH},
            python,
            (*needed_places(python, {"PATH": OUR_PATH}), *_certificates(environment)),
            sources.origins(sources.for_uv(where.environ, {}).values()),
        )

    return await to_thread.run_sync(plan)


def _certificates(environment: Mapping[str, str]) -> list[Bind]:
    """Return the certificate files outside the system's folders. Only files: a folder could be anybody's."""
    files = [path for path in sources.certificates(environment) if path.is_file() and not in_system(path)]
    return [Bind(path, path.resolve()) for path in files]
