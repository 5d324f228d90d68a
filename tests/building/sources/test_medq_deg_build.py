"""`build medq-deg`: what is left out and why, what is drawn, and that the same pool gives the same set."""

from __future__ import annotations

import json
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from clean_pool import ORGANS, put_images, small_pool, write_pool
from clean_pool import question as make_question
from killed_build import read_files
from PIL import Image as Picture

from wardround.building.sources.medq_deg.build import build_medq_deg
from wardround.building.sources.medq_deg.duplicates import PoolQuestion
from wardround.building.sources.medq_deg.selection import draw_degradations
from wardround.cases.readers import READERS
from wardround.cases.set import CaseSet
from wardround.cases.validation import validate
from wardround.cli.main import main
from wardround.core.errors import BadInput, WardroundError
from wardround.degrade.modalities import MODALITIES
from wardround.degrade.ray_cluster import join_cluster, map_on_cluster
from wardround.degrade.types import CATEGORIES, TYPES, fits


@pytest.fixture(scope="module")
def pool(tmp_path_factory) -> Path:
    return small_pool(tmp_path_factory.mktemp("pool") / "pool")


@pytest.fixture(scope="module")
def built(pool, tmp_path_factory):
    return build_medq_deg([pool], tmp_path_factory.mktemp("built") / "set")


def test_every_clean_question_gets_six_degraded_versions(pool, built):
    cases = CaseSet.open(built.folder, strict=True)
    assert validate(built.folder, workers=1) == []
    assert len(cases) == built.cases == len(CaseSet.open(pool)) == 12
    assert built.clean == 2 * built.cases
    assert built.degraded == built.clean * 3 * 2 - built.left_out.total()
    assert cases.question_count == built.clean + built.degraded
    left_out = 0
    for case in cases:
        modality = case.images[0].modality
        assert modality in MODALITIES
        assert case.split in ("test", "dev")
        assert case.tags == ["kept"]
        by_id = {question.id: question for question in case.questions}
        clean = [question for question in case.questions if question.of is None]
        assert [question.degradations for question in clean] == [[], []]
        for question in case.questions:
            if question.of is None:
                continue
            type, level = question.degradations[0].split("@")
            assert question.id == f"{question.of}-{type}-{level}"
            assert fits(type, modality)
            assert question.model_extra["category"] == CATEGORIES[type]
            twin = by_id[question.of]
            same = ("prompt", "options", "gold", "skill", "capability", "task", "images")
            assert all(getattr(question, name) == getattr(twin, name) for name in same)
        for twin in clean:
            degradations = [question.degradations[0] for question in case.questions if question.of == twin.id]
            by_level = Counter(name.partition("@")[2] for name in degradations)
            assert max(by_level.values()) <= 3
            left_out += 6 - by_level.total()
            assert len({name.partition("@")[0] for name in degradations}) <= 3
    assert left_out == built.left_out.total() < built.degraded / 4


def test_the_hierarchy_is_attached(built):
    case = next(iter(CaseSet.open(built.folder)))
    first, second = (question for question in case.questions if question.of is None)
    place = (first.task, first.capability, first.skill)
    assert place == ("Medical Perception", "Clinical Understanding", "Disease Diagnosis")
    assert (second.capability, second.skill) == ("Anatomical Recognition", "Skeletal System")


@pytest.mark.slow
def test_the_same_pool_on_a_ray_cluster_gives_the_same_bytes(pool, built, tmp_path, monkeypatch):
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'wardround[ray]'")
    sent: list[object] = []

    def map_and_count(function, jobs):
        for job, result in map_on_cluster(function, jobs):
            sent.append(job)
            yield job, result

    monkeypatch.setattr("wardround.building.sources.medq_deg.levels.ALONE", 0)  # a small pool needs no workers
    monkeypatch.setattr("wardround.degrade.workers.map_on_cluster", map_and_count)
    with join_cluster("auto"):
        again = build_medq_deg([pool], tmp_path / "again")
    assert read_files(again.folder) == read_files(built.folder)
    assert sent


def test_the_same_pool_in_any_order_gives_the_same_bytes(pool, built, tmp_path):
    lines = (pool / "cases.jsonl").read_text().splitlines()
    random.Random(1).shuffle(lines)
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool" / "images").symlink_to(pool / "images")
    (tmp_path / "pool" / "cases.jsonl").write_text("\n".join(lines))
    again = build_medq_deg([tmp_path / "pool"], tmp_path / "again")
    assert read_files(again.folder) == read_files(built.folder)
    other = build_medq_deg([pool], tmp_path / "other", seed=1)
    assert (other.folder / "cases.jsonl").read_bytes() != (built.folder / "cases.jsonl").read_bytes()


def test_types_are_balanced_within_each_modality():
    asked = [
        PoolQuestion(f"case-{number}", "q", "?", frozenset(), "x", ("i",), (modality,))
        for number, modality in enumerate(MODALITIES * 41)
    ]
    types_by_key = draw_degradations(asked, seed=3, count=3)
    used: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for question in asked:
        types = types_by_key[question.key]
        assert len(set(types)) == 3
        used[question.modalities[0]].update(types)
    for modality in MODALITIES:
        fitting = [type for type in TYPES if fits(type, modality)]
        assert set(used[modality]) == set(fitting)
        assert max(used[modality].values()) - min(used[modality].values()) <= 1
    random.Random(0).shuffle(asked)
    assert draw_degradations(asked, seed=3, count=3) == types_by_key
    assert draw_degradations(asked, seed=4, count=3) != types_by_key
    with pytest.raises(WardroundError, match="10 degradations per question: X-ray has only 9 that fit"):
        draw_degradations([question for question in asked if question.modalities == ("X-ray",)], seed=0, count=10)


def test_a_question_that_cannot_be_used_is_rejected_with_its_reason(tmp_path):
    folder = tmp_path / "pool"
    ct = {"path": next(path for path, modality in put_images(folder).items() if modality == "CT"), "modality": "CT"}
    (folder / "images" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    write_pool(
        folder,
        [
            {
                "id": "a",
                "images": [ct, ct | {"degradations": ["low_dose@L1"]}],
                "questions": [
                    make_question(images=[0]),
                    make_question("worn", of="q", images=[1], degradations=["low_dose@L1"]),
                    make_question("stored", prompt="Another question altogether", images=[1]),
                    {"id": "open", "kind": "open", "prompt": "What is it?", "gold": "gout", "images": [0]},
                    make_question("al", chain="c1", images=[0]),
                    make_question("text", images=[]),
                ],
            },
            {"id": "b", "images": [{"path": ct["path"]}], "questions": [make_question()]},
            {"id": "c", "images": [ct | {"modality": "Fundus Photography"}], "questions": [make_question()]},
            {"id": "d", "images": [{"path": "images/broken.png", "modality": "CT"}], "questions": [make_question()]},
        ],
    )
    (folder / "cases.jsonl").open("a").write("{broken\n")
    built = build_medq_deg([folder], tmp_path / "set")
    rejected = [json.loads(line) for line in (built.folder / "rejected.jsonl").read_text().splitlines()]
    assert rejected[0] == {
        "source": "pool",
        "reason": "problem",
        "detail": "cases.jsonl:5: is not JSON: key must be a string at column 2",
    }
    assert [(line["case"], line["question"], line["reason"], line["detail"]) for line in rejected[1:]] == [
        ("a", "al", "part of a chain", "chain c1"),
        ("a", "open", "not a choice", "kind is open"),
        ("a", "stored", "already degraded", ""),
        ("a", "text", "no image", "it shows none"),
        ("a", "worn", "already degraded", "low_dose@L1"),
        ("b", "q", "duplicate", "repeats a / q"),
        ("c", "q", "none of the 7 modalities", "modality is 'Fundus Photography'"),
        ("d", "q", "image cannot be decoded", rejected[-1]["detail"]),
    ]
    assert (built.cases, built.clean) == (1, 1)
    assert [(row.labels[0], row.cells[0].value, row.cells[1].value) for row in built.funnel.rows] == [
        ("read", None, 9),
        ("already degraded", 2, 7),
        ("not a choice", 1, 6),
        ("part of a chain", 1, 5),
        ("no image", 1, 4),
        ("none of the 7 modalities", 1, 3),
        ("image cannot be decoded", 1, 2),
        ("duplicate", 1, 1),
    ]
    kept = {image.path for case in CaseSet.open(built.folder) for image in case.images}
    assert {f"images/{file.name}" for file in (built.folder / "images").iterdir()} == kept


def test_duplicates_across_sources(tmp_path):
    """The second source has the first one's image re-encoded and smaller, and asks the same in other words."""
    first = tmp_path / "first"
    put_images(first)
    slide = {"path": "images/slide-0.png", "modality": "Pathology"}
    write_pool(first, [{"id": "a", "cluster": "patient-7", "images": [slide], "questions": [make_question()]}])
    second = tmp_path / "second"
    (second / "images").mkdir(parents=True)
    picture = Picture.open(first / slide["path"])
    picture.resize((96, 96)).save(second / "images" / "small.jpg", quality=80)
    small = {"path": "images/small.jpg", "modality": "Histopathology"}
    write_pool(
        second,
        [
            {"id": "b", "images": [small], "questions": [make_question(prompt="Which organ is shown in this  image")]},
            {"id": "c", "images": [small], "questions": [make_question(prompt="Is this tissue stained?")]},
            {"id": "d", "images": [small], "questions": [make_question(gold=1)]},
        ],
    )
    built = build_medq_deg([second, first], tmp_path / "set")
    assert [(rejection.case, rejection.reason, rejection.detail) for rejection in built.rejected] == [
        ("b", "duplicate", "repeats a / q")
    ]
    cases = {case.id: case for case in CaseSet.open(built.folder)}
    assert set(cases) == {"a", "c", "d"}
    assert {case.cluster_id for case in cases.values()} == {"c"}  # the smallest of patient-7, c and d
    manifest = json.loads((built.folder / "manifest.json").read_text())
    assert [source["name"] for source in manifest["sources"]] == ["first", "second"]


def test_neither_of_two_contradicting_questions_is_kept(tmp_path):
    folder = tmp_path / "pool"
    put_images(folder)
    image = [{"path": "images/mr.dcm", "modality": "MR"}]
    write_pool(
        folder,
        [
            {"id": "a", "images": image, "questions": [make_question()]},
            {"id": "b", "images": image, "questions": [make_question(options=ORGANS[::-1], gold=0)]},
            {
                "id": "c",
                "images": image,
                "questions": [make_question(prompt="Which plane?", options=["axial", "other"])],
            },
        ],
    )
    built = build_medq_deg([folder], tmp_path / "set")
    assert [(rejection.case, rejection.reason) for rejection in built.rejected] == [
        ("a", "contradiction"),
        ("b", "contradiction"),
    ]


def test_labels_without_a_place_are_listed_not_guessed(tmp_path):
    folder = tmp_path / "pool"
    put_images(folder)
    labels = ["Modality Recognition", "Fancy Task", None, "Organ Recognition - Thorax", "counting"]
    cases = [
        {
            "id": f"case-{number}",
            "images": [{"path": f"images/slide-{number % 4}.png", "modality": "Pathology"}],
            "questions": [make_question(prompt=f"Question number {number}?", **({"label": label} if label else {}))],
        }
        for number, label in enumerate(labels)
    ]
    built = build_medq_deg([write_pool(folder, cases)], tmp_path / "set")
    assert built.unplaced == {"Modality Recognition": 1, "Fancy Task": 1, "": 1}
    question_by_case = {case.id: case.questions[0] for case in CaseSet.open(built.folder)}
    assert (question_by_case["case-1"].skill, question_by_case["case-1"].capability) == (None, None)
    assert (question_by_case["case-3"].skill, question_by_case["case-3"].capability) == (None, "Anatomical Recognition")
    assert (question_by_case["case-4"].skill, question_by_case["case-4"].capability) == (
        "Counting",
        "Imaging Perception",
    )
    listed = json.loads((built.folder / "manifest.json").read_text())["labels_without_place"]
    assert listed["Modality Recognition"]["why"].startswith("OmniMedVQA")
    assert listed["Fancy Task"] == {"questions": 1, "why": None}
    without = {"Modality Recognition": 1, "Fancy Task": 1, "": 1, "Organ Recognition - Thorax": 1}
    assert built.to_dict()["labels_without_skill"] == without
    assert built.to_dict()["skills"] == {"Counting": {"questions": 1, "share": 0.2}}  # of all five


def test_a_pool_in_another_layout(tmp_path):
    images = put_images(tmp_path / "OmniMedVQA")
    records = [
        {
            "dataset": "Made",
            "question_id": f"Made_{number}",
            "question_type": "Anatomy Identification",
            "question": "Which organ?",
            "gt_answer": "liver",
            "image_path": path,
            "option_A": "liver",
            "option_B": "brain",
            "modality_type": "MR (Magnetic Resonance Imaging)",
        }
        for number, path in enumerate(path for path, modality in images.items() if modality == "Pathology")
    ]
    file = tmp_path / "OmniMedVQA" / "QA_information" / "Open-access" / "Made.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(records))
    assert len(READERS["omnimedvqa"](tmp_path / "OmniMedVQA")) == 4
    built = build_medq_deg([tmp_path / "OmniMedVQA"], tmp_path / "set", layouts=["omnimedvqa"], per_case=12)
    assert (built.cases, built.degraded) == (4, 4 * 12 * 2)
    assert {case.images[0].modality for case in CaseSet.open(built.folder)} == {"MRI"}


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"levels": ["L1", "1"]}, "each once"),
        ({"levels": ["L0", "L1"]}, "L0 is the clean question itself"),
        ({"levels": ["L3"]}, "severity 'L3'"),
        ({"per_case": 13}, "13 degradations per question"),
        ({"layouts": ["wardround", "wardround"]}, "1 sources and 2 layouts"),
        ({"layouts": ["medq"]}, "unknown layout 'medq'"),
    ],
)
def test_bad_settings_leave_nothing_behind(pool, tmp_path, how, message):
    with pytest.raises(WardroundError, match=message):
        build_medq_deg([pool], tmp_path / "set", **how)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_not_overwritten(pool, tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "mine").write_text("mine")
    with pytest.raises(BadInput, match="never overwritten"):
        build_medq_deg([pool], tmp_path / "set")
    with pytest.raises(BadInput, match="case 'case-00' is in pool too"):
        build_medq_deg([pool, pool], tmp_path / "other")
    with pytest.raises(WardroundError, match="no question can be used: 1 x no image"):
        build_medq_deg(
            [write_pool(tmp_path / "none", [{"id": "a", "questions": [make_question()]}])], tmp_path / "other"
        )


def test_the_command_prints_the_funnel(pool, tmp_path, monkeypatch, capsys):
    out = tmp_path / "set"
    call = [
        "wardround",
        "build",
        "medq-deg",
        str(pool),
        "--levels",
        "L1",
        "L2",
        "0.5",
        "--out",
        str(out),
        "--per-case",
        "2",
    ]
    monkeypatch.setattr(sys, "argv", call)
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    assert ended.value.code == 0, printed.err
    assert "read" in printed.out
    assert "none of the" not in printed.out
    assert str(out) in printed.out
    assert printed.err.startswith("read ")
    some = next(iter(CaseSet.open(out)))
    assert len([question for question in some.questions if question.of == "q"]) == 6
    assert some.questions[3].degradations[0].endswith("@0.5")


def test_the_command_with_sources_in_two_layouts(pool, tmp_path, monkeypatch, capsys):
    put_images(tmp_path / "other")
    record = {
        "question_id": "o1",
        "question": "Which stain is this?",
        "gt_answer": "HE",
        "option_A": "HE",
        "option_B": "PAS",
        "image_path": "images/slide-3.png",
        "modality_type": "Histopathology",
    }
    (tmp_path / "other" / "questions.json").write_text(json.dumps([record]))
    call = ["build", "medq-deg", str(pool), str(tmp_path / "other"), "--from", "wardround", "omnimedvqa"]
    monkeypatch.setattr(sys, "argv", ["wardround", *call, "--out", str(tmp_path / "set"), "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert ended.value.code == 0, said.err
    assert json.loads(said.out)["labels_without_place"] == {"": 1}
    slide = [case for case in CaseSet.open(tmp_path / "set") if case.id == "o1"]
    assert len(slide[0].questions) == 7
