"""Small runs of a lab for the tests of the leaderboard: simulated candidates whose order is planted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from exam_study import wardround
from exported_exam import png

from wardround.cases.set import write_case_set
from wardround.core.case import Case

SECRET = "Patient-of-the-secret-history"
HOSTILE = ("<script>alert(1)</script>", "../x", "模型 β \u202e\u0007", "n" * 60)


def lab_cases(folder: Path, count: int = 24) -> Path:
    """Cases with an image each, of two specialties and modalities; histories hold a text that no page may show."""
    (folder / "images").mkdir(parents=True)
    cases = []
    for number in range(count):
        (folder / f"images/{number}.png").write_bytes(png(5 * number))
        question = {"id": "mcq", "kind": "choice", "prompt": "Which one?", "gold": number % 4}
        question["options"] = [f"disease {number}{letter}" for letter in "abcd"]
        cases.append(
            {
                "id": f"case-{number}",
                "specialty": ("neuro", "chest")[number % 2],
                "history": f"{SECRET} {number}",
                "images": [{"path": f"images/{number}.png", "modality": ("CT", "MR")[number // 2 % 2]}],
                "questions": [question],
            }
        )
    write_case_set(map(Case.model_validate, cases), folder)
    return folder


def candidate(name: str, accuracy: float, **fields: Any) -> str:
    """A simulated candidate of a study file."""
    lines = ["[[candidates]]", f"name = {json.dumps(name, ensure_ascii=False)}", 'provider = "simulated"']
    lines += [f"{key} = {json.dumps(value)}" for key, value in fields.items()]
    return "\n".join([*lines, f"extra_body = {{ accuracy = {accuracy} }}", ""])


def make_lab_run(lab: Path, name: str, *candidates: str, cases: str = "cases", top: str = "", more: str = "") -> Path:
    """Runs a study of these candidates; its run is `lab/runs/NAME`."""
    study = f'name = "{name}"\ncases = "{cases}"\n{top}\n' + "\n".join(candidates) + more
    (lab / f"{name}.toml").write_text(study, encoding="utf-8")
    result = wardround("run", f"{name}.toml", cwd=lab)
    assert result.returncode == 0, result.stderr
    return lab / "runs" / name


def make_lab(lab: Path) -> Path:
    """Two comparable runs, one in another condition, and one with hostile names on another case set."""
    lab_cases(lab / "cases")
    lab_cases(lab / "few", 8)
    axes = '[conditions]\nimages = ["as-is", "swapped"]\n'
    best, worst = candidate("best", 1.0, group="open"), candidate("worst", 0.0, group="closed")
    make_lab_run(lab, "alpha", best, worst, candidate("reads only", 0.5, sees=False), more=axes)
    make_lab_run(lab, "beta", best, candidate("middle", 0.5, revision="2"))
    make_lab_run(lab, "gamma", candidate("best", 0.9), top="trials = 2", more='[conditions]\nimages = "blank"\n')
    make_lab_run(lab, "odd", *(candidate(text, 0.2 + 0.2 * place) for place, text in enumerate(HOSTILE)), cases="few")
    return lab / "runs"
