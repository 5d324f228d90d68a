"""A question under a condition becomes an Ask: text, options, images and their order."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exam_study import case, write_cases
from PIL import Image

from wardround.asking.prompts import Prompts
from wardround.asking.render import Renderer
from wardround.cases.set import CaseSet
from wardround.core.canonical import sha256_file
from wardround.core.condition import Condition
from wardround.core.study import Study

CANDIDATE = {"name": "a", "provider": "random"}


@pytest.fixture
def rendered(tmp_path: Path) -> Callable[..., Any]:
    """Renders the first question of a case of a set under a condition."""

    def render(
        cases: list[dict[str, Any]],
        number: int = 0,
        trial: int = 0,
        candidate: dict[str, Any] | None = None,
        given: dict[str, str] | None = None,
        sampling: dict[str, Any] | None = None,
        seed: int = 0,
        **condition: str,
    ) -> Any:
        for path in (image["path"] for record in cases for image in record.get("images", [])):
            Image.new("L", (4, 4), len(path)).save(tmp_path / path)
        opened = CaseSet.open(write_cases(tmp_path, cases))
        settings = {"name": "s", "cases": ".", "seed": seed, "sampling": sampling or {}}
        study = Study.model_validate({**settings, "candidates": [CANDIDATE | (candidate or {})]})
        renderer = Renderer(study, opened, Prompts(), sha256_file)
        asked = opened.case(number)
        settings = study.candidates[0]
        return renderer.render(
            asked, asked.questions[-1], Condition(**condition), settings, settings.identity, trial, given
        )

    return render


def text(rendered: Any) -> str:
    (message,) = rendered.ask.messages
    assert message.role == "user"
    return message.parts[-1]


def test_options_are_lettered_one_per_line_after_the_question(rendered):
    said = text(rendered([case(3)]))
    options = "A. disease 3 alpha\nB. disease 3 beta\nC. disease 3 gamma\nD. disease 3 delta"
    assert f"Question: What does patient 3 have?\n\n{options}\n\n" in said
    assert said.index("History of patient 3.") < said.index("Question:")


def test_shuffled_options_are_the_same_every_time_and_differ_by_case_and_seed(rendered):
    cases = [case(number) for number in range(30)]
    orders = [rendered(cases, number, trial=number % 3, options="shuffled").order for number in range(30)]
    assert orders == [rendered(cases, number, options="shuffled").order for number in range(30)]
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders)
    assert len(set(orders)) > 10
    other = [rendered(cases, number, options="shuffled", seed=1).order for number in range(30)]
    assert other != orders
    # written out: another order would be another Ask, and so a silent purchase
    expected = [0, 1, 2, 3]
    named = hashlib.blake2b(b'["options","0","case-5","mcq"]', digest_size=32).digest()
    random.Random(int.from_bytes(named[:8], "big")).shuffle(expected)
    assert list(orders[5]) == expected
    said = text(rendered(cases, 5, options="shuffled"))
    kinds = ("alpha", "beta", "gamma", "delta")
    assert "\n".join(f"{'ABCD'[at]}. disease 5 {kinds[own]}" for at, own in enumerate(orders[5])) in said


def test_options_rotate_by_trial(rendered):
    orders = [rendered([case(0)], trial=trial, options="rotated").order for trial in range(5)]
    assert orders == [(0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2), (0, 1, 2, 3)]
    assert "A. disease 0 gamma\nB. disease 0 delta" in text(rendered([case(0)], trial=2, options="rotated"))


def test_only_the_inputs_of_the_condition_are_shown(rendered):
    whole = case(0, findings="A mass.", images=[{"path": "1.png", "modality": "CT"}])
    for inputs in ("all", "history", "images", "findings", "history+findings", "history+images+findings"):
        shown = rendered([whole], inputs=inputs)
        wanted = ["history", "images", "findings"] if inputs == "all" else inputs.split("+")
        assert ("History of patient 0." in text(shown)) == ("history" in wanted)
        assert ("A mass." in text(shown)) == ("findings" in wanted)
        assert ("Images, in order: 1. CT" in text(shown)) == ("images" in wanted) == bool(shown.ask.images)


def test_the_origin_of_a_case_is_never_shown(rendered):
    origin = {"name": "eurorad", "pmids": ["31415926"], "published": "2025-03-01"}
    said = text(rendered([case(0, origin=origin, tags=["rare"], cluster="patient-7")]))
    assert not any(word in said for word in ("eurorad", "31415926", "2025", "rare", "patient-7", "case-0"))


def test_a_telling_has_its_own_history_and_images(rendered):
    tellings = {"text": {"history": "Told in words.", "images": []}, "multimodal": {"images": [1]}}
    images = [{"path": "1.png", "modality": "CT"}, {"path": "22.png", "modality": "MR"}]
    cases = [case(0, images=images, tellings=tellings)]
    assert "Told in words." in text(rendered(cases, telling="text"))
    assert rendered(cases, telling="text").ask.images == []
    shown = rendered(cases, telling="multimodal")
    assert "History of patient 0." in text(shown)
    assert "Images, in order: 1. MR" in text(shown)
    assert [Path(part.path).name for part in shown.ask.images] == ["22.png"]


def test_controls_change_the_images_and_nothing_else(rendered):
    cases = [case(n, images=[{"path": f"{'x' * (n + 1)}.png", "modality": "CT"}]) for n in range(3)]
    plain = rendered(cases)
    for control in ("blank", "swapped", "none"):
        changed = rendered(cases, images=control)
        assert text(changed) == text(plain)
        assert changed.ask.key != plain.ask.key
    assert rendered(cases, images="none").ask.images == []
    (blank,) = rendered(cases, images="blank").ask.images
    assert (blank.path, blank.sha256) == (plain.ask.images[0].path, plain.ask.images[0].sha256)
    assert "blank" in [step[0] for step in blank.recipe]
    (swapped,) = rendered(cases, images="swapped").ask.images
    assert swapped.path != plain.ask.images[0].path
    alone = text(rendered(cases, stem="options-only"))
    assert "A. disease 0 alpha" in alone
    assert not any(word in alone for word in ("patient", "History", "Images"))
    assert rendered(cases, stem="options-only").ask.images == []


def test_a_candidate_that_cannot_see_gets_neither_images_nor_their_list(rendered):
    shown = rendered([case(0, images=[{"path": "1.png", "modality": "CT"}])], candidate={"sees": False})
    assert shown.ask.images == []
    assert "Images" not in text(shown)


def test_images_that_do_not_fit_the_context_are_cut_from_the_end_and_named(rendered):
    images = [{"path": f"{'x' * n}.png", "modality": "CT"} for n in range(1, 5)]
    cases = [case(0, images=images)]
    whole = rendered(cases)
    assert (len(whole.ask.images), whole.ask.cut) == (4, ())
    tokens = len(text(whole)) / 3.5
    for room, kept in ((4 * 1200, 4), (3 * 1200, 3), (1200, 1), (0, 0)):
        context = {"context": int(tokens + 100 + room) + 1}
        shown = rendered(cases, candidate=context, sampling={"max_tokens": 100})
        assert [part.path for part in shown.ask.images] == [part.path for part in whole.ask.images[:kept]]
        assert shown.ask.cut == tuple(f"image {number}" for number in range(kept + 1, 5))


def test_later_questions_show_the_carried_texts(rendered):
    first, second = case(0)["questions"][0] | {"id": "iqa", "stage": "IQA"}, case(1)["questions"][0]
    chain = [case(0, questions=[first, second | {"given": ["iqa"]}])]
    assert "Established so far:\nImage quality: disease 0 beta\n\nQuestion:" in text(
        rendered(chain, given={"iqa": "disease 0 beta"})
    )
    assert "Established" not in text(rendered(chain))


def test_log_probabilities_use_the_sampling_of_votes(rendered):
    own = {"temperature": 0.2, "top_p": 0.5, "max_tokens": 900, "stop": ["x"]}
    sampling = rendered([case(0)], sampling=own, confidence="logprobs").ask.sampling
    assert (sampling.temperature, sampling.top_p, sampling.top_k, sampling.max_tokens) == (1.0, 1.0, -1, 1)
    assert (sampling.stop, sampling.logprobs) == (None, 20)
    votes = rendered([case(0)], sampling=own, confidence="votes").ask.sampling
    assert (votes.temperature, votes.max_tokens, votes.logprobs) == (0.2, 900, None)


def test_the_studys_sampling_takes_precedence_unless_the_candidates_is_fixed(rendered):
    own = {"temperature": 0.6, "top_k": 20}
    both = rendered([case(0)], candidate=own, sampling={"temperature": 1.0}).ask.sampling
    assert (both.temperature, both.top_k) == (1.0, 20)
    fixed = rendered([case(0)], candidate=own | {"fixed_sampling": True}, sampling={"temperature": 1.0, "top_p": 0.9})
    assert (fixed.ask.sampling.temperature, fixed.ask.sampling.top_p) == (0.6, 0.9)
    assert [rendered([case(0)], reasoning=value).ask.sampling.reasoning for value in ("as-is", "on", "off")] == [
        None,
        True,
        False,
    ]


def test_images_stand_where_a_prompt_for_images_has_them(rendered):
    images = [{"path": "1.png", "modality": "CT"}, {"path": "22.png", "modality": "MR"}]
    shown = rendered([case(0, images=images)], prompt="clinbench")
    (message,) = shown.ask.messages
    before, first, second, after = message.parts
    assert before.startswith("Question: History of patient 0.\n\nWhat does patient 0 have?")
    assert before.endswith("Images:")
    assert [Path(part.path).name for part in (first, second)] == ["1.png", "22.png"]
    assert after.startswith("Options:\nA. disease 0 alpha")
    without = rendered([case(0, images=images)], prompt="clinbench", images="none")
    assert "Images:\nImages, in order: 1. CT; 2. MR\n\nOptions:" in text(without)
    blind = rendered([case(0, images=images)], prompt="clinbench", candidate={"sees": False})
    assert "image" not in text(blind).lower()
    ours = rendered([case(0, images=images)])
    assert [isinstance(part, str) for part in ours.ask.messages[0].parts] == [False, False, True]
