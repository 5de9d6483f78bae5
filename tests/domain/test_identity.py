"""Which variables are code, and what an identity does not look at: the order of what has none."""

from itertools import permutations

import pytest

from mcpguard.domain.servers.identity import GivenVariable, LaunchIdentity, PartKind, TemplatePart, is_code
from mcpguard.domain.servers.launches import Mount
from mcpguard.domain.servers.upstreams import Transport

CODE = {
    "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS", "NODE_PATH",
    "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PATH", "npm_config_registry", "NPM_CONFIG_REGISTRY",
    "npm_config_script_shell", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "no_proxy", "OPENAI_BASE_URL",
    "ANTHROPIC_BASE_URL", "PIP_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "BASH_ENV", "GIT_SSH_COMMAND",
    "JAVA_TOOL_OPTIONS", "RUBYOPT", "PERL5LIB", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "Path", "Ld_Preload",
    "pythonpath",
}  # fmt: skip
NOT_CODE = {
    "GITHUB_TOKEN", "API_KEY", "OLD_PATH", "PATHS", "MY_LD_PRELOAD", "NODE_ENV", "LOG_LEVEL", "LANG", "TZ",
    "PROXY_USER", "BASE_URL_PATTERN", "UV_PUBLISH_TOKEN", "CARGO_REGISTRY_TOKEN", "GIT_TOKEN", "APIPROXY",
    "DATABASE_URL",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CODE))
def test_what_decides_which_code_runs_is_code(name: str) -> None:
    assert is_code(name)


@pytest.mark.parametrize("name", sorted(NOT_CODE))
def test_what_may_well_be_a_secret_is_not(name: str) -> None:
    assert not is_code(name)


def test_where_there_is_no_order_none_is_seen() -> None:
    given = [GivenVariable(name, (TemplatePart(PartKind.ENV, name),)) for name in ("B", "A", "C")]
    mounts = [Mount("/b"), Mount("/a", writable=True), Mount("/a")]
    made = {
        LaunchIdentity(Transport.STDIO, "run", environment=entries, headers=entries, mounts=folders)
        for entries in permutations(given)
        for folders in permutations(mounts)
    }
    assert len(made) == 1


def test_names_of_headers_have_no_case_and_names_of_variables_have() -> None:
    small, large = (GivenVariable("token", ()),), (GivenVariable("TOKEN", ()),)
    assert LaunchIdentity(Transport.HTTP, headers=small) == LaunchIdentity(Transport.HTTP, headers=large)
    assert LaunchIdentity(Transport.STDIO, environment=small) != LaunchIdentity(Transport.STDIO, environment=large)


def test_the_order_of_arguments_is_seen() -> None:
    assert LaunchIdentity(Transport.STDIO, "a", ("b", "c")) != LaunchIdentity(Transport.STDIO, "a", ("c", "b"))
