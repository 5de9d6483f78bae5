"""`python -m tests.browser.fleet NAME FILE`: one of the servers, on its standard streams."""

import sys
from pathlib import Path

from mcpguard.demo.stdio import serve
from tests.browser.fleet.offers import Kept

serve(Kept(sys.argv[1], Path(sys.argv[2])))
