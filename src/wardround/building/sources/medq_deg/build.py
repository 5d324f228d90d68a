"""`build medq-deg`: a pool of clean questions becomes a case set with degradations assigned.

The paper's radiologists also discarded, by eye, images of poor quality, degradations that destroy or change nothing,
and questions that need no image. The desk and `cases audit` are for that.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wardround.building.duplicates.disjoint_sets import components
from wardround.building.duplicates.fingerprint import Fingerprint, group_images
from wardround.building.pipeline.about import About
from wardround.building.pipeline.models import BuildModels
from wardround.building.sources.medq_deg.account import (
    REJECTED,
    RejectedQuestion,
    funnel,
    write_account,
    write_rejected,
)
from wardround.building.sources.medq_deg.duplicates import PoolQuestion, find_contradictions, find_repetitions
from wardround.building.sources.medq_deg.image_modality import ModalitySources, complete_modalities, read_modalities
from wardround.building.sources.medq_deg.levels import FlagsByDegradation, find_flagged, shown_images
from wardround.building.sources.medq_deg.pool import write_pool
from wardround.building.sources.medq_deg.selection import Note, draw_degradations, select_questions
from wardround.building.sources.medq_deg.skill_model import ModelSkills, choose_skills
from wardround.building.sources.medq_deg.skills import LabelCounts, attach_skills
from wardround.cases.set import CaseSet, write_case_set
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput, WardroundError
from wardround.core.files import new_folder, refuse_inside
from wardround.core.store.location import StoreLocation
from wardround.core.study import CandidateSettings
from wardround.degrade.modalities import parse_modality
from wardround.degrade.severities import ESTIMATED, parse_severity
from wardround.degrade.sources import ImageKey, image_key
from wardround.degrade.types import CATEGORIES
from wardround.reporting.tables.table import Table


@dataclass(frozen=True)
class MedqDegSet:
    """The case set that was built, and the questions that were left out."""

    folder: Path
    cases: int
    clean: int
    degraded: int
    left_out: Counter[str]  # degraded questions that would be over- or under-degraded, by TYPE@LEVEL
    rejected: list[RejectedQuestion]
    labels: LabelCounts
    types: Counter[str]
    funnel: Table

    @property
    def unplaced(self) -> Counter[str]:
        return self.labels.unplaced

    def to_dict(self) -> dict[str, Any]:
        """The counts, the reasons, and the labels without a place in the hierarchy."""
        return {
            "out": str(self.folder),
            "cases": self.cases,
            "clean": self.clean,
            "degraded": self.degraded,
            "rejected": dict(Counter(question.reason for question in self.rejected)),
            "left_out_by_band": dict(self.left_out),
            "types": dict(self.types),
            "labels_without_place": dict(self.unplaced),
            "labels_without_skill": dict(self.labels.without_skill),
            "skills": self.labels.shares(),
            "skills_by_model": self.labels.by_model,
            "skills_without_questions": self.labels.absent_skills(),
        }


def build_medq_deg(
    sources: Sequence[Path],
    out: Path,
    *,
    layouts: Sequence[str] = ("wardround",),
    seed: int = 0,
    levels: Sequence[str] = ("L1", "L2"),
    per_case: int = 3,
    modalities: Path | None = None,
    modality_column: str | None = None,
    models: dict[str, CandidateSettings] | None = None,
    answers: StoreLocation | None = None,
    about: About | None = None,
    note: Note = lambda text: None,
) -> MedqDegSet:
    """Writes the new folder `out`: cases.jsonl, images, rejected.jsonl and manifest.json.

    If a source does not tell modalities: `modalities` is a table of them, `modality_column` a field of the source that
    has them, and the model in the role `modality` guesses the others. The model in the role `skill` chooses one of the
    30 skills for questions whose label gives none; its choices are in review/skills.jsonl.
    """
    refuse_inside(out, sources)
    _check(out, levels, per_case)
    table = read_modalities(modalities) if modalities else {}
    with new_folder(out) as draft:
        pool, pool_sources = write_pool(sources, layouts, draft)
        note(f"read {len(pool)} cases with {pool.question_count} questions")
        names = {name: path for source in pool_sources for name, path in source.names.items()}
        build_models = BuildModels(models or {}, answers, out.name, note)
        pool, modality_counts = complete_modalities(
            pool, draft, ModalitySources(table, modality_column, build_models, names)
        )
        if modality_counts:
            note("modalities not in the source: " + ", ".join(f"{n:,} {way}" for way, n in modality_counts.items()))
        rejected: list[RejectedQuestion] = []
        fingerprints: dict[str, Fingerprint] = {}
        questions = list(select_questions(pool, fingerprints, rejected, note))
        image_groups = group_images(fingerprints.values())
        questions = _reject("contradiction", find_contradictions(questions), questions, rejected)
        questions = _reject("duplicate", find_repetitions(questions, image_groups), questions, rejected)
        if not questions:
            reasons = Counter(question.reason for question in rejected).most_common()
            counts = ", ".join(f"{count} x {reason}" for reason, count in reasons)
            out.mkdir(exist_ok=True)
            write_rejected(out, pool_sources, rejected)
            raise WardroundError(f"no question can be used: {counts}")
        types = draw_degradations(questions, seed, per_case)
        flagged = find_flagged(pool, types, levels, ESTIMATED)
        left_out: Counter[str] = Counter()
        clusters = _clusters(pool, questions, image_groups)
        labels = LabelCounts()
        skills = choose_skills(pool, types, build_models)
        cases = write_case_set(_cases(pool, types, tuple(levels), clusters, labels, flagged, left_out, skills), draft)
        skills.write_queue(draft)
        _delete_unused_images(draft)
        built = MedqDegSet(
            folder=out,
            cases=cases,
            clean=len(questions),
            degraded=len(questions) * per_case * len(levels) - left_out.total(),
            left_out=left_out,
            rejected=rejected,
            labels=labels,
            types=Counter(type for chosen in types.values() for type in chosen),
            funnel=funnel(
                pool.question_count, rejected, cases, len(questions), per_case, tuple(levels), left_out.total()
            ),
        )
        rules = {**(about or {}), "seed": seed, "levels": list(levels), "per_case": per_case}
        rules |= {"modalities_from": dict(sorted(modality_counts.items()))}
        rules |= {"severities": ESTIMATED, "left_out_by_band": dict(sorted(left_out.items()))}
        write_account(draft, pool_sources, rejected, rules, labels, built.types)
        return built


def _check(out: Path, levels: Sequence[str], per_case: int) -> None:
    if out.exists() and (not out.is_dir() or {file.name for file in out.iterdir()} - {REJECTED}):
        raise BadInput(out, "already exists and is not empty; a case set is never overwritten")
    (out / REJECTED).unlink(missing_ok=True)  # of a build without a question
    if not levels or len({parse_severity(level) for level in levels}) != len(levels):
        raise WardroundError("the levels are L1, L2 or numbers from 0 to 2, each once")
    if any(parse_severity(level) == 0 for level in levels):
        raise WardroundError("L0 is the clean question itself, which is always included")
    if per_case < 1:
        raise WardroundError("at least one degradation per question is required")


def _reject(
    reason: str, details: dict[tuple[str, str], str], questions: list[PoolQuestion], rejected: list[RejectedQuestion]
) -> list[PoolQuestion]:
    rejected += (RejectedQuestion(*key, reason, detail) for key, detail in sorted(details.items()))
    return [question for question in questions if question.key not in details]


def _clusters(pool: CaseSet, questions: list[PoolQuestion], image_groups: dict[str, str]) -> dict[str, str]:
    """The cluster of each case: cases with the same image are resampled together."""
    cluster_by_case = {case.id: case.cluster_id for case in pool}
    cluster_by_image: dict[str, str] = {}
    pairs = []
    for question in questions:
        own = cluster_by_case[question.case_id]
        pairs += [(own, cluster_by_image.setdefault(image_groups[image], own)) for image in question.images]
    joined = components(cluster_by_case.values(), pairs)
    return {case: joined[cluster] for case, cluster in cluster_by_case.items()}


def _cases(
    pool: CaseSet,
    types: dict[tuple[str, str], tuple[str, ...]],
    levels: tuple[str, ...],
    clusters: dict[str, str],
    labels: LabelCounts,
    flagged: FlagsByDegradation,
    left_out: Counter[str],
    skills: ModelSkills,
) -> Iterator[Case]:
    """The cases by id: each clean question, followed by its degraded versions."""
    for id in sorted(pool.ids):
        case = pool.case(pool.index_of(id))
        kept = [question for question in case.questions if (id, question.id) in types]
        if not kept:
            continue
        questions = []
        for question in attach_skills(case.model_copy(update={"questions": kept}), labels.unplaced).questions:
            question = skills.complete(id, question)
            labels.add(question)
            clean = question.model_dump(exclude_unset=True)
            keys = [image_key(image) for image in shown_images(case, question.images)]
            degraded = list(_degraded(clean, types[id, question.id], levels))
            usable = [twin for twin in degraded if not _is_flagged(twin, keys, flagged)]
            left_out.update(twin["degradations"][0] for twin in degraded if twin not in usable)
            questions += [clean, *usable]
        images = [_image_fields(image) for image in case.images]
        fields = case.as_written() | {"images": images, "questions": questions}
        if clusters[id] != case.id or case.cluster is not None:
            fields["cluster"] = clusters[id]
        yield Case.model_validate(fields)


def _is_flagged(twin: dict[str, Any], keys: list[ImageKey], flagged: FlagsByDegradation) -> bool:
    type, _, level = twin["degradations"][0].partition("@")
    return any((key, type, level) in flagged for key in keys)


def _degraded(clean: dict[str, Any], types: tuple[str, ...], levels: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for type in types:
        for level in levels:
            yield clean | {
                "id": f"{clean['id']}-{type}-{level}",
                "of": clean["id"],
                "degradations": [f"{type}@{level}"],
                "category": CATEGORIES[type],
            }


def _image_fields(image: Image) -> dict[str, Any]:
    modality = parse_modality(image.modality)
    return image.model_dump(exclude_unset=True) | ({"modality": modality} if modality else {})


def _delete_unused_images(folder: Path) -> None:
    used = {image.path for case in CaseSet.open(folder) for image in case.images}
    for file in (folder / "images").iterdir():
        if f"images/{file.name}" not in used:
            file.unlink()
