"""Cancelling the batches of a study at their providers. What they answered is collected by the next start."""

from collections.abc import Collection
from contextlib import closing
from pathlib import Path

from wardround.candidates.batches.batch_api import BatchApi
from wardround.candidates.batches.file_batches import FileBatches
from wardround.candidates.candidate import CandidateUnavailable, Fault, RequestRejected, settings_error
from wardround.candidates.registry import make_candidate
from wardround.cases.set import CaseSet
from wardround.core.store.location import StoreLocation
from wardround.core.study import load_study
from wardround.running.inputs.run_paths import RunPaths, cases_folder
from wardround.running.store import AnswerStore
from wardround.running.store.batches import BatchRecords


async def cancel_batches(
    study_file: Path,
    runs: Path | None = None,
    answers: StoreLocation | None = None,
    ids: Collection[str] | None = None,
) -> list[str]:
    """Cancels the study's batches under way that their providers confirmed, or those named; returns their ids."""
    study = load_study(study_file)
    paths = RunPaths.from_options(study_file, runs, answers or study.store)
    folder = paths.runs / study.name / "batches"
    cancelled: list[str] = []
    with closing(AnswerStore(paths.answers, must_exist=True)) as store:
        for settings in study.candidates:
            open_ids = BatchRecords(store, study.name, settings.name, settings.address).own_open_ids()
            chosen = [id for id in open_ids if ids is None or id in ids]
            if not chosen:
                continue
            candidate = make_candidate(settings, folder=study_file.parent, offline=study.offline)
            await candidate.prepare(CaseSet.open(cases_folder(study, study_file)))
            try:
                for id in chosen:
                    files = FileBatches(folder, settings.model) if FileBatches.has_made(id) else None
                    api: BatchApi | None = files or candidate.batch_api()
                    assert api is not None  # it took them
                    await api.cancel(id)
                    cancelled.append(id)
            except (CandidateUnavailable, Fault, RequestRejected) as error:
                raise settings_error(settings, f"batch {id} could not be cancelled: {error}") from None
            finally:
                await candidate.close()
    return cancelled
