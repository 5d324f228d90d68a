"""CPU until `wardround --help` has printed, and of `import wardround`; every round starts a new process."""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys

from perf.bars import bar, versions

HELP = ("-c", "import sys; from wardround.cli.main import main; sys.argv = ['wardround', '--help']; main()")
IMPORT = ("-c", "import wardround")


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf startup")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(arguments)
    print(f"  {versions('wardround', 'typer')}")
    helps, imports = ([_cpu(code) for _ in range(options.rounds)] for code in (HELP, IMPORT))
    return all(
        [
            bar("seconds of CPU of wardround --help", helps, at_most=0.25),
            bar("seconds of CPU of import wardround", imports, at_most=0.15),
        ]
    )


def _cpu(code: tuple[str, ...]) -> float:
    """User and system time of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *code], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
