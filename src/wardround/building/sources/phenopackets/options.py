"""The step `options`: for each patient the diseases of other patients of the set, as similar as requested."""

from collections.abc import Callable, Iterator

from wardround.building.distractors.assign import Preferences, apply_preferences, assign_distractors
from wardround.building.distractors.balance_words import balance_shared_words
from wardround.building.distractors.options import NO_RELATIONS, NameRelations, OptionBalancer
from wardround.building.distractors.patient_fit import LEFT_OUT, PatientFacts, PatientFilter
from wardround.building.pipeline.pipeline import Build, Record, RecordFile, Step, all_records_step
from wardround.building.sources.phenopackets.diseases import DiseaseIndex
from wardround.building.sources.phenopackets.similarity import DiseaseSimilarity
from wardround.candidates.baselines import overlap, words

STEP = "options"
RAREST_WORDS = 4  # of a history, whose diseases are searched for rivals
MAX_DISEASES = 200  # per word in that search


def options_step(count: int, difficulty: float, relations: NameRelations = NO_RELATIONS) -> Step:
    """Adds `options` and `gold`; rejects records for which the set has too few diseases."""

    def change(records: RecordFile, build: Build) -> Iterator[Record]:
        diseases = DiseaseIndex(relations)
        golds = [diseases.number(record["disease"], record["names"], record["genes"]) for record in records]
        similarity = DiseaseSimilarity(zip(golds, map(_features, records), strict=True))
        preferences = Preferences()
        for record in records:
            preferences.add(similarity.most_similar(_features(record)))
        patients = PatientFilter(
            diseases.names, [PatientFacts.of(record["sex"], record["years"]) for record in records]
        )
        build.counts[LEFT_OUT] += patients.count_impossible()
        table, unfair = assign_distractors(
            golds, count - 1, diseases.can_be_options, build.random_stream(STEP), patients.accepts, patients.picky
        )
        apply_preferences(table, preferences, difficulty)
        share, rivals = _shared_words(records, diseases)
        balance_shared_words(table, preferences, share, rivals)
        if unfair:
            build.note(f"{unfair:,} of {len(table.diseases):,} distractors are offered more often than is fair")
        balance = OptionBalancer(build.random_stream("places"))
        for question, record in enumerate(records):
            names = [diseases.names[disease] for disease in table.distractors(question)]
            if len(names) < count - 1:
                reason = f"fewer than {count - 1} other diseases in the set that do not overlap"
                build.reject(record, STEP, reason, str(len(names)))
                continue
            written = balance.place_gold(diseases.names[golds[question]], names)
            yield record | written._asdict()

    return all_records_step(STEP, change)


def _features(record: Record) -> list[str]:
    return [feature["id"] for feature in record["present"]]


def _shared_words(
    records: RecordFile, diseases: DiseaseIndex
) -> tuple[Callable[[int, int], float], Callable[[int], list[int]]]:
    """The share of a disease's name in a history, and the diseases with the largest, for `balance_shared_words`."""
    words_by_disease = [words(name) for name in diseases.names]
    diseases_by_word: dict[str, list[int]] = {}
    for number, name in enumerate(words_by_disease):
        for word in name:
            diseases_by_word.setdefault(word, []).append(number)
    history_words = [
        tuple(sorted(word for word in words(record["history"]) if word in diseases_by_word)) for record in records
    ]

    def share(question: int, disease: int) -> float:
        return overlap(words_by_disease[disease], set(history_words[question]))

    def rivals(question: int) -> list[int]:
        rarest = sorted(history_words[question], key=lambda word: (len(diseases_by_word[word]), word))[:RAREST_WORDS]
        candidates = {number for word in rarest for number in diseases_by_word[word][:MAX_DISEASES]}
        return sorted(candidates, key=lambda number: (-share(question, number), number))

    return share, rivals
