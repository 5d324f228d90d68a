"""CPU per call as in `calls`, of studies with `anthropic`, `gemini` and `openai:responses` beside one with `openai`."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import median

from perf.bars import bar, versions
from perf.calls import CONCURRENCY, IMAGES
from perf.measured import measure
from perf.null_server import null_server
from perf.workload import LARGE, write_cases, write_study

BASE = "openai"
# provider -> the end of its base_url at the null server
PROVIDERS = {BASE: "/v1", "openai:responses": "/v1", "anthropic": "", "gemini": "/v1beta"}


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf provider_calls")
    parser.add_argument("--questions", type=int, default=40, help="asked about each of the images")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    print(f"  {versions('wardround', 'aiohttp', 'orjson')}")
    with tempfile.TemporaryDirectory() as folder, null_server() as url:
        cases = Path(folder) / "cases"
        write_cases(cases, IMAGES, options.questions, images=IMAGES, side=LARGE)
        rounds = [_round(cases, url, number) for number in range(options.rounds)]
    print("  milliseconds of CPU per call (user + system; least of the rounds | median)")
    for provider in PROVIDERS:
        costs = [costs[provider] for costs in rounds]
        print(f"  {provider:18} {min(costs):7.3f} | {median(costs):7.3f}")
    met = []
    for provider in list(PROVIDERS)[1:]:
        ratio = median(costs[provider] / costs[BASE] for costs in rounds)
        met.append(bar(f"{provider} / {BASE}, median round", ratio, at_most=1.3))
    return all(met)


def _round(cases: Path, url: str, number: int) -> dict[str, float]:
    """Milliseconds of CPU per call of every provider, one after the other."""
    costs = {}
    for provider, path in PROVIDERS.items():
        name = provider.replace(":", "-")
        study = write_study(cases, url.removesuffix("/v1") + path, name, provider=provider, concurrency=CONCURRENCY)
        usage = measure("perf.peers.study", study, cases.parent / f"{name}-{number}", url=url)
        costs[provider] = 1000 * (usage["own"] + usage["children"]) / usage["calls"]
    return costs
