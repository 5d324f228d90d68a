"""`python -m perf [NAME [options]]`: measures everything, or one thing; fails where a bar is missed.

Figures are appended to history.csv.
"""

from __future__ import annotations

import sys
from importlib import import_module

from perf.history import recording

# modules of this folder, each imported only when it is measured: they need other packages
PARTS = (
    "install_size",
    "calls",
    "provider_calls",
    "capacity",
    "servers",
    "stores",
    "startup",
    "replay",
    "scale",
    "growth",
    "parser",
    "measuring",
    "degradation",
    "ingest",
    "embedding",
    "transformers",
    "literature",
    "searches",
    "ten_million",
    "building",
    "reading",
    "audit",
    "desk",
    "live",
    "view",
)


def main() -> None:
    names = sys.argv[1:2] or PARTS
    if names[0] not in PARTS:
        sys.exit(f"there is no part {names[0]!r}; there are {', '.join(PARTS)}")
    missed = []
    for name in names:
        part = import_module(f"perf.{name}")
        print(f"{name}: {part.__doc__}", flush=True)
        with recording(name, sys.argv[2:]):
            if not part.main(sys.argv[2:]):
                missed.append(name)
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
