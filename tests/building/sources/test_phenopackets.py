"""`build phenopackets`: what is read, written, rejected and offered, and that a killed build changes nothing."""

from __future__ import annotations

import gzip
import json
import math
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from invented_packets import NAMES, packet, packets, sign, term, write_lines
from killed_build import read_files

from wardround.building.audit.audit import audit
from wardround.building.sources.phenopackets.build import build_phenopackets
from wardround.building.sources.phenopackets.diseases import DiseaseIndex
from wardround.building.sources.phenopackets.similarity import DiseaseSimilarity
from wardround.cases.set import CaseSet
from wardround.cases.validation import validate
from wardround.cli.main import main
from wardround.core.case import Case
from wardround.core.errors import BadInput, WardroundError

REAL = Path(__file__).parents[4] / "shared" / "data" / "phenopackets.jsonl.gz"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packets")
    return build_phenopackets(write_lines(folder / "packets.jsonl", packets()), folder / "set")


def choices(folder: Path) -> list[tuple[Case, list[str], int]]:
    return [(case, case.questions[0].choices, int(case.questions[0].gold)) for case in CaseSet.open(folder)]


def test_every_case_is_complete(built):
    assert validate(built.folder, workers=1) == []
    assert built.cases == 60
    for case in CaseSet.open(built.folder, strict=True):
        mcq, asked = case.questions
        assert len(set(mcq.choices)) == 6
        assert mcq.choices[mcq.gold] == asked.gold == case.model_extra["disease"]["label"]
        assert case.model_extra["disease"]["id"].startswith("OMIM:")
        assert case.tags == ["rare"]
        assert case.cluster == f"PMID:{case.origin.pmids[0]}"
        assert case.patient.age == int(case.id.partition("-")[2]) % 70
        assert not any(name.lower() in case.history.lower() for name in NAMES)


def test_no_cluster_is_in_two_splits(built):
    splits: dict[str, set[str]] = {}
    for case in CaseSet.open(built.folder):
        splits.setdefault(case.cluster, set()).add(case.split)
    assert all(len(names) == 1 for names in splits.values())
    assert set.union(*splits.values()) == {"dev", "test"}


def test_each_disease_is_right_once_in_six_offers(built):
    offered = Counter(option for _, options, _ in choices(built.folder) for option in options)
    right = Counter(options[gold] for _, options, gold in choices(built.folder))
    assert offered == {name: 6 * count for name, count in right.items()}
    assert Counter(gold for _, _, gold in choices(built.folder)) == dict.fromkeys(range(6), 10)


def test_the_same_input_gives_the_same_bytes(built, tmp_path):
    source = write_lines(tmp_path / "packets.jsonl", packets())
    again = build_phenopackets(source, tmp_path / "again")
    assert read_files(again.folder) == read_files(built.folder)
    other = build_phenopackets(source, tmp_path / "other", seed=1)
    assert (other.folder / "cases.jsonl").read_bytes() != (built.folder / "cases.jsonl").read_bytes()


@pytest.mark.parametrize("way", ["gz", "json", "json.gz", "cohort", "folder"])
def test_every_form_of_input_gives_the_same_cases(built, tmp_path, way):
    items = packets()
    source = tmp_path / {"gz": "p.jsonl.gz", "cohort": "p.json", "folder": "p"}.get(way, f"p.{way}")
    if way == "gz":
        source.write_bytes(gzip.compress((built.folder.parent / "packets.jsonl").read_bytes()))
    elif way == "json.gz":
        source.write_bytes(gzip.compress(json.dumps(items).encode()))
    elif way == "folder":
        for item in items:
            (source / item["id"]).mkdir(parents=True)
            (source / item["id"] / "packet.json").write_text(json.dumps(item))
    else:
        source.write_text(json.dumps(items if way == "json" else {"id": "c", "members": items}))
    built_set = build_phenopackets(source, tmp_path / "set")
    assert built_set.cases == 60
    if way != "folder":
        assert (tmp_path / "set" / "cases.jsonl").read_bytes() == (built.folder / "cases.jsonl").read_bytes()


def test_every_rejection_has_its_reason(tmp_path):
    items: list[Any] = packets()
    disease = term("OMIM", 1, "Ataxia with splenomegaly")
    other = term("OMIM", 2, "Zeta disorder")
    signs = [sign("Ataxia"), sign("Splenomegaly"), sign("Chorea")]
    gene = {"variantInterpretation": {"variationDescriptor": {"geneContext": {"symbol": "MYOPIA1"}}}}
    items += [
        packet(900, disease, signs, 1),
        packet(901, other, signs[:2], 1),
        packet(902, other, [*signs[:2], sign("Chorea", excluded=True)], 1),
        packet(903, other, signs, 1) | {"interpretations": [{"progressStatus": "UNSOLVED"}]},
        packet(904, other, signs, 1) | {"diseases": [{"term": disease}]},
        packet(905, other, signs, 1) | {"interpretations": [], "diseases": []},
        packet(906, term("LOCAL", 1, "x"), signs, 1),
        packet(907, other, [*signs, {"type": {"id": "HP:1", "label": "Positive for MYOPIA1"}}], 1),
        {**items[0], "id": "twin"},
        items[0],
        ["not a packet"],
        {"subject": {}},
    ]
    items[-5]["interpretations"][0]["diagnosis"]["genomicInterpretations"] = [gene]
    source = write_lines(tmp_path / "packets.jsonl", items)
    with source.open("a") as file:
        file.write("{broken\n")
    build_phenopackets(source, tmp_path / "set")
    rejected = {
        line["record"]: (line["step"], line["reason"], line["detail"])
        for line in map(json.loads, (tmp_path / "set" / "rejected.jsonl").read_text().splitlines())
    }
    assert rejected.pop("packets.jsonl:73")[2].startswith("is not JSON")
    assert rejected == {
        "packet-900": ("leaks", "history names the diagnosis", "Ataxia with splenomegaly"),
        "packet-901": ("features", "fewer than 3 features present", "2"),
        "packet-902": ("features", "fewer than 3 features present", "2"),
        "packet-903": ("diagnosis", "not solved", "UNSOLVED"),
        "packet-904": ("diagnosis", "more than one diagnosis", "OMIM:0000002, OMIM:0000001"),
        "packet-905": ("diagnosis", "no diagnosis", ""),
        "packet-906": ("diagnosis", "diagnosis without an OMIM, ORPHA or MONDO id", "LOCAL:0000001"),
        "packet-907": ("leaks", "history names the gene", "MYOPIA1"),
        "twin": ("duplicates", "tells the same as another", items[0]["id"]),
        "packets.jsonl:70": ("read", "id is there twice", items[0]["id"]),
        "packets.jsonl:71": ("read", "not a phenopacket", "is not a JSON object"),
        "packets.jsonl:72": ("read", "not a phenopacket", "has no id"),
    }
    assert len(CaseSet.open(tmp_path / "set")) == 60


def test_a_packet_that_is_cut_off_ends_the_reading_not_the_build(tmp_path):
    whole = gzip.compress("".join(json.dumps(item) + "\n" for item in packets()).encode())
    (tmp_path / "p.jsonl.gz").write_bytes(whole[: len(whole) * 9 // 10])
    said: list[str] = []
    built_set = build_phenopackets(tmp_path / "p.jsonl.gz", tmp_path / "set", note=said.append)
    assert 40 < built_set.cases < 60
    assert "not a phenopacket: cannot be read further" in said[0]  # a file that came in part is not silently less
    assert built_set.funnel[0].reasons == {"not a phenopacket": 1}


def test_a_source_that_cannot_be_built_is_one_line(tmp_path, monkeypatch, capsys):
    with pytest.raises(BadInput, match="there is no such file"):
        build_phenopackets(tmp_path / "none", tmp_path / "set")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"contains no \.json"):
        build_phenopackets(tmp_path / "empty", tmp_path / "set")
    source = write_lines(tmp_path / "p.jsonl", packets()[:1])
    with pytest.raises(WardroundError, match="1 x fewer than 5 other diseases"):
        build_phenopackets(source, tmp_path / "set")
    with pytest.raises(WardroundError, match="between 0 and 1"):
        build_phenopackets(source, tmp_path / "set", difficulty=2)
    monkeypatch.setattr(
        "sys.argv", ["wardround", "build", "phenopackets", "none.jsonl", "--out", str(tmp_path / "set")]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "none.jsonl: there is no such file" in capsys.readouterr().err


def test_fewer_cases_and_other_numbers_of_options(tmp_path):
    source = write_lines(tmp_path / "p.jsonl", packets())
    built_set = build_phenopackets(source, tmp_path / "set", count=4, limit=30)
    assert built_set.cases == 30
    assert {len(options) for _, options, _ in choices(built_set.folder)} == {4}


def test_synonyms_are_accepted_and_never_offered(tmp_path):
    items = packets()
    names = sorted({item["diseases"][0]["term"]["label"] for item in items})
    table = tmp_path / "same.csv"
    table.write_text(f"name,same_as\n{names[0]},Quonk\n{names[1]},quonk\n")
    built_set = build_phenopackets(write_lines(tmp_path / "p.jsonl", items), tmp_path / "set", synonyms=table)
    assert set(json.loads((built_set.folder / "manifest.json").read_text())["sources"]) == {"p.jsonl", "same.csv"}
    for case, options, gold in choices(built_set.folder):
        assert not {names[0], names[1]} <= set(options)
        if options[gold] == names[0]:
            assert "Quonk" in case.questions[1].accept


def test_classes_are_never_offered_beside_their_members(tmp_path):
    items = packets()
    names = sorted({item["diseases"][0]["term"]["label"] for item in items})
    table = tmp_path / "broader.csv"
    table.write_text(f"name,broader\n{names[0]},Some class\nSome class,{names[1]}\n")
    built_set = build_phenopackets(write_lines(tmp_path / "p.jsonl", items), tmp_path / "set", broader=table)
    plain = build_phenopackets(tmp_path / "p.jsonl", tmp_path / "plain")
    assert not any({*names[:2]} <= {*options} for _, options, _ in choices(built_set.folder))
    assert any({*names[:2]} <= {*options} for _, options, _ in choices(plain.folder))


def test_diseases_with_the_same_signs_are_not_offered_together():
    diseases = DiseaseIndex()
    noonan = [diseases.number(f"OMIM:{number}", [f"Noonan syndrome {number}"], []) for number in (1, 2)]
    first, second = (diseases.number(f"X:{name}", [f"{name} disease"], ["GNAS"]) for name in ("Alba", "Brom"))
    assert not diseases.can_be_options(*noonan)
    assert not diseases.can_be_options(first, second)  # the same gene
    assert diseases.can_be_options(first, noonan[0])
    assert not diseases.can_be_options(first, first)


def test_similarity_by_hand():
    """Four patients; a: 3 of 4, b: 2 of 4, c: 1 of 4."""
    similarity = DiseaseSimilarity([(0, ["a", "b"]), (0, ["a"]), (1, ["a", "b", "c"]), (2, [])])
    a, b, c = math.log(4 / 3), math.log(2), math.log(4)
    similar = dict(similarity.most_similar(["a", "b"]))
    assert similar == {0: pytest.approx((a + b / 2) / (a + b)), 1: pytest.approx(1.0)}
    assert [disease for disease, _ in similarity.most_similar(["a", "b", "c"])] == [1, 0]
    assert dict(similarity.most_similar(["a", "c"]))[0] == pytest.approx(a / (a + c))


def test_difficulty_brings_diseases_that_share_signs(tmp_path):
    """Neighbours in the list of diseases share signs; distant ones do not."""
    source = write_lines(tmp_path / "p.jsonl", packets(20))
    order = [f"{name}-{NAMES[place - 3]} syndrome" for place, name in enumerate(NAMES)]
    near = []
    for difficulty in (0.0, 1.0):
        built_set = build_phenopackets(source, tmp_path / f"{difficulty}", difficulty=difficulty)
        apart = [
            abs((order.index(option) - order.index(options[gold]) + 6) % 12 - 6)
            for _, options, gold in choices(built_set.folder)
            for option in {*options} - {options[gold]}
        ]
        near.append(sum(distance <= 3 for distance in apart) / len(apart))
    assert near[0] == pytest.approx(6 / 11, abs=0.08)
    assert near[1] > near[0] + 0.15


def test_an_invented_set_passes_the_audit(built):
    assert [step.records_out for step in built.funnel] == [60] * 8
    assert validate(built.folder, workers=1) == []
    assert audit(built.folder, workers=1).findings == []


@pytest.mark.skipif(not REAL.exists(), reason="needs the real phenopackets in ../shared/data")
def test_the_real_phenopackets_pass_the_audit(tmp_path):
    built_set = build_phenopackets(REAL, tmp_path / "set")
    assert [(step.step, step.records_out) for step in built_set.funnel] == [
        *(("read", 800), ("diagnosis", 800), ("features", 711), ("duplicates", 710), ("history", 710)),
        *(("leaks", 678), ("options", 678), ("split", 678)),
    ]
    assert validate(built_set.folder, workers=1) == []
    result = audit(built_set.folder, workers=1)
    assert {finding.kind for finding in result.findings} == {"head_noun"}  # nothing but warnings
    assert len(result.findings) == 63
    offered = Counter(option for _, options, _ in choices(built_set.folder) for option in options)
    right = Counter(options[gold] for _, options, gold in choices(built_set.folder))
    assert offered == {name: 6 * count for name, count in right.items()}


# a build that stops after every 40 records that it writes, until it reads a line
PAUSED = """
import sys
from pathlib import Path
import wardround.building.pipeline.pipeline as spool
from wardround.building.sources.phenopackets.build import build_phenopackets

class Paused:
    count = 0
    loads = staticmethod(spool.orjson.loads)
    @classmethod
    def dumps(cls, record, plain=spool.orjson.dumps):
        cls.count += 1
        if cls.count % 40 == 0:
            print(cls.count, flush=True)
            sys.stdin.readline()
        return plain(record)

spool.orjson = Paused
build_phenopackets(Path(sys.argv[1]), Path(sys.argv[2]))
"""


@pytest.mark.slow
def test_killed_five_times_it_writes_the_same(built, tmp_path):
    numbers = random.Random(11)
    source = built.folder.parent / "packets.jsonl"
    out = tmp_path / "set"
    for _ in range(5):
        with subprocess.Popen(
            [sys.executable, "-c", PAUSED, str(source), str(out)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        ) as process:
            for _ in range(numbers.randint(1, 10)):  # it writes 480 records in all
                assert process.stdout.readline()
                process.stdin.write("\n")
                process.stdin.flush()
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        assert not out.exists()
    build_phenopackets(source, out)
    assert read_files(out) == read_files(built.folder)
    assert not list(tmp_path.glob(".set*"))
