"""Lists of diagnoses in a section: numbered, bulleted, a table, or lines with shares."""

import re
from dataclasses import dataclass

from wardround.marking.parser.diagnoses.findings import diagnosis_of_finding
from wardround.marking.parser.diagnoses.layout import Line, ReplySection
from wardround.marking.parser.diagnoses.names import cut_reason, is_sentence, split_names
from wardround.marking.parser.diagnoses.statements import read_statement, split_sentences

_SHARE = re.compile(r"(\d{1,3}(?:\.\d+)?)\s?%|(?<![\w.])(0?\.\d+)\b")
_RULED_OUT = re.compile(r"(?<!\bto be )(?<!must be )(?<!should be )\b(?:ruled out|excluded)\b|❌|✗", re.I)
_ABSENT = re.compile(r"(?:no|without|absence of)\s", re.I)
_CHOSEN = re.compile(
    r"[(\[–—:,-]\s*(?:this is |the |my )*"
    r"(?:most (?:likely|probable)|leading|top|best fit|favou?red|final|correct|primary)"
    r"(?: \w+){0,2}\s*(?:[)\]]|[.!]?\Z|because|,|\.\s)|✅|⭐|←",
    re.I,
)
_NAME_COLUMN = re.compile(
    r"(?:.* )?(?:diagnos[ei]s|disease|condition|possibility|d?dx|differential|entity"
    r"|诊断|疾病|diagnose|diagn[óo]stico|diagnostic)(?: .*)?",
    re.I,
)
_RANK_COLUMN = re.compile(r"rank(?:ing)?|#|no\.?|order|排名|序号|rang", re.I)
_CALLED_LIKELIEST = re.compile(r"\s*[–—,:-]?\s*(?:the )?most (?:likely|probable)(?: diagnosis)?\W*\Z", re.I)
_LEVELS = {
    "very high": 5,
    "high": 4,
    "likely": 4,
    "moderate": 3,
    "medium": 3,
    "intermediate": 3,
    "possible": 3,
    "low": 2,
    "unlikely": 2,
    "very low": 1,
}


@dataclass(frozen=True, slots=True)
class DiagnosisList:
    """The names of a list in order, whether it was numbered, and which of them it marks as the likeliest."""

    names: tuple[str, ...]
    is_numbered: bool
    chosen: str | None = None


def list_in(section: ReplySection) -> DiagnosisList | None:
    """The list in a section; None if it has none."""
    rows = [line.cells for line in section.lines if line.mark == "row"]
    if rows and (table := _table(rows)):
        return table
    numbered = [line for line in section.lines if line.mark == "number"]
    bulleted = [line for line in section.lines if line.mark == "bullet"]
    lines = _top_level(numbered or bulleted)
    shared = [line for line in section.lines if line.mark == "text" and _SHARE.search(line.text)]
    if not lines and len(shared) > 1:
        lines = shared
    return _list(lines, is_numbered=bool(numbered)) if lines else None


def _top_level(lines: list[Line]) -> list[Line]:
    indent = min((line.indent for line in lines), default=0)
    return [line for line in lines if line.indent <= indent + 1]


def _list(lines: list[Line], *, is_numbered: bool) -> DiagnosisList | None:
    entries: list[tuple[float | None, list[str]]] = []
    chosen = None
    for line in lines:
        if _RULED_OUT.search(line.text) or (len(lines) > 1 and _ABSENT.match(line.text)):
            continue
        names = item_names(line.text)
        share = _SHARE.search(line.text)
        entries.append((float(share[1] or 100 * float(share[2])) if share else None, names))
        if (
            names
            and chosen is None
            and (_CHOSEN.search(line.text) or _CALLED_LIKELIEST.search(line.text))
            and not re.search(r"\b(?:not|second|next|less)\b[^.]{0,20}\bmost likely", line.text, re.I)
        ):
            chosen = names[0]
    if not is_numbered and len(entries) > 1 and all(share is not None for share, _ in entries):
        entries.sort(key=lambda entry: -(entry[0] or 0))
    names = [name for _, item in entries for name in item]
    return DiagnosisList(tuple(names), is_numbered, chosen) if names else None


def item_names(text: str) -> list[str]:
    """The names of a list's entry, without its explanation; none if it is a sentence about something else."""
    sentence = _CALLED_LIKELIEST.sub("", (split_sentences(text) or [""])[0])
    if linked := diagnosis_of_finding(sentence):
        return split_names(cut_reason(linked.diagnosis))
    names = split_names(cut_reason(sentence))
    if names and not is_sentence(sentence):
        return names
    statement = read_statement(sentence)
    return [*statement.names, *statement.others] if statement else []


def _table(rows: list[tuple[str, ...]]) -> DiagnosisList | None:
    """The names in a table: of the column headed as diagnoses, else of the only column with words."""
    header = rows[0]
    columns = [place for place, cell in enumerate(header) if _NAME_COLUMN.fullmatch(cell.strip())]
    is_ranked = any(_RANK_COLUMN.fullmatch(cell.strip()) for cell in header)
    if columns:
        body = [row for row in rows[1:] if len(row) > columns[0]]
        cells = [row[columns[0]] for row in body]
    else:
        body = [row for row in rows if sum(bool(re.search(r"[^\W\d_]{3}", cell)) for cell in row) == 1]
        cells = [next(cell for cell in row if re.search(r"[^\W\d_]{3}", cell)) for row in body]
    levels = [_level(row) for row in body]
    if not is_ranked and levels and all(level is not None for level in levels):
        cells = [cell for _, cell in sorted(zip(levels, cells, strict=True), key=lambda pair: -(pair[0] or 0))]
    names = [name for cell in cells for name in item_names(cell)]
    chosen = next((item_names(cell)[0] for cell in cells if _CHOSEN.search(cell) and item_names(cell)), None)
    return DiagnosisList(tuple(names), is_ranked, chosen) if names else None


def _level(row: tuple[str, ...]) -> float | None:
    """The likelihood that a row states, in words or as a share."""
    for cell in row:
        word = cell.strip().lower()
        if word in _LEVELS:
            return _LEVELS[word]
        if (share := _SHARE.fullmatch(word.strip("~ ()"))) and share[1]:
            return float(share[1])
    return None
