"""The demo: two small studies on embedded cases, with a real model that runs on this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wardround.api import Ended, report_runs, run_study
from wardround.building.sources.patches import build_patches
from wardround.building.sources.starter import build_starter

SMOLLM2 = """
[[candidates]]
name = "SmolLM2-135M"
provider = "local"
model = "smollm2"
"""
FLOORS = """
[[candidates]]
name = "pixels"
provider = "pixels"

[[candidates]]
name = "random"
provider = "random"
sees = false
"""
MORE_FLOORS = """
[[candidates]]
name = "first position"
provider = "position"
sees = false

[[candidates]]
name = "longest option"
provider = "longest"
sees = false

[[candidates]]
name = "word overlap"
provider = "overlap"
sees = false
"""

STARTER_STUDY = f"""# 24 invented cases, asked of a real small model, of a candidate that looks, and of honest floors.
name = "starter"
cases = "starter-cases"
trials = 3
seed = 1
offline = true

[sampling]
temperature = 1.0
top_p = 1.0
max_tokens = 24
{SMOLLM2}{FLOORS}{MORE_FLOORS}
[conditions]
confidence = ["votes", "logprobs"]
images = ["as-is", "swapped"]

[judge]
provider = "lexical"
"""

PATCHES_STUDY = f"""# Do images matter? Patches of five kinds of picture; the text says nothing.
name = "patches"
cases = "patches-cases"
seed = 1
offline = true

[sampling]
temperature = 1.0
top_p = 1.0
max_tokens = 8
{SMOLLM2}{FLOORS}
[conditions]
confidence = "logprobs"
images = ["as-is", "swapped"]

[comparisons]
seeing = {{ measure = "accuracy", between = "candidate", reference = "pixels" }}
looking = {{ measure = "accuracy", between = "images", reference = "as-is" }}
"""

STARTER_NOTES = (
    "This is the demo. It shows how an examination goes, on 24 invented cases written for it. The patients do not "
    "exist, no clinician has validated the cases, and there are far too few of them to compare models or to say "
    "anything about care.",
    "The answers are real: SmolLM2-135M, a very small language model, ran on this machine for this report. It cannot "
    "see images and knows little medicine, so an accuracy near chance (25%) is what to expect of it.",
    "pixels is no medical model: a classifier on simple image features, fitted on the 12 training cases of the set.",
)
PATCHES_NOTES = (
    "This is the demo's second study: do the images matter? Each question shows a patch of one of five kinds of "
    "picture and asks which; the text does not help. pixels looks and was fitted on patches from other places of the "
    "same pictures; SmolLM2 cannot see. With the images swapped between cases, looking should no longer help.",
)


@dataclass(frozen=True)
class Shown:
    """What the demo made: the folder and the two runs."""

    folder: Path
    starter: Ended
    patches: Ended

    @property
    def reports(self) -> list[Path]:
        return [ended.folder / "report.html" for ended in (self.starter, self.patches)]


def demonstrate(folder: Path, *, note: Callable[[str], None] = print) -> Shown:
    """Builds the case sets, runs both studies and reports. Run again, it replays what is stored."""
    folder.mkdir(parents=True, exist_ok=True)
    build_starter(folder / "starter-cases")
    build_patches(folder / "patches-cases")
    ended = []
    for name, study, notes in (("starter", STARTER_STUDY, STARTER_NOTES), ("patches", PATCHES_STUDY, PATCHES_NOTES)):
        file = folder / f"{name}.toml"
        file.write_text(study, encoding="utf-8")
        note(f"{name}: {file}")
        ended.append(run_study(file, runs=folder / "runs", notes=notes, note=note))
        report_runs([ended[-1].folder], with_cases=True)
    return Shown(folder, *ended)
