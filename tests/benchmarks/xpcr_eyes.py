"""Eyes in the shape of X-PCR: chains in the words of our schema, groups of modalities, tasks across them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench_cases import write
from PIL import Image

from wardround.building.sources.ophthalmic.schema import EyeSchema, read_tables

STAGES = ("IQA", "AL", "LC", "DD", "SG", "CD")
GIVEN = {"iqa": [], "al": ["iqa"], "lc": ["al"], "dd": ["lc"], "sg": ["dd"], "cd": ["dd", "sg"]}
DISEASES = (
    "diabetic retinopathy",
    "hypertensive retinopathy",
    "age-related macular degeneration",
    "central serous chorioretinopathy",
)
GROUPS = (("CFP", "OCT"), ("CFP", "OCT", "FFA"), ("CFP",))
TASKS = ("correspondence", "integration", "selection")


def eyes(
    folder: Path,
    many: int,
    groups: tuple[tuple[str, ...], ...] = GROUPS,
    tasks: bool = False,
    one_image: bool = False,
) -> Path:
    """A chain each; with `tasks` a question of each task where the eye has several modalities.

    With `one_image` a chain shows the first image alone, as chains of `build ophthalmic` do.
    """
    tables = read_tables()
    cases = [eye(number, groups[number % len(groups)], tables.schema_, tasks) for number in range(many)]
    for case in cases if one_image else []:
        for question in case["questions"]:
            question |= {"images": [0]} if "stage" in question else {}
    write(folder, cases)
    for modality in {modality for group in groups for modality in group}:
        Image.new("L", (8, 8), 20 * len(modality)).save(folder / f"{modality}.png")
    (folder / "schema.toml").write_text(tables.text["schema"], encoding="utf-8")
    return folder


def eye(number: int, modalities: tuple[str, ...], schema: EyeSchema, tasks: bool) -> dict[str, Any]:
    name = DISEASES[number % len(DISEASES)]
    grades, management = schema.diseases[name].grades, schema.diseases[name].management
    grade = list(grades)[number % len(grades)]
    others = [text for other in DISEASES for text in next(iter(schema.diseases[other].management.values()))]
    wrong = [text for text in dict.fromkeys(others) if text not in management[grade]][:3]
    options = {
        "IQA": ["gradable", "blurred", "dark", "bright"],
        "AL": ["macula", "optic disc", "arcades", "periphery"],
        "LC": ["drusen", "exudates", "haemorrhages", "fluid"],
        "DD": list(DISEASES),
        "SG": list(grades.values()),
        "CD": [*management[grade], *wrong],
    }
    gold = {"DD": options["DD"].index(name), "SG": list(grades).index(grade), "CD": 0}
    questions = [
        {
            "id": stage.lower(),
            "kind": "choice",
            "stage": stage,
            "chain": "c1",
            "given": GIVEN[stage.lower()],
            "prompt": f"{stage} of eye {number}?",
            "options": options[stage],
            "gold": gold.get(stage, number % 4),
            "grade": "RAS"[(number + place) % 3],
            "importance": 1.0,
        }
        for place, stage in enumerate(STAGES)
    ]
    if tasks and len(modalities) > 1:
        questions += [
            {
                "id": task,
                "kind": "choice",
                "task": task,
                "prompt": f"{task} in eye {number}?",
                "options": [f"{task} {number} {letter}" for letter in "wxyz"],
                "gold": number % 4,
                "grade": "S",
            }
            for task in TASKS
        ]
    images = [{"path": f"{modality}.png", "modality": modality} for modality in modalities]
    return {"id": f"eye-{number}", "history": f"Eye {number}.", "images": images, "questions": questions}
