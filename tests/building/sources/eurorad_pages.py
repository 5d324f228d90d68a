"""Saved pages as Eurorad's are laid out (specs 2.6): headings, labels, figures. All patients are invented."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import numpy as np
from PIL import Image
from PIL.PngImagePlugin import PngInfo

FINDINGS = (
    "Axial contrast-enhanced CT shows a well-defined extra-axial mass of 32 mm over the left convexity with "
    "homogeneous enhancement and a dural tail. There is moderate perilesional oedema without midline shift."
)
HISTORY = "A woman presented with headache for three months and one seizure. Neurological examination was normal."


@dataclass
class PageContent:
    """One case page."""

    number: int
    diagnosis: list[str] = field(default_factory=lambda: ["Meningioma"])
    differential: list[str] = field(
        default_factory=lambda: ["Dural metastasis", "Solitary fibrous tumour", "Lymphoma", "Gliosarcoma"]
    )
    history: str = HISTORY
    findings: str = FINDINGS
    section: str = "Neuroradiology"
    patient: str = "54 years, female"
    published: str = "01.03.2025"
    pmids: tuple[str, ...] = ("31415926", "27182818")
    captions: tuple[str, ...] = ("Axial contrast-enhanced CT", "Sagittal T2-weighted MR image")
    without: tuple[str, ...] = ()
    extra: str = ""


def html_of(content: PageContent) -> str:
    """The page of a case, its images in the folder that a browser makes beside it."""
    blocks = {
        "CLINICAL HISTORY": f"<p>{escape(content.history)}</p>",
        "IMAGING FINDINGS": f"<div><p>{escape(content.findings)}</p></div>",
        "DISCUSSION": "<h4>Background</h4><p>Such tumours are common.</p><h4>Imaging Perspective</h4><p>A tail.</p>",
        "DIFFERENTIAL DIAGNOSIS LIST": "<ul>"
        + "".join(f"<li>{escape(x)}</li>" for x in content.differential)
        + "</ul>",
        "FINAL DIAGNOSIS": "".join(f"<div>{escape(name)}</div>" for name in content.diagnosis),
        "REFERENCES": "".join(f"<p>[{n}] Doe J (2020) On it. (PMID: {p})</p>" for n, p in enumerate(content.pmids, 1)),
    }
    body = "".join(f"<h3>{name}</h3>{text}" for name, text in blocks.items() if name not in content.without)
    figures = "".join(
        f'<figure><a href="https://www.eurorad.org/full/{content.number}-{n}.png">'
        f'<img src="./p_files/{content.number}-{n}.png"></a>'
        f"<figcaption>Figure {n + 1}<br>{escape(caption)} of the meningioma</figcaption></figure>"
        for n, caption in enumerate(content.captions)
    )
    return (
        f'<html><head><meta charset="utf-8"><title>{escape(content.diagnosis[0] if content.diagnosis else "")}</title>'
        f'<link rel="canonical" href="https://www.eurorad.org/case/{content.number}">'
        "<script>var x = '<h3>FINAL DIAGNOSIS</h3>wrong';</script></head><body>"
        f'<nav><img src="p_files/logo.png"><a>Advanced search</a></nav><h1>{escape(" ".join(content.diagnosis))}</h1>'
        f"<div><span>Section</span></div><div>{escape(content.section)}</div>"
        "<div>Imaging Technique</div><div>CT</div><div>MR</div>"
        f"<div>Published on {content.published}</div><div>{content.patient}</div>"
        f"{content.extra}{body}{figures}<h3>Most active authors</h3><p>J. Doe</p></body></html>"
    )


def save(folder: Path, content: PageContent, *, html: bytes | None = None, comment: str = "") -> Path:
    """Writes a page and its images, as a browser saves them."""
    page = folder / f"p{content.number}.html"
    folder.mkdir(parents=True, exist_ok=True)
    text = html_of(content).replace("p_files/", f"p{content.number}_files/")
    page.write_bytes(html if html is not None else text.encode())
    image_folder = folder / f"p{content.number}_files"
    image_folder.mkdir(exist_ok=True)
    numbers = np.random.default_rng(content.number)
    for place in range(len(content.captions)):
        coarse = Image.fromarray(numbers.integers(0, 255, (9, 9), dtype=np.uint8))
        info = PngInfo()
        if comment:
            info.add_text("Comment", comment)
        coarse.resize((96, 96), Image.Resampling.BICUBIC).save(
            image_folder / f"{content.number}-{place}.png", pnginfo=info
        )
    Image.new("L", (16, 16), 200).save(image_folder / "logo.png")
    return page
