"""Figure 1: a clean image beside its degraded copy, with the question and what a candidate answered to both.

The paper shows a lesion that a model finds on the clean image and denies, as surely, on the degraded one. Here each
candidate has the pair in which this is clearest: right on the clean image, and of one mind, wrongly, on the copy.
"""

import io
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

import numpy as np
import polars as pl
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont

from wardround.asking.degradation import CLEAN_LEVEL, REAL, parse_degradation
from wardround.benchmarks.engine.section_output import Note, SectionOutput
from wardround.cases.images import recipe_for
from wardround.cases.set import CaseSet
from wardround.core.case import Case, Question
from wardround.core.text import option_letter
from wardround.degrade.recipe import add_degradations, render_degraded
from wardround.degrade.severities import Profile, load_profile
from wardround.reporting.run_files import RunFiles
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

MOST_PAIRS, PER_ROW = 6, 2
TILE, GAP, LETTERS = 360, 16, 15  # pixels
GROUND, INK, RIGHT, WRONG = (255, 255, 255), (30, 34, 40), (47, 133, 90), (184, 50, 50)
LINE_WIDTH = 92  # characters of a line of text below a pair
ITEM = ("candidate", "case", "question", "of", "severity")


class AnswerPair(NamedTuple):
    """A question on the clean image and on its degraded copy, with the votes of one candidate for both."""

    candidate: str
    case: str
    clean: str  # ids of the questions
    degraded: str
    votes_clean: dict[int, int]  # option: votes
    votes_degraded: dict[int, int]
    trials: int


def fig1(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """A picture with the pairs, and a table of them."""
    pairs, cases = clearest_pairs(run), CaseSet.open(Path(run.cases_file))
    if not pairs:
        note("no candidate was right on a clean image and wrong on its degraded copy: there is no pair to show")
        return [], []
    profile = load_profile(run.study.severities)
    drawn = [_draw(pair, cases, profile) for pair in pairs]
    file = folder / "pairs.png"
    _in_columns(drawn).save(file, optimize=True)
    columns = [Column(name, unit="text") for name in ("Case", "Question", "Copy", "On the clean image", "On the copy")]
    rows = [
        TableRow((pair.candidate,), [Cell(text=text) for text in (pair.case, pair.clean, pair.degraded, *_said(pair))])
        for pair in pairs
    ]
    return [Table(f"The pairs of {file.name}", ("Candidate",), columns, rows)], [file]


def clearest_pairs(run: RunFiles) -> list[AnswerPair]:
    """Of each candidate the pair with the largest product: share right when clean, share of the wrong majority.

    A case is shown for one candidate only, if others have pairs of their own.
    """
    marks = run.marks.filter(pl.col("outcome").is_in(list(run.study.scored_outcomes)))
    votes = marks.group_by(*ITEM, "gold").agg(pl.col("option"), trials=pl.len()).collect()
    degraded = votes.filter(pl.col("of").is_not_null(), pl.col("severity") != CLEAN_LEVEL)
    clean = votes.filter(severity=CLEAN_LEVEL).select("candidate", "case", of="question", clean="option")
    by_candidate: dict[str, list[tuple[float, AnswerPair]]] = {}
    joined = degraded.join(clean, on=("candidate", "case", "of")).sort("candidate", "case", "question")
    for row in joined.iter_rows(named=True):
        before, after = _counted(row["clean"]), _counted(row["option"])
        if not before or not after:
            continue
        wrong = max((count for option, count in after.items() if option != row["gold"]), default=0)
        if max(after, key=lambda option: after[option]) == row["gold"]:
            continue
        clearness = before.get(row["gold"], 0) * wrong / row["trials"] ** 2
        pair = AnswerPair(row["candidate"], row["case"], row["of"], row["question"], before, after, row["trials"])
        if clearness > 0:
            by_candidate.setdefault(row["candidate"], []).append((clearness, pair))
    chosen: list[AnswerPair] = []
    for name in (name for name in run.candidates if name in by_candidate):
        shown = {pair.case for pair in chosen}  # another case for each candidate, where there is one
        ranked = sorted(by_candidate[name], key=lambda entry: (entry[1].case in shown, -entry[0]))
        chosen.append(ranked[0][1])
    return chosen[:MOST_PAIRS]


def _in_columns(pictures: list[Picture.Image]) -> Picture.Image:
    """The pictures in rows of two."""
    rows = [pictures[start : start + PER_ROW] for start in range(0, len(pictures), PER_ROW)]
    heights = [max(picture.height for picture in row) for row in rows]
    width = max(sum(picture.width for picture in row) for row in rows)
    sheet, top = Picture.new("RGB", (width, sum(heights)), GROUND), 0
    for row, height in zip(rows, heights, strict=True):
        for place, picture in enumerate(row):
            sheet.paste(picture, (place * width // PER_ROW if len(rows) > 1 or place else 0, top))
        top += height
    return sheet


def _counted(options: list[int | None]) -> dict[int, int]:
    known = [option for option in options if option is not None and option >= 0]
    return {option: known.count(option) for option in sorted(set(known))}


def _said(pair: AnswerPair) -> tuple[str, str]:
    """The most frequent answer to each image, with its votes."""
    texts = []
    for votes in (pair.votes_clean, pair.votes_degraded):
        option = max(votes, key=lambda option: votes[option])
        texts.append(f"{option_letter(option)}, {votes[option]} of {pair.trials}")
    return texts[0], texts[1]


def _draw(pair: AnswerPair, cases: CaseSet, profile: Profile) -> Picture.Image:
    case = cases.case(cases.index_of(pair.case))
    questions = {question.id: question for question in case.questions}
    clean, copy = questions[pair.clean], questions[pair.degraded]
    tiles = [_shown(case, question, cases, profile) for question in (clean, copy)]
    font = ImageFont.load_default(LETTERS)
    before, after = _said(pair)
    options = [f"{option_letter(place)}. {text}" for place, text in enumerate(clean.options or [])]
    lines = [line for text in (clean.prompt, "   ".join(options)) for line in wrap(text, LINE_WIDTH)]
    right = option_letter(int(clean.gold))
    degradation = ", ".join(copy.degradations) or "stored degraded"
    captions = [(f"clean: {before} (right)", RIGHT), (f"{degradation}: {after} (right: {right})", WRONG)]
    height = 3 * GAP + TILE + (len(lines) + 3) * (LETTERS + 6)
    picture = Picture.new("RGB", (3 * GAP + 2 * TILE, height), GROUND)
    draw = ImageDraw.Draw(picture)
    draw.text((GAP, GAP // 2), pair.candidate, font=font, fill=INK)
    top = GAP + LETTERS + 6
    for place, (tile, (caption, colour)) in enumerate(zip(tiles, captions, strict=True)):
        left = GAP + place * (TILE + GAP)
        picture.paste(tile, (left + (TILE - tile.width) // 2, top + (TILE - tile.height) // 2))
        draw.text((left, top + TILE + 6), caption, font=font, fill=colour)
    for number, line in enumerate(lines):
        draw.text((GAP, top + TILE + GAP + (number + 1) * (LETTERS + 6)), line, font=font, fill=INK)
    return picture


def _shown(case: Case, question: Question, cases: CaseSet, profile: Profile) -> Picture.Image:
    """The first image that a question shows, as it is sent."""
    image = case.images[question.images[0] if question.images else 0]
    drawn = [parse_degradation(name) for name in question.degradations if not name.startswith(REAL)]
    recipe = add_degradations(recipe_for(image), image, [] if image.degradations else drawn, profile)
    encoded = render_degraded(cases.image_path(image), image.frame, recipe)
    tile = Picture.fromarray(np.asarray(Picture.open(io.BytesIO(encoded.data)).convert("RGB")))
    factor = TILE / max(tile.size)
    return tile.resize((max(1, round(tile.width * factor)), max(1, round(tile.height * factor))))
