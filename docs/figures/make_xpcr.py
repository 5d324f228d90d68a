"""Draws X-PCR's figures from simulated respondents: `python docs/figures/make_xpcr.py [STUDY...]` writes xpcr-*.png.

The eyes are those of the tests: chains in the words of the schema with small grey images, and a table of invented
patients for the statistics.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

HERE = Path(__file__).parent
TESTS = HERE.parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "benchmarks"), str(TESTS / "building")]

from eye_table import EYES, eye_table  # noqa: E402
from xpcr_eyes import eyes  # noqa: E402

from wardround.benchmarks.engine.bench import bench  # noqa: E402
from wardround.building.review.review import review  # noqa: E402
from wardround.building.sources.ophthalmic.build import build_ophthalmic  # noqa: E402

MAX_WIDTH, MAX_COLOURS = 1200, 200
FIGURES = {
    "statistics": "statistics",
    "stages": "figure",
    "difficulty": "figure",
    "calibration": "reliability",
    "propagation": "flow",
    "cross": "modality-drops",
    "ablation": "contributions",
}
GROUPS = (("CFP", "OCT"), ("CFP", "OCT", "FFA"), ("CFP", "OCT", "FFA", "ICGA"), ("CFP",))
LOST = {"IQA": 0.0, "AL": 0.06, "LC": 0.1, "DD": 0.13, "SG": 0.28, "CD": 0.33}  # accuracy, by stage


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    for study in sys.argv[1:] or FIGURES:
        cases = make_set(study, folder)
        result = bench(
            f"xpcr/{study}", cases=cases, candidates=respondents(study), runs=folder / "runs", note=lambda text: None
        )
        (file,) = [file for file in result.files if file.name == f"{FIGURES[study]}.png"]
        write_small(file, HERE / f"xpcr-{study}.png")
    shutil.rmtree(folder)


def make_set(study: str, folder: Path) -> Path:
    """Eyes with up to four modalities; for the statistics, a built set whose decisions somebody kept."""
    if study == "statistics":
        build_ophthalmic(eye_table(folder / "clinic", patients=3 * len(EYES)), folder / "built")
        return keep_decisions(folder / "built", folder / "reviewed")
    shows_all = study == "ablation"  # else a chain shows one image
    target = folder / ("all" if shows_all else "one")
    groups = GROUPS[:3] if shows_all else GROUPS
    return target if target.exists() else eyes(target, 160, groups=groups, tasks=True, one_image=not shows_all)


def keep_decisions(built: Path, target: Path) -> Path:
    """The set with its drafts of stage CD."""
    verdicts, count = [], dict[str, int]()
    for line in (built / "review" / "decisions.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)["id"]
        count[case] = count.get(case, 0) + 1
        item = f"decisions/{case}" + (f"#{count[case]}" if count[case] > 1 else "")
        verdict = {"item": item, "reviewer": "Ann", "level": "physician", "verdict": "keep"}
        verdicts.append(json.dumps(verdict | {"time": "2026-03-01T14:05:00Z"}))
    file = built.parent / "verdicts.jsonl"
    file.write_text("\n".join(verdicts), encoding="utf-8")
    review(built, [file], target, share=0)
    return target


def respondents(study: str) -> list[dict[str, Any]]:
    if study == "statistics":
        return []
    if study == "difficulty":
        lost = {"A": (0.9, 0.05, 0.2), "B": (0.8, 0.04, 0.22), "C": (0.66, 0.1, 0.18)}
        return [
            respondent(
                name,
                [
                    {"when": {"grade": grade}, "accuracy": round(best - change, 2)}
                    for grade, change in zip("RAS", (0.0, *changes), strict=True)
                ],
            )
            for name, (best, *changes) in lost.items()
        ]
    if study == "ablation":
        without = {"A": {"CFP": 0.62, "OCT": 0.55, "FFA": 0.74}, "B": {"OCT": 0.76, "CFP": 0.6}}
        return [
            respondent(
                name,
                [{"when": {"without": modality}, "accuracy": accuracy} for modality, accuracy in values.items()],
                accuracy={"A": 0.8, "B": 0.66}[name],
            )
            for name, values in without.items()
        ]
    planted = [
        stage_respondent("A", 0.96, 0.95, after_wrong=0.45),
        stage_respondent("B", 0.9, 0.85, several=0.1),
        stage_respondent("C", 0.8, 0.97, honesty=0.2, several=0.15, after_wrong=0.3),
        stage_respondent("D", 0.62, 0.6),
    ]
    return planted[:3] if study == "propagation" else planted


def stage_respondent(
    name: str, best: float, confidence: float, *, honesty: float = 1.0, several: float = 0.0, **more: float
) -> dict[str, Any]:
    """Accuracy falls along the chain, and confidence with it as far as the respondent is honest."""
    by: list[dict[str, Any]] = [
        {
            "when": {"stage": stage},
            "accuracy": round(best - lost, 3),
            "confidence": round(confidence - honesty * lost, 2),
        }
        for stage, lost in LOST.items()
    ]
    tasks = ("correspondence", "integration", "selection")
    by += [{"when": {"task": task}, "accuracy": round(best - 0.2 - several, 3)} for task in tasks]
    return respondent(name, by, accuracy=best, confidence=confidence, **more)


def respondent(name: str, by: list[dict[str, Any]], **truth: float) -> dict[str, Any]:
    extra_body = {"seed": ord(name), "by": by, **truth}
    return {"name": f"simulated {name}", "provider": "simulated", "extra_body": extra_body}


def write_small(source: Path, target: Path) -> None:
    """The picture at most MAX_WIDTH wide, with few colours that stay apart."""
    picture = Image.open(source).convert("RGB")
    if picture.width > MAX_WIDTH:
        size = MAX_WIDTH, round(picture.height * MAX_WIDTH / picture.width)
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    few = picture.quantize(MAX_COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(target, optimize=True)


if __name__ == "__main__":
    main()
