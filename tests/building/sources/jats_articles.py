"""Case reports as JATS, written for tests: whole ones, and ones with something missing or wrong. All are invented."""

from __future__ import annotations

import io
import random
import tarfile
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter

SYMPTOMS = ["fever", "cough", "vomiting", "dizziness", "night sweats", "back pain", "rash", "weight loss", "fatigue"]
SYMPTOMS += ["palpitations", "hoarseness", "joint pain", "blurred vision", "itching", "haematuria", "leg swelling"]
HABITS = ["worked as a farmer", "taught at a school", "smoked for years", "kept pigeons", "travelled by sea", "painted"]
HABITS += ["repaired engines", "sold flowers", "played the oboe", "ran marathons", "drove a lorry", "baked bread"]
SIGNS = ["a soft systolic murmur", "mild pallor", "a palpable lymph node", "reduced breath sounds", "pitting oedema"]
SIGNS += ["tenderness of the flank", "clubbing of the fingers", "a firm scalp nodule", "dry skin", "slow reflexes"]
LOOKS = ["a lobulated mass", "a rim-enhancing cavity", "a hypodense nodule", "diffuse wall thickening", "a fluid level"]
LOOKS += [
    "scattered calcifications",
    "a stenotic segment",
    "patchy infiltrates",
    "a cystic swelling",
    "a filling defect",
]
PLACES = ["in the left upper lobe", "near the hilum", "behind the stomach", "along the ureter", "beside the aorta"]
PLACES += ["below the skull base", "in the right kidney", "around the ankle", "within the orbit", "over the sacrum"]
OTHERS = ["sarcoidosis", "tuberculosis", "lymphoma", "amyloidosis", "actinomycosis", "nocardiosis", "histoplasmosis"]


@dataclass(frozen=True)
class ArticleContent:
    """One article; what is empty is left out of it."""

    number: int
    diagnosis: str = "Castleman disease"
    title: str = "An uncommon swelling: a case report"
    type: str = "case-report"
    subject: str = "Case Report"
    patient: str = ""
    tests: str = ""
    states: str = ""
    treatment: str = "She was treated with rituximab and was well after one year."
    discussion: str = ""
    conclusion: str = "Castleman disease is easily overlooked."
    layout: str = "sections"  # or "one": all of the case under one title
    figures: tuple[str, ...] = ("F1",)
    captions: tuple[str, ...] = ("Axial CT of the chest.",)
    before: str = ""  # of the article, in its file
    references: tuple[str, ...] = ("11111111",)
    after_title: str = ""
    markup: dict[str, str] = field(default_factory=dict, hash=False)


def whole(number: int, **fields: object) -> ArticleContent:
    """A complete article whose words are its own."""
    draw = random.Random(number)
    symptoms, signs, looks = draw.sample(SYMPTOMS, 4), draw.sample(SIGNS, 3), draw.sample(LOOKS, 2)
    places, age = draw.sample(PLACES, 2), draw.randint(20, 80)
    patient = (
        f"A {age}-year-old woman presented with {symptoms[0]}, {symptoms[1]} and {symptoms[2]} for {number + 2} weeks. "
        f"She {draw.choice(HABITS)} and {draw.choice(HABITS)}; {symptoms[3]} came on {draw.choice(SYMPTOMS)}-like."
    )
    tests = (
        f"On examination there was {signs[0]} with {signs[1]} and {signs[2]}. "
        f"Haemoglobin was {draw.randint(70, 150) / 10} g/dl and creatinine {draw.randint(50, 180)} umol/l. "
        f"CT of the chest showed {looks[0]} {places[0]} measuring {draw.randint(11, 60)} mm "
        f'(<xref ref-type="fig" rid="F1">Fig. 1</xref>). '
        f"The CT also demonstrated {looks[1]} {places[1]}."
    )
    base = ArticleContent(
        number,
        patient=patient,
        tests=tests,
        states="The final diagnosis was Castleman disease, based on the biopsy.",
        discussion="The differential diagnosis includes " + ", ".join(OTHERS[:-1]) + f" and {OTHERS[-1]}.",
    )
    return replace(base, **fields)  # type: ignore[arg-type]


def xml_of(content: ArticleContent) -> str:
    """The article as JATS."""
    figures = "".join(
        f'<fig id="{id}"><label>Figure {n}</label><caption><p>{escape(caption)}</p></caption>'
        f'<graphic xlink:href="article-{content.number}-{id}"/></fig>'
        for n, (id, caption) in enumerate(zip(content.figures, content.captions, strict=True), start=1)
    )
    parts = {
        "Patient information": content.patient,
        "Investigations": content.tests,
        "Diagnosis": content.states,
        "Treatment": content.treatment,
    }
    if content.layout == "one":
        body = f"<sec><title>Case presentation</title><p>{' '.join(filter(None, parts.values()))}</p>{figures}</sec>"
    else:
        body = (
            "".join(f"<sec><title>{name}</title><p>{text}</p></sec>" for name, text in parts.items() if text) + figures
        )
    if content.discussion:
        body += f"<sec><title>Discussion</title><p>{content.discussion}</p></sec>"
    if content.conclusion:
        body += f"<sec><title>Conclusion</title><p>{content.conclusion}</p></sec>"
    references = "".join(
        f'<ref><element-citation><pub-id pub-id-type="pmid">{pmid}</pub-id></element-citation></ref>'
        for pmid in content.references
    )
    text = (
        f'{content.before}<article xmlns:xlink="http://www.w3.org/1999/xlink" article-type="{content.type}"><front>'
        "<article-meta>"
        f'<article-id pub-id-type="pmid">{30_000_000 + content.number}</article-id>'
        f'<article-id pub-id-type="pmc">{9_000_000 + content.number}</article-id>'
        f"<article-categories><subj-group><subject>{content.subject}</subject></subj-group></article-categories>"
        f"<title-group><article-title>{content.title}</article-title></title-group>{content.after_title}"
        "<pub-date><day>3</day><month>2</month><year>2024</year></pub-date></article-meta></front>"
        f"<body>{body}</body><back><ref-list>{references}</ref-list></back></article>"
    )
    for old, new in content.markup.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def picture(seed: int, kind: str = "good") -> Image.Image:
    """A figure: sharp structure, or too poor in one way."""
    numbers = np.random.default_rng(seed)
    coarse = Image.fromarray(numbers.integers(0, 255, (8, 8), dtype=np.uint8)).resize(
        (128, 128), Image.Resampling.NEAREST
    )
    if kind == "blurred":
        return coarse.filter(ImageFilter.GaussianBlur(12))
    if kind == "blank":
        return Image.new("L", (128, 128), 120)
    return coarse.resize((40, 40)) if kind == "tiny" else coarse


def save(
    folder: Path, content: ArticleContent, *, images: bool = True, kind: str = "good", seed: int | None = None
) -> Path:
    """Writes an article into a folder of its own, with its figures."""
    folder = folder / f"article-{content.number}"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "main.nxml"
    file.write_text(xml_of(content), encoding="utf-8")
    if images:
        for place, id in enumerate(content.figures):
            drawn = picture((content.number if seed is None else seed) * 100 + place, kind)
            drawn.save(folder / f"article-{content.number}-{id}.jpg", quality=95)
    return file


def pack(file: Path, members: dict[str, bytes]) -> Path:
    """A package of these members."""
    with tarfile.open(file, "w:gz") as package:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            package.addfile(member, io.BytesIO(content))
    return file


def research_article(number: int) -> str:
    """An article that is not a case report, with the markup that publishers use."""
    return (
        '<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//NLM//DTD JATS//EN" "JATS.dtd">'
        '<article xmlns:xlink="http://www.w3.org/1999/xlink" article-type="research-article"><front>'
        "<journal-meta><journal-title>Invented Journal</journal-title></journal-meta><article-meta>"
        f'<article-id pub-id-type="pmid">{30_000_000 + number}</article-id>'
        f'<article-id pub-id-type="pmc">{9_000_000 + number}</article-id>'
        "<article-categories><subj-group><subject>Research Article</subject></subj-group></article-categories>"
        f"<title-group><article-title>Survival in cohort {number}</article-title></title-group>"
        '<pub-date pub-type="collection"><year>2024</year></pub-date>'
        '<pub-date pub-type="epub"><day>4</day><month>11</month><year>2023</year></pub-date>'
        "<abstract><sec><title>Background</title><p>We studied survival.</p></sec></abstract></article-meta></front>"
        "<body><sec><title>Background</title><p>Little is known of survival "
        '<xref ref-type="bibr" rid="B1">[1]</xref>.</p></sec>'
        "<sec><title>Methods</title><p>We followed a cohort.</p>"
        "<sec><title>Patients</title><p>All were adults.</p></sec>"
        "<table-wrap><table><tr><td>80</td></tr></table></table-wrap></sec>"
        '<sec><title>Results</title><p>Survival was longer in the treated group (<xref ref-type="fig" rid="F1">'
        "Figure 1</xref>) than in the other.</p>"
        '<fig id="F1"><label>Figure 1</label><caption><p>Survival by treatment group.</p></caption>'
        '<graphic xlink:href="cohort-g001"/></fig></sec>'
        "<sec><title>Discussion</title><p>The cohort was small.</p></sec></body><back><ref-list>"
        '<ref id="B1"><citation><pub-id pub-id-type="pmid">12345678</pub-id></citation></ref>'
        '<ref id="B2"><citation><pub-id pub-id-type="doi">10.1/x</pub-id></citation></ref>'
        '<ref id="B3"><citation><pub-id pub-id-type="pmid">23456789</pub-id></citation></ref>'
        "</ref-list></back></article>"
    )


PUBMED_RECORD = (
    '<?xml version="1.0"?><PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>30000009</PMID>'
    "<Article><ArticleTitle>Invented.</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"
)
