"""The layout of an open answer: its lines with their list marks, in sections with a role."""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from wardround.marking.parser.diagnoses.labels import LabelRole, heading_role, label_role, split_label

MAX_LINE = 2_000  # characters that are read of a line
MAX_INLINE_LIST = 500

_HTML_BREAK = re.compile(r"<br\s*/?>|</(?:p|div|li|h\d)>", re.I)
_HTML_ITEM = re.compile(r"<li>", re.I)
_HTML = re.compile(r"</?(?:b|strong|i|em|u|p|div|span|ul|ol|h\d|sub|sup|font)\b[^<>]{0,80}>", re.I)
_XML_LABEL = re.compile(r"<([a-z][a-z_ ]{1,40})>|</[a-z][a-z_ ]{1,40}>", re.I)
_MEDALS = str.maketrans({"🥇": "1. ", "🥈": "2. ", "🥉": "3. ", "➡": "→ ", "⟶": "→ "})
_KEYCAP = re.compile("(\\d)\ufe0f?\u20e3\\.?")
_EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u26ff\u2700-\u274b\u274d-\u27bf\u2b50\ufe0f\u200d]+\\s*")
_HEADING = re.compile(r"#{1,6}\s+")
_BOLD_LINE = re.compile(r"(?:\*\*|__)(?=\S)((?:(?!\*\*|__).)+?)(?:\*\*|__)\s*:?|\*\*(.+?):?\*\*:?")
_NUMBERED = re.compile(
    r"(?:#\s?(\d{1,2})[.):]?|\(?(\d{1,2})(?:[.):、](?!\d)|\s[–-](?=\s))"
    r"|(?:rank|diagnosis|dx|differential|choice|possibility|option|no\.?|number)\s*#?(\d{1,2})\s*[.):–-]"
    r"|(\d)(?:st|nd|rd|th)\s*[:.)–-]|\(?(?-i:[a-h][.)](?=\s)|[A-H][.)](?=\s+[^\sa-z])))\s*(?=\S)",
    re.I,
)
_STEP = re.compile(r"(?:step|part)\s+\d{1,2}\s*[:.–—-]\s*(?=\S)", re.I)
_BULLET = re.compile(r"[-*+•–—·●▪◦‣○■➤→✓✔]\s+(?=\S)")
_ROW = re.compile(r"\|(.+)\|?")
_RULER = re.compile(r"[\s|:=*_#–—-]+")
_INLINE_LIST = re.compile(r"(?<![\w.])\(?1[.)]\s\S.*?[\s,;]\(?2[.)]\s")
_SENTENCE_BREAK = re.compile(r"(?<=\w[\w)%][.;!])\s+(?=\S)|[,;]\s+(?=(?:ddx|d/d)\b|differential\b)", re.I)
_ROLE_PREFIX = re.compile(r"(?:assistant|model|ai|bot|doctor|physician)\s*:\s*(?=\S)", re.I)


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its marks. `mark` is number, bullet, row, heading, bold or text."""

    text: str
    mark: str
    indent: int
    cells: tuple[str, ...] = ()


@dataclass(slots=True)
class ReplySection:
    """A part of a reply: what its heading or label says, the text on the same line, and the lines after it."""

    role: LabelRole | None
    title: str = ""
    value: str = ""
    lines: list[Line] = field(default_factory=list)


def read_sections(text: str) -> list[ReplySection]:
    """The sections of a reply, in order."""
    sections = [ReplySection(None)]
    for line in map(_unfold_row, read_lines(text)):
        label = None if line.mark == "row" else split_label(line.text)
        is_nested = line.mark == "bullet" and any(other.mark == "number" for other in sections[-1].lines)
        if label and label.text and label.role is LabelRole.SEEN:
            sections[-1].lines.append(Line(label.text, line.mark, line.indent))
        elif label and label.text and (label.role is LabelRole.ASIDE or is_nested):
            sections[-1].lines.append(Line(label.text, "aside", line.indent))
        elif label and label.text:
            sections.append(ReplySection(label.role, line.text, label.text))
        elif section := _headed_section(line):
            sections.append(section)
        else:
            sections[-1].lines.append(line)
    return sections


def _unfold_row(line: Line) -> Line:
    """A row of a table that is a label and its text, as a line of text."""
    if len(line.cells) == 2 and label_role(line.cells[0]) and line.cells[1] and not label_role(line.cells[1]):
        return Line(f"{line.cells[0]}: {line.cells[1]}", "text", line.indent)
    return line


def _headed_section(line: Line) -> ReplySection | None:
    """The section that a line begins as a heading, if it does."""
    if line.mark == "row":
        return None
    role: LabelRole | None
    if line.mark in ("heading", "bold"):
        role = heading_role(line.text)
        return ReplySection(role, line.text) if role else None
    if line.text.endswith("?") and line.mark == "text" and (role := heading_role(line.text.rstrip("? "))):
        return ReplySection(role, line.text)
    if line.text.endswith(":"):
        role = heading_role(line.text)
        return ReplySection(role, line.text) if role or line.mark == "text" else None
    role = label_role(line.text) if line.mark == "text" else None
    return ReplySection(role, line.text) if role not in (None, LabelRole.ASIDE, LabelRole.SEEN) else None


def read_lines(text: str) -> list[Line]:
    """The lines of a reply that say something."""
    text = _HTML.sub("", _HTML_ITEM.sub("\n- ", _HTML_BREAK.sub("\n", text))) if "<" in text else text
    text = _XML_LABEL.sub(_label_of_tag, text) if "<" in text else text
    raws = (raw for line in text.splitlines() for part in _break_list(line[:MAX_LINE]) for raw in _break_label(part))
    return [line for raw in raws if (line := read_line(raw)) is not None]


def _break_list(line: str) -> list[str]:
    """A list that stands on one line, with an entry a line."""
    if len(line) > MAX_INLINE_LIST or not _INLINE_LIST.search(line):
        return [line]
    return re.sub(r"(?:^|[\s,;]+)(\(?\d[.)]\s)", r"\n\1", line).splitlines()


def _break_label(line: str) -> list[str]:
    """A line in which a label follows a sentence, with that label on a line of its own."""
    breaks = [match.span() for match in _SENTENCE_BREAK.finditer(line)]
    parts = [line[start:end] for (_, start), (end, _) in pairwise([(0, 0), *breaks, (len(line), 0)])]
    gaps = [line[start:end] for start, end in breaks]
    labels = [split_label(_plain(part)) for part in parts]
    lines = [parts[0]]
    for gap, part, label in zip(gaps, parts[1:], labels[1:], strict=True):
        if label and label.role is not LabelRole.ASIDE:
            lines.append(part)
        else:
            lines[-1] += f"{gap}{part}"
    return lines


def _label_of_tag(tag: re.Match[str]) -> str:
    """`<diagnosis>` as a label; other tags as line breaks."""
    name = (tag[1] or "").replace("_", " ")
    return f"\n{name}: " if name and label_role(name) else "\n"


def read_line(raw: str) -> Line | None:
    """A line without its marks; None if nothing is left."""
    raw = raw.expandtabs(4).rstrip()
    indent = len(raw) - len(raw.lstrip())
    text = raw.strip().removeprefix(">").strip()
    if not text.isascii():
        text = _EMOJI.sub("", _KEYCAP.sub(r"\1. ", text.translate(_MEDALS))).strip()
    if _RULER.fullmatch(text):
        return None
    if text.startswith("|"):
        cells = tuple(_plain(cell) for cell in text.strip("|").split("|"))
        return Line(" | ".join(cells), "row", indent, cells)
    mark = "text"
    if heading := _HEADING.match(text):
        text, mark = text[heading.end() :], "heading"
    elif bullet := _BULLET.match(text):
        text, mark = text[bullet.end() :], "bullet"
    if _BOLD_LINE.fullmatch(text) and mark == "text":
        mark = "bold"
    text = _plain(text)
    text = _STEP.sub("", text, count=1) if mark in ("heading", "bold") else text
    if number := _NUMBERED.match(text):
        labelled = text[number.end() :]
        is_heading = label_role(labelled) is not None or (
            mark in ("heading", "bold") and heading_role(labelled) is not None
        )
        heading_mark = "heading" if mark == "text" else mark
        text, mark = labelled.strip(), heading_mark if is_heading else "number"
    text = _ROLE_PREFIX.sub("", text, count=1)
    return Line(text, mark, indent) if re.search(r"\w", text) else None


def _plain(text: str) -> str:
    """Text without emphasis and code marks."""
    return " ".join(text.replace("**", "").replace("__", "").replace("`", "").replace("*", "").split()).strip("_ ")
