"""Speed and memory, each printed as a ratio against a peer measured in the same run."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "tests"))  # for its server; `tests` may be somebody else's package
