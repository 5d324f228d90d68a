"""MeSH: the descriptor file, what its terms mean, and searches limited to or expanded by headings."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from exam_study import wardround
from mesh_files import TREE, descriptor_file

from wardround.core.errors import BadInput, WardroundError
from wardround.literature.index.build import add_thesaurus, build
from wardround.literature.index.index import Index
from wardround.literature.mesh.descriptors import read_descriptors
from wardround.literature.mesh.thesaurus import Thesaurus

ARTICLES = [
    {"pmid": "1", "title": "Aspirin after myocardial infarction", "mesh": ["Myocardial Infarction", "Female"]},
    {"pmid": "2", "title": "Aspirin and heart disease at large", "mesh": ["Heart Diseases"]},
    {"pmid": "3", "title": "Aspirin in diabetes", "mesh": ["Diabetes Mellitus, Type 2"]},
    {"pmid": "4", "title": "Aspirin for all", "mesh": []},
]


@pytest.fixture
def thesaurus(tmp_path: Path) -> Thesaurus:
    return Thesaurus(read_descriptors(descriptor_file(tmp_path / "desc.xml")))


@pytest.fixture(scope="module")
def plain_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mesh")
    (folder / "a.jsonl").write_text("".join(json.dumps(article) + "\n" for article in ARTICLES))
    build([folder / "a.jsonl"], folder / "index", columns=["wordllama"])
    return folder / "index"


def test_every_descriptor_is_read_with_its_terms_and_places(tmp_path: Path) -> None:
    path = descriptor_file(tmp_path / "desc.xml")
    packed = tmp_path / "desc.xml.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for file in (path, packed):
        assert {d.heading: (d.tree_numbers, d.terms[1:]) for d in read_descriptors(file)} == TREE


def test_a_file_that_is_not_the_nlms_is_refused(tmp_path: Path) -> None:
    for content, reason in ((b"<a/>", "no DescriptorRecord"), (b"<a>", "not well-formed"), (b"", "not well-formed")):
        path = tmp_path / "x.xml"
        path.write_bytes(content)
        with pytest.raises(BadInput, match=reason):
            list(read_descriptors(path))


def test_a_heading_is_exploded_along_its_tree(thesaurus: Thesaurus) -> None:
    assert thesaurus.explode("cardiac diseases") == ("Heart Diseases", "Myocardial Infarction", "Myocardial Ischemia")
    assert thesaurus.explode("Heart attack") == ("Myocardial Infarction",)
    assert thesaurus.explode("Female") == ("Female",)  # it is not in the tree
    with pytest.raises(WardroundError, match="did you mean 'Myocardial Infarction'"):
        thesaurus.explode("myocardial infraction")


def test_a_query_gets_the_headings_that_it_does_not_name(thesaurus: Thesaurus) -> None:
    expansions = {
        "Aspirin after a heart attack": ["Myocardial Infarction"],
        "myocardial infarction": [],
        "HEART-ATTACK, then NIDDM": ["Myocardial Infarction", "Diabetes Mellitus, Type 2"],
        "MI of the heart": [],  # two letters mean too many things
        "disorder of the heart attacked": [],  # words, not letters
        "": [],
    }
    for query, added in expansions.items():
        assert thesaurus.expand(query) == "\n".join([query, *added])


def test_a_search_is_limited_to_headings_and_narrower_ones(plain_index: Path, tmp_path: Path) -> None:
    search = ["literature", "search", "aspirin", "--index", str(plain_index), "--json"]

    def pmids(*options: str) -> set[str]:
        return {hit["pmid"] for hit in json.loads(wardround(*search, *options, cwd=tmp_path).stdout)["hits"]}

    assert pmids("--mesh", "Heart Diseases") == {"2"}  # without a thesaurus: the heading alone
    refused = wardround(*search, "--expand", cwd=tmp_path)
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    fingerprint = Index.open(plain_index).fingerprint
    added = wardround("literature", "mesh", plain_index, descriptor_file(tmp_path / "desc.xml"), cwd=tmp_path)
    assert added.stdout == "6 headings with 15 terms from desc.xml\n"
    assert Index.open(plain_index).fingerprint == fingerprint
    assert pmids("--mesh", "Cardiac diseases") == {"1", "2"}
    assert pmids("--mesh", "heart attack", "NIDDM") == {"1", "3"}
    assert pmids("--mesh", "heart attack", "--retriever", "wordllama") == {"1"}
    assert pmids() == {"1", "2", "3", "4"}


def test_an_expanded_query_finds_what_other_words_say(plain_index: Path, tmp_path: Path) -> None:
    add_thesaurus(plain_index, descriptor_file(tmp_path / "desc.xml"))
    index = Index.open(plain_index)
    assert [hit.pmid for hit in index.search("attack", k=1)] == []
    assert [hit.pmid for hit in index.search(index.expand("heart attack"), k=1)] == ["1"]
