"""`python -m perf [NAME [options]]`: measures everything, or one thing; fails where a bar is missed.

Figures are appended to history.csv.
"""

from __future__ import annotations

import sys
from importlib import import_module

from perf.history import recording

# modules of this folder with their options, each imported only when it is measured: they need other packages
PARTS = (
    "install_size",
    "calls",
    "calls --once",
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
    parts = [sys.argv[1:]] if sys.argv[1:] else [part.split() for part in PARTS]
    if parts[0][0] not in PARTS:
        sys.exit(f"there is no part {parts[0][0]!r}; there are {', '.join(PARTS)}")
    missed = []
    for name, *options in parts:
        part = import_module(f"perf.{name}")
        print(f"{name}: {part.__doc__}", flush=True)
        with recording(name, options):
            if not part.main(options):
                missed.append(" ".join([name, *options]))
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
