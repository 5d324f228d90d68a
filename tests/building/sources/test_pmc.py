"""PMC articles become ClinBench cases: the right ones pass, each other one has its reason."""

from __future__ import annotations

import json
import re
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from exam_server import ExamServer, text_of
from jats_articles import OTHERS, PUBMED_RECORD, pack, picture, research_article, save, whole, xml_of
from killed_build import killed_and_left_alone

from wardround.building.review.review import review
from wardround.building.sources.pmc.build import build_pmc
from wardround.building.sources.pmc.jats import read_jats
from wardround.building.sources.pmc.labels import read_catalogue
from wardround.building.sources.pmc.plain_text import read_plain
from wardround.cases.set import CaseSet
from wardround.cases.validation import validate
from wardround.core.errors import BadInput, WardroundError
from wardround.core.safe_xml import UnusableFile, parse_xml
from wardround.core.study import CandidateSettings

CAPTION = "Both feet with swollen, shiny skin above the ankles."
REAL = Path(__file__).parents[4] / "shared" / "data" / "xml"
BOMB = '<?xml version="1.0"?><!DOCTYPE article [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;">]>'


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def reasons(out: Path) -> dict[str, str]:
    return {line["record"]: line["reason"] for line in lines(out / "rejected.jsonl")}


def model(role: str, url: str) -> CandidateSettings:
    return CandidateSettings(name=role, provider="openai", base_url=url, model=role, concurrency=1)


def test_an_article_becomes_a_case_with_two_tellings(tmp_path):
    content = whole(1)
    save(tmp_path / "in", content)
    built = build_pmc(tmp_path / "in", tmp_path / "set")
    assert built.cases == 1
    assert not validate(tmp_path / "set")
    [case] = CaseSet.open(tmp_path / "set")
    assert case.id == "pmc-9000001"
    assert case.origin is not None
    assert (case.origin.pmids, case.origin.published) == (["30000001"], "2024-02-03")
    assert [reference.pmid for reference in case.references] == ["11111111"]
    assert case.patient is not None
    assert case.patient.sex == "F"
    [image] = case.images
    assert image.modality == "CT"
    text, multimodal = case.tellings["text"], case.tellings["multimodal"]
    assert (text.images, multimodal.images) == ([], [0])
    assert text.history is not None
    assert multimodal.history is not None
    assert case.history == text.history
    assert " showed " in text.history
    assert "The CT also demonstrated" in text.history
    assert "Fig" not in text.history
    assert "showed" not in multimodal.history
    assert "demonstrated" not in multimodal.history
    assert "The CT is shown in Figure 1." in multimodal.history
    assert "Haemoglobin was" in multimodal.history
    [mcq] = case.questions
    assert mcq.choices[int(mcq.gold)] == "Castleman disease"
    assert sorted(mcq.choices) == sorted(["Castleman disease", *(name.capitalize() for name in OTHERS)])
    for word in ("Castleman", "rituximab", "uncommon swelling"):
        assert word not in text.history + multimodal.history


def test_complete_articles_pass_and_others_have_their_reason(tmp_path):
    """Whole ones in many shapes pass; each of the others has the reason for which it was written."""
    source = tmp_path / "in"
    fig = '(<xref ref-type="fig" rid="F1">Fig. 1</xref>)'
    good = [
        whole(1),
        whole(2, layout="one"),
        whole(3, type="other", subject="Case Study"),
        whole(4, type="research-article", subject="Research", title="A case of swelling"),
        whole(
            5, before='<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//NLM//DTD" "JATS.dtd">', after_title="&nbsp;"
        ),
        whole(6, markup={"CT of the chest showed": "<bold>C<italic>T</italic></bold> of the <sup>chest</sup> showed"}),
        whole(
            7,
            markup={
                "<sec><title>Investigations": "<sec><title>Case</title><sec><title>Investigations",
                "</p></sec><sec><title>Diagnosis": "</p></sec></sec><sec><title>Diagnosis",
            },
        ),
        whole(8, markup={"<article xmlns:xlink": '<article xmlns="http://jats.nlm.nih.gov" xmlns:xlink'}),
        whole(9, states="Thus she was diagnosed with Castleman disease and was referred."),
        whole(
            10,
            states="A diagnosis of multicentric Castleman disease (MCD) was made.",
            diagnosis="Multicentric Castleman disease",
            conclusion="Multicentric Castleman disease is easily overlooked.",
        ),
        whole(11, markup={fig: 'in Figure <xref ref-type="fig" rid="F1">1</xref>'}),
        whole(13, discussion=whole(13).discussion + " It is rare, as all agree." * 4_000),
        whole(14, tests=whole(14).tests + " Castleman disease was likely."),  # the sentence is cut out
        whole(12, markup={"g/dl and": 'g/dl [<xref ref-type="bibr" rid="R1">1</xref>] and &#x3bc;'}),
    ]
    wrong = [
        (
            whole(31, type="research-article", subject="Research Article", title="A cohort"),
            "it may not be the report of one patient",
        ),
        (whole(32, type="review-article", title="A case report and review"), "not a case report"),
        (whole(33, title="Two cases of a swelling: a case report"), "more than one patient"),
        (
            whole(34, patient="", markup={"there was": "the patience was"}),
            "no patient information before the diagnosis; the stem names the diagnosis (text: Castleman disease); "
            "the stem names the diagnosis (multimodal: Castleman disease)",
        ),
        (
            whole(35, tests="", patient=f"{whole(35).patient} The feet are seen {fig}.", captions=(CAPTION,)),
            "no test results",
        ),
        (whole(36, states="", discussion="", conclusion=""), "incomplete: no diagnosis"),
        (whole(37, treatment=""), "no treatment"),
        (whole(38, figures=(), captions=()), "no image"),
        (
            whole(39, markup={fig: ""}, treatment=f"She was treated {fig}."),
            "no image in patient information and test results (1 elsewhere)",
        ),
        (whole(40, discussion="It is rare."), "no other diagnosis"),
        (
            whole(41, discussion="The differential diagnosis includes unicentric Castleman disease, gout and lupus."),
            "fewer than 6 options",
        ),
        (
            whole(42, tests=whole(42).tests + " The nodes were as told by Castleman. No other disease was known."),
            "the stem names the diagnosis (text: Castleman disease); "
            "the stem names the diagnosis (multimodal: Castleman disease)",
        ),
        (
            whole(43, tests=f"On examination she was pale. The scan is shown {fig}.", captions=("CT.",)),
            "the text does not tell what the images show: F1",
        ),
    ]
    poor = {51: "tiny", 52: "blank", 53: "blurred"}
    for content in good + [content for content, _ in wrong]:
        save(source, content)
    for number, kind in poor.items():
        save(source, whole(number), kind=kind)
    save(source, whole(61, patient=good[0].patient, tests=good[0].tests))  # the text of another
    save(source, whole(62), seed=1)  # its images
    foreign = "Der Patient klagte über Husten und Fieber seit drei Wochen. Die Lunge war frei. " * 4
    save(source, whole(63, patient=foreign, tests=foreign, states=foreign, treatment=foreign, discussion=foreign))
    for name, text in {
        "broken.nxml": xml_of(whole(71)).replace("</body>", ""),
        "bomb.xml": BOMB + xml_of(whole(72)).replace("Haemoglobin", "&c;"),
        "other.xml": "<PubmedArticle/>",
        "deep.xml": "<article>" + "<sec>" * 50_000,
        "empty.xml": "",
    }.items():
        (source / name).write_text(text)
    (source / "same.xml").write_text(xml_of(good[0]))
    (source / "latin.md").write_bytes(b"# Caf\xe9\n")
    assert build_pmc(source, tmp_path / "set").funnel[0].records_in == 40
    assert not validate(tmp_path / "set")
    cases = CaseSet.open(tmp_path / "set")
    assert sorted(cases.ids) == sorted(f"pmc-{9_000_000 + content.number}" for content in good)
    for content in good:
        case = cases.case(cases.index_of(f"pmc-{9_000_000 + content.number}"))
        assert case.questions[0].choices[int(case.questions[0].gold)] == content.diagnosis
        assert set(case.tellings) == {"text", "multimodal"}, content.number
    assert reasons(tmp_path / "set") == {
        **{f"pmc-{9_000_000 + content.number}": reason for content, reason in wrong},
        **{f"pmc-{9_000_000 + number}": "every image is too poor" for number in poor},
        "pmc-9000061": "nearly the same text as another case",
        "pmc-9000062": "nearly the same images as another case",
        "pmc-9000063": "not in English",
        **dict.fromkeys(
            ["broken.nxml", "bomb.xml", "other.xml", "deep.xml", "empty.xml", "latin.md"], "not a usable article"
        ),
        "same.xml": "the same article is there twice",
    }
    details = {line["record"]: line["detail"] for line in lines(tmp_path / "set" / "rejected.jsonl")}
    assert details["bomb.xml"] == "declares the entity 'a', which is refused"
    assert details["broken.nxml"].startswith("line 1: is not well-formed")
    assert "200 elements" in details["deep.xml"]
    assert {line["id"] for line in lines(tmp_path / "set" / "review" / "options.jsonl")} == {
        "pmc-9000040",
        "pmc-9000041",
    }
    assert str(tmp_path) not in "".join(file.read_text() for file in (tmp_path / "set").glob("*.json*"))


def test_research_articles_are_not_case_reports(tmp_path):
    """Three research articles and a PubMed record: they are read completely, and none becomes a case."""
    articles = tmp_path / "articles"
    articles.mkdir()
    for number in (1, 2, 3):
        (articles / f"{number}.nxml").write_text(research_article(number), encoding="utf-8")
    (articles / "pubmed.xml").write_text(PUBMED_RECORD, encoding="utf-8")

    article = read_jats(articles / "2.nxml")

    assert (article["id"], article["pmid"], article["published"]) == ("pmc-9000002", "30000002", "2023-11-04")
    assert [figure["caption"] for figure in article["figures"]] == ["Survival by treatment group."]
    assert article["references"] == ["12345678", "23456789"]
    titles = [section["titles"] for section in article["sections"]]
    assert titles == [["Background"], ["Methods"], ["Methods", "Patients"], ["Results"], ["Discussion"]]
    results = "Survival was longer in the treated group (⟦F1⟧) than in the other."
    assert article["sections"][3]["paragraphs"] == [results]
    with pytest.raises(WardroundError, match="1 x not a usable article; 3 x not a case report"):
        build_pmc(articles, tmp_path / "set")
    assert set(reasons(tmp_path / "set")) == {"pubmed.xml", "pmc-9000001", "pmc-9000002", "pmc-9000003"}
    assert sorted(file.name for file in (tmp_path / "set").iterdir()) == ["funnel.csv", "rejected.jsonl"]
    for number in (1, 2, 3):
        (articles / f"{number}.nxml").unlink()
    save(tmp_path / "in", whole(1))
    assert build_pmc(tmp_path / "in", tmp_path / "set").cases == 1  # in the same place


@pytest.mark.skipif(not REAL.is_dir(), reason="needs the real articles in ../shared/data/xml")
def test_real_research_articles_are_not_case_reports(tmp_path):
    """Three research articles and a PubMed record: they are read completely, and none becomes a case."""
    articles = {file.name: read_jats(file) for file in REAL.glob("*.nxml")}
    assert {article["pmid"] for article in articles.values()} == {"18405359", "23469300", "17299597"}
    assert len(articles["pntd.0002065.nxml"]["figures"]) == 1
    assert "pub" not in "".join(articles["pone.0000217.nxml"]["references"])
    titles = [section["titles"][0] for section in articles["1472-6831-8-11.nxml"]["sections"]]
    assert list(dict.fromkeys(titles))[:4] == ["Background", "Methods", "Results", "Discussion"]
    with pytest.raises(WardroundError, match="1 x not a usable article; 3 x not a case report"):
        build_pmc(REAL, tmp_path / "set")


def test_without_figure_files_there_is_only_the_text_telling(tmp_path):
    save(tmp_path / "in", whole(1), images=False)
    build_pmc(tmp_path / "in", tmp_path / "set")
    [case] = CaseSet.open(tmp_path / "set")
    assert (case.images, list(case.tellings)) == ([], ["text"])


def test_a_caption_describes_what_no_sentence_does(tmp_path):
    tests = 'On examination she was pale. The scan is shown in <xref ref-type="fig" rid="F1">Figure 1</xref>.'
    caption = "CT with a lobulated mass beside the aorta, consistent with Castleman disease."
    save(tmp_path / "in", whole(1, tests=tests, captions=(caption,)))
    build_pmc(tmp_path / "in", tmp_path / "set")
    [case] = CaseSet.open(tmp_path / "set")
    assert case.history is not None
    assert case.history.endswith("CT with a lobulated mass beside the aorta.")


@pytest.mark.parametrize(
    "cited", ["Figure 1", "Fig. 1A", "figs. 1A, B", '<xref ref-type="fig" rid="F1">Fig. 1</xref>A-C']
)
def test_a_figure_counts_however_the_text_cites_it(tmp_path, cited):
    content = whole(1)
    tests = content.tests.replace('<xref ref-type="fig" rid="F1">Fig. 1</xref>', cited)
    save(tmp_path / "in", replace(content, tests=tests))
    build_pmc(tmp_path / "in", tmp_path / "set")
    [case] = CaseSet.open(tmp_path / "set")
    assert len(case.images) == 1
    text, multimodal = (str(case.tellings[name].history) for name in ("text", "multimodal"))
    assert not re.search(r"Fig|\(|image", text)
    assert "The CT is shown in Figure 1." in multimodal


def test_an_article_in_markdown_keeps_the_word_after_a_figure(tmp_path):
    (tmp_path / "a.md").write_text("# A swelling\n\n## Case\n\nFigure 1 shows a mass.\n\nFigure 1. Axial CT.\n")
    assert read_plain(tmp_path / "a.md")["sections"][0]["paragraphs"] == ["⟦1⟧ shows a mass."]


def test_a_package_is_unpacked_safely(tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    content = whole(1)
    save(tmp_path / "made", content)
    image = (tmp_path / "made" / "article-1" / "article-1-F1.jpg").read_bytes()
    article = xml_of(content).encode()
    pack(source / "good.tar.gz", {"PMC1/a.nxml": article, "PMC1/article-1-F1.jpg": image, "PMC1/run.sh": b"rm"})
    pack(source / "out.tar.gz", {"../../escaped.nxml": article})
    pack(source / "root.tgz", {"/tmp/escaped.nxml": article})
    pack(source / "beside.tar.gz", {"PMC1/a.nxml": article, "../escaped.sh": b"rm"})
    pack(source / "none.tar.gz", {"a.txt": b"x"})
    (source / "cut.tar.gz").write_bytes((source / "good.tar.gz").read_bytes()[:200])
    (source / "no.tar.gz").write_bytes(b"nothing")
    with tarfile.open(source / "link.tar.gz", "w:gz") as package:
        link = tarfile.TarInfo("a.nxml")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        package.addfile(link)
    said: list[str] = []
    build_pmc(source, tmp_path / "set", note=said.append)
    [case] = CaseSet.open(tmp_path / "set")
    assert "none.tar.gz: not a usable article: is a package without an article" in said
    assert (tmp_path / "set" / case.images[0].path).read_bytes() == image
    assert sorted(file.name for file in (tmp_path / "set").iterdir()) == [
        *("cases.jsonl", "funnel.csv", "images", "manifest.json", "other-options.jsonl", "rejected.jsonl", "review"),
    ]
    details = {line["record"]: line["detail"] for line in lines(tmp_path / "set" / "rejected.jsonl")}
    bad = {"out.tar.gz", "root.tgz", "beside.tar.gz"}
    assert set(details) == {*bad, "none.tar.gz", "cut.tar.gz", "no.tar.gz", "link.tar.gz"}
    assert all("leads out" in details[name] for name in bad)
    assert details["link.tar.gz"] == "is a package without an article"
    assert not list(tmp_path.rglob("escaped*"))


def test_a_package_that_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("wardround.building.sources.pmc.article_files.MAX_BYTES", 1_000_000)
    save(tmp_path / "in", whole(1))
    pack(tmp_path / "in" / "large.tar.gz", {"a.nxml": b" " * 2_000_000})
    build_pmc(tmp_path / "in", tmp_path / "set")
    assert reasons(tmp_path / "set") == {"large.tar.gz": "not a usable article"}


def test_text_and_markdown_are_read(tmp_path):
    content = whole(1)
    source = tmp_path / "in"
    source.mkdir()
    picture(1).save(source / "fig1.png")
    tests = content.tests.replace('<xref ref-type="fig" rid="F1">Fig. 1</xref>', "Fig. 1A")
    parts = {"Patient information": content.patient, "Investigations": tests, "Diagnosis": content.states}
    parts |= {"Treatment": content.treatment, "Discussion": content.discussion, "Conclusion": content.conclusion}
    parts |= {"References": "1. Doe."}
    body = "\n\n".join(f"## {name}\n\n{text}" for name, text in parts.items())
    (source / "PMC7654321.md").write_text(f"# {content.title}\n\n{body}\n\n![Figure 1: Axial CT](fig1.png)\n")
    bare = "\n\n".join(f"{name}\n{text}" for name, text in parts.items()).replace("weeks", "years").replace("mm", "cm")
    other = whole(2)
    bare = bare.replace(content.patient, other.patient).replace(
        content.patient.replace("weeks", "years"), other.patient
    )
    bare = bare.replace(
        tests.replace("mm", "cm"), other.tests.replace('<xref ref-type="fig" rid="F1">Fig. 1</xref>', "Figure 1")
    )
    (source / "plain.txt").write_text(f"{content.title}\n\n{bare}\n\nFigure 1. Axial CT of the chest.\n")
    build_pmc(source, tmp_path / "set")
    cases = list(CaseSet.open(tmp_path / "set"))
    assert cases[0].id == "pmc-7654321"
    assert len(cases) == 2
    assert set(cases[0].tellings) == {"text", "multimodal"}
    assert set(cases[1].tellings) == {"text"}
    assert "Figure" not in str(cases[1].history)
    assert [case.questions[0].choices[int(case.questions[0].gold)] for case in cases] == ["Castleman disease"] * 2


def test_models_are_used_where_the_paper_uses_one(tmp_path):
    """The extractor finds what rules do not, the writer adds options and rephrases, the reviewer strikes options."""

    def reply(body: dict[str, Any], index: int) -> str:
        asked = text_of(body)
        if "Find the final diagnosis" in asked:
            return "Kikuchi disease"
        if "which of these specialties" in asked:
            return "Surgery"
        if "Tell it again" in asked:
            stem = asked.split("\n\n", 1)[1].split("\n\nKeep every fact")[0]
            return stem.replace("presented with", "came because of")
        if "must go" in asked:
            return "2" if "2. Kikuchi" not in asked else "none"
        return "1. Gout\n2. Lupus nephritis\n3. Kikuchi disease\n4. Mumps\n5. Yaws\n6. Scurvy"

    unclear = whole(5, states="Things became clear in the end.", discussion="It may mimic sarcoidosis.")
    save(tmp_path / "in", unclear)
    with ExamServer(reply) as server:
        models = {role: model(role, server.url) for role in ("extractor", "writer", "reviewer")}
        build_pmc(tmp_path / "in", tmp_path / "set", models=models, answers=tmp_path / "answers.sqlite")
        less = {role: models[role] for role in ("extractor", "reviewer")}
        assert (
            build_pmc(tmp_path / "in", tmp_path / "less", models=less, answers=tmp_path / "answers.sqlite").cases == 0
        )
    assert reasons(tmp_path / "less") == {"pmc-9000005": "fewer than 6 options"}  # sarcoidosis alone
    [case] = CaseSet.open(tmp_path / "set")
    [mcq] = case.questions
    assert mcq.choices[int(mcq.gold)] == "Kikuchi disease"
    assert "Gout" not in mcq.choices  # the second, struck by the reviewer
    assert "came because of" in str(case.tellings["text"].history)
    assert "came because of" in str(case.tellings["multimodal"].history)
    [first, second] = lines(tmp_path / "set" / "review" / "rephrase.jsonl")
    assert (first["telling"], second["telling"]) == ("text", "multimodal")
    assert "-A " in first["diff"]
    assert "+A " in first["diff"]


def test_a_held_case_enters_the_set_when_people_give_it_options(tmp_path):
    save(tmp_path / "in", whole(1, discussion="It may mimic sarcoidosis."))
    build_pmc(tmp_path / "in", tmp_path / "set")
    [item] = lines(tmp_path / "set" / "review" / "options.jsonl")
    assert len(item["case"]["questions"][0]["options"]) == 2
    options = ["Castleman disease", "Gout", "Mumps", "Yaws", "Scurvy", "Lupus"]
    verdict = {"item": "options/pmc-9000001", "reviewer": "doe", "level": "physician", "verdict": "edit"}
    verdict |= {"time": "2026-03-01T14:05:00Z"}
    edits = {"questions.mcq.options": options, "questions.mcq.gold": 0}
    also = verdict | {"item": "specialty/pmc-9000001", "edits": {"specialty": "Dermatology and Immunology"}}
    (tmp_path / "verdicts.jsonl").write_text("\n".join(map(json.dumps, [verdict | {"edits": edits}, also])))
    review(tmp_path / "set", [tmp_path / "verdicts.jsonl"], tmp_path / "reviewed", share=0)
    [case] = CaseSet.open(tmp_path / "reviewed")
    assert (case.questions[0].options, case.specialty) == (options, "Dermatology and Immunology")
    assert not validate(tmp_path / "reviewed")


def test_a_foreign_article_is_translated(tmp_path):
    content = whole(5)
    text = "Die Frau klagte über Husten seit Wochen " + "sowie Fieber " * 40
    german = whole(
        5, patient=text, tests=f'{text} <xref ref-type="fig" rid="F1">1</xref>.', states=text, discussion=text
    )
    save(tmp_path / "in", german)
    english = f"# Patient information\n\n{content.patient}\n\n# Investigations\n\n{content.tests}"
    english += f"\n\n# Diagnosis\n\n{content.states}"
    english += f"\n\n# Treatment\n\n{content.treatment}\n\n# Discussion\n\n{content.discussion}"
    english += f"\n\n# Conclusion\n\n{content.conclusion}"
    english = english.replace('<xref ref-type="fig" rid="F1">Fig. 1</xref>', "⟦F1⟧")
    with ExamServer(lambda body, index: english if "Translate" in text_of(body) else "1. Gout") as server:
        models = {"writer": model("writer", server.url)}
        build_pmc(tmp_path / "in", tmp_path / "set", models=models, answers=tmp_path / "a.sqlite", skip=["rephrase"])
    [case] = CaseSet.open(tmp_path / "set")
    assert content.patient in str(case.history)
    [item] = lines(tmp_path / "set" / "review" / "translate.jsonl")
    assert "-Die Frau" in item["diff"]


def test_specialty_and_rare_can_be_skipped(tmp_path):
    sequestration = "The final diagnosis was pulmonary sequestration."
    save(tmp_path / "in", whole(1, states=sequestration, conclusion="Think of pulmonary sequestration."))
    save(tmp_path / "in", whole(2))
    (tmp_path / "rare.csv").write_text("id,name\n1,Pulmonary sequestration\n")
    rare = read_catalogue(tmp_path / "rare.csv")
    build_pmc(tmp_path / "in", tmp_path / "set", rare=rare)
    first, second = CaseSet.open(tmp_path / "set")
    assert (first.specialty, first.tags) == ("Respiratory and Thoracic Medicine", ["rare"])
    assert (second.specialty, second.tags) == (None, [])
    [item] = lines(tmp_path / "set" / "review" / "specialty.jsonl")
    assert (item["id"], len(item["choices"])) == ("pmc-9000002", 11)
    skipped = build_pmc(tmp_path / "in", tmp_path / "less", rare=rare, skip=["specialty", "rare", "image-quality"])
    assert not {"specialty", "rare", "image-quality"} & {step.step for step in skipped.funnel}
    assert all(case.specialty is None and not case.tags for case in CaseSet.open(tmp_path / "less"))
    with pytest.raises(WardroundError, match="no step 'options' to skip"):
        build_pmc(tmp_path / "in", tmp_path / "more", skip=["options"])
    (tmp_path / "rare.txt").write_text("\n")
    with pytest.raises(BadInput, match="no disease names"):
        read_catalogue(tmp_path / "rare.txt")


def test_an_article_that_is_too_large_is_not_even_parsed(tmp_path, monkeypatch):
    monkeypatch.setattr("wardround.core.safe_xml.MAX_BYTES", 1 << 20)
    file = tmp_path / "a.xml"
    file.write_bytes(b"<article>" + b" " * (1 << 20))
    with pytest.raises(UnusableFile, match="more than 1 MB"):
        parse_xml(file)


def test_entities_are_letters_or_refused(tmp_path):
    file = tmp_path / "a.xml"
    file.write_text('<!DOCTYPE article SYSTEM "x.dtd"><article>caf&eacute;&nosuch;</article>')
    assert parse_xml(file).text == "café "
    file.write_text('<!DOCTYPE article [<!ENTITY x SYSTEM "file:///etc/passwd">]><article>&x;</article>')
    with pytest.raises(UnusableFile, match="refused"):
        parse_xml(file)


@pytest.mark.slow
def test_killed_and_started_again_it_writes_the_same(tmp_path):
    """Killed while the writer is being asked."""
    for number in (1, 2, 5):
        save(tmp_path / "in", whole(number))
    killed, alone = killed_and_left_alone("pmc", tmp_path / "in", tmp_path, "1. Gout\n2. Yaws")
    assert killed == alone
    assert len(killed) >= 7
