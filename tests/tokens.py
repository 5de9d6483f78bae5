"""How many tokens texts are, in OpenAI's cl100k_base.

The vocabulary is part of a package that the tests install, so nothing is fetched when tokens are counted.
"""

import json
import subprocess
from collections.abc import Sequence
from typing import Final

from tests.conformance import tools

_SCRIPT: Final = """
const { countTokens } = require("gpt-tokenizer/encoding/cl100k_base");
const plain = { disallowedSpecial: new Set() };
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(texts.map((text) => countTokens(text, plain))));
"""


def counted(texts: Sequence[str]) -> list[int]:
    """Of each text. What looks like a special token is text as well. Raises NotInstalled."""
    command = [str(tools.node()), "-e", _SCRIPT]
    done = subprocess.run(
        command, cwd=tools.installed(), input=json.dumps(texts).encode(), capture_output=True, check=True
    )
    found: list[int] = json.loads(done.stdout)
    return found
