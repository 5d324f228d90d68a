"""The degradation axis: what is done to which images, when nothing can be, and that it is part of the Ask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest
from exam_study import write_cases
from PIL import Image
from pydicom.data import get_testdata_file

from wardround.asking.applicable import DEGRADED_UNSEEN, conditions_for, inapplicable_reason, unseen_reason
from wardround.asking.degradation import check_degraded_images
from wardround.asking.prompts import Prompts
from wardround.asking.render import RenderedAsk, Renderer
from wardround.cases.images import pixels
from wardround.cases.set import CaseSet
from wardround.core.ask import ImagePart
from wardround.core.canonical import sha256_file
from wardround.core.case import Case
from wardround.core.condition import Condition, cross_axes
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings, Study
from wardround.degrade import degrade
from wardround.degrade.recipe import RecipeRenderer, render_degraded

CT_FILE = get_testdata_file("CT_small.dcm", download=False)


def choice(id: str, **fields: Any) -> dict[str, Any]:
    return {"id": id, "kind": "choice", "prompt": "What is it?", "options": ["x", "y"], "gold": 0, **fields}


TWINS = [choice("q"), choice("deg-1", of="q", degradations=["gaussian_blur@L2"])]


def case(modality: str | None = "CT", questions: list[dict[str, Any]] = TWINS, **image: Any) -> dict[str, Any]:
    return {"id": "c", "images": [{"path": "a.png", "modality": modality, **image}], "questions": questions}


def reason(record: dict[str, Any], number: int = 0, **axes: str) -> str | None:
    checked = Case.model_validate(record)
    return inapplicable_reason(checked, checked.questions[number], Condition(**axes))


def test_a_type_that_fits_no_image_of_the_case_is_inapplicable():
    assert reason(case(), degradation="sparse_view@L1") is None
    assert reason(case("photograph"), degradation="sparse_view@L1") == "sparse_view does not fit photograph"
    assert reason(case(None), degradation="ghosting@0.5") == "ghosting does not fit an unnamed modality"
    assert reason(case(None), degradation="gaussian_noise@0.5") is None


def test_a_question_without_a_shown_image_cannot_be_degraded():
    assert reason(case(), degradation="gaussian_noise@L1", images="blank") == "a blank image cannot be degraded"
    for axes in ({"images": "none"}, {"stem": "options-only"}, {"inputs": "history"}):
        record = {**case(), "history": "h"}
        assert reason(record, degradation="gaussian_noise@L1", **axes) == "no images are shown that could be degraded"


def test_degraded_questions_are_not_degraded_again():
    assert reason(case(), 1, degradation="assigned") is None
    assert "degraded question itself" in str(reason(case(), 1, degradation="gaussian_noise@L1"))
    stored = case(degradations=["gaussian_blur@L2"])
    for value in ("stored", "assigned"):
        assert reason(stored, degradation=value) is None
    for value in ("none", "gaussian_noise@L1"):
        assert "degraded already" in str(reason(stored, degradation=value))


def test_stored_asks_no_question_whose_degradation_is_only_assigned():
    assert reason(case(), 0, degradation="stored") is None
    assert "stored clean" in str(reason(case(), 1, degradation="stored"))
    assert reason(case(questions=[choice("q", degradations=["real@mild"])]), degradation="stored") is None


def test_a_stored_degraded_image_that_is_not_shown_is_not_asked_as_degraded():
    stored = {**case(degradations=["gaussian_blur@L2"]), "history": "h"}
    assert "blank" in str(reason(stored, degradation="stored", images="blank"))
    for axes in ({"images": "none"}, {"stem": "options-only"}, {"inputs": "history"}):
        assert reason(stored, degradation="stored", **axes) == "no images are shown that could be degraded"


def test_a_degradation_of_an_image_that_is_left_out_is_not_asked():
    record = case(questions=[choice("q", degradations=["sparse_view@L1"])])
    record["images"].append({"path": "b.png", "modality": "X-ray"})
    assert reason(record, degradation="assigned") is None
    assert reason(record, degradation="assigned", without="CT") == "sparse_view does not fit X-ray"


def test_an_unknown_type_in_a_question_is_named():
    record = case(questions=[choice("q", degradations=["rust@L1"])])
    assert "there is no degradation 'rust'" in str(reason(record, degradation="assigned"))


def test_a_blind_candidate_gets_no_degraded_conditions():
    blind = CandidateSettings(name="b", provider="random", sees=False)
    varied = cross_axes({"degradation": ["none", "gaussian_noise@L1", "gaussian_noise@L2"]})
    assert [condition.degradation for condition in conditions_for(blind, varied)] == ["none"]
    assert [
        condition.degradation for condition in conditions_for(blind, cross_axes({"degradation": ["assigned"]}))
    ] == ["assigned"]
    first = cross_axes({"degradation": ["gaussian_noise@L1", "none"]})
    assert [condition.degradation for condition in conditions_for(blind, first)] == ["none"]


def test_a_degraded_question_is_not_asked_of_a_blind_candidate():
    twins = Case.model_validate(case())
    assert [
        unseen_reason(twins, question, Condition(degradation="assigned")) is None for question in twins.questions
    ] == [not question.degradations for question in twins.questions]
    stored = Case.model_validate(case(degradations=["gaussian_blur@L2"]))
    assert unseen_reason(stored, stored.questions[0], Condition(degradation="stored")) == DEGRADED_UNSEEN


@pytest.fixture
def renderer(tmp_path: Path):
    """A renderer over one case, and the case."""

    def make(record: dict[str, Any], conditions: dict[str, list[str]], **keys: Any) -> tuple[Renderer, Case]:
        opened = CaseSet.open(write_cases(tmp_path, [record]))
        candidate = {"name": "a", "provider": "random"}
        study = Study.model_validate(
            {"name": "s", "cases": ".", "conditions": conditions, "candidates": [candidate], **keys}
        )
        return Renderer(study, opened, Prompts(tmp_path), sha256_file), opened.case(0)

    Image.fromarray(np.random.default_rng(3).integers(0, 255, (40, 60), dtype=np.uint8)).save(tmp_path / "a.png")
    Image.new("L", (8, 8), 9).save(tmp_path / "b.png")
    return make


def asked(renderer: Renderer, case: Case, number: int, **axes: str) -> RenderedAsk:
    candidate = CandidateSettings(name="a", provider="random")
    return renderer.render(case, case.questions[number], Condition(**axes), candidate, candidate.identity, 0)


def image_of(rendered: RenderedAsk) -> ImagePart:
    (part,) = rendered.ask.images
    return part


def test_the_parameters_are_in_the_ask_and_the_pixels_are_those_of_degrade(renderer):
    render, shown = renderer(case(), {"degradation": ["none", "gaussian_blur@1.5"]})
    part = image_of(asked(render, shown, 0, degradation="gaussian_blur@1.5"))
    _, parameters, version = next(step for step in part.recipe if step[0] == "degrade")
    assert (parameters["type"], parameters["severity"], version) == ("gaussian_blur", 1.5, 3)
    assert parameters["display"]["sigma"] > 0
    sent = render_degraded(part.path, part.frame, part.recipe)
    plain = image_of(asked(render, shown, 0, degradation="none"))
    clean = pixels(plain.path, None, plain.recipe)
    drawn = pixels(plain.path, None, plain.recipe, RecipeRenderer([parameters]))
    np.testing.assert_array_equal(drawn, degrade(clean, "gaussian_blur", 1.5))
    assert sent.sha256 != render_degraded(plain.path, None, plain.recipe).sha256


def test_a_degraded_question_shown_clean_is_the_same_ask_as_its_clean_twin(renderer):
    render, shown = renderer(case(), {"degradation": ["none", "assigned"]})
    keys = [asked(render, shown, number, degradation="none").ask.key for number in (0, 1)]
    assert keys[0] == keys[1]
    assert asked(render, shown, 1, degradation="assigned").ask.key != keys[0]


def test_if_none_is_asked_too_assigned_asks_only_degraded_questions(renderer):
    both, shown = renderer(case(), {"degradation": ["none", "assigned"]})
    assigned = Condition(degradation="assigned")
    assert both.inapplicable_reason(shown, shown.questions[0], assigned) == "no degradation is assigned to it"
    assert both.inapplicable_reason(shown, shown.questions[1], assigned) is None
    alone, shown = renderer(case(), {"degradation": ["assigned"]})
    assert alone.inapplicable_reason(shown, shown.questions[0], assigned) is None


def test_a_changed_severity_is_a_new_ask_and_a_renamed_profile_is_not(renderer, tmp_path):
    from wardround.degrade.severities import SHIPPED_TABLE

    text = SHIPPED_TABLE.read_text(encoding="utf-8")
    (tmp_path / "same.toml").write_text(text.replace("clinical-1", "ward-7"), encoding="utf-8")
    changed = text.replace("gaussian_blur = { sigma = [0, 0.00", "gaussian_blur = { sigma = [0, 0.01")
    assert changed != text
    (tmp_path / "changed.toml").write_text(changed, encoding="utf-8")
    keys = []
    for severities in ("clinical-1", "same.toml:ward-7", "changed.toml:clinical-1"):
        render, shown = renderer(case(), {"degradation": ["gaussian_blur@L1"]}, severities=severities)
        keys.append(asked(render, shown, 0, degradation="gaussian_blur@L1").ask.key)
    assert keys[0] == keys[1]
    assert keys[0] != keys[2]


def test_an_unknown_type_or_profile_in_a_study_is_refused_before_anything_is_asked(renderer):
    with pytest.raises(WardroundError, match="there is no degradation 'rust'"):
        renderer(case(), {"degradation": ["none", "rust@L1"]})
    with pytest.raises(WardroundError, match="from 0 to 2"):
        renderer(case(), {"degradation": ["gaussian_blur@7"]})
    with pytest.raises(WardroundError, match="there is no severity profile 'harsh'"):
        renderer(case(), {}, severities="harsh")


def test_a_question_shows_its_own_images_only(renderer):
    record = case(
        questions=[choice("q", images=[0]), choice("deg", of="q", images=[1], degradations=["gaussian_blur@L2"])]
    )
    record["images"].append({"path": "b.png", "modality": "CT", "degradations": ["gaussian_blur@L2"]})
    render, shown = renderer(record, {"degradation": ["stored"]})
    paths = [Path(image_of(asked(render, shown, number, degradation="stored")).path).name for number in (0, 1)]
    assert paths == ["a.png", "b.png"]


def test_assigned_draws_on_clean_images_and_sends_stored_ones_as_they_are(renderer):
    record = case(questions=[*TWINS, choice("stored", of="q", images=[1], degradations=["gaussian_blur@L2"])])
    record["images"].append({"path": "b.png", "modality": "CT", "degradations": ["gaussian_blur@L2"]})
    record["questions"][1] = {**record["questions"][1], "images": [0]}
    render, shown = renderer(record, {"degradation": ["assigned"]})
    drawn, stored = (image_of(asked(render, shown, number, degradation="assigned")) for number in (1, 2))
    assert [Path(part.path).name for part in (drawn, stored)] == ["a.png", "b.png"]
    assert [any(name == "degrade" for name, _, _ in part.recipe) for part in (drawn, stored)] == [True, False]
    assert stored.degradations == ("gaussian_blur@L2",)
    assert stored.json == image_of(asked(render, shown, 2, degradation="stored")).json


def test_an_ask_that_counts_as_degraded_without_a_degraded_image_is_refused(renderer):
    render, shown = renderer(case(), {"degradation": ["none", "assigned"]})
    degraded = asked(render, shown, 1, degradation="assigned").ask
    clean = asked(render, shown, 1, degradation="none").ask
    for value in ("assigned", "stored", "gaussian_blur@L2"):
        condition = Condition(degradation=value)
        check_degraded_images(shown, shown.questions[1], condition, degraded.images)
        with pytest.raises(WardroundError, match=r"c\.deg-1 counts as gaussian_blur@L2"):
            check_degraded_images(shown, shown.questions[1], condition, clean.images)
    for value in ("none", "gaussian_blur@L0", "gaussian_blur@0"):
        check_degraded_images(shown, shown.questions[1], Condition(degradation=value), clean.images)


def test_a_ct_in_hounsfield_units_is_degraded_before_its_window(renderer, tmp_path):
    (tmp_path / "ct.dcm").write_bytes(Path(CT_FILE).read_bytes())
    record = {
        "id": "c",
        "images": [{"path": "ct.dcm", "modality": "CT", "window": [40, 400]}],
        "questions": [choice("q")],
    }
    render, shown = renderer(record, {"degradation": ["low_dose@L2", "gaussian_blur@L2"]})
    part = image_of(asked(render, shown, 0, degradation="low_dose@L2"))
    step = next(parameters for name, parameters, _ in part.recipe if name == "degrade")
    assert step["hu"] != step["display"]
    plain = tuple(step for step in part.recipe if step[0] != "degrade")
    seen: list[np.ndarray] = []

    class Spy(RecipeRenderer):
        def render_hounsfield(self, values, window):
            seen.append(values)
            return super().render_hounsfield(values, window)

    shown_pixels = pixels(part.path, None, plain, Spy([step]))
    # the window as PS3.3 C.11.2.1.2 has it
    expected = np.clip((degrade(seen[0], "low_dose", "L2", space="hu") - 39.5) / 399 + 0.5, 0, 1) * 255
    assert np.abs(shown_pixels - expected).max() <= 0.51
    general = next(
        p for n, p, _ in image_of(asked(render, shown, 0, degradation="gaussian_blur@L2")).recipe if n == "degrade"
    )
    assert "hu" not in general


def test_a_ct_volume_is_degraded_before_its_window_too(renderer, tmp_path):
    y, x = np.mgrid[-32:32, -32:32]
    slice = np.where(np.hypot(x, y) < 24, 40, -1000).astype(np.int16)
    nibabel.save(nibabel.Nifti1Image(np.repeat(slice[..., None], 3, axis=2), np.eye(4)), tmp_path / "ct.nii.gz")
    record = {"id": "c", "images": [{"path": "ct.nii.gz", "modality": "CT"}], "questions": [choice("q")]}
    render, shown = renderer(record, {"degradation": ["none", "low_dose@L2"]})
    noisy = image_of(asked(render, shown, 0, degradation="low_dose@L2"))
    step = next(parameters for name, parameters, _ in noisy.recipe if name == "degrade")
    plain = tuple(step for step in noisy.recipe if step[0] != "degrade")
    in_hounsfield, in_display = (
        pixels(noisy.path, None, plain, RecipeRenderer([parameters])).astype(float)
        for parameters in (step, {key: value for key, value in step.items() if key != "hu"})
    )
    body = np.hypot(x, y) < 18
    per_grey = 400 / 255  # Hounsfield units in one grey level of the window
    assert in_hounsfield[body].std() * per_grey == pytest.approx(400 * step["hu"]["noise_of_window"], rel=0.35)
    assert not np.array_equal(in_hounsfield, in_display)
