"""Eurorad pages become CURE cases: what tells the diagnosis is dropped, and every page left out has its reason."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from eurorad_pages import FINDINGS, HISTORY, PageContent, html_of, save
from exam_server import ExamServer, text_of
from killed_build import killed_and_left_alone
from typer.testing import CliRunner

from wardround.building.audit.audit import audit
from wardround.building.audit.shortcuts import measure_shortcuts
from wardround.building.sources.eurorad.build import build_eurorad
from wardround.building.sources.eurorad.page import read_page
from wardround.building.sources.eurorad.page_files import (
    decode_page,
    figure_modality,
    find_saved_file,
    parse_differential,
)
from wardround.building.text.modality import modalities_in, modality_of
from wardround.building.text.redact import redact_diagnosis
from wardround.cases.published_range import PublishedRange
from wardround.cases.set import CaseSet
from wardround.cases.validation import validate
from wardround.cli.main import app
from wardround.core.case import Case
from wardround.core.errors import BadInput, WardroundError
from wardround.core.names import Synonyms
from wardround.core.study import CandidateSettings


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def reasons(out: Path) -> dict[str, str]:
    return {line["record"]: line["reason"] for line in lines(out / "rejected.jsonl")}


def another(number: int, **fields: Any) -> PageContent:
    """A page whose text is its own."""
    words = " ".join(f"word{number}x{place}" for place in range(30))
    return PageContent(number, **{"history": f"{HISTORY} {words}.", "findings": f"{FINDINGS} {words}.", **fields})


def test_a_page_becomes_a_case(tmp_path):
    save(tmp_path / "pages", PageContent(18001))
    built = build_eurorad(tmp_path / "pages", tmp_path / "set", seed=3)
    assert built.cases == 1
    [case] = CaseSet.open(tmp_path / "set")
    assert not validate(tmp_path / "set")
    assert (case.id, case.specialty, case.split) == ("eurorad-18001", "Neuroradiology", "test")
    assert case.history == HISTORY
    assert case.findings == FINDINGS
    assert case.patient is not None
    assert (case.patient.age, case.patient.sex) == (54, "F")
    assert case.origin is not None
    assert (case.origin.name, case.origin.published) == ("eurorad", "2025-03-01")
    assert [reference.pmid for reference in case.references] == ["31415926", "27182818"]
    assert [image.modality for image in case.images] == ["CT", "MRI"]
    mcq, free = case.questions
    assert sorted(mcq.choices) == [
        "Dural metastasis",
        "Gliosarcoma",
        "Lymphoma",
        "Meningioma",
        "Solitary fibrous tumour",
    ]
    assert mcq.choices[int(mcq.gold)] == free.gold == "Meningioma"
    copied = tmp_path / "set" / case.images[0].path
    assert copied.read_bytes() == (tmp_path / "pages" / "p18001_files" / "18001-0.png").read_bytes()
    shown = case.model_dump(exclude={"questions", "origin"})
    assert "meningioma" not in json.dumps(shown).lower()
    assert "Doe" not in (tmp_path / "set" / "cases.jsonl").read_text()


def test_every_bad_page_has_its_reason(tmp_path):
    pages = tmp_path / "pages"
    good = [
        another(1, differential=["1. Lymphoma - less likely", "2. Dural metastasis", "3. Sarcoidosis"]),
        another(2, differential=["Lymphoma; Dural metastasis; Sarcoidosis; Meningioma; Gout"]),
        another(3, without=("DISCUSSION", "REFERENCES")),
        another(4, history="Un hombre de 60 años con cefalea y náuseas; Straße, Ménière, Łódź. Nothing else is known."),
        another(5, findings=f"{FINDINGS} A second lesion of 8 mm is seen in the cerebellum, suggestive of meningioma."),
        another(6, extra="<div class='image-page'><p>An intro<b>duc<i>tion</b></i><table><td>x</div>"),
    ]
    wrong = [
        (another(21, without=("CLINICAL HISTORY",)), "no clinical history"),
        (another(22, without=("IMAGING FINDINGS",)), "no imaging findings"),
        (another(23, without=("FINAL DIAGNOSIS",)), "no final diagnosis"),
        (another(24, without=("DIFFERENTIAL DIAGNOSIS LIST",)), "fewer than 4 options"),
        (another(25, captions=()), "no image"),
        (another(26, diagnosis=["Meningioma", "Arachnoid cyst"]), "several final diagnoses"),
        (
            another(27, history="Follow-up of a known meningioma in a woman with headache."),
            "history names the diagnosis",
        ),
        (
            another(28, findings="This is a meningioma. The meningioma is typical."),
            "too little is left of the findings",
        ),
        (another(29, differential=["Meningioma", "Atypical meningioma", "Gout"]), "fewer than 4 options"),
        (another(30, findings=good[0].findings, history=good[0].history), "nearly the same text as another case"),
    ]
    for content in [*good, *(content for content, _ in wrong)]:
        save(pages, content)
    leaking = another(31)
    save(pages, leaking, comment="meningioma, arrow")
    twin = another(32)
    save(pages, twin)
    for file in (pages / "p32_files").glob("32-*.png"):  # the images of case 1
        file.write_bytes((pages / "p1_files" / file.name.replace("32-", "1-")).read_bytes())
    (pages / "frame.html").write_text("<p>an advertisement</p>")
    (pages / "p1_files" / "frame.html").write_text(html_of(PageContent(99)))
    (pages / "z.html").write_text(html_of(good[0]))
    built = build_eurorad(pages, tmp_path / "set")
    assert CaseSet.open(tmp_path / "set").ids == [f"eurorad-{page.number}" for page in good]
    assert not validate(tmp_path / "set")
    assert reasons(tmp_path / "set") == {
        **{f"eurorad-{page.number}": reason for page, reason in wrong},
        "eurorad-31": "every image file names the diagnosis",
        "eurorad-32": "nearly the same images as another case",
        "frame.html": "not a Eurorad case page",
        "z.html": "the same case is there twice",
    }
    assert built.funnel[0].records_in == 20
    cut = {line["id"]: line for line in lines(tmp_path / "set" / "review" / "findings.jsonl")}
    assert cut["eurorad-5"]["after"].endswith("seen in the cerebellum.")
    assert cut["eurorad-28"]["reason"] == "too little is left of the findings"
    held_cases = {line["id"]: line["case"] for line in lines(tmp_path / "set" / "review" / "options.jsonl")}
    assert set(held_cases) == {"eurorad-24", "eurorad-29"}
    assert [question["id"] for question in held_cases["eurorad-24"]["questions"]] == [
        "open"
    ]  # there is nothing to choose from
    assert sorted(held_cases["eurorad-29"]["questions"][0]["options"]) == ["Gout", "Meningioma"]
    [history] = lines(tmp_path / "set" / "review" / "history.jsonl")
    assert Case.model_validate(history["case"]).id == "eurorad-27"
    assert all((tmp_path / "set" / image["path"]).is_file() for image in history["case"]["images"])
    assert str(tmp_path) not in "".join(file.read_text() for file in (tmp_path / "set").glob("*.json*"))


def test_a_page_in_windows_1252_is_decoded(tmp_path):
    content = another(7, history="Ménière’s disease was suspected – a man with vertigo for two days and hearing loss.")
    page = html_of(content).replace('charset="utf-8"', 'charset="windows-1252"').replace("p_files", "p7_files")
    save(tmp_path / "pages", content, html=page.encode("cp1252"))
    build_eurorad(tmp_path / "pages", tmp_path / "set")
    [case] = CaseSet.open(tmp_path / "set")
    assert case.history == content.history


@pytest.mark.parametrize(
    "content",
    [
        "é–".encode(),
        "é–".encode("cp1252"),
        b'<meta charset="utf-8">' + "é–".encode("cp1252"),
        b'<meta charset="iso-8859-1">' + "é–".encode("cp1252"),
        b'<meta charset="klingon">' + "é–".encode(),
        b"\xef\xbb\xbf" + "é–".encode(),
        "é–".encode("utf-16"),
    ],
)
def test_every_encoding_is_decoded(content):
    assert decode_page(content).endswith("é–")


@pytest.mark.parametrize(
    ("findings", "left"),
    [
        ("A cyst is seen. Gout is likely.", "A cyst is seen."),
        ("A large cyst, consistent with gout, is seen in the knee.", "A large cyst, is seen in the knee."),
        ("Rim enhancement of the lesion suggesting gout.", "Rim enhancement of the lesion."),
        ("Erosions of the first toe joint (typical of gout) are seen.", "Erosions of the first toe joint are seen."),
        ("Erosions with overhanging edges. Histology confirmed a crystal disease.", "Erosions with overhanging edges."),
        ("There is no effusion in the left knee.", "There is no effusion in the left knee."),
    ],
)
def test_revealing_phrases_are_removed_and_observations_stay(findings, left):
    assert redact_diagnosis(findings, ["Gout"]).text == left


def test_synonyms_and_scattered_words_reveal_too(tmp_path):
    names = ["Giant cell tumour of bone", "osteoclastoma"]
    text = "A lesion with giant size of cell, tumour-like, is in bone. An osteoclastoma. No periosteal reaction."
    assert redact_diagnosis(text, names).text == "No periosteal reaction."
    save(tmp_path / "pages", another(8, findings=f"{FINDINGS} A psammomatous neoplasm."))
    synonyms = Synonyms([("meningioma", "psammomatous neoplasm")])
    build_eurorad(tmp_path / "pages", tmp_path / "set", synonyms=synonyms)
    [case] = CaseSet.open(tmp_path / "set")
    assert case.findings == FINDINGS
    assert case.questions[1].accept == ["psammomatous neoplasm"]


def test_a_writer_adds_other_diagnoses_where_the_page_has_too_few(tmp_path):
    save(tmp_path / "pages", another(9, differential=["Lymphoma"]))
    with ExamServer(
        lambda body, index: "1. Dural metastasis\n2. Meningioma, atypical\n3. Gliosarcoma\n4. Abscess"
    ) as server:
        writer = CandidateSettings(name="writer", provider="openai", base_url=server.url, model="w")
        build_eurorad(
            tmp_path / "pages", tmp_path / "set", models={"writer": writer}, answers=tmp_path / "answers.sqlite"
        )
        assert "Right diagnosis: Meningioma" in text_of(server.bodies[0])
    [case] = CaseSet.open(tmp_path / "set")
    assert sorted(case.questions[0].choices) == ["Abscess", "Dural metastasis", "Gliosarcoma", "Lymphoma", "Meningioma"]


def test_a_model_standardises_names_and_another_disease_is_not_applied(tmp_path):
    """By hand: two renames are used; `Glioblastoma` for `Gliosarcoma` is another disease, and is for people."""
    save(tmp_path / "pages", another(1, diagnosis=["meningioma (WHO)"], differential=["NHL", "ABSCESS", "Gliosarcoma"]))
    reply = "1. Meningioma\n2. Non-Hodgkin lymphoma\n3. Abscess\n4. Glioblastoma"
    with ExamServer(lambda body, index: reply) as server:
        model = CandidateSettings(name="standardiser", provider="openai", base_url=server.url, model="terms-1")
        models = {"models": {"standardiser": model}, "answers": tmp_path / "answers.sqlite"}
        built = build_eurorad(tmp_path / "pages", tmp_path / "set", **models)
        assert "1. meningioma (WHO)\n2. NHL\n3. ABSCESS\n4. Gliosarcoma" in text_of(server.bodies[0])
    [case] = CaseSet.open(tmp_path / "set")
    mcq, free = case.questions
    others = [name for index, name in enumerate(mcq.choices) if index != mcq.gold]
    assert (mcq.choices[int(mcq.gold)], others) == ("Meningioma", ["Non-Hodgkin lymphoma", "Abscess", "Gliosarcoma"])
    assert (free.gold, free.accept) == ("Meningioma", ["meningioma (WHO)"])
    diff = lines(tmp_path / "set" / "terminology.jsonl")
    assert [(line["name"], line["before"], line["after"], line["used"]) for line in diff] == [
        ("gold", "meningioma (WHO)", "Meningioma", True),
        ("differential", "NHL", "Non-Hodgkin lymphoma", True),
        ("differential", "ABSCESS", "Abscess", True),
        ("differential", "Gliosarcoma", "Glioblastoma", False),
    ]
    assert {line["model"] for line in diff} == {"terms-1"}
    [held] = lines(tmp_path / "set" / "review" / "terminology.jsonl")
    assert (held["before"], held["after"]) == ("Gliosarcoma", "Glioblastoma")
    assert built.queues == {"terminology": 1}


def test_only_pages_published_in_the_range_are_built_and_the_others_are_counted(tmp_path):
    for number, day in enumerate(["31.12.2024", "01.01.2025", "31.12.2025", "01.01.2026", ""], start=1):
        save(tmp_path / "pages", another(number, published=day))
    published = PublishedRange.parse("2025", "2025")
    built = build_eurorad(tmp_path / "pages", tmp_path / "set", published=published)
    assert CaseSet.open(tmp_path / "set").ids == ["eurorad-2", "eurorad-3"]
    [step] = [step for step in built.funnel if step.step == "published"]
    assert (step.records_in, step.records_out) == (5, 2)
    assert step.reasons == {
        "published before 2025-01-01": 1,
        "published after 2025-12-31": 1,
        "no date of publication": 1,
    }
    with pytest.raises(WardroundError, match="no date of publication"):
        build_eurorad(tmp_path / "pages", tmp_path / "none", published=PublishedRange.parse("2027-03", None))
    result = CliRunner().invoke(
        app, ["cases", "convert", str(tmp_path / "set"), "--out", str(tmp_path / "late"), "--since", "2025-06"]
    )
    assert result.exit_code == 0, result.output
    assert CaseSet.open(tmp_path / "late").ids == ["eurorad-3"]


def test_the_command_takes_options_and_dates(tmp_path):
    save(tmp_path / "pages", another(1))
    save(tmp_path / "pages", another(2, published="01.03.2024"))
    command = ["build", "eurorad", str(tmp_path / "pages"), "--out", str(tmp_path / "set"), "--json"]
    wrong = CliRunner().invoke(app, [*command, "--options", "random"])
    assert wrong.exit_code == 2
    assert "'random' is not one of source, balanced" in wrong.output
    ended = CliRunner().invoke(app, [*command, "--options", "balanced", "--since", "2025"])
    assert ended.exit_code == 0, ended.output
    settings = json.loads((tmp_path / "set" / "manifest.json").read_text())["settings"]
    assert settings == {"source": "eurorad", "dev": None, "options": "balanced", "since": "2025-01-01"}


@pytest.mark.parametrize(
    ("published", "problem"),
    [
        ("2025-03-01", None),
        ("2025-03", None),
        ("2025", "the date of publication does not say whether it is in the range"),
        ("2025-02-28", "published before 2025-03-01"),
        ("2024", "published before 2025-03-01"),
        (None, "no date of publication"),
        ("2025-02-30", "no date of publication"),
    ],
)
def test_a_date_of_publication_is_in_the_range_only_if_all_of_it_is(published, problem):
    assert PublishedRange.parse("2025-03", None).problem(published) == problem


@pytest.mark.parametrize("limits", [("soon", None), ("2025-13", None), ("2026", "2025")])
def test_a_range_without_a_day_in_it_is_refused(limits):
    with pytest.raises(WardroundError, match="--since"):
        PublishedRange.parse(*limits)


def test_images_are_looked_for_beside_the_page_only(tmp_path):
    page = tmp_path / "in" / "p.html"
    (tmp_path / "in" / "p_files").mkdir(parents=True)
    page.touch()
    (tmp_path / "secret.png").touch()
    (tmp_path / "in" / "p_files" / "a b.png").touch()
    assert find_saved_file("../secret.png", page) is None
    assert find_saved_file(str(tmp_path / "secret.png"), page) is None
    assert find_saved_file("data:image/png;base64,AAAA", page) is None
    assert find_saved_file("p_files/a%20b.png", page) == tmp_path / "in" / "p_files" / "a b.png"
    assert (
        find_saved_file("https://www.eurorad.org/x/a%20b.png?itok=1", page) == tmp_path / "in" / "p_files" / "a b.png"
    )


def test_odd_markup_does_not_hide_sections():
    page = read_page("<div>" * 30_000 + "</p>" * 30_000 + "<h2>Final diagnosis</h2>" + "<p>Gout")
    assert page.sections["diagnosis"] == ["Gout"]
    page = read_page(
        "<h3>Clinical History</h3><p>One.<h4>Course</h4>Two.<h3>Unknown</h3>Three.<p>Final diagnosis: Gout"
    )
    assert page.sections == {"history": ["One.", "Course", "Two."], "diagnosis": ["Gout"]}


def test_modalities_are_found_in_words():
    assert modality_of(["Figure 2", "Axial T2-weighted image"]) == "MRI"
    assert modality_of(["it showed us nothing"]) is None


@pytest.mark.parametrize(
    ("text", "modality"),
    [
        ("USG of the abdomen", "Ultrasound"),
        ("OPG", "X-ray"),
        ("Digital breast tomosynthesis", "X-ray"),
        ("HE staining, x200", "Histopathology"),
        ("CT-guided core needle biopsy: histology", "Histopathology"),
        ("CT-guided biopsy", "CT"),
        ("CT of a T1 vertebral fracture", "CT"),
        ("Fracture at T1-T2, lateral radiograph", "X-ray"),
        ("T2 tumour on CT", "CT"),
        ("T1/T2-weighted images", "MRI"),
        ("Mr Smith's pet dog", None),
        ("Whole-body PET-CT", "PET"),
    ],
)
def test_a_caption_with_other_meanings_of_its_letters_has_its_modality(text, modality):
    assert modality_of([text]) == modality


@pytest.mark.parametrize(
    ("texts", "techniques", "findings", "modality"),
    [
        (["Figure 1", "Axial image, lung window"], ["CT", "MRI"], "", "CT"),
        (["Figure 1", "Coronal STIR of the ankle"], ["X-ray", "MRI"], "", "MRI"),
        (["Figure 1", "Hypoechoic nodule of the thyroid"], ["Ultrasound"], "", "Ultrasound"),
        (["Figure 1", "Lateral view of the elbow"], ["X-ray", "MRI"], "", "X-ray"),
        (["Figure 2", "A mass (arrow)"], ["CT", "MRI"], "CT showed a mass. MRI showed oedema (Fig. 2).", "MRI"),
        (["Figure 2", "A mass (arrow)"], ["CT"], "", "CT"),
        (["Figure 2", "A mass (arrow)"], ["CT", "MRI"], "A mass (Fig. 22) on CT.", None),
        (["Figure 2", "Tracer uptake, hyperintense rim"], ["PET", "MRI"], "", None),  # words of both
    ],
)
def test_the_modality_comes_from_caption_findings_or_technique(texts, techniques, findings, modality):
    assert figure_modality(texts, techniques, findings) == modality


def test_a_panel_has_the_modality_of_its_figure_and_techniques_may_share_a_line(tmp_path):
    content = PageContent(1, captions=("Axial T2-weighted MR image", "The same lesion"))
    html = (
        html_of(content)
        .replace("Figure 2<br>", "Figure 1b<br>")
        .replace("<div>CT</div><div>MR</div>", "<div>CT, MR</div>")
    )
    save(tmp_path / "in", content, html=html.replace("p_files/", "p1_files/").encode())
    build_eurorad(tmp_path / "in", tmp_path / "set")
    [case] = CaseSet.open(tmp_path / "set")
    assert [image.modality for image in case.images] == ["MRI", "MRI"]
    assert modalities_in("PA chest radiograph, then US and CT") == ["X-ray", "Ultrasound", "CT"]
    assert parse_differential(["Gout, pseudogout, and septic arthritis"]) == ["Gout", "pseudogout", "septic arthritis"]
    assert parse_differential(["Neurofibromatosis, type 1", "Lymphoma"]) == ["Neurofibromatosis, type 1", "Lymphoma"]


def test_a_source_without_a_usable_page_is_one_line(tmp_path):
    with pytest.raises(BadInput, match="no such file"):
        build_eurorad(tmp_path / "none", tmp_path / "set")
    (tmp_path / "pages").mkdir()
    with pytest.raises(BadInput, match=r"no \.html"):
        build_eurorad(tmp_path / "pages", tmp_path / "set")
    save(tmp_path / "pages", another(1, captions=()))
    with pytest.raises(WardroundError, match="no page became a case; 1 x no image"):
        build_eurorad(tmp_path / "pages", tmp_path / "set")


@pytest.mark.slow
def test_killed_and_started_again_it_writes_the_same(tmp_path):
    """Killed while the writer is being asked."""
    for number in range(1, 5):
        save(tmp_path / "pages", another(number, differential=["Lymphoma"]))
    reply = "1. Abscess\n2. Gliosarcoma\n3. Sarcoidosis"
    killed, alone = killed_and_left_alone("eurorad", tmp_path / "pages", tmp_path, reply)
    assert killed == alone
    assert len(killed) > 8


def test_names_that_authors_list_everywhere_do_not_give_the_answer_away(tmp_path):
    """Usual suspects stand in every differential list and are never right: no guesser makes anything of it."""
    usual = ["Lymphoma", "Metastasis", "Abscess", "Sarcoidosis"]
    for number in range(1, 41):
        names = [f"{'Ill' * (1 + number % 3)}{number:02d}itis", f"{'Mal' * (1 + number % 4)}{number:02d}osis"]
        save(tmp_path / "pages", another(number, differential=[*usual, names[1]], diagnosis=[names[0]]))
    build_eurorad(tmp_path / "pages", tmp_path / "set", options="balanced")
    cases = list(CaseSet.open(tmp_path / "set"))
    times = Counter(option for case in cases for option in case.questions[0].choices)
    assert [times[name] for name in usual] == [1, 1, 1, 1]
    assert max(times.values()) <= 5
    assert [shortcut.name for shortcut in measure_shortcuts(cases) if shortcut.flagged] == []
    build_eurorad(tmp_path / "pages", tmp_path / "as listed")
    for case in CaseSet.open(tmp_path / "as listed"):
        mcq = case.questions[0]
        assert [name for index, name in enumerate(mcq.choices) if index != mcq.gold] == usual
    result = audit(tmp_path / "as listed", tmp_path / "audit", workers=1)
    figures = result.to_dict()["option_choices"]
    accuracies = {
        choice: {shortcut["name"]: shortcut["accuracy"] for shortcut in shortcuts}
        for choice, shortcuts in figures["shortcuts"].items()
    }
    assert figures["built"] == "source"
    assert accuracies["source"]["prior"] == 1.0  # four names are never right elsewhere
    assert accuracies["balanced"] == {shortcut.name: shortcut.accuracy for shortcut in measure_shortcuts(cases)}
    assert "prior: 100.0, " in str(result)
    assert "balanced" in (tmp_path / "audit" / "audit.html").read_text()


def test_options_are_the_reports_own_in_its_order_and_the_right_one_takes_every_place(tmp_path):
    """By hand: of five listed the first four are offered, the one that names the gold is dropped."""
    listed = ["Lymphoma", "Atypical meningioma", "Dural metastasis", "Abscess", "Gliosarcoma", "Sarcoidosis"]
    for number in range(1, 6):
        save(tmp_path / "pages", another(number, differential=listed))
    build_eurorad(tmp_path / "pages", tmp_path / "set", dev=0)
    questions = [case.questions[0] for case in CaseSet.open(tmp_path / "set")]
    for question in questions:
        others = [name for index, name in enumerate(question.choices) if index != question.gold]
        assert others == ["Lymphoma", "Dural metastasis", "Abscess", "Gliosarcoma"]
    assert sorted(int(question.gold) for question in questions) == [0, 1, 2, 3, 4]


def test_a_page_that_lists_too_few_gets_diagnoses_of_other_pages_after_its_own(tmp_path):
    diagnoses = ["Gout", "Sarcoidosis", "Appendicitis", "Pneumothorax"]
    save(tmp_path / "pages", another(1, differential=["Meningioma", "Lymphoma"]))
    for number, diagnosis in enumerate(diagnoses, 2):
        save(tmp_path / "pages", another(number, diagnosis=[diagnosis]))
    build_eurorad(tmp_path / "pages", tmp_path / "set")
    first = next(iter(CaseSet.open(tmp_path / "set"))).questions[0]
    others = [name for index, name in enumerate(first.choices) if index != first.gold]
    assert len(others) == 3
    assert set(others) <= {"Lymphoma", *diagnoses}
    assert others[0] == "Lymphoma"


def test_a_writer_is_asked_only_about_pages_that_list_too_few(tmp_path):
    save(tmp_path / "pages", another(1))
    save(tmp_path / "pages", another(2, differential=["Lymphoma", "Meningioma"]))
    with ExamServer(lambda body, index: "1. Dural metastasis\n2. Gliosarcoma\n3. Abscess") as server:
        writer = CandidateSettings(name="writer", provider="openai", base_url=server.url, model="w")
        models = {"models": {"writer": writer}, "answers": tmp_path / "answers.sqlite"}
        build_eurorad(tmp_path / "pages", tmp_path / "set", **models)
        assert [text_of(body).split("Name ")[1].split(" other")[0] for body in server.bodies] == ["3"]
    second = list(CaseSet.open(tmp_path / "set"))[1].questions[0]
    others = [name for index, name in enumerate(second.choices) if index != second.gold]
    assert others == ["Lymphoma", "Dural metastasis", "Gliosarcoma", "Abscess"]


CATEGORIES = [
    '<div class="row"><div><h4>Imaging Technique</h4></div><div><p>CT, MR</p></div></div>',
    "<p>Area of Interest: Abdomen ; Imaging Technique: CT, MR ; Procedure: Biopsy ; Special Focus: Neoplasia ;</p>",
    "<ul><li><strong>Area of Interest</strong> <span>Liver</span></li>"
    "<li><strong>Imaging Technique</strong> <span>CT, MR</span></li></ul>",
    "<dl><dt>Area of Interest</dt><dd>Liver</dd><dt>Imaging Techniques</dt><dd>CT; MR</dd></dl>",
]
GALLERY_PAGE = """<html><body><h1>A case</h1>
<div class="row"><div><h3>Final Diagnosis</h3></div><div><p>Amoebic abscess</p></div></div>
{}
<div class="figure-gallery"><div class="figure-gallery__item"><a href="#"><img src="1.jpg"></a>
<div class="figure-gallery__item__label"><span class="mb-1 d-block">Figure 1</span>
<span>Axial CT of the liver.</span></div></div>
<div class="figure-gallery__item"><a href="#"><img src="2.jpg"></a>
<div class="figure-gallery__item__label"><span class="mb-1 d-block">Figure 2</span>
<span>Coronal MR image.</span></div></div>
</div></body></html>"""


@pytest.mark.parametrize("categories", CATEGORIES)
def test_technique_lines_are_read_however_categories_are_laid_out(categories):
    page = read_page(GALLERY_PAGE.format(categories))
    assert page.sections["diagnosis"] == ["Amoebic abscess"]
    assert [name for line in page.sections["technique"] for name in modalities_in(line)] == ["CT", "MRI"]


def test_captions_in_a_block_of_their_own_belong_to_the_image_before():
    figures = read_page(GALLERY_PAGE.format("")).figures
    assert [figure.texts for figure in figures] == [
        ["Figure 1", "Axial CT of the liver."],
        ["Figure 2", "Coronal MR image."],
    ]
