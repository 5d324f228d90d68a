"""`python -m perf [NAME [options]]`: measures everything, or one thing; fails where a bar is missed."""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec

PARTS = ("install_size", "calls", "capacity", "replay", "scale")


def main() -> None:
    names = sys.argv[1:2] or [name for name in PARTS if find_spec(f"perf.{name}")]
    missed = []
    for name in names:
        if name not in PARTS:
            sys.exit(f"there is no part {name!r}; there are {', '.join(PARTS)}")
        part = importlib.import_module(f"perf.{name}")
        print(f"{name}: {(part.__doc__ or '').splitlines()[0]}", flush=True)
        if not part.main(sys.argv[2:]):
            missed.append(name)
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
