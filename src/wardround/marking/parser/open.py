"""The ranked list of diagnoses in an open answer.

The order of the rules: JSON; an <answer> tag or a box; a statement of the final or most likely diagnosis, by a label
or a sentence; a list; a sentence that points to a diagnosis; lines that are only names. The stated diagnosis comes
first, then the differential diagnosis in its order. A reply cut off in its reasoning has no diagnosis.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from wardround.marking.parser.clean import plain_reply
from wardround.marking.parser.diagnoses.findings import (
    describes_finding,
    describes_person,
    is_plain_finding,
    names_disease,
)
from wardround.marking.parser.diagnoses.labels import LabelRole
from wardround.marking.parser.diagnoses.layout import ReplySection, read_sections
from wardround.marking.parser.diagnoses.lists import DiagnosisList, item_names, list_in
from wardround.marking.parser.diagnoses.names import (
    clean_name,
    cut_reason,
    is_finding,
    is_headed_by_disease,
    is_sentence,
    split_names,
)
from wardround.marking.parser.diagnoses.statements import (
    ASIDE,
    ASSERTED,
    FINAL,
    HINTED,
    LIKELY,
    WEAK,
    StatedDiagnosis,
    read_statement,
    split_sentences,
)
from wardround.marking.parser.diagnoses.structured import marked_answer, names_in_json

_EXPLAINED = re.compile(r"\s[–—-]+\s|:\s")  # an entry of a list, with its reason
_OTHER = re.compile(  # what follows or precedes was not the diagnosis: another one was stated, if not understood
    r"\A(?!.*\bmost\b).*\b(?:others?|alternativ\w+|also|less|least|else|remaining|further|additional|secondary|runners?-up|unlikely|next"
    r"|exclude[ds]?|ruled? out|mimic\w*)\b",
    re.I,
)
_STRENGTH = {LabelRole.FINAL: FINAL, LabelRole.LIKELY: LIKELY}


def ranked_diagnoses(reply: str) -> list[str]:
    """The diagnoses of a reply, the likeliest first, without repeats, numbers, reasons and probabilities."""
    text = plain_reply(reply)
    names = names_in_json(text)
    if names is not None:
        return _distinct(map(clean_name, names))
    marked = marked_answer(text)
    if marked is None:
        return _distinct(_Reading.of(text).ranked())
    answer, rest = marked
    stated = _Reading.of(answer).ranked()
    return _distinct([*stated, *_Reading.of(rest).further(stated[:1])] if stated else _Reading.of(rest).ranked())


def _key(name: str) -> str:
    """A name as it is compared with another of the same reply: without case and brackets."""
    return re.sub(r"\s*\([^()]*\)", "", name).casefold().replace("-", " ").strip(" .")


def _distinct(names: Iterable[str]) -> list[str]:
    diagnoses: dict[str, str] = {}
    for name in names:
        if name:
            diagnoses.setdefault(_key(name) or name, name)
    return list(diagnoses.values())


@dataclass
class _Reading:
    """What a reply says, by kind, in its order."""

    statements: list[StatedDiagnosis] = field(default_factory=list)
    differential: list[str] = field(default_factory=list)  # under labels or in sentences about it
    alternatives: set[str] = field(default_factory=set)  # of these, what is called other or less likely
    lists: list[DiagnosisList] = field(default_factory=list)  # that no label explains
    titles: list[str] = field(default_factory=list)  # names as headings or in bold, alone on their lines
    findings: list[str] = field(default_factory=list)  # what is seen, as if it were a name
    names: list[str] = field(default_factory=list)  # alone on their lines or in their sentences, without a break
    excluded: set[str] = field(default_factory=set)
    starts_with_list: bool = False
    starts_with_name: bool = False
    states_before_differential: bool = False
    is_broken: bool = False

    @classmethod
    def of(cls, text: str) -> "_Reading":
        reading = cls()
        for place, section in enumerate(read_sections(text)):
            reading._read_section(section, is_first=place == 0)
        return reading

    def ranked(self) -> list[str]:
        """All diagnoses, the stated one first."""
        stated = self._stated()
        return [*stated, *self.further(stated)] if stated else []

    def further(self, stated: list[str]) -> list[str]:
        """The differential diagnosis, and the lists that contain what is stated."""
        keys = set(map(_key, stated))
        lists = [name for entry in self.lists if keys & set(map(_key, entry.names)) for name in entry.names]
        return [name for name in (*self.differential, *lists) if _key(name) not in self.excluded]

    def _stated(self) -> list[str]:
        best = max((entry.strength for entry in self.statements if entry.names), default=HINTED)
        statement = next((s for s in reversed(self.statements) if s.names and s.strength == best), None)
        if statement and best >= ASIDE:
            return [*statement.names, *statement.others]
        if self.starts_with_name and not (statement and ASSERTED <= best <= WEAK and self._starts_with_findings()):
            return self.titles or self.names
        ranked = [name for name in self.differential if _key(name) not in self.alternatives]
        if ranked and not (statement and ASSERTED <= best <= WEAK and self._is_confirmed(statement)):
            return ranked[:1]
        numbered = next((entry for entry in self.lists if entry.is_numbered), None)
        if numbered and (self.starts_with_list or statement is None):
            return list(numbered.names)
        if statement and ASSERTED <= best <= WEAK:
            return [*statement.names, *statement.others]
        if self.lists:
            return list(self.lists[0].names)
        stated = [*statement.names, *statement.others] if statement else []
        return self.titles or self.names or stated or self.findings

    def _starts_with_findings(self) -> bool:
        """Whether the names that open the reply are several, or none of a disease."""
        return len(self.names) > 1 or not any(map(is_headed_by_disease, self.names))

    def _is_confirmed(self, statement: StatedDiagnosis) -> bool:
        """Whether a weak statement precedes the differential diagnosis or names a part of it."""
        stated = _key(statement.names[0])
        return self.states_before_differential or any(key in stated for key in map(_key, self.differential))

    def _add_differential(self, names: Iterable[str], introduction: str = "") -> None:
        names = list(names)
        if _OTHER.search(introduction):
            self.alternatives.update(map(_key, names))
        if not self.differential:
            self.states_before_differential = any(statement.names for statement in self.statements)
        self.differential += names

    def _read_section(self, section: ReplySection, *, is_first: bool) -> None:
        role, names = section.role, list_in(section)
        if role is LabelRole.EXCLUDED:
            excluded = [*split_names(section.value, is_list=True), *(names.names if names else ())]
            self.excluded.update(map(_key, excluded))
        elif role is LabelRole.DIFFERENTIAL:
            self._read_differential(section, names)
        elif role in (LabelRole.FINAL, LabelRole.LIKELY):
            self._read_stated(section, names, _STRENGTH[role])
        elif role is LabelRole.ASIDE:
            self._read_prose(section, is_aside=True)
        else:
            if names:
                self._add_list(names)
                if len(names.names) == 1 and not names.is_numbered:  # "→ X", alone
                    self.statements.append(StatedDiagnosis(ASSERTED, names.names))
                self.starts_with_list |= is_first and section.lines[0].mark in ("number", "row")
            self._read_prose(section, reads_names=names is None, is_first=is_first)

    def _add_list(self, names: DiagnosisList) -> None:
        self.lists.append(names)
        if names.chosen:
            self.statements.append(StatedDiagnosis(LIKELY, (names.chosen,)))

    def _read_differential(self, section: ReplySection, names: DiagnosisList | None) -> None:
        for sentence in split_sentences(section.value):
            statement = read_statement(sentence)
            if statement and statement.names and statement.strength >= LIKELY:
                self.statements.append(statement)
                continue
            names_in_sentence = split_names(sentence, is_list=True) if not is_sentence(sentence) else []
            self._add_differential(names_in_sentence, section.title.partition(":")[0])
        if not section.value and names is None:
            for line in section.lines:
                if line.mark in ("text", "bold", "heading") and not is_sentence(line.text):
                    self._add_differential(split_names(line.text, is_list=True), section.title)
        elif names and not section.value:
            self._add_differential(names.names, section.title)
            if names.chosen:
                self.statements.append(StatedDiagnosis(LIKELY, (names.chosen,)))
        self._read_prose(section, skips_items=True)

    def _read_stated(self, section: ReplySection, names: DiagnosisList | None, strength: int) -> None:
        texts = (
            [section.value]
            if section.value
            else [line.text for line in section.lines if line.mark in ("text", "bold", "heading")]
        )
        if not section.value and names and (not texts or section.lines[0].mark in ("number", "bullet", "row")):
            first = names.chosen or names.names[0]
            self.statements.append(StatedDiagnosis(strength, (first,), names.names))
            texts = []
        is_stated = False
        for sentence in (sentence for text in texts for sentence in split_sentences(text)):
            statement = read_statement(sentence)
            if statement and statement.names:
                self.statements.append(
                    statement._replace(strength=max(strength if not is_stated else HINTED, statement.strength))
                )
                is_stated = True
            elif statement:
                self._add_differential(statement.others, sentence)
            elif not is_stated and (stated := item_names(sentence) if not is_sentence(sentence) else []):
                is_seen = is_plain_finding(sentence)
                self.statements.append(
                    StatedDiagnosis(HINTED if is_seen else strength, (stated[0],), tuple(stated[1:]))
                )
                is_stated = not is_seen
        if section.value:
            self._read_prose(section)

    def _read_prose(
        self,
        section: ReplySection,
        *,
        is_aside: bool = False,
        reads_names: bool = False,
        is_first: bool = False,
        skips_items: bool = False,
    ) -> None:
        last_name: str | None = None
        is_start = is_first
        for line in section.lines:
            if line.mark == "row" or (
                skips_items and line.mark in ("number", "bullet") and _EXPLAINED.search(line.text)
            ):
                continue
            in_aside = is_aside or line.mark == "aside"
            follows_sentence = False
            for sentence in split_sentences(line.text):
                statement = read_statement(sentence)
                if statement is None:
                    names = (
                        []
                        if in_aside or is_sentence(sentence) or is_finding(cut_reason(sentence))
                        else split_names(cut_reason(sentence))
                    )
                    if reads_names and names and describes_finding(cut_reason(sentence)):
                        self.findings, names = self.findings or names, []
                    elif reads_names and not in_aside and not describes_person(sentence.partition(":")[0]):
                        self._add_names(names, is_title=line.mark in ("bold", "heading"), is_start=is_start)
                    if len(names) == 1 and follows_sentence and names_disease(names[0]):
                        self.statements.append(StatedDiagnosis(ASSERTED, tuple(names)))
                    last_name = names[0] if names else last_name
                elif not statement.names and not statement.others:
                    self.statements += [StatedDiagnosis(LIKELY, (last_name,))] if last_name else []
                elif in_aside:
                    strength = ASIDE if statement.strength >= LIKELY else HINTED
                    self.statements.append(statement._replace(strength=strength, others=()))
                elif line.mark not in ("number", "bullet") or statement.strength >= LIKELY:
                    self.statements.append(statement)
                    self._add_differential(statement.others if not statement.names else (), sentence)
                is_start, follows_sentence = False, is_sentence(sentence)

    def _add_names(self, names: list[str], *, is_title: bool, is_start: bool) -> None:
        """Names without a sentence. Those that start the reply end at the first sentence that is not a name."""
        self.starts_with_name |= bool(names) and is_start
        if is_title:
            self.titles += names
        elif not names:
            self.is_broken = bool(self.names)
        elif not self.is_broken:
            self.names += names
        elif not self.starts_with_name:
            self.names, self.is_broken = names, False
