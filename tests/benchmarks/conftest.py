"""Lets the tests of this folder import the oracles, which know nothing of what they check."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))
