"""Every set of the registry is fetched from an imitation of the Hub, with its published columns, and becomes cases."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hub_imitation import HubImitation, HubRepo
from PIL import Image

from wardround.cases.hub.getting import get_cases
from wardround.cases.hub.registry import hub_sets
from wardround.cases.set import CaseSet

constants = pytest.importorskip("huggingface_hub.constants", reason="the extra hub is not installed")


def png(shade: int = 90) -> bytes:
    file = io.BytesIO()
    Image.new("L", (24, 24), shade).save(file, "PNG")
    return file.getvalue()


def parquet(*rows: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    pl.DataFrame(list(rows)).write_parquet(file)
    return file.getvalue()


def lines(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def archive(files: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as opened:
        for name, content in files.items():
            opened.writestr(name, content)
    return file.getvalue()


def picture(shade: int = 90) -> dict[str, Any]:
    return {"bytes": png(shade), "path": None}


def gmai() -> dict[str, bytes]:
    columns = ["index", "image", "question", "A", "B", "answer", "modality", "clinical vqa task"]
    row = ["0", base64.b64encode(png()).decode(), "What is it?", "gout", "flu", "B", "CT", "Disease Diagnosis"]
    return {"GMAI-MMBench_VAL.tsv": ("\t".join(columns) + "\n" + "\t".join(row) + "\n").encode()}


def kvasir() -> dict[str, bytes]:
    row = {"image": picture(), "source": "polyps", "question": "Is there a polyp?", "answer": "yes", "img_id": "c1"}
    return {"data/00000.parquet": parquet(row, row | {"question": "Which colour?", "answer": "pink"})}


def medframeqa() -> dict[str, bytes]:
    row = {"question_id": "q1", "system": "chest", "organ": "lung", "keyword": "k", "modality": "CT", "video_id": "v1"}
    row |= {"question": "Which?", "options": ["gout", "flu", "lupus"], "correct_answer": "B", "reasoning_chain": "So."}
    return {"data/test-00000-of-00001.parquet": parquet(row | {"image_1": picture(9), "image_2": picture(200)})}


def medmcqa() -> dict[str, bytes]:
    row = {"id": "a", "question": "Which?", "opa": "gout", "opb": "flu", "opc": "lupus", "opd": "mumps", "cop": 1}
    row |= {"choice_type": "single", "exp": "So.", "subject_name": "Medicine", "topic_name": None}
    return {"data/validation-00000-of-00001.parquet": parquet(row, row | {"id": "b", "cop": 0})}


def medq_deg() -> dict[str, bytes]:
    columns = ["index", "image", "question", "A", "B", "answer", "modality"]
    clean = ["7", base64.b64encode(png()).decode(), "What is it?", "gout", "flu", "B", "CT"]
    degraded = ["8", base64.b64encode(png(40)).decode(), *clean[2:], "gaussian_noise", "2"]
    degraded_columns = [*columns, "degradation_type", "degradation_severity"]
    return {
        "MedQ-Robust-good-test.tsv": ("\t".join(columns) + "\n" + "\t".join(clean) + "\n").encode(),
        "MedQ-Robust-simulate-test.tsv": ("\t".join(degraded_columns) + "\n" + "\t".join(degraded) + "\n").encode(),
    }


def healthbench() -> dict[str, bytes]:
    rubrics = [{"criterion": "flu", "points": 5, "tags": ["level:example", "axis:accuracy"]}]
    row = {"prompt": [{"role": "user", "content": "Which?"}], "prompt_id": "1", "rubrics": rubrics}
    row |= {"example_tags": ["theme:a"], "ideal_completions_data": None}
    return {"2025-05-07-06-14-12_oss_eval.jsonl": lines(row)}


def medqa() -> dict[str, bytes]:
    row = {"question": "Which?", "answer": "flu", "options": {"A": "gout", "B": "flu", "C": "mumps", "D": "lupus"}}
    row |= {"meta_info": "step1", "answer_idx": "B", "metamap_phrases": ["flu"]}
    return {"phrases_no_exclude_test.jsonl": lines(row)}


def medxpertqa() -> dict[str, bytes]:
    row = {"id": "MM-1", "question": "Which?", "options": {"A": "gout", "B": "flu"}, "label": "B", "images": ["a.png"]}
    row |= {"medical_task": "Diagnosis", "body_system": "Skeletal", "question_type": "Reasoning"}
    text = {"id": "Text-1", "question": "Which?", "options": {"A": "gout", "B": "flu"}, "label": "B"}
    files = {"MM/test.jsonl": lines(row), "Text/test.jsonl": lines(text)}
    return files | {"images.zip": archive({"images/a.png": png()})}


def mmlu() -> dict[str, bytes]:
    row = {"question": "Which?", "subject": "anatomy", "choices": ["gout", "flu", "mumps", "lupus"], "answer": 1}
    return {"anatomy/test-00000-of-00001.parquet": parquet(row), "astronomy/test-00000-of-00001.parquet": b"not read"}


def mmmu() -> dict[str, bytes]:
    row = {"id": "validation_Clinical_Medicine_1", "question": "Which <image 1>?", "options": "['gout', 'flu']"}
    row |= {"explanation": "", "image_1": picture(), "answer": "B", "question_type": "multiple-choice"}
    return {"Clinical_Medicine/validation-00000-of-00001.parquet": parquet(row)}


def omnimedvqa() -> dict[str, bytes]:
    row = {"dataset": "ACRIMA", "question_id": "ACRIMA_1", "question_type": "Disease Diagnosis", "question": "Which?"}
    row |= {"gt_answer": "flu", "image_path": "Images/ACRIMA/a.png", "option_A": "gout", "option_B": "flu"}
    row |= {"modality_type": "Fundus Photography"}
    content = json.dumps([row]).encode()
    labels = "OmniMedVQA/QA_information/Open-access/ACRIMA.json"
    return {"OmniMedVQA.zip": archive({"OmniMedVQA/Images/ACRIMA/a.png": png(), labels: content})}


def open_and_closed() -> dict[str, bytes]:
    rows = [{"image": picture(), "question": "Is it large?", "answer": "no"}]
    rows.append({"image": picture(), "question": "Which organ?", "answer": "liver"})
    return {"data/test-00000-of-00001-e5bc.parquet": parquet(*rows)}


def pathmmu() -> dict[str, bytes]:
    row = {"No": 1, "img": "a.jpg", "question": "Which cell?", "options": ["A) Neuron", "B) Eosinophil"]}
    row |= {"answer": "B) Eosinophil", "explanation": "Its granules are red."}
    parts = {"Atlas": {"test_tiny": [row, row | {"No": 2, "question": "Which stain?"}]}}
    return {"data.json": json.dumps(parts).encode(), "images.zip": archive({"images/a.jpg": png()})}


def pmc_vqa() -> dict[str, bytes]:
    header = "index,Figure_path,Caption,Question,Choice A,Choice B,Choice C,Choice D,Answer,split\n"
    row = "0,f1.png,A caption.,Which?,A: gout,B: flu,C: mumps,D: lupus,B,test\n"
    images = archive({"f1.png": png()})  # without a folder: unpacked into one of the archive's name
    return {"test_2.csv": (header + row).encode(), "images_2.zip": images}


def pubmedqa() -> dict[str, bytes]:
    context = {"contexts": ["We asked.", "We saw."], "labels": ["BACKGROUND", "RESULTS"], "meshes": ["Humans"]}
    row = {
        "pubid": 123,
        "question": "Does it?",
        "context": context,
        "long_answer": "It may.",
        "final_decision": "maybe",
    }
    return {"pqa_labeled/train-00000-of-00001.parquet": parquet(row), "pqa_artificial/x.parquet": b"not read"}


def slake() -> dict[str, bytes]:
    row = {"img_id": 1, "img_name": "xmlab1/source.png", "question": "Which organ?", "answer": "Liver", "q_lang": "en"}
    row |= {"location": "Abdomen", "modality": "CT", "answer_type": "OPEN", "base_type": "vqa", "qid": 7}
    questions = json.dumps([row, row | {"qid": 8, "q_lang": "zh"}]).encode()
    return {"test.json": questions, "imgs.zip": archive({"imgs/xmlab1/source.png": png()})}


def xpcr() -> dict[str, bytes]:
    quality = {"category": "Image Quality", "sub_label": "Clarity", "question_type": "single_choice"}
    quality |= {"question": "How clear is it?\nOptions: ['excellent', 'good', 'poor']", "answer": "good"}
    diagnosis = quality | {"category": "Disease Diagnosis", "sub_label": "Disease"}
    diagnosis |= {"question": "Which disease?\nOptions: ['glaucoma', 'none']", "answer": "glaucoma"}
    path = "CFP/12 ODIR-5K/Training Images/2909_right.jpg"
    row = {"id": "cfp_000000", "modality": "cfp", "image": picture(), "image_path": path}
    return {"data/train-00000-of-00001.parquet": parquet(row | {"qa_pairs": [quality, diagnosis]})}


# the files of each repository; cases, questions and images that come of them; the first right answer
SETS: dict[str, tuple[Callable[[], dict[str, bytes]], int, int, int, str]] = {
    "gmai-mmbench": (gmai, 1, 1, 1, "flu"),
    "healthbench": (healthbench, 1, 1, 0, "flu"),
    "kvasir-vqa": (kvasir, 1, 2, 1, "yes"),
    "medframeqa": (medframeqa, 1, 1, 2, "flu"),
    "medmcqa": (medmcqa, 2, 2, 0, "flu"),
    "medq-deg": (medq_deg, 1, 2, 2, "flu"),
    "medqa": (medqa, 1, 1, 0, "flu"),
    "medxpertqa": (medxpertqa, 1, 1, 1, "flu"),
    "medxpertqa-text": (medxpertqa, 1, 1, 0, "flu"),
    "mmlu-medical": (mmlu, 1, 1, 0, "flu"),
    "mmmu-health": (mmmu, 1, 1, 1, "flu"),
    "omnimedvqa": (omnimedvqa, 1, 1, 1, "flu"),
    "pathmmu": (pathmmu, 1, 2, 1, "Eosinophil"),
    "path-vqa": (open_and_closed, 1, 2, 1, "no"),
    "pmc-vqa": (pmc_vqa, 1, 1, 1, "flu"),
    "pubmedqa": (pubmedqa, 1, 1, 0, "maybe"),
    "slake": (slake, 1, 1, 1, "Liver"),
    "vqa-rad": (open_and_closed, 1, 2, 1, "no"),
    "xpcr": (xpcr, 1, 2, 1, "good"),
}


def test_every_set_of_the_registry_is_tried():
    assert set(SETS) == set(hub_sets())


@pytest.mark.parametrize("name", SETS)
def test_a_set_of_the_registry_becomes_cases(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_files, cases, questions, images, right = SETS[name]
    card = b"---\nlicense: other\nlicense_name: for-tests\n---\n"
    with HubImitation({hub_sets()[name].repo: HubRepo(make_files() | {"README.md": card})}) as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        url = hub.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", url)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))

        result = get_cases(name, tmp_path / "set")

    assert result.problems == []
    assert result.licence == "for-tests"
    written = list(CaseSet.open(tmp_path / "set", strict=True))
    assert len(written) == result.cases == cases
    assert sum(len(case.questions) for case in written) == questions
    assert sum((tmp_path / "set" / image.path).is_file() for case in written for image in case.images) == images
    assert written[0].questions[0].gold_text == right
    assert not list(tmp_path.glob(".hub-*"))
