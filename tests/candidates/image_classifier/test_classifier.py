"""`classifier`: images are prepared as described, classes become options, and probabilities become confidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w
from direct_questions import VERBAL, candidate, letters, prepared, query
from onnx import TensorProto
from onnx_networks import encoded, write_network
from PIL import Image as Picture

from wardround.candidates.candidate import Candidate, RequestRejected
from wardround.candidates.classifier.description import ImagePreparation
from wardround.candidates.classifier.input_tensor import input_tensor
from wardround.cases.set import CaseSet, write_case_set
from wardround.core.ask import Sampling
from wardround.core.case import Case
from wardround.core.condition import Condition
from wardround.core.errors import WardroundError

GREY, BLACK = np.full((4, 4), 51, np.uint8), np.zeros((4, 4), np.uint8)  # 51 / 255 = 0.2
OPTIONS = ["Abscess", "Glioblastoma", "Metastasis"]
# with two grey pixels of 0.2 the scores are log 6, log 3 and log 1: probabilities .6, .3 and .1
LAYER = (np.array([[math.log(6), math.log(3), 0.0]] * 2) / 0.4, np.zeros(3))


def describe(folder: Path, **fields: Any) -> Path:
    """`net.toml`, for a network with two grey pixels and three classes."""
    described = {
        "activation": "softmax",
        "image": {"size": [1, 2], "channels": "grey"},
        "classes": [{"name": "abscess"}, {"name": "Glioblastoma", "synonyms": ["GBM"]}, {"name": "Metastasis"}],
    } | fields
    (folder / "net.toml").write_text(tomli_w.dumps(described))
    return folder / "net.toml"


def exam(options: Sequence[str] = OPTIONS, images: Sequence[dict[str, Any]] = ({"path": "1.png"},)) -> Case:
    question = {"id": "mcq", "kind": "choice", "prompt": "Which?", "options": list(options), "gold": 0}
    return Case.model_validate({"id": "c", "images": list(images), "questions": [question]})


def one_case_set(folder: Path, case: Case | None = None) -> CaseSet:
    Picture.fromarray(GREY).save(folder / "1.png")
    write_case_set([case or exam()], folder)
    return CaseSet.open(folder)


@pytest.fixture
def network(tmp_path: Path) -> Candidate:
    describe(tmp_path)
    file = write_network(tmp_path / "net.onnx", [LAYER], ["batch", 1, 1, 2])
    return prepared(candidate("classifier", model=str(file)), one_case_set(tmp_path))


def preparing(**fields: Any) -> ImagePreparation:
    return ImagePreparation.model_validate({"size": 2, "channels": "grey", "filter": "nearest"} | fields)


def test_channels_and_range_and_standardisation_by_hand():
    """Red 255, green 0, blue 51 in the range -1 to 1: 1, -1, -0.6; minus the mean, by the deviation."""
    red = encoded(np.full((2, 2, 3), (255, 0, 51), np.uint8))
    wanted = {"range": [-1, 1], "mean": [0, -1, 0.4], "std": [1, 1, 0.5]}
    rgb = input_tensor(red, preparing(channels="rgb", **wanted))
    bgr = input_tensor(red, preparing(channels="bgr", layout="NHWC", **wanted))
    assert rgb.shape == (1, 3, 2, 2)
    assert rgb[0, :, 0, 0] == pytest.approx([1, 0, -2])
    assert bgr.shape == (1, 2, 2, 3)
    assert bgr[0, 1, 1] == pytest.approx([-0.6, 0, 1.2])


@pytest.mark.parametrize(
    ("fit", "rows"),
    [
        ({"fit": "stretch"}, [[1, 3], [1, 3]]),
        ({"fit": "crop"}, [[1, 2], [1, 2]]),
        ({"fit": "crop", "resize": 4}, [[1, 2], [1, 2]]),
        ({"fit": "pad"}, [[1, 3], [0, 0]]),
    ],
)
def test_an_image_of_another_shape_is_stretched_or_cut_or_filled(fit, rows):
    """Columns of 0, 1, 2 and 3 in an image twice as wide as high, for a square of 2 x 2. Nearest takes the columns 1
    and 3 of four; cut, the middle two remain; enlarged to a height of 4 first, its columns are 0 0 1 1 2 2 3 3, of
    which the middle two are 1 and 2; filled, the row lies above a black one."""
    image = encoded(np.tile(np.arange(4, dtype=np.uint8), (2, 1)))
    tensor = input_tensor(image, preparing(range=[0, 255], **fit))
    assert tensor[0, 0].tolist() == rows


def test_shrinking_averages_pixels_as_pillow_does():
    """Bilinear from four columns to two, antialiased: weights 3/7, 3/7, 1/7 of the pixels within reach."""
    image = encoded(np.tile(np.array([0, 0, 70, 210], np.uint8), (2, 1)))
    tensor = input_tensor(image, preparing(range=[0, 255], filter="bilinear"))
    assert tensor[0, 0, 0].tolist() == [10, 120]


def test_class_probabilities_become_answer_confidence_and_logprobs(network: Candidate):
    case = exam()
    order, images = (2, 1, 0), (encoded(GREY),)
    assert letters(query(network, case, trials=(0, 1), order=order, images=images)) == ["C", "C"]
    [stated] = query(network, case, order=order, images=images, condition=VERBAL)
    assert stated.text == "C\nConfidence: 60%"
    [answer] = query(network, case, order=order, images=images, sampling=Sampling(temperature=1.0, logprobs=1500))
    assert answer.first_token is not None
    assert {token: math.exp(value) for token, value in answer.first_token} == pytest.approx(
        {"A": 0.1, "B": 0.3, "C": 0.6}
    )
    assert answer.images == (images[0].sha256,)


def test_votes_follow_the_probabilities_at_the_studys_temperature(network: Candidate):
    """At temperature 0.5 the shares are proportional to the squares .36, .09, .01."""
    case = exam()
    votes = query(network, case, range(4000), images=(encoded(GREY),), sampling=Sampling(temperature=0.5))
    shares = [letters(votes).count(letter) / 4000 for letter in "ABC"]
    assert shares == pytest.approx([0.36 / 0.46, 0.09 / 0.46, 0.01 / 0.46], abs=0.03)


def test_probabilities_are_those_among_the_options_shown_and_the_mean_of_all_images(network: Candidate):
    """A black image has equal probabilities: the mean of .6 and 1/3 against that of .3 and 1/3."""
    case = exam(OPTIONS[:2], [{"path": "1.png"}] * 2)
    [stated] = query(network, case, images=(encoded(GREY), encoded(BLACK)), condition=VERBAL)
    assert stated.text == f"A\nConfidence: {100 * (0.6 + 1 / 3) / (0.9 + 2 / 3):.2f}%"


def test_an_option_has_the_sum_of_the_classes_that_it_names(tmp_path: Path):
    classes = [{"name": "Abscess"}, *({"name": name, "synonyms": ["tumour"]} for name in OPTIONS[1:])]
    describe(tmp_path, classes=classes)
    file = write_network(tmp_path / "net.onnx", [LAYER], [1, 1, 1, 2])
    case = exam(["Tumour", "Abscess"])
    to = prepared(candidate("classifier", model=str(file)), one_case_set(tmp_path, case))
    [stated] = query(to, case, images=(encoded(GREY),), condition=VERBAL)
    assert stated.text == "B\nConfidence: 60%"


@pytest.mark.parametrize(("type", "shape"), [(TensorProto.FLOAT, [1, 1, 1, 2]), (TensorProto.FLOAT16, ["n", 1, 1, 2])])
def test_one_output_of_two_classes_is_the_probability_of_the_second(tmp_path: Path, type: int, shape: list[Any]):
    """The score is log 4, so its sigmoid 4 / 5."""
    describe(tmp_path, activation="sigmoid", classes=[{"name": "Benign"}, {"name": "Malignant"}])
    layer = (np.full((2, 1), math.log(4) / 0.4), np.zeros(1))
    file = write_network(tmp_path / "net.onnx", [layer], shape, type=type)
    case = exam(["Malignant", "Benign"])
    to = prepared(candidate("classifier", model=str(file)), one_case_set(tmp_path, case))
    [stated] = query(to, case, images=(encoded(GREY),), condition=VERBAL)
    letter, confidence = stated.text.split("\nConfidence: ")
    assert letter == "A"
    assert float(confidence.rstrip("%")) == pytest.approx(80, abs=0.1)


@pytest.mark.parametrize(
    ("fields", "condition", "reason"),
    [
        ({}, Condition(), None),
        ({"options": ["GBM", "abscess."]}, Condition(), None),
        ({"options": ["Glioblastoma", "GBM"]}, Condition(), "not all classes"),
        ({"options": [*OPTIONS, "Stroke"]}, Condition(), "not all classes"),
        ({"images": []}, Condition(), "the question has none"),
        ({}, Condition(inputs="history"), "none are shown"),
        ({}, Condition(images="none"), "none are shown"),
        ({}, Condition(evidence="rag"), "no literature"),
        ({}, Condition(reasoning="on"), "does not reason"),
        ({}, Condition(images="blank"), None),
    ],
)
def test_what_it_cannot_answer_is_inapplicable(network: Candidate, fields, condition, reason):
    case = exam(**fields)
    found = network.inapplicable_reason(condition, [condition]) or network.question_reason(
        case, case.questions[0], condition
    )
    assert (found is None) == (reason is None)
    assert reason is None or reason in str(found)


def test_images_of_other_modalities_are_not_given_to_it(tmp_path: Path):
    describe(tmp_path, modalities=["MRI"])
    file = write_network(tmp_path / "net.onnx", [LAYER], [1, 1, 1, 2])
    images = [{"path": "1.png", "modality": "CT"}, {"path": "1.png", "modality": "mri"}]
    case = exam(images=images)
    to = prepared(candidate("classifier", model=str(file)), one_case_set(tmp_path, case))
    [stated] = query(to, case, images=(encoded(BLACK), encoded(GREY)), condition=VERBAL)
    assert stated.text == "A\nConfidence: 60%"
    only_ct = exam(images=images[:1])
    assert "modality" in str(to.question_reason(only_ct, only_ct.questions[0], Condition()))


def test_other_weights_or_another_description_are_another_candidate(tmp_path: Path):
    describe(tmp_path)
    file = write_network(tmp_path / "net.onnx", [LAYER], [1, 1, 1, 2], weights_file="weights.bin")
    revisions = [candidate("classifier", model=str(file)).identity.revision]
    content = bytearray((tmp_path / "weights.bin").read_bytes())
    content[0] ^= 1
    (tmp_path / "weights.bin").write_bytes(content)
    revisions.append(candidate("classifier", model=str(file)).identity.revision)
    describe(tmp_path, activation="sigmoid")
    revisions.append(candidate("classifier", model=str(file)).identity.revision)
    assert len(set(revisions)) == 3
    (tmp_path / "elsewhere").mkdir()
    for path in (file, tmp_path / "weights.bin", tmp_path / "net.toml"):
        path.rename(tmp_path / "elsewhere" / path.name)
    moved = candidate("classifier", model=str(tmp_path / "elsewhere" / "net.onnx"))
    assert moved.identity.revision == revisions[-1]
    (tmp_path / "elsewhere" / "weights.bin").unlink()
    with pytest.raises(WardroundError, match=r"weights\.bin: is missing; net\.onnx keeps weights in it"):
        candidate("classifier", model=str(tmp_path / "elsewhere" / "net.onnx"))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"activation": "softmx"}, "net.toml: activation: "),
        ({"colour": 1}, "net.toml: colour: "),
        ({"image": {"size": 2, "channels": "grey", "mean": [1, 2]}}, "mean has 2 values; channels = 'grey' needs 1"),
        ({"image": {"size": 2, "resize": 4}}, 'resize is for fit = "crop"'),
        ({"image": {"size": 3, "channels": "grey"}}, "net.onnx: does not take an image as described: "),
        ({"input": "pixels"}, "net.onnx: there is no input 'pixels'; set input to one of image"),
        ({"classes": [{"name": "a"}, {"name": "B"}]}, "gives 3 values for an image, but 2 classes are described"),
        ({"classes": [{"name": "a"}, {"name": "A"}]}, "two are named 'A'"),
        ({"classes": [{"name": name} for name in "xyz"]}, "net.toml: no question of .* such as '.*'; add synonyms"),
    ],
)
def test_a_wrong_description_is_refused_in_one_line(tmp_path: Path, fields, message):
    describe(tmp_path, **fields)
    file = write_network(tmp_path / "net.onnx", [LAYER], [1, 1, 1, 2])
    with pytest.raises(WardroundError, match=message) as raised:
        prepared(candidate("classifier", model=str(file)), one_case_set(tmp_path))
    assert "\n" not in str(raised.value)


def test_an_output_of_several_is_named(tmp_path: Path):
    file = write_network(tmp_path / "net.onnx", [LAYER], [1, 1, 1, 2], second_output=True)
    describe(tmp_path)
    with pytest.raises(WardroundError, match="it has several outputs; set output to one of scores, x0"):
        prepared(candidate("classifier", model=str(file)), one_case_set(tmp_path))
    describe(tmp_path, output="scores")
    prepared(candidate("classifier", model=str(file)), one_case_set(tmp_path))


def test_a_file_that_is_no_network_is_refused(tmp_path: Path):
    describe(tmp_path)
    (tmp_path / "net.onnx").write_bytes(b"no network")
    with pytest.raises(WardroundError, match=r"net\.onnx: onnxruntime cannot use it: "):
        prepared(candidate("classifier", model=str(tmp_path / "net.onnx")), one_case_set(tmp_path))
    with pytest.raises(WardroundError, match=r"other\.onnx: there is no such file"):
        candidate("classifier", {"description": str(tmp_path / "net.toml")}, model=str(tmp_path / "other.onnx"))


def test_scores_that_are_not_probabilities_are_refused(tmp_path: Path):
    """A black image gives 0; the grey one gives log 6."""
    describe(tmp_path, activation="none")
    file = write_network(tmp_path / "net.onnx", [LAYER], [1, 1, 1, 2])
    to = prepared(candidate("classifier", model=str(file)), one_case_set(tmp_path))
    case = exam()
    with pytest.raises(RequestRejected, match=r"gives 1\.79176 as a probability; check `activation`"):
        query(to, case, images=(encoded(GREY),))
