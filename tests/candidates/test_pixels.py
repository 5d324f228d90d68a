"""`pixels` learns from the training split, looks at what is sent, and says what it was fitted on."""

from __future__ import annotations

import base64
import hashlib
import io
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from direct_questions import VERBAL, candidate, choice, letters, open_case, prepared, query
from PIL import Image as Picture
from scipy.stats import chisquare
from sklearn.linear_model import LogisticRegression

from wardround.candidates.candidate import Candidate
from wardround.candidates.pixel_features import Values, features, frequencies, orientations
from wardround.candidates.pixels import fit
from wardround.cases.encoded_image import EncodedImage
from wardround.cases.set import CaseSet, write_case_set
from wardround.core.ask import Sampling
from wardround.core.case import Case
from wardround.core.errors import WardroundError
from wardround.marking.parser.choice import parse_choice

TEXTS = ["Stripes across", "Stripes down", "Plain"]


def picture(kind: int, seed: int, side: int = 80) -> Values:
    """Stripes across, stripes down or none, with noise."""
    wave = 60 * np.sin(np.arange(side) * 0.7 + seed)
    noise = np.random.default_rng(seed).normal(0, 15, (side, side))
    stripes = (wave[:, None], wave[None, :], 0.0)[kind]
    return np.clip(128 + stripes + noise, 0, 255)


def encoded(values: Values) -> EncodedImage:
    held = io.BytesIO()
    Picture.fromarray(values.astype(np.uint8)).save(held, "PNG")
    data = held.getvalue()
    return EncodedImage(base64.b64encode(data), "image/png", hashlib.sha256(data).hexdigest(), *values.shape[::-1])


def exam(number: int) -> Case:
    """A question about stripes with the options in an order of its own."""
    kind = number % 3
    options = TEXTS[number % 2 :] + TEXTS[: number % 2]
    return Case.model_validate(
        {
            "id": f"s{number}",
            "split": "train" if number < 30 else "test",
            "images": [{"path": f"{number}.png"}],
            "questions": [
                {
                    "id": "q",
                    "kind": "choice",
                    "prompt": "?",
                    "options": options,
                    "gold": options.index(TEXTS[kind]),
                }
            ],
        }
    )


def striped_set(folder: Path, count: int = 45) -> CaseSet:
    for number in range(count):
        Picture.fromarray(picture(number % 3, number).astype(np.uint8)).save(folder / f"{number}.png")
    write_case_set([exam(number) for number in range(count)], folder)
    return CaseSet.open(folder)


@pytest.fixture(scope="module")
def looking(tmp_path_factory: pytest.TempPathFactory) -> Candidate:
    return prepared(candidate("pixels"), striped_set(tmp_path_factory.mktemp("stripes")))


def test_it_recognises_what_it_learnt_in_images_it_never_saw(looking: Candidate) -> None:
    for number in range(30, 45):
        case = exam(number)
        answer = query(looking, case, images=(encoded(picture(number % 3, 1000 + number)),))[0]
        assert parse_choice(answer.text, case.questions[0].choices).option == case.questions[0].gold
        assert len(answer.images) == 1


def test_it_follows_the_image_that_was_sent_not_the_case(looking: Candidate) -> None:
    case = exam(30)
    for kind, text in enumerate(TEXTS):
        answer = query(looking, case, images=(encoded(picture(kind, 77)),))[0]
        assert case.questions[0].choices["ABC".index(answer.text)] == text


def test_without_an_image_every_option_is_as_likely(looking: Candidate) -> None:
    votes = Counter(letters(query(looking, exam(30), range(1500))))
    assert chisquare([votes[letter] for letter in "ABC"]).pvalue > 1e-4
    assert query(looking, exam(30), condition=VERBAL)[0].text.endswith("Confidence: 33.33%")


def test_temperature_and_log_probabilities_are_one_distribution(looking: Candidate) -> None:
    between = encoded((picture(0, 5) + picture(2, 6)) / 2)
    unsure = Sampling(temperature=4.0, logprobs=20)
    answers = query(looking, exam(30), range(2000), images=(between,), sampling=unsure)
    first = answers[0].first_token
    assert first is not None
    assert sum(np.exp([value for _, value in first])) == pytest.approx(1)
    votes = Counter(letters(answers))
    assert chisquare([votes[token] for token, _ in first], [2000 * np.exp(v) for _, v in first]).pvalue > 1e-4
    assert len(set(letters(query(looking, exam(30), range(50), images=(between,))))) == 1


def test_several_images_are_weighed_together(looking: Candidate) -> None:
    sampling = Sampling(temperature=1.0, logprobs=20)
    one, other = encoded(picture(0, 3)), encoded(picture(1, 4))

    def logs(*images: EncodedImage) -> Values:
        first = dict(query(looking, exam(30), images=images, sampling=sampling)[0].first_token or ())
        return np.array([first[letter] for letter in "ABC"])

    mean = (logs(one) + logs(other)) / 2
    assert logs(one, other) == pytest.approx(mean - np.log(np.exp(mean).sum()))


def test_texts_that_were_never_right_are_least_likely_and_alike(looking: Candidate) -> None:
    case = choice(0, options=3)  # none of its texts was in training
    image = (encoded(picture(0, 3)),)
    assert set(letters(query(looking, case, range(100), images=image))) == {"A", "B", "C"}
    known = exam(30).questions[0].model_copy(update={"options": ["never", "Stripes across", "seen"]})
    mixed = exam(30).model_copy(update={"questions": [known]})
    assert letters(query(looking, mixed, images=image)) == ["B"]


def test_stated_confidence_is_a_probability_below_one(looking: Candidate) -> None:
    text = query(looking, exam(30), images=(encoded(picture(0, 9)),), condition=VERBAL)[0].text
    stated = parse_choice(text, exam(30).questions[0].choices).confidence
    assert stated is not None
    assert 1 / 3 < stated < 1


def test_open_questions_get_the_likeliest_texts(looking: Candidate) -> None:
    assert query(looking, open_case(1), images=(encoded(picture(1, 9)),))[0].text.startswith("1. Stripes down\n2. ")
    assert query(looking, open_case(1))[0].text == ""


def test_it_is_keyed_by_what_it_was_fitted_on(tmp_path: Path) -> None:
    def revision() -> str | None:
        return prepared(candidate("pixels"), CaseSet.open(tmp_path)).identity.revision

    striped_set(tmp_path)
    first = revision()
    Picture.fromarray(picture(0, 555).astype(np.uint8)).save(tmp_path / "44.png")  # a test image
    assert revision() == first
    Picture.fromarray(picture(0, 555).astype(np.uint8)).save(tmp_path / "0.png")  # a training image
    assert revision() != first


def test_a_set_without_training_split_is_refused(tmp_path: Path) -> None:
    write_case_set([choice(1, split="test")], tmp_path)
    with pytest.raises(WardroundError, match=r"split 'train'; there are none$") as refused:
        prepared(candidate("pixels"), CaseSet.open(tmp_path))
    assert "\n" not in str(refused.value)


def test_the_fit_is_that_of_scikit_learn() -> None:
    numbers = np.random.default_rng(0)
    seen = numbers.normal(3, 2, (90, 6)) * [1, 10, 0.1, 1, 5, 2]
    classes = (seen[:, 0] + seen[:, 1] / 10 + numbers.normal(0, 1, 90)).round().astype(int) % 4
    ours = fit(seen, np.eye(4)[classes], list("abcd"))
    standard = (seen - seen.mean(axis=0)) / seen.std(axis=0)
    theirs = LogisticRegression(C=1.0, tol=1e-8, max_iter=5000).fit(standard, classes)
    assert np.exp(ours.log_probabilities(seen)) == pytest.approx(theirs.predict_proba(standard), abs=2e-3)


def test_features_follow_brightness_direction_and_detail() -> None:
    flat = np.full((64, 64), 0.5)
    ramp = np.tile(np.linspace(0, 1, 64), (64, 1))
    assert orientations(flat)[:9].sum() == 0
    assert orientations(ramp)[0] == pytest.approx(1)  # all gradients point right
    assert orientations(ramp.T)[4] == pytest.approx(1)  # all gradients point down: the middle of 9 directions
    places = np.arange(64)
    for cycles, ring in ((2, 0), (14, 3), (31, 7)):
        wave = np.tile(np.sin(2 * np.pi * cycles * places / 64), (64, 1))
        assert frequencies(wave).argmax() == ring
    for values in (np.zeros((10, 300)), picture(0, 1), picture(0, 1, side=300)):
        row = features(encoded(values))
        assert row.shape == features(encoded(flat)).shape
        assert np.isfinite(row).all()
