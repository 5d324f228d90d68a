"""The diagnosis of a case report: what statements, title, keywords, abstract and conclusion agree on.

Every disease that one of them names is a candidate; candidates that mean the same support each other. The one with
the most support is the gold. It needs no reviewer if a sentence states it of this patient, title, keywords or
conclusion name it as well, and no other diagnosis rivals it; otherwise people choose among the candidates. The
weights and rules are our choice.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from wardround.building.audit.mentions import find_mention, split_words
from wardround.building.sources.pmc.article import Sentence, strip_marks
from wardround.building.sources.pmc.disease_kinds import is_disease_like, is_symptom
from wardround.building.sources.pmc.disease_phrases import (
    as_name,
    expand_words,
    find_diseases,
    names_agree,
    spell_as_in,
)
from wardround.building.sources.pmc.statements import (
    confirms,
    heading_diagnosis,
    is_of_others,
    is_tentative,
    read_statement,
)
from wardround.building.sources.pmc.title_phrases import read_title
from wardround.core.names import NO_SYNONYMS, Synonyms, content_words
from wardround.marking.evidence.document import split_sentences

WEIGHTS = {"final": 2.0, "firm": 1.0, "weak": 0.5, "title": 1.0, "keywords": 1.0, "abstract": 1.0, "mentioned": 0.5}
MENTIONS = {"conclusion": 1.0, "abstract mentions": 0.5, "discussion": 0.5, "case": 0.25}  # of what nothing else names
NAMES_THE_SUBJECT = {"title", "keywords", "conclusion"}  # one of these has to agree with a statement in the text
MAX_PROPOSALS = 8  # candidates that people choose from
MAX_EVIDENCE = 6  # sentences of each
MERELY_NAMED = "the text merely names it"
CASE_PARTS = ("patient", "tests", "diagnosis", "treatment", "after")
STATED = ("final", "firm")


class DiagnosisVerdict(NamedTuple):
    """The diagnosis, its names in the article, why people have to decide (empty: they need not), and what was found.

    `proposals`: the candidates in the order of their support, each with the sentences that name it.
    """

    name: str
    names: list[str]
    doubt: str
    proposals: list[dict[str, Any]]


class _NamedDisease(NamedTuple):
    name: str
    source: str  # a key of WEIGHTS or MENTIONS
    text: str


@dataclass
class _Candidate:
    """Names that mean the same, the first one first seen, with the support of each place."""

    entries: list[_NamedDisease] = field(default_factory=list)
    support: dict[str, float] = field(default_factory=dict)  # by place: statement, title, keywords, abstract, ...

    def add(self, entry: _NamedDisease) -> None:
        self.entries.append(entry)
        place = "statement" if entry.source in (*STATED, "weak") else entry.source
        self.support[place] = max(self.support.get(place, 0.0), (WEIGHTS | MENTIONS)[entry.source])

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(entry.name for entry in self.entries))

    @property
    def score(self) -> float:
        return sum(self.support.values())

    @property
    def places_outside(self) -> int:
        """How many of the places that say what an article is about name it."""
        return len({"title", "keywords", "abstract", "conclusion"} & set(self.support))

    def has(self, *sources: str) -> bool:
        return any(entry.source in sources for entry in self.entries)


def judge_diagnosis(
    record: dict[str, Any], sentences: Sequence[Sentence], synonyms: Synonyms
) -> DiagnosisVerdict | None:
    """The diagnosis of an article; None if nothing in it can be one."""
    title = read_title(record["title"])
    elsewhere = list(_elsewhere(record, title.possible))
    entries = [*_headed(record), *_stated(sentences), *elsewhere, *_confirmed(elsewhere, sentences)]
    texts = [record["title"], record["abstract"], *(strip_marks(sentence.text) for sentence in sentences)]
    candidates = _group([entry._replace(name=expand_words(entry.name, texts)) for entry in entries], synonyms)
    is_stated = any(candidate.has(*STATED, "weak", "abstract") for candidate in candidates)
    unstated = () if is_stated else ("keywords",)
    possible = [
        candidate
        for candidate in candidates
        if not any(names_agree(candidate.names[0], wrong, synonyms) for wrong in title.mistaken)
        and (
            candidate.has(*STATED, "weak", "abstract")
            or (candidate.has("title", *unstated) and is_disease_like(candidate.names[0]))
        )
    ]
    for candidate in possible:
        _add_mentions(candidate, record, sentences)
    for candidate in candidates:
        if candidate not in possible:
            _add_mentions(candidate, record, sentences)
    ranked = sorted(possible, key=lambda candidate: -candidate.score)
    unlikely = sorted((other for other in candidates if other not in possible), key=lambda other: -other.score)
    named = list(_named(record, sentences))
    mentioned = sorted(_group(named, synonyms), key=lambda other: -other.score)
    proposals = _proposals([*ranked, *unlikely, *mentioned], title.mistaken, texts[1:], synonyms)
    _add_evidence(proposals, named)
    if not ranked:
        names = [proposals[0]["diagnosis"]] if proposals else []
        doubt = "no sentence states it" if unlikely else MERELY_NAMED
        return DiagnosisVerdict(names[0], names, doubt, proposals) if names else None
    best, known = ranked[0], [*title.context, *title.mistaken]  # what the title says the patient has besides
    others = [
        other
        for other in ranked[1:]
        if not _is_part_of(other, best) and not any(names_agree(other.names[0], name, synonyms) for name in known)
    ]
    name = _spelling(best, texts[1:])
    doubt = _doubt(best, others) or _elsewhere_doubt(best, candidates)
    return DiagnosisVerdict(name, [name, *best.names], doubt, proposals)


def _proposals(
    candidates: Iterable[_Candidate], mistaken: Sequence[str], texts: list[str], synonyms: Synonyms
) -> list[dict[str, Any]]:
    """What people choose from. What neither is stated nor is named as diseases are comes last."""
    proposals: list[dict[str, Any]] = []
    candidates = list(candidates)
    likely = [
        candidate for candidate in candidates if candidate.has(*STATED, "weak") or is_disease_like(candidate.names[0])
    ]
    for candidate in [*likely, *(other for other in candidates if other not in likely)]:
        name = _spelling(candidate, texts)
        names = [*mistaken, *(proposal["diagnosis"] for proposal in proposals)]
        if not is_symptom(name) and not any(names_agree(name, other, synonyms) for other in names):
            evidence = dict.fromkeys(f"{entry.source}: {entry.text}" for entry in candidate.entries)
            proposals.append({"diagnosis": name, "evidence": [*evidence]})
    return proposals[:MAX_PROPOSALS]


def _add_evidence(proposals: Iterable[dict[str, Any]], named: Sequence[_NamedDisease]) -> None:
    """Adds the sentences that merely name a proposed diagnosis, after those that it was proposed for."""
    for proposal in proposals:
        listed = {line.split(": ", 1)[1] for line in proposal["evidence"]}
        for entry in named:
            if entry.text not in listed and find_mention(proposal["diagnosis"], split_words(entry.text)):
                listed.add(entry.text)
                proposal["evidence"].append(f"{entry.source}: {entry.text}")
        proposal["evidence"] = proposal["evidence"][:MAX_EVIDENCE]


def _named(record: dict[str, Any], sentences: Iterable[Sentence]) -> Iterator[_NamedDisease]:
    """Diseases that conclusion, abstract, discussion and case name, stated or not."""
    texts = {part: [s.text for s in sentences if s.part == part] for part in ("conclusion", "discussion", *CASE_PARTS)}
    texts["abstract mentions"] = split_sentences(record["abstract"])
    for part, listed in texts.items():
        for text in map(strip_marks, listed):
            if part in ("conclusion", "discussion") or not (is_of_others(text) or is_tentative(text)):
                source = part if part in MENTIONS else "case"
                yield from (_NamedDisease(name, source, text.strip()) for name in find_diseases(text))


def _stated(sentences: Iterable[Sentence]) -> Iterator[_NamedDisease]:
    for sentence in sentences:
        in_section = sentence.part == "diagnosis"
        about_patient = sentence.part in CASE_PARTS
        statement = read_statement(sentence.text, about_patient=about_patient, in_diagnosis_section=in_section)
        if statement and (about_patient or sentence.part in ("discussion", "conclusion")):
            # a conclusion that states it is the place that names it, not a second one
            firmness = "weak" if sentence.part == "conclusion" else statement.firmness
            yield _NamedDisease(statement.name, firmness, strip_marks(sentence.text))


def _headed(record: dict[str, Any]) -> Iterator[_NamedDisease]:
    for section in record["sections"]:
        for heading in section["titles"]:
            if name := heading_diagnosis(heading):
                yield _NamedDisease(name, "final", heading)


def _confirmed(elsewhere: Sequence[_NamedDisease], sentences: Iterable[Sentence]) -> Iterator[_NamedDisease]:
    """What both title and keywords name, in a sentence that confirms a diagnosis without a phrase that rules know."""
    names = {source: [entry.name for entry in elsewhere if entry.source == source] for source in ("title", "keywords")}
    shared = [
        name
        for name in names["title"]
        if not is_symptom(name) and any(names_agree(name, keyword, NO_SYNONYMS) for keyword in names["keywords"])
    ]
    for sentence in sentences:
        if shared and sentence.part in CASE_PARTS and confirms(sentence.text):
            words = split_words(strip_marks(sentence.text))
            yield from (_NamedDisease(name, "weak", sentence.text) for name in shared if find_mention(name, words))


def _elsewhere(record: dict[str, Any], title_names: Iterable[str]) -> Iterator[_NamedDisease]:
    yield from (_NamedDisease(name, "title", record["title"]) for name in title_names)
    for sentence in split_sentences(record["abstract"]):
        if statement := read_statement(sentence, about_patient=True):
            yield _NamedDisease(statement.name, "abstract", sentence.strip())
    for keyword in record.get("keywords", []):
        if name := as_name(keyword):
            yield _NamedDisease(name, "keywords", keyword)


def _group(entries: Iterable[_NamedDisease], synonyms: Synonyms) -> list[_Candidate]:
    """Candidates by what they mean: a name joins the first whose leading name agrees with it."""
    candidates: list[_Candidate] = []
    for entry in sorted(entries, key=lambda entry: -(WEIGHTS | MENTIONS)[entry.source]):
        agreeing = (other for other in candidates if names_agree(entry.name, other.names[0], synonyms))
        candidate = next(agreeing, None)
        if candidate is None:
            candidate = _Candidate()
            candidates.append(candidate)
        candidate.add(entry)
    return candidates


def _add_mentions(candidate: _Candidate, record: dict[str, Any], sentences: Iterable[Sentence]) -> None:
    """Half support from the abstract, the conclusion, the discussion and the case if they only name it."""

    def names_it(text: str) -> bool:
        words = split_words(text)
        return any(find_mention(name, words) for name in candidate.names)

    if names_it(record["abstract"]):
        candidate.support.setdefault("abstract", WEIGHTS["mentioned"])
    for part in ("conclusion", "discussion"):
        if any(names_it(sentence.text) for sentence in sentences if sentence.part == part):
            candidate.support[part] = WEIGHTS["mentioned"]
    own = (sentence.text for sentence in sentences if sentence.part in CASE_PARTS)
    if any(names_it(text) and not is_of_others(text) and not is_tentative(text) for text in own):
        candidate.support.setdefault("statement", WEIGHTS["mentioned"])


def _is_part_of(other: _Candidate, best: _Candidate) -> bool:
    """Whether the words of one are in a name of the other: `appendicitis` of `Amyand's hernia with appendicitis`."""
    own = set(content_words(other.names[0]))
    return any(own <= set(content_words(name)) for name in best.names)


def _doubt(best: _Candidate, others: Sequence[_Candidate]) -> str:
    if rival := next((other for other in others if other.has(*STATED)), None):
        return f"{rival.names[0]!r} is stated too"
    agreeing = NAMES_THE_SUBJECT & set(best.support)
    if best.has("final") and best.has("abstract"):  # what the abstract states, not what it mentions
        agreeing.add("abstract")
    for rival in others:
        if not rival.has("title") or not is_disease_like(rival.names[0]):
            continue
        if not best.has("title") and (rival.has("keywords", "abstract") or len(agreeing) < 2):
            return f"the title names {rival.names[0]!r}"
        if not best.has(*STATED):
            return f"nothing states it, and the title names {rival.names[0]!r} as well"
    if not best.has(*STATED, "weak", "abstract"):
        return "no sentence states it"
    if not agreeing:
        return "neither title nor keywords nor conclusion name it"
    return "" if best.has(*STATED) or len(agreeing) > 1 else "only findings suggest it"


def _elsewhere_doubt(best: _Candidate, candidates: Iterable[_Candidate]) -> str:
    """Whether title, keywords, abstract and conclusion are rather about another disease than the stated one."""
    for other in candidates:
        name = other.names[0]
        if other is best or _is_part_of(other, best) or not is_disease_like(name):
            continue
        if other.places_outside > max(best.places_outside, 1) and not best.has("title", "abstract"):
            return f"the rest of the article is about {name!r}"
    return ""


def _spelling(best: _Candidate, texts: list[str]) -> str:
    """The title's name if it has one, since it is the shortest that is exact; else the first."""
    title = [entry.name for entry in best.entries if entry.source == "title"]
    return spell_as_in((title or best.names)[0], texts)
