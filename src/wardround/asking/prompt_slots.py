"""Slots of prompt files: which each kind of file knows and needs, also by the names that papers print, and filling."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from wardround.core.errors import WardroundError

WHOLE_QUESTION = ("choice", "choice-verbal", "open", "open-verbal", "rubric")  # kinds that show all of a question
IMAGES = "-images"  # in the kind of a file for Asks that show images
PATIENT = ("history", "findings")
SLOT_MEANINGS = {
    "history": "the patient's history",
    "findings": "the imaging findings",
    "question": "the question; in a file without {history} and {findings} the whole stem: history, findings, question",
    "options": "the options with their letters, one a line",
    "images": "the modalities of the images; in a file for images, where the images stand",
    "evidence": "the documents shown",
    "given": "answers to earlier questions of a chain",
    "searches": "the number of searches allowed",
    "half": "the first half of a text",
    "gold": "the right answer",
    "accept": "its other names",
    "diagnosis": "the diagnosis to judge",
    "documents": "the documents to judge by",
    "answer": "the candidate's answer",
    "reasoning": "the candidate's reasoning",
    "earlier": "the judge's earlier reply that named no single class",
    "reply": "the reply to read",
    "criterion": "the criterion of a rubric to judge by",
    "criteria": "the criteria of a rubric, numbered, one a line",
}
# names that papers print, in small letters and without apostrophes
ALIASES = {
    "option_text": "options",
    "correct_answer": "gold",
    "models_answer": "answer",
    "models_reasoning": "reasoning",
}
_CASE = (*PATIENT, "images", "given", "question", "options")


class KindSlots(NamedTuple):
    """The slots that a kind of file must have, and those that it may have as well."""

    needed: tuple[str, ...]
    further: tuple[str, ...] = ()


KINDS = {
    "choice": KindSlots(("question", "options"), (*_CASE, "evidence")),
    "open": KindSlots(("question",), (*_CASE, "evidence")),
    "rubric": KindSlots(("question",), (*_CASE, "evidence")),
    "choice-options-only": KindSlots(("options",), ("question",)),
    "query": KindSlots((), _CASE),
    "agent-calls": KindSlots(("question",), (*_CASE, "searches")),
    "agent-text": KindSlots(("question",), (*_CASE, "searches")),
    "probe-reference": KindSlots((), _CASE),
    "probe-rationale": KindSlots((), _CASE),
    "probe-options": KindSlots((), _CASE),
    "probe-half": KindSlots(("half",)),
    "same": KindSlots(("gold", "diagnosis"), ("accept",)),
    "support": KindSlots(("documents", "diagnosis")),
    "error": KindSlots(("question", "gold", "answer", "reasoning"), ("images", "earlier")),
    "criterion": KindSlots(("question", "answer", "criterion")),
    "criteria": KindSlots(("question", "answer", "criteria")),
    "option": KindSlots(("options", "reply")),
}
_VARIANTS = {"choice": ("images", "verbal"), "open": ("images", "verbal"), "rubric": ("images",), "error": ("images",)}
_SLOT = re.compile(r"\{([A-Za-z][\w'’ ]*)\}")

Block = list[str]  # text, slot, text, slot, ... text


@dataclass(frozen=True)
class PromptText:
    """A prompt file: paragraphs of blocks. A block, or a paragraph of several, is left out if its slots are empty."""

    paragraphs: list[list[Block]]
    slots: frozenset[str]
    # what is left out depends only on which slots are empty; a study has few such sets
    _layouts: dict[frozenset[str], Block] = field(default_factory=dict, repr=False, compare=False)

    @property
    def takes_whole_stem(self) -> bool:
        """Whether {question} stands for history and findings, too."""
        return "question" in self.slots and not self.slots.intersection(PATIENT)

    def fill(self, values: Mapping[str, str]) -> str:
        """The text with its slots filled."""
        full = frozenset([slot for slot in self.slots if values.get(slot)])
        layout = self._layouts.get(full)
        if layout is None:
            layout = self._layouts[full] = self._lay_out(full)
        pieces = layout.copy()
        pieces[1::2] = [values.get(slot) or "" for slot in layout[1::2]]
        return "".join(pieces)

    def _lay_out(self, full: frozenset[str]) -> Block:
        """The whole text as one block, without what belongs to empty slots."""
        paragraphs: list[Block] = []
        for blocks in self.paragraphs:
            shown = [block for block in blocks if len(block) == 1 or full.intersection(block[1::2])]
            has_slots = any(len(block) > 1 for block in blocks)
            if not has_slots or any(len(block) > 1 for block in shown):
                paragraphs.append(_join("\n", shown))
        return _join("\n\n", paragraphs)


def parse_prompt(text: str, kind: str, file: str) -> PromptText:
    """The paragraphs of a prompt file; an unknown slot, or a missing one that its kind needs, is an error."""
    paragraphs: list[list[Block]] = []
    for paragraph in text.rstrip("\n").split("\n\n"):
        block = _split(paragraph)
        paragraphs.append([block] if len(block) <= 3 else [_split(line) for line in paragraph.split("\n")])
    slots = frozenset(slot for blocks in paragraphs for block in blocks for slot in block[1::2])
    _check_slots(slots, kind, file)
    return PromptText(paragraphs, slots)


def whole_stem(values: Mapping[str, str]) -> str:
    """History, findings and question as one text, as papers have it in one slot."""
    findings = values.get("findings")
    parts = (values.get("history"), f"Imaging findings:\n{findings}" if findings else None, values.get("question"))
    return "\n\n".join(part for part in parts if part)


def slots_of_kind(kind: str) -> KindSlots | None:
    """The slots of a kind of file, of its variants too; None for a kind without a rule, or an unknown one."""
    if kind in KINDS:
        return KINDS[kind]
    for base, variants in _VARIANTS.items():
        names = kind.removeprefix(base).split("-")[1:]
        if kind.startswith(f"{base}-") and names == [name for name in variants if name in names]:
            return KINDS[base]
    return KINDS["choice-options-only"] if kind == "choice-options-only-verbal" else None


def known_kinds() -> list[str]:
    """Every kind of file that can replace one of ours."""
    variants = [f"{base}-images" for base in _VARIANTS]
    verbal = ["choice-verbal", "choice-images-verbal", "open-verbal", "open-images-verbal"]
    return sorted([*KINDS, *variants, *verbal, "choice-options-only-verbal"])


def _join(separator: str, blocks: Sequence[Block]) -> Block:
    """Blocks as one, with the separator between them."""
    joined = [""]
    for number, block in enumerate(blocks):
        joined[-1] += (separator if number else "") + block[0]
        joined += block[1:]
    return joined


def _split(text: str) -> Block:
    block = _SLOT.split(text)
    block[1::2] = [_plain_name(name) for name in block[1::2]]
    return block


def _plain_name(name: str) -> str:
    plain = re.sub(r"\W+", "_", name.replace("'", "").replace("’", "").lower())
    return ALIASES.get(plain, plain)


def _check_slots(slots: frozenset[str], kind: str, file: str) -> None:
    rule = slots_of_kind(kind)
    if rule is None:
        return
    allowed = dict.fromkeys((*rule.needed, *rule.further))
    if unknown := sorted(slots - set(allowed)):
        listed = ", ".join(f"{{{slot}}}" for slot in allowed)
        raise WardroundError(f"prompt {file}: unknown slot {{{unknown[0]}}}; there are {listed}")
    if missing := [slot for slot in rule.needed if slot not in slots]:
        raise WardroundError(f"prompt {file}: lacks the slot {{{missing[0]}}}, without which it cannot be asked")
