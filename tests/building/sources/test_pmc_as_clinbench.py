"""build pmc as ClinBench states it: a model that is not told the answer, poor images, PDFs by MinerU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from exam_server import ExamServer, text_of
from jats_articles import ArticleContent, picture, save, whole

from wardround.building.sources.pmc.article_files import list_articles
from wardround.building.sources.pmc.build import build_pmc
from wardround.cases.set import CaseSet
from wardround.cases.validation import validate
from wardround.core.study import CandidateSettings

CITED = '<xref ref-type="fig" rid="F1">Fig. 1</xref>'


def reasons(out: Path) -> dict[str, str]:
    rejected = [json.loads(line) for line in (out / "rejected.jsonl").read_text().splitlines()]
    return {line["record"]: line["reason"] for line in rejected}


def test_the_proposer_names_diagnoses_from_the_stem_and_is_not_told_the_answer(tmp_path):
    """Three diagnoses are the article's; of the proposer's five one is the gold, one a repetition, three are new."""
    save(tmp_path / "in", whole(1, discussion="It may mimic sarcoidosis, tuberculosis or lymphoma."))
    asked: list[str] = []

    def reply(body: dict[str, Any], index: int) -> str:
        asked.append(text_of(body))
        return "1. Gout\n2. Castleman disease\n3. Sarcoidosis\n4. Mumps\n5. Yaws\n6. Scurvy"

    with ExamServer(reply) as server:
        proposer = CandidateSettings(name="proposer", provider="openai", base_url=server.url, model="m", concurrency=1)
        build_pmc(tmp_path / "in", tmp_path / "set", models={"proposer": proposer}, answers=tmp_path / "a.sqlite")

    [prompt] = asked
    assert "castleman" not in prompt.lower()
    assert whole(1).patient in prompt
    [case] = CaseSet.open(tmp_path / "set")
    [question] = case.questions
    assert {name.lower() for name in question.choices} == {
        *("castleman disease", "sarcoidosis", "tuberculosis", "lymphoma", "gout", "mumps", "yaws")
    }
    manifest = json.loads((tmp_path / "set" / "manifest.json").read_text())
    assert manifest["counts"]["stems of which the proposer named the diagnosis"] == 1


def two_figures(number: int) -> ArticleContent:
    second = 'MRI of the chest showed the same swelling (<xref ref-type="fig" rid="F2">Fig. 2</xref>).'
    return whole(
        number,
        tests=f"{whole(number).tests} {second}",
        figures=("F1", "F2"),
        captions=("Axial CT of the chest.", "MRI of the chest."),
    )


@pytest.mark.parametrize("kind", ["blank", "not an image"])
def test_a_case_with_one_poor_image_is_excluded_unless_only_the_image_is_to_go(tmp_path, kind):
    save(tmp_path / "in", two_figures(1))
    folder = save(tmp_path / "in", two_figures(2)).parent
    spoilt = folder / "article-2-F2.jpg"
    if kind == "blank":
        picture(1, "blank").save(spoilt)
    else:
        spoilt.write_bytes(b"no image")

    build_pmc(tmp_path / "in", tmp_path / "paper")
    build_pmc(tmp_path / "in", tmp_path / "lenient", poor_images="drop")

    assert CaseSet.open(tmp_path / "paper").ids == ["pmc-9000001"]
    assert reasons(tmp_path / "paper") == {"pmc-9000002": "an image is too poor"}
    images = {case.id: len(case.images) for case in CaseSet.open(tmp_path / "lenient")}
    assert images == {"pmc-9000001": 2, "pmc-9000002": 1}
    settings = json.loads((tmp_path / "paper" / "manifest.json").read_text())["settings"]
    assert settings["poor_images"] == "reject"


def save_mineru(folder: Path, content: ArticleContent, caption: str = "image_caption") -> None:
    """The files that MinerU writes for a PDF, in its folder: Markdown, blocks in reading order, and images."""
    name = f"PMC{9_000_000 + content.number}"
    folder = folder / name / "auto"
    (folder / "images").mkdir(parents=True)
    (folder / "images" / "ab12.jpg").write_bytes(b"")
    for place, file in enumerate(("logo.jpg", "ab12.jpg")):
        picture(content.number * 10 + place).save(folder / "images" / file, quality=95)
    parts = {"Patient information": content.patient, "Investigations": content.tests.replace(CITED, "Fig. 1")}
    parts |= {"Diagnosis": content.states, "Treatment": content.treatment, "Discussion": content.discussion}
    parts |= {"Conclusion": content.conclusion}
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": "Journal of Invented Cases", "page_idx": 0},
        {"type": "text", "text": "Open access", "page_idx": 0},
        {"type": "image", "img_path": "images/logo.jpg", caption: [], "page_idx": 0},
        {"type": "text", "text": content.title, "text_level": 1, "page_idx": 0},
    ]
    for title, text in parts.items():
        blocks += [{"type": "text", "text": title, "text_level": 1, "page_idx": 1}]
        blocks += [{"type": "text", "text": f"{text} ", "page_idx": 1}]
    table = "<table><tr><td>Castleman disease</td><td>7.1</td></tr></table>"
    blocks += [
        {"type": "image", "img_path": "images/ab12.jpg", caption: ["Fig. 1. Axial CT [arrow] of the chest. "]},
        {"type": "table", "img_path": "images/t.jpg", "table_caption": ["Table 1"], "table_body": table},
        {"type": "page_number", "text": "2", "page_idx": 1},
    ]
    (folder / f"{name}_content_list.json").write_text(json.dumps(blocks))
    text = "\n\n".join(f"# {title}\n\n{text}" for title, text in parts.items())
    figure = "![](images/logo.jpg)\n\n![](images/ab12.jpg)  \nFig. 1. Axial CT [arrow] of the chest.\n"
    (folder / f"{name}.md").write_text(f"# {content.title}\n\n{text}\n\n{figure}\n{table}\n")
    (folder / f"{name}_middle.json").write_text("{}")


@pytest.mark.parametrize("caption", ["image_caption", "img_caption"])
@pytest.mark.parametrize("only_markdown", [False, True])
def test_what_mineru_makes_of_a_pdf_is_read(tmp_path, caption, only_markdown):
    """The list of blocks, or without it the Markdown: the same case, with the figure and not the journal's logo."""
    save_mineru(tmp_path / "in", whole(3), caption)
    if only_markdown:
        next((tmp_path / "in").rglob("*_content_list.json")).unlink()
    assert len(list_articles(tmp_path / "in")) == 1

    build_pmc(tmp_path / "in", tmp_path / "set")

    assert not validate(tmp_path / "set")
    [case] = CaseSet.open(tmp_path / "set")
    assert case.id == "pmc-9000003"
    assert case.questions[0].gold_text == "Castleman disease"
    [image] = case.images
    assert image.modality == "CT"
    assert whole(3).patient in str(case.history)
    assert "Open access" not in str(case.history)
    assert "7.1" not in str(case.history)


def test_a_broken_list_of_blocks_is_rejected_with_its_reason(tmp_path):
    save(tmp_path / "in", whole(1))
    (tmp_path / "in" / "a_content_list.json").write_text('{"type": "text"}')
    (tmp_path / "in" / "b_content_list.json").write_text("[")
    build_pmc(tmp_path / "in", tmp_path / "set")
    assert CaseSet.open(tmp_path / "set").ids == ["pmc-9000001"]
    assert len(reasons(tmp_path / "set")) == 2
