"""CPU until `wardround --help` has printed, of `import wardround`, and until the first ask of a large study arrives.

Every round starts a new process.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from perf.bars import bar, figure, versions
from perf.null_server import null_server, received
from perf.workload import SMALL, write_cases, write_study

HELP = ("-c", "import sys; from wardround.cli.main import main; sys.argv = ['wardround', '--help']; main()")
IMPORT = ("-c", "import wardround")
COMMAND = "import sys; from wardround.cli.main import main; sys.argv = ['wardround', *sys.argv[1:]]; main()"
IMAGES = 200  # of the large study
SECONDS_BETWEEN_LOOKS = 0.02


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf startup")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--cases", type=int, default=25_000, help="of the study whose first ask is waited for")
    parser.add_argument("--starts", type=int, default=3, help="of that study, each with an empty store")
    options = parser.parse_args(arguments)
    print(f"  {versions('wardround', 'typer')}")
    helps, imports = ([_cpu(code) for _ in range(options.rounds)] for code in (HELP, IMPORT))
    with tempfile.TemporaryDirectory() as folder, null_server() as url:
        write_cases(Path(folder) / "cases", options.cases, 1, images=IMAGES, side=SMALL)
        study = write_study(Path(folder) / "cases", url, concurrency=64)
        starts = [_first_ask(study, Path(folder) / f"start-{number}", url) for number in range(options.starts)]
    figure(f"seconds of time to the first ask of {options.cases:,} cases", [seconds for _, seconds in starts])
    return all(
        [
            bar("seconds of CPU of wardround --help", helps, at_most=0.25),
            bar("seconds of CPU of import wardround", imports, at_most=0.15),
            bar(f"seconds of CPU to the first ask of {options.cases:,} cases", [cpu for cpu, _ in starts], at_most=2),
        ]
    )


def _first_ask(study: Path, workspace: Path, url: str) -> tuple[float, float]:
    """CPU and time from the start of `wardround run` until the server has the first request; then it is ended."""
    before, _ = received(url)
    command = [sys.executable, "-c", COMMAND, "run", str(study), "--runs", str(workspace / "runs")]
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        while received(url)[0] == before:
            if program.poll() is not None:
                raise SystemExit(f"the study ended with exit code {program.returncode} before its first ask")
            time.sleep(SECONDS_BETWEEN_LOOKS)
        seconds, cpu = time.perf_counter() - started, _cpu_of(program.pid)
        program.kill()
    return cpu, seconds


def _cpu_of(process: int) -> float:
    """User and system time so far of a process that runs."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _cpu(code: tuple[str, ...]) -> float:
    """User and system time of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *code], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
