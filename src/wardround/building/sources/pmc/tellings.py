"""The stem of a case in two tellings: `text` says in words what the images show, `multimodal` refers to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from wardround.building.pipeline.pipeline import Reject
from wardround.building.pipeline.records import Record
from wardround.building.sources.pmc.article import marks_in, without_marks
from wardround.building.sources.pmc.parts import STEM, describes_image
from wardround.building.text.modality import modalities_in
from wardround.building.text.redact import without_diagnosis
from wardround.marking.judges.lexical_judge import content

FEWEST_WORDS = 5  # of content, to describe an image


def stem_of(record: Record) -> list[dict[str, Any]]:
    """The sentences of patient information and test results."""
    return [said for said in record["said"] if said["part"] in STEM]


def stem_figures(record: Record) -> list[dict[str, Any]]:
    """The figures to which the stem refers, in the order in which it does."""
    referred = list(dict.fromkeys(id for said in stem_of(record) for id in marks_in(said["text"])))
    known = {figure["id"]: figure for figure in record["figures"]}
    return [known[id] for id in referred if id in known]


def told_in_words(record: Record, names: Sequence[str]) -> str:
    """The stem without figures. Where no sentence says what a figure shows, its caption does; else the case goes."""
    stem = stem_of(record)
    captions: dict[str, str] = {}
    for figure in stem_figures(record):
        about = [said["text"] for said in stem if figure["id"] in marks_in(said["text"])]
        if not any(len(content(without_marks(text))) >= FEWEST_WORDS and _says_more(text) for text in about):
            caption = without_diagnosis(without_marks(figure["caption"]), names).text
            if len(content(caption)) < FEWEST_WORDS:
                raise Reject("the text does not tell what the images show", figure["id"])
            captions[figure["id"]] = caption
    sentences = []
    for said in stem:
        shown = [captions.pop(id) for id in marks_in(said["text"]) if id in captions]
        sentences.append((said["paragraph"], " ".join([without_marks(said["text"]), *shown])))
    return _joined(sentences)


def _says_more(sentence: str) -> bool:
    """Whether a sentence does more than send the reader to the figure."""
    rest = re.sub(
        r"\b(?:is|are|was|were)?\s*(?:shown|seen|presented|depicted|illustrated)\b", " ", without_marks(sentence)
    )
    rest = re.sub(r"\bthe image\b", " ", rest, flags=re.IGNORECASE)
    return len(content(rest)) >= FEWEST_WORDS


def told_with_images(record: Record, numbers: dict[str, int]) -> str:
    """The stem in which the figures stand for what is said of them. `numbers`: the image of each figure, from 1.

    What goes: sentences that refer to such a figure, and those of the same paragraph that tell what is seen in its
    modality.
    """
    stem = stem_of(record)
    seen: dict[int, set[str]] = {}
    for said in stem:
        if any(id in numbers for id in marks_in(said["text"])):
            seen.setdefault(said["paragraph"], set()).update(modalities_in(without_marks(said["text"])))
    sentences: list[tuple[int, str]] = []
    referred: set[int] = set()
    for said in stem:
        text, paragraph = said["text"], said["paragraph"]
        shown = [numbers[id] for id in marks_in(text) if id in numbers]
        if shown:
            if new := [number for number in shown if number not in referred]:
                sentences.append((paragraph, _reference(text, new)))
                referred.update(new)
        elif not (describes_image(text) and set(modalities_in(without_marks(text))) & seen.get(paragraph, set())):
            sentences.append((paragraph, without_marks(text)))
    return _joined(sentences)


def _reference(sentence: str, numbers: Sequence[int]) -> str:
    what = next(iter(modalities_in(without_marks(sentence))), "finding")
    named = (
        f"Figure {numbers[0]}"
        if len(numbers) == 1
        else f"Figures {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"
    )
    return f"The {what} is shown in {named}."


def _joined(sentences: Sequence[tuple[int, str]]) -> str:
    """Sentences by their paragraphs."""
    paragraphs: dict[int, list[str]] = {}
    for paragraph, sentence in sentences:
        paragraphs.setdefault(paragraph, []).append(sentence)
    return "\n".join(" ".join(each) for each in paragraphs.values())
