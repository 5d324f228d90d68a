"""Tables of synonyms in the formats that users have; the files are small imitations."""

from __future__ import annotations

import pytest
from exam_server import ExamServer
from judged_study import list_diagnoses, run, write_judged_study

from wardround.core.case import Question
from wardround.core.errors import BadInput, WardroundError
from wardround.core.names import same_disease
from wardround.core.study import JudgeSettings, load_study
from wardround.marking.judges.calls import check_judge_settings
from wardround.marking.judges.lexical_judge import make_lexical_judge
from wardround.marking.judges.synonym_tables import read_synonym_table
from wardround.pipeline import mark_run

OBO = r"""format-version: 1.2

[Term]
id: MONDO:1
name: granulomatosis with polyangiitis
synonym: "Wegener's granulomatosis" EXACT [DOID:1]
synonym: "ANCA \"c\" vasculitis" EXACT []
synonym: "small vessel vasculitis" BROAD []
synonym: "PSC" EXACT ABBREVIATION []

[Term]
id: MONDO:2
name: posterior subcapsular cataract
synonym: "PSC" EXACT ABBREVIATION []

[Term]
id: MONDO:3
name: obsolete gout
synonym: "podagra" EXACT []
is_obsolete: true

[Typedef]
id: part_of
name: part of
"""
GRAPH = """{"graphs": [{"nodes": [
 {"id": "MONDO_1", "lbl": "granulomatosis with polyangiitis", "type": "CLASS", "meta": {"synonyms": [
   {"pred": "hasExactSynonym", "val": "Wegener granulomatosis"}, {"pred": "hasExactSynonym", "val": "PSC"},
   {"pred": "hasBroadSynonym", "val": "small vessel vasculitis"}]}},
 {"id": "MONDO_2", "lbl": "posterior subcapsular cataract", "meta": {"synonyms": [
   {"pred": "hasExactSynonym", "val": "PSC"}]}},
 {"id": "MONDO_3", "lbl": "gout", "meta": {"deprecated": true, "synonyms": [
   {"pred": "hasExactSynonym", "val": "podagra"}]}},
 {"id": "part_of", "type": "PROPERTY"}]}]}"""
ORPHANET = """<?xml version="1.0" encoding="ISO-8859-1"?>
<JDBOR><DisorderList count="3">
 <Disorder id="1"><OrphaCode>900</OrphaCode><Name lang="en">Granulomatosis with polyangiitis</Name>
  <SynonymList count="2"><Synonym lang="en">Wegener granulomatosis</Synonym>
   <Synonym lang="en">PSC</Synonym></SynonymList>
  <DisorderType id="2"><Name lang="en">Disease</Name></DisorderType></Disorder>
 <Disorder id="2"><Name lang="en">NON RARE IN EUROPE: Posterior subcapsular cataract</Name>
  <SynonymList count="1"><Synonym lang="en">PSC</Synonym></SynonymList></Disorder>
 <Disorder id="3"><Name lang="en">OBSOLETE: Gout</Name>
  <SynonymList count="1"><Synonym lang="en">podagra</Synonym></SynonymList></Disorder>
</DisorderList></JDBOR>"""


def rrf(concept: str, name: str, suppressed: str = "N") -> str:
    fields = [
        concept,
        "ENG",
        "P",
        "L1",
        "PF",
        "S1",
        "Y",
        "A1",
        "",
        "",
        "",
        "MSH",
        "PT",
        "D1",
        name,
        "0",
        suppressed,
        "",
    ]
    return "|".join(fields) + "|\n"


MRCONSO = "".join(
    [
        rrf("C1", "Granulomatosis with polyangiitis"),
        rrf("C1", "Wegener Granulomatosis"),
        rrf("C1", "PSC"),
        rrf("C2", "posterior subcapsular cataract"),
        rrf("C2", "PSC"),
        rrf("C3", "gout"),
        rrf("C3", "podagra", suppressed="O"),
    ]
)
TABLES = {"mondo.obo": OBO, "mondo.json": GRAPH, "en_product1.xml": ORPHANET, "MRCONSO.RRF": MRCONSO}


@pytest.mark.parametrize("name", TABLES)
def test_exact_synonyms_are_the_same_disease(tmp_path, name):
    (tmp_path / name).write_text(TABLES[name])
    table = read_synonym_table(tmp_path / name)
    gold = ["Granulomatosis with polyangiitis"]
    assert same_disease("Wegener's granulomatosis", gold, table)
    assert same_disease("granulomatosis, Wegener", gold, table)
    assert not same_disease("small vessel vasculitis", gold, table)
    assert not same_disease("podagra", ["gout"], table)  # obsolete or suppressed


@pytest.mark.parametrize("name", TABLES)
def test_a_name_of_two_diseases_does_not_make_them_one(tmp_path, name):
    (tmp_path / name).write_text(TABLES[name])
    table = read_synonym_table(tmp_path / name)
    assert same_disease("PSC", ["granulomatosis with polyangiitis"], table)
    assert same_disease("PSC", ["posterior subcapsular cataract"], table)
    assert not same_disease("posterior subcapsular cataract", ["granulomatosis with polyangiitis"], table)


def test_a_changed_table_is_another_judge(tmp_path):
    settings = JudgeSettings(provider="lexical", synonyms="mondo.obo")
    (tmp_path / "mondo.obo").write_text(OBO)
    first = make_lexical_judge(settings, tmp_path)
    (tmp_path / "mondo.obo").write_text(OBO.replace("Wegener", "Wagener"))
    second = make_lexical_judge(settings, tmp_path)
    question = Question(id="q", kind="open", prompt="?", gold="granulomatosis with polyangiitis")
    assert first.name != second.name
    assert (first.same(question, "Wegener granulomatosis"), second.same(question, "Wegener granulomatosis")) == (
        True,
        False,
    )


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("table.txt", "", "expected a table of synonyms: .csv, .obo, .json, .xml, .rrf"),
        ("mondo.obo", "[Term]\nname: gout\n", "contains no disease with a synonym"),
        ("mondo.json", "[]", "expected OBO Graphs JSON"),
        ("mondo.json", "{", "cannot be read"),
        ("product.xml", "<a>", "cannot be read"),
        ("MRCONSO.RRF", "C1|ENG|gout\n", "MRCONSO.RRF:1: expected the 18 fields of MRCONSO, not 3"),
    ],
)
def test_a_table_that_is_wrong_is_one_line(tmp_path, name, text, problem):
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=problem):
        read_synonym_table(tmp_path / name)
    with pytest.raises(BadInput, match="there is no such table"):
        read_synonym_table(tmp_path / "other.obo")


def test_only_the_rule_takes_a_table(tmp_path):
    study = load_study(write_judged_study(tmp_path, "http://127.0.0.1:9/v1", None))
    with pytest.raises(WardroundError, match="judge: synonyms: is for the provider lexical"):
        check_judge_settings(JudgeSettings(provider="openai", model="m", synonyms="mondo.obo"), study, tmp_path)


def test_a_study_names_its_table_and_is_judged_again_when_the_table_changes(tmp_path):
    table = tmp_path / "mondo.obo"
    table.write_text(OBO)
    with ExamServer(list_diagnoses) as server:
        ended = run(write_judged_study(tmp_path, server.url, {"provider": "lexical", "synonyms": "mondo.obo"}))
    table.write_text(OBO + "\n")
    again = mark_run(ended.folder, note=lambda line: None)
    names = [outcome.manifest["judge"]["name"] for outcome in (ended, again)]
    assert names[0] != names[1]
    assert all(name.startswith("lexical-4:") for name in names)
