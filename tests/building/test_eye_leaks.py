"""What the questions of an eye tell of each other: the options of SG nothing, others little; old sets are read."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest
from eye_table import EYES, eye_table, write_table

from wardround.asking.prompts import Prompts
from wardround.asking.render import Renderer
from wardround.building.audit.audit import audit
from wardround.building.audit.question_pairs import PairName, measure_question_pairs
from wardround.building.sources.ophthalmic.build import build_ophthalmic
from wardround.building.sources.ophthalmic.schema import EyeDisease, read_tables
from wardround.building.sources.ophthalmic.severity import RULE, SeverityScale, grades_by_option, set_scale
from wardround.cases.set import CaseSet
from wardround.core.canonical import sha256_file
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.errors import BadInput
from wardround.core.study import Study
from wardround.marking.parser.choice import parse_choice

SCHEMA = read_tables().schema_
FOUR = ["grade 1", "grade 2", "grade 3", "grade 4 (or higher)"]


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """Six eyes of each of 13 diseases, with scales of three, four and five grades."""
    folder = tmp_path_factory.mktemp("severity")
    build_ophthalmic(eye_table(folder / "clinic", patients=6 * len(EYES)), folder / "set")
    return folder / "set"


@pytest.fixture(scope="module")
def cases(built) -> list[Case]:
    return list(CaseSet.open(built, strict=True))


def severities_with_diagnoses(cases: Iterable[Case]) -> list[tuple[Question, Question]]:
    """Each SG with the DD of the same image."""
    pairs = []
    for case in cases:
        by_id = {question.id: question for question in case.questions}
        pairs += [(by_id[id], by_id[f"dd-{id[3:]}"]) for id in by_id if id.startswith("sg-")]
    return pairs


def test_the_options_of_severity_are_the_same_for_every_disease(cases):
    pairs = severities_with_diagnoses(cases)
    assert len(pairs) > 100
    assert {len(SCHEMA.diseases[diagnosis.gold_text].grades) for _, diagnosis in pairs} == {3, 4, 5}
    assert {tuple(sorted(severity.choices)) for severity, _ in pairs} == {tuple(FOUR)}
    assert {severity.prompt.endswith(RULE) for severity, _ in pairs} == {True}


def test_a_guess_of_the_diagnosis_from_the_options_of_severity_is_no_better_than_without_them(cases):
    """With as many options as the disease had grades, it was right in 43% here, and in 26% without them.

    The guess: one of the options of DD that were right beside the same options of SG.
    """
    pairs = severities_with_diagnoses(cases)
    diseases_by_options: dict[frozenset[str], set[str]] = defaultdict(set)
    for severity, diagnosis in pairs:
        diseases_by_options[frozenset(severity.choices)].add(diagnosis.gold_text)
    graded = {diagnosis.gold_text for _, diagnosis in pairs}
    guessed = [
        1 / len(set(diagnosis.choices) & diseases_by_options[frozenset(severity.choices)])
        for severity, diagnosis in pairs
    ]
    without = [1 / len(set(diagnosis.choices) & graded) for _, diagnosis in pairs]
    assert sum(guessed) == sum(without)


def as_many_grades_as_the_disease_has(case: Case) -> Case:
    """A case with the options of SG that sets had before."""
    diagnoses = {question.id: question.gold_text for question in case.questions if question.stage == "DD"}

    def earlier(question: Question) -> Question:
        if question.stage != "SG":
            return question
        disease = SCHEMA.diseases[diagnoses[f"dd-{question.id[3:]}"]]
        options = [text for text in grades_by_option(disease) if " of " in text.split("(")[0]]
        gold = list(disease.grades.values()).index((question.model_extra or {})["label"])
        return question.model_copy(update={"options": options, "gold": gold})

    return case.model_copy(update={"questions": [earlier(question) for question in case.questions]})


def test_the_audit_finds_that_the_number_of_grades_tells_the_disease(cases):
    flagged = {
        pair.name for pair in measure_question_pairs(map(as_many_grades_as_the_disease_has, cases)) if pair.flagged
    }
    assert PairName("SG", "DD", True) in flagged
    assert {name.offered for name in flagged} == {"SG"}
    assert not any(pair.flagged for pair in measure_question_pairs(cases))


@pytest.mark.parametrize(
    ("offered", "asked", "before"),
    [("DD", "DD", 0.46), ("DD", "integration", 0.39), ("integration", "DD", 0.38), ("correspondence", "LC", 0.34)],
)
def test_questions_of_one_eye_offer_the_same_wrong_answers(cases, offered, asked, before):
    """The option that both offer was right as often as `before` says, when each drew its own."""
    accuracy_by_rule = {
        pair.rule: pair.accuracy
        for pair in measure_question_pairs(cases)
        if pair.name == PairName(offered, asked, False)
    }
    assert 0.25 <= accuracy_by_rule["shared"] < min(0.32, before)


def test_the_lesions_offered_fit_the_diagnoses_offered(cases):
    """A guess among the diagnoses with a lesion in the options of LC was right in 44% when each drew its own."""
    guesses = []
    for case in cases:
        by_id = {question.id: question for question in case.questions}
        for lesion, diagnosis in ((by_id[id], by_id[f"dd-{id[3:]}"]) for id in by_id if id.startswith("lc-")):
            fitting = [name for name in diagnosis.choices if set(SCHEMA.diseases[name].lesions) & set(lesion.choices)]
            assert diagnosis.gold_text in fitting
            guesses.append(1 / len(fitting))
    assert len(guesses) > 100
    assert sum(guesses) / len(guesses) < 0.37


def test_the_right_answer_is_the_rank_on_the_disease_s_own_scale(built, cases):
    """By hand: papilloedema has five stages, the last two are offered together; zone 3 is the mildest of CMV."""
    scale = SeverityScale(4, 5)
    papilloedema, retinitis = (SCHEMA.diseases[name] for name in ("papilloedema", "cytomegalovirus retinitis"))
    assert [scale.option_of(papilloedema, grade) for grade in "12345"] == [*FOUR, FOUR[3]]
    assert [scale.option_of(retinitis, grade) for grade in "321"] == FOUR[:3]
    severe = {
        (severity.model_extra or {})["label"]
        for severity, diagnosis in severities_with_diagnoses(cases)
        if diagnosis.gold_text == "papilloedema" and severity.gold_text == FOUR[3]
    }
    assert {label[:7] for label in severe} == {"stage 4", "stage 5"}


@pytest.mark.parametrize(
    ("images", "expected"),
    [
        ({"diabetic retinopathy": 5}, [*FOUR[:3], "grade 4"]),
        ({"retinitis pigmentosa": 5}, FOUR[:3]),  # three grades
        ({"retinitis pigmentosa": 5, "papilloedema": 1}, FOUR),
        ({"papilloedema": 3, "diabetic retinopathy": 2}, [*FOUR[:3], "grade 4", "grade 5"]),
        ({"papilloedema": 2, "diabetic retinopathy": 2}, FOUR),
        ({"Best vitelliform macular dystrophy": 1, "papilloedema": 2}, [*FOUR[:3], "grade 4", "grade 5 (or higher)"]),
    ],
)
def test_the_scale_is_as_long_as_that_of_most_graded_images(images, expected):
    """At least four if any disease has as many, as in X-PCR's sample questions."""
    rows = [{"disease": name, "grade": "1"} for name, count in images.items() for _ in range(count)]
    ungraded = [{"disease": "retinoblastoma", "grade": None}] * 9
    assert set_scale([{"rows": rows}, {"rows": ungraded}], SCHEMA).options == expected


@pytest.mark.parametrize(
    ("text", "grades"),
    [
        ("grade 2", ["2"]),
        ("grade 4 (or higher)", ["4", "5"]),
        ("grade 5 (or higher)", ["5"]),
        ("grade 1 of 5 (mildest)", ["1"]),  # as sets were built before
        ("grade 4 of 5", ["4"]),
        ("grade 5 of 5 (most severe)", ["5"]),
        ("stage 3, a major vessel obscured at the margin", ["3"]),  # as sets were built before that
        ("grade 2 of 4", None),
        ("grade 6", None),
    ],
)
def test_an_option_is_read_as_grades_of_the_disease_however_the_set_was_built(text, grades):
    assert grades_by_option(SCHEMA.diseases["papilloedema"]).get(text) == grades


def test_a_disease_without_grades_has_no_option():
    assert grades_by_option(EyeDisease(modalities=["CFP"], anatomy=["macula"], lesions=["drusen"])) == {}


def test_a_reply_that_names_the_bare_grade_is_read():
    """The last option is no longer than it must be: `grade 4` is what a doctor would say."""
    assert [parse_choice(f"It is grade {rank}.", FOUR).option for rank in (1, 2, 3, 4)] == [0, 1, 2, 3]
    assert parse_choice("grade 4 or higher", FOUR).option == 3


def test_neither_the_own_words_of_a_grade_nor_the_disease_are_shown(built):
    """They are kept with the question. A candidate is shown the rule, the options and what it answered itself."""
    opened = CaseSet.open(built)
    study = Study.model_validate({"name": "s", "cases": ".", "candidates": [{"name": "a", "provider": "random"}]})
    renderer, (settings,) = Renderer(study, opened, Prompts(), sha256_file), study.candidates
    shown = []
    for case in opened:
        for question in (question for question in case.questions if question.stage == "SG"):
            extra = question.model_extra or {}
            earlier = dict.fromkeys(question.given, "something else")
            rendered = renderer.render(case, question, Condition(), settings, settings.identity, 0, earlier)
            text = "\n".join(part for part in rendered.ask.messages[0].parts if isinstance(part, str))
            assert RULE in text
            assert "something else" in text
            assert not any(hidden in text for hidden in (extra["label"], extra["disease"], question.id, *case.tags))
            shown.append(text)
    assert len(shown) > 100


def test_the_set_passes_its_audit(built):
    assert audit(built, workers=1).findings == []


def test_levels_set_on_a_set_with_ranks_of_the_old_kind_are_used(tmp_path):
    """And ones that were set on another grade are refused, as before."""
    eye_table(tmp_path, patients=1)
    row = next(csv.DictReader((tmp_path / "eyes.csv").open()))
    table = write_table(tmp_path / "eyes.csv", [row | {"grade": "4"}])
    graded = {"case": "eye-00001", "question": "sg-1", "grade": "R", "importance": 1.5}
    file = tmp_path / "grades.jsonl"
    for number, answer in enumerate(("grade 4 of 4 (most severe)", "grade 4", "grade 4 (or higher)")):
        file.write_text(json.dumps(graded | {"answer": answer}))
        build_ophthalmic(table, tmp_path / f"set-{number}", grades=file)
        (case,) = CaseSet.open(tmp_path / f"set-{number}")
        (severity,) = (question for question in case.questions if question.stage == "SG")
        assert (severity.grade, severity.importance) == ("R", 1.5)
    file.write_text(json.dumps(graded | {"answer": "grade 3 of 4"}))
    with pytest.raises(BadInput, match=r"sg-1: graded with the answer 'grade 3 of 4', built with 'grade 4'"):
        build_ophthalmic(table, tmp_path / "refused", grades=file)
