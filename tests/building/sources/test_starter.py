import math
import re
import statistics
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import PIL.Image
import pydicom.data
import pytest
from scipy.stats import binom
from skimage import data

from wardround.building.audit.audit import audit
from wardround.building.sources import packaged_images
from wardround.building.sources.starter.build import build_starter
from wardround.cases.images import pixels, recipe_for
from wardround.cases.set import CaseSet
from wardround.core.case import Case, Question
from wardround.core.errors import WardroundError

Score = Callable[[str, Case], float]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_starter(tmp_path_factory.mktemp("starter") / "set")


@pytest.fixture(scope="module")
def cases(folder: Path) -> list[Case]:
    return list(CaseSet.open(folder, strict=True))


@pytest.fixture(scope="module")
def examined(cases: list[Case]) -> list[Case]:
    return [case for case in cases if case.split == "test"]


def mcq(case: Case) -> Question:
    return next(question for question in case.questions if question.id == "mcq")


def words(text: str | None) -> list[str]:
    return re.findall(r"[a-z0-9]+", (text or "").lower())


def contains(text: str | None, phrase: str) -> bool:
    return f" {' '.join(words(phrase))} " in f" {' '.join(words(text))} "


def test_there_are_enough_cases_of_each_kind(cases: list[Case], examined: list[Case]) -> None:
    assert len(cases) == 36
    assert len(examined) == 24
    assert Counter(case.split for case in cases)["train"] == 12
    modalities = Counter(case.images[0].modality for case in examined)
    assert modalities == {"CT": 4, "MR": 4, "ultrasound": 5, "fundus": 6, "histopathology": 5}
    assert len({case.cluster for case in examined}) >= 8  # with fewer there would be no intervals
    assert sum(len(case.questions) == 2 for case in cases) == 18
    assert Counter(case.tags[0] for case in examined) == {"image": 16, "history": 8}


def test_every_case_is_complete(cases: list[Case]) -> None:
    for case in cases:
        assert len((case.history or "").split()) >= 60, case.id
        assert case.patient is not None
        assert case.patient.age is not None
        assert case.patient.sex in ("F", "M")
        assert case.specialty
        assert case.origin is not None
        assert case.origin.name == "wardround-starter"
        assert mcq(case).skill
        assert len(case.images) == 1


def test_history_names_the_patients_sex_as_the_record_does(cases: list[Case]) -> None:
    for case in cases:
        counts = Counter(words(case.history))
        she = counts["she"] + counts["her"] + counts["herself"]
        he = counts["he"] + counts["his"] + counts["him"]
        assert case.patient is not None
        # relatives and doctors have pronouns too: the patient has most of them
        assert (she > he) == (case.patient.sex == "F"), case.id


def test_no_picture_serves_more_than_four_cases(folder: Path, cases: list[Case]) -> None:
    assert max(Counter(case.cluster for case in cases).values()) <= 4
    of_file = {case.images[0].path: case.cluster for case in cases}
    assert all(of_file[case.images[0].path] == case.cluster for case in cases)
    assert {path.name for path in (folder / "images").iterdir()} == {Path(path).name for path in of_file}


def test_no_question_is_asked_twice_about_the_same_pixels(cases: list[Case]) -> None:
    asked = Counter(
        (mcq(case).prompt, tuple(sorted(mcq(case).choices)), case.images[0].model_dump_json())
        for case in cases
        if "image" in case.tags
    )
    assert set(asked.values()) == {1}


def test_every_modality_has_another_picture_to_swap_with(examined: list[Case], cases: list[Case]) -> None:
    for case in examined:
        others = {other.cluster for other in cases if other.images[0].modality == case.images[0].modality} - {
            case.cluster
        }
        assert others, case.id


def test_options_are_four_distinct_ones_of_similar_length(cases: list[Case]) -> None:
    for case in cases:
        options = mcq(case).choices
        assert len(options) == 4
        assert len({option.lower() for option in options}) == 4
        assert max(map(len, options)) <= 3 * min(map(len, options)), case.id


def test_the_answer_is_not_in_the_text(cases: list[Case]) -> None:
    for case in cases:
        question = mcq(case)
        for text in (case.history, case.findings, question.prompt):
            assert not contains(text, question.choices[int(question.gold)]), case.id
            for open_question in case.questions[1:]:
                for name in (str(open_question.gold), *open_question.accept):
                    assert not contains(text, name), f"{case.id}: {name}"


def test_options_of_image_cases_do_not_name_the_open_diagnosis(cases: list[Case]) -> None:
    for case in cases:
        if "image" in case.tags:
            for open_question in case.questions[1:]:
                assert all(not contains(option, str(open_question.gold)) for option in mcq(case).choices), case.id


def test_right_places_are_balanced(cases: list[Case]) -> None:
    for split, count in (("train", 3), ("test", 6)):
        places = Counter(mcq(case).gold for case in cases if case.split == split)
        assert places == dict.fromkeys(range(4), count)


UNTOLD = frozenset(words("a an the and or of in on to with from by no none not is was were at for as its it"))


def shared(option: str, text: str, left_out: frozenset[str] = UNTOLD) -> int:
    return len((set(words(option)) - left_out) & set(words(text)))


BLIND: dict[str, Score] = {
    "longest": lambda option, case: len(option),
    "shortest": lambda option, case: -len(option),
    "most words": lambda option, case: len(words(option)),
    "overlap with history": lambda option, case: shared(option, case.history or ""),
    "overlap, stop words counted": lambda option, case: shared(option, case.history or "", frozenset()),
    "overlap as a share": lambda option, case: shared(option, case.history or "") / len(words(option)),
    "least overlap": lambda option, case: -shared(option, case.history or ""),
    "overlap with history and findings": lambda option, case: shared(option, f"{case.history} {case.findings or ''}"),
    "overlap as a share with all that is told": lambda option, case: (
        shared(option, f"{case.history} {case.findings or ''} {mcq(case).prompt}") / len(set(words(option)) - UNTOLD)
    ),
    "overlap with the question": lambda option, case: shared(option, mcq(case).prompt),
}


def times_right(score: Score, cases: list[Case], *, ties: str) -> float:
    right = 0.0
    for case in cases:
        question = mcq(case)
        scores = [score(option, case) for option in question.choices]
        best = [place for place, value in enumerate(scores) if value == max(scores)]
        right += (question.gold in best) / len(best) if ties == "shared" else best[0] == question.gold
    return right


@pytest.mark.parametrize("name", BLIND)
@pytest.mark.parametrize("ties", ["shared", "first"])
def test_blind_rules_are_at_chance(name: str, ties: str, examined: list[Case]) -> None:
    n, chance = len(examined), 1 / 4
    right = times_right(BLIND[name], examined, ties=ties)
    deviation = math.sqrt(n * chance * (1 - chance))
    assert right <= n * chance + deviation
    # nor is the opposite rule worth anything: two-sided, at the level at which nobody would call it a leak
    assert binom.sf(math.ceil(right) - 1, n, chance) > 0.05
    assert binom.cdf(math.floor(right), n, chance) > 0.05


def test_a_planted_shortcut_is_seen(examined: list[Case]) -> None:
    planted = [
        case.model_copy(update={"questions": [mcq(case).model_copy(update={"options": _padded(mcq(case))})]})
        for case in examined
    ]
    assert times_right(BLIND["longest"], planted, ties="shared") == len(examined)


def _padded(question: Question) -> list[str]:
    return [
        option + " of the usual and well-known kind" * (place == question.gold)
        for place, option in enumerate(question.choices)
    ]


def test_images_can_be_shown(folder: Path, cases: list[Case]) -> None:
    for case in cases:
        (image,) = case.images
        shown = pixels(folder / image.path, image.frame, recipe_for(image))
        assert min(shown.shape[:2]) >= 90, case.id
        if case.cluster != "slide-tile":  # that one shows empty glass
            assert shown.std() > 5, case.id


def test_colours_and_windows_are_what_the_cases_ask_about(folder: Path, cases: list[Case]) -> None:
    by_id = {case.id: case for case in cases}

    def shown(case_id: str) -> np.ndarray:
        (image,) = by_id[case_id].images
        return pixels(folder / image.path, image.frame, recipe_for(image)).astype(float)

    # a bone window of the head leaves almost nothing white, a brain window whitens the skull
    assert (shown("starter-03") > 250).mean() < 0.02 < 0.10 < (shown("starter-04") > 250).mean()
    # brown epithelium is red rather than blue; pale stroma is neither and is brighter
    brown, pale = shown("starter-34"), shown("starter-32")
    assert (brown[..., 0] - brown[..., 2]).mean() > 40
    assert abs(pale[..., 0] - pale[..., 2]).mean() < 30
    assert pale.mean() > brown.mean() + 50
    assert statistics.fmean(shown("starter-36").ravel()) > 235
    # left eye, macula centred: the brightest spot, the disc, is well left of the middle
    green = PIL.Image.fromarray(shown("starter-27")[..., 1].astype(np.uint8)).resize((20, 20), PIL.Image.Resampling.BOX)
    assert np.argmax(np.asarray(green)) % 20 < 6
    # the two dots are dark, isolated and lie where the findings say: between vessels
    assert shown("starter-31")[15:35, 10:25].min() < 60


def test_parts_are_the_packages_own_pixels(folder: Path) -> None:
    retina = np.asarray(PIL.Image.open(folder / "images/picture-11.png"))
    assert np.array_equal(retina, data.retina()[490:910, 500:920])
    stroma = np.asarray(PIL.Image.open(folder / "images/picture-16.png"))
    assert np.array_equal(stroma, data.immunohistochemistry()[390:480, 160:250])


def test_dicom_files_keep_their_pixels_and_tell_no_patient(folder: Path) -> None:
    for name, ours in (("J2K_pixelrep_mismatch", "01"), ("examples_ybr_color", "08"), ("examples_palette", "09")):
        theirs = pydicom.dcmread(str(pydicom.data.get_testdata_file(f"{name}.dcm", download=False)))
        written = pydicom.dcmread(folder / f"images/picture-{ours}.dcm")
        assert written.PixelData == theirs.PixelData
        assert written.file_meta.TransferSyntaxUID == theirs.file_meta.TransferSyntaxUID
        assert theirs.PatientName
        assert not written.PatientName
        assert written.SOPInstanceUID != theirs.SOPInstanceUID


def test_the_audit_finds_no_error_and_no_picture_in_both_splits(folder: Path, tmp_path: Path) -> None:
    result = audit(folder, tmp_path / "audit", workers=1)
    assert [(finding.severity, finding.kind, finding.case) for finding in result.findings] == [
        ("warning", "head_noun", "starter-36"),  # its history says where the slide comes from
        ("warning", "blank_image", "starter-36"),  # a slide without tissue: that is what is asked
    ]


def test_builds_the_same_bytes_again(folder: Path, tmp_path: Path) -> None:
    again = build_starter(tmp_path / "again")
    build_starter(again)  # over itself
    first, second = (
        {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (folder, again)
    )
    assert first == second


def test_does_not_overwrite_another_case_set(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text('{"id": "mine"}\n')
    with pytest.raises(WardroundError, match="another case set"):
        build_starter(tmp_path)
    assert (tmp_path / "cases.jsonl").read_text() == '{"id": "mine"}\n'


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packaged_images, "find_spec", lambda package: None)
    with pytest.raises(WardroundError, match=r"pip install 'wardround\[demo\]'"):
        build_starter(tmp_path / "set")


def test_the_readme_has_the_counts_and_the_limits(folder: Path, cases: list[Case]) -> None:
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert f"{len(cases)} short cases" in readme
    assert "patients are invented" in readme
    assert {case.cluster for case in cases} == set(re.findall(r"^\| ([a-z-]+) \| (?!what)", readme, re.M))
