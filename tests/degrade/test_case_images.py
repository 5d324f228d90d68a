"""Cases with stored degradations: twins name their copies, everything else stays as it was."""

from wardround.asking.applicable import inapplicable_reason
from wardround.asking.tellings import shown_image_numbers
from wardround.core.case import Case
from wardround.core.condition import Condition
from wardround.degrade.case_images import add_stored_copies, degradations_by_image, level_name

L1, L2 = ("sparse_view", 1.0), ("gaussian_blur", 2.0)
CHOICE = {"kind": "choice", "prompt": "What is it?", "options": ["a", "b"], "gold": 0}
CT = {"path": "a/ct.dcm", "modality": "CT", "findings": "a lesion", "frame": 3, "window": (40.0, 80.0)}
SKIN = {"path": "skin.jpg", "modality": "Dermoscopy"}


def copies(image, degradation):
    return f"copies/{image.path}.{degradation[0]}.png"


def a_case(questions, images=(CT, SKIN), **fields):
    return Case.model_validate({"id": "c", "questions": questions, "images": list(images), **fields})


def again(case):
    """The case as its file would give it back, checked."""
    return Case.model_validate(case.as_written())


def test_levels_have_their_names():
    assert [level_name(severity) for severity in (1.0, 2.0, 0.5, 1.25)] == ["L1", "L2", "0.5", "1.25"]


def test_each_clean_question_gets_a_twin_that_shows_the_copies_that_fit():
    case = again(add_stored_copies(a_case([{"id": "q", **CHOICE}]), [L1, L2], copies))
    assert [question.id for question in case.questions] == ["q", "q.sparse_view.L1", "q.gaussian_blur.L2"]
    clean, sparse, blurred = case.questions
    assert clean.images == [0, 1]
    assert (sparse.of, sparse.degradations, sparse.images) == ("q", ["sparse_view@L1"], [2, 1])
    assert (blurred.of, blurred.degradations, blurred.images) == ("q", ["gaussian_blur@L2"], [3, 4])
    assert (blurred.prompt, blurred.options, blurred.gold) == ("What is it?", ["a", "b"], 0)
    copy = case.images[2]
    assert (copy.path, copy.modality, copy.findings) == ("copies/a/ct.dcm.sparse_view.png", "CT", "a lesion")
    assert (copy.frame, copy.window, copy.degradations) == (None, None, ("sparse_view@L1",))
    assert case.images[0].frame == 3


def test_a_question_about_some_of_the_images_shows_copies_of_these():
    questions = [{"id": "skin", **CHOICE, "images": [1]}, {"id": "none", **CHOICE, "images": []}]
    case = again(add_stored_copies(a_case(questions), [L1, L2], copies))
    assert {question.id: question.images for question in case.questions} == {
        "skin": [1],
        "none": [],
        "skin.gaussian_blur.L2": [2],
    }


def test_chains_become_chains_of_twins():
    questions = [
        {"id": "iqa", **CHOICE, "chain": "c7"},
        {"id": "al", **CHOICE, "chain": "c7", "given": ["iqa"]},
    ]
    case = again(add_stored_copies(a_case(questions, [CT]), [L1], copies))
    assert [(question.id, question.chain, question.given) for question in case.questions[2:]] == [
        ("iqa.sparse_view.L1", "c7.sparse_view.L1", []),
        ("al.sparse_view.L1", "c7.sparse_view.L1", ["iqa.sparse_view.L1"]),
    ]


def test_tellings_show_the_copies_of_their_images():
    tellings = {"multimodal": {"images": [1]}, "text": {"history": "h", "images": []}}
    case = again(add_stored_copies(a_case([{"id": "q", **CHOICE}], tellings=tellings), [L1, L2], copies))
    assert case.tellings["multimodal"].images == [1, 4]
    assert case.tellings["text"].images == []
    condition = Condition(telling="multimodal", degradation="stored")
    assert [shown_image_numbers(case, question, condition) for question in case.questions] == [[1], [1], [4]]


def test_what_is_stored_is_asked_as_stored():
    case = again(add_stored_copies(a_case([{"id": "q", **CHOICE}], [CT]), [L1], copies))
    assert inapplicable_reason(case, case.questions[0], Condition(degradation="stored")) is None
    assert inapplicable_reason(case, case.questions[1], Condition(degradation="stored")) is None
    assert "stored" in inapplicable_reason(case, case.questions[1], Condition())


def test_degraded_questions_and_images_get_no_twins():
    questions = [{"id": "q", **CHOICE}, {"id": "old", **CHOICE, "of": "q", "degradations": ["ghosting@L1"]}]
    case = a_case(questions, [{**SKIN, "degradations": ("real@mild",)}])
    assert degradations_by_image(case, [L2]) == {}
    assert add_stored_copies(case, [L2], copies).as_written() == case.as_written()


def test_assigned_questions_get_their_copies_and_nobody_a_twin():
    questions = [
        {"id": "q", **CHOICE},
        {"id": "d", **CHOICE, "of": "q", "degradations": ["sparse_view@L1"]},
        {"id": "e", **CHOICE, "of": "q", "degradations": ["gaussian_blur@L2"], "images": [1]},
        {"id": "zero", **CHOICE, "of": "q", "degradations": ["gaussian_blur@L0"]},
    ]
    assert degradations_by_image(a_case(questions), None) == {0: [L1], 1: [L2]}
    case = again(add_stored_copies(a_case(questions), None, copies))
    assert {question.id: question.images for question in case.questions} == {
        "q": [0, 1],
        "d": [2, 1],
        "e": [3],
        "zero": [0, 1],
    }


def test_an_assigned_question_without_a_copy_is_left_out_with_what_builds_on_it():
    questions = [
        {"id": "q", **CHOICE},
        {"id": "d", **CHOICE, "of": "q", "degradations": ["sparse_view@L1"]},
        {"id": "after", **CHOICE, "given": ["d"]},
        {"id": "both", **CHOICE, "of": "q", "degradations": ["sparse_view@L1", "gaussian_blur@L2"]},
    ]
    case = again(add_stored_copies(a_case(questions), None, lambda image, degradation: None))
    assert [question.id for question in case.questions] == ["q"]
