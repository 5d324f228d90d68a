"""The stem of a case in two tellings: `text` says in words what the images show, `multimodal` refers to them."""

import re
from collections.abc import Sequence
from typing import Any

from wardround.building.pipeline.pipeline import Record
from wardround.building.sources.pmc.article import find_marks, strip_marks
from wardround.building.sources.pmc.sentences import SHOWS, STEM_PARTS, describes_image
from wardround.building.text.modality import modalities_in
from wardround.building.text.redact import redact_diagnosis
from wardround.core.names import content_words
from wardround.reporting.numbers import join_words

MIN_WORDS = 5  # of content, to describe an image
MIN_SHOWN = 4  # if a word says that something is shown: `Ultrasound revealed medullary nephrocalcinosis`


def stem_sentences(record: Record) -> list[dict[str, Any]]:
    """The sentences of patient information and test results."""
    return [sentence for sentence in record["sentences"] if sentence["part"] in STEM_PARTS]


def stem_figures(record: Record) -> list[dict[str, Any]]:
    """The figures that the stem refers to, in that order."""
    referred = list(dict.fromkeys(id for sentence in stem_sentences(record) for id in find_marks(sentence["text"])))
    known = {figure["id"]: figure for figure in record["figures"]}
    return [known[id] for id in referred if id in known]


def write_text_telling(record: Record, names: Sequence[str]) -> str:
    """The stem without figures. Captions describe figures that no sentence describes."""
    stem = stem_sentences(record)
    captions = _needed_captions(record, names)
    sentences = []
    for sentence in stem:
        shown = [captions.pop(id) for id in find_marks(sentence["text"]) if id in captions]
        sentences.append((sentence["paragraph"], " ".join([strip_marks(sentence["text"]), *shown])))
    return _join_paragraphs(sentences)


def undescribed_figures(record: Record, names: Sequence[str]) -> list[str]:
    """The figures of the stem that neither a sentence nor their caption describes."""
    captions = _needed_captions(record, names)
    return [id for id, caption in captions.items() if len(content_words(caption)) < MIN_WORDS]


def _needed_captions(record: Record, names: Sequence[str]) -> dict[str, str]:
    """The captions, without the diagnosis, of the figures that no sentence of the stem describes."""
    captions: dict[str, str] = {}
    for figure in stem_figures(record):
        about = [s["text"] for s in stem_sentences(record) if figure["id"] in find_marks(s["text"])]
        if not any(map(_describes_figure, about)):
            captions[figure["id"]] = redact_diagnosis(strip_marks(figure["caption"]), names).text
    return captions


def _describes_figure(sentence: str) -> bool:
    """Whether a sentence does more than refer to the figure."""
    rest = re.sub(
        r"\b(?:is|are|was|were)?\s*(?:shown|seen|presented|depicted|illustrated)\b", " ", strip_marks(sentence)
    )
    rest = re.sub(r"\bthe image\b", " ", rest, flags=re.IGNORECASE)
    needed = MIN_SHOWN if SHOWS.search(rest) else MIN_WORDS
    return len(content_words(rest)) >= needed


def write_multimodal_telling(record: Record, numbers: dict[str, int]) -> str:
    """The stem with references to figures in place of descriptions. `numbers`: the image of each figure, from 1.

    Left out are sentences that refer to such a figure, and those of the same paragraph that describe its modality.
    """
    stem = stem_sentences(record)
    modalities_by_paragraph: dict[int, set[str]] = {}
    for sentence in stem:
        if any(id in numbers for id in find_marks(sentence["text"])):
            modalities = modalities_by_paragraph.setdefault(sentence["paragraph"], set())
            modalities.update(modalities_in(strip_marks(sentence["text"])))
    sentences: list[tuple[int, str]] = []
    referred: set[int] = set()
    for sentence in stem:
        text, paragraph = sentence["text"], sentence["paragraph"]
        shown = [numbers[id] for id in find_marks(text) if id in numbers]
        if shown:
            if new := [number for number in shown if number not in referred]:
                sentences.append((paragraph, _reference(text, new)))
                referred.update(new)
        elif not (
            describes_image(text)
            and set(modalities_in(strip_marks(text))) & modalities_by_paragraph.get(paragraph, set())
        ):
            sentences.append((paragraph, strip_marks(text)))
    return _join_paragraphs(sentences)


def _reference(sentence: str, numbers: Sequence[int]) -> str:
    modality = next(iter(modalities_in(strip_marks(sentence))), "finding")
    return f"The {modality} is shown in Figure{'s' * (len(numbers) > 1)} {join_words([*map(str, numbers)])}."


def _join_paragraphs(sentences: Sequence[tuple[int, str]]) -> str:
    """The text of sentences with their paragraph numbers."""
    paragraphs: dict[int, list[str]] = {}
    for paragraph, sentence in sentences:
        paragraphs.setdefault(paragraph, []).append(sentence)
    return "\n".join(map(" ".join, paragraphs.values()))
