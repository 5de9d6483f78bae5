"""The identity of a server: the launch that its declaration specifies, and what was observed when it ran.

Rules kept here:
1. Everything that decides which code runs, with what, and where it is reached is part of the launch identity. The name,
   the label, the timeout and the era are not: they do not affect what runs.
2. References in the environment and in headers are not resolved, so rotating a secret does not change the identity. A
   literal value counts by a keyed digest: a change is detected without revealing the value.
3. The order of arguments matters. The order of variables, headers and mounts does not, nor the case of header names.
4. Fields without a value are part of the identity: a field that is added later would change every identity.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from mcpguard.domain.servers.launches import Mount, Profile, StdioFraming
from mcpguard.domain.servers.upstreams import Transport


class PartKind(StrEnum):
    """The kinds of template parts."""

    ENV = "env"
    FILE = "file"
    LITERAL = "literal"


@dataclass(frozen=True, slots=True)
class TemplatePart:
    """A part of a template: the variable or file that it refers to, or the digest of a literal value."""

    kind: PartKind
    text: str


@dataclass(frozen=True, slots=True)
class GivenVariable:
    """One variable or header, with its template in order."""

    name: str
    parts: tuple[TemplatePart, ...]


@dataclass(frozen=True, slots=True)
class LaunchIdentity:
    """Everything that decides whether a declared server is the one that was approved, or one that was blocked."""

    transport: Transport
    command: str | None = None
    arguments: tuple[str, ...] = ()
    folder: str | None = None
    framing: StdioFraming | None = None
    environment: tuple[GivenVariable, ...] = ()
    url: str | None = None
    headers: tuple[GivenVariable, ...] = ()
    profile: Profile = Profile.NONE
    mounts: tuple[Mount, ...] = ()

    def __post_init__(self) -> None:
        headers = (GivenVariable(each.name.lower(), each.parts) for each in self.headers)
        object.__setattr__(self, "environment", _ordered(self.environment))
        object.__setattr__(self, "headers", _ordered(headers))
        object.__setattr__(self, "mounts", tuple(sorted(self.mounts, key=lambda each: (each.path, each.writable))))


@dataclass(frozen=True, slots=True, eq=False)
class ObservedIdentity:
    """What a server said of itself, unchanged, and what ran. Compare fingerprints: `==` takes 1 and true as equal."""

    server: Mapping[str, Any]
    capabilities: Mapping[str, Any]
    artifact: str | None = None
    """The digest of the program that ran, where it is known."""


_LOADER = """
    LD_* DYLD_* GLIBC_TUNABLES GCONV_PATH LOCPATH
    PATH HOME SHELL IFS BASH_ENV BASHOPTS SHELLOPTS BASH_FUNC_* PROMPT_COMMAND PS4 ZDOTDIR XDG_CONFIG_*
"""
_INTERPRETERS = """
    NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED
    PYTHON* VIRTUAL_ENV PERL5* PERLLIB RUBYOPT RUBYLIB GEM_HOME GEM_PATH PHPRC PHP_INI_SCAN_DIR LUA_INIT* LUA_PATH*
    LUA_CPATH* JAVA_HOME JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS JAVA_OPTS CLASSPATH MAVEN_OPTS GRADLE_OPTS
    DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS DOTNET_ROOT* DOTNET_SHARED_STORE CORECLR_* COR_ENABLE_PROFILING
    COR_PROFILER* GOFLAGS GOTOOLCHAIN GOROOT GOPATH CGO_* RUSTFLAGS RUSTC* ERL_LIBS ERL_FLAGS JULIA_LOAD_PATH R_LIBS*
    R_PROFILE* R_ENVIRON* OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES
"""
_PROGRAMS = """
    EDITOR VISUAL PAGER BROWSER LESSOPEN LESSCLOSE GIT_SSH GIT_SSH_COMMAND GIT_EXEC_PATH GIT_TEMPLATE_DIR
    GIT_ASKPASS SSH_ASKPASS GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_CONFIG*
"""
_REGISTRIES = """
    NPM_CONFIG_* YARN_REGISTRY YARN_NPM_REGISTRY* YARN_RC_FILENAME COREPACK_* BUN_CONFIG_* BUN_INSTALL BUN_OPTIONS
    DENO_DIR NPM_REGISTRY PIP_* UV_INDEX UV_INDEX_URL UV_EXTRA_INDEX_URL UV_DEFAULT_INDEX UV_INDEX_STRATEGY
    UV_FIND_LINKS UV_CONFIG_FILE UV_PYTHON* UV_OVERRIDE UV_CONSTRAINT UV_WITH* UV_TOOL_* UV_INSECURE_HOST
    UV_CACHE_DIR UV_ENV_FILE PIPX_* CONDA_CHANNELS CONDARC POETRY_REPOSITORIES_* GOPROXY GOSUMDB GONOSUMDB GONOSUMCHECK
    GOINSECURE GOPRIVATE GONOPROXY CARGO_HOME CARGO_BUILD_* CARGO_TARGET_* CARGO_SOURCE_* DOCKER_HOST DOCKER_CONFIG
"""
_NETWORK = """
    *_PROXY *_BASE_URL *_API_BASE *_ENDPOINT_URL AWS_ENDPOINT_URL_* *_INDEX_URL *_CA_BUNDLE
    SSL_CERT_FILE SSL_CERT_DIR HOSTALIASES RES_OPTIONS RESOLV_*
"""
_CODE: Final = f"{_LOADER} {_INTERPRETERS} {_PROGRAMS} {_REGISTRIES} {_NETWORK}".split()
_NAMES: Final = frozenset(each for each in _CODE if "*" not in each)
_BEGINNINGS: Final = tuple(each.removesuffix("*") for each in _CODE if each.endswith("*"))
_ENDINGS: Final = tuple(each.removeprefix("*") for each in _CODE if each.startswith("*"))


def is_code(name: str) -> bool:
    """Tell whether a variable of this name decides what code runs or where it connects: a reviewer must see its value.

    Case never matters: some systems ignore it, and on the others programs such as npm and curl do.
    """
    upper = name.upper()
    return upper in _NAMES or upper.startswith(_BEGINNINGS) or upper.endswith(_ENDINGS)


def _ordered(variables: Iterable[GivenVariable]) -> tuple[GivenVariable, ...]:
    return tuple(sorted(variables, key=lambda each: (each.name, [(part.kind, part.text) for part in each.parts])))
