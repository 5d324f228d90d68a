"""What a run proves before it asks: vital settings that are not known to be honoured; ignored ones are refused."""

from collections.abc import Callable, Sequence

from wardround.core.errors import WardroundError
from wardround.running.candidate_run import CandidateRun
from wardround.running.run_folder import RunFolder
from wardround.running.settings.proof import prove, vital_probes
from wardround.running.settings.records import read_verdicts, write_verdicts
from wardround.running.settings.uses import SettingUses, can_be_probed
from wardround.running.settings.verdict import SettingVerdict, merge_verdicts

ACCEPT = "--accept-ignored"


async def prove_before_run(
    runs: Sequence[CandidateRun], folder: RunFolder, note: Callable[[str], None], *, accept_ignored: bool
) -> None:
    """Completes the verdicts of every candidate; raises an error for a decisive setting that is ignored."""
    for run in runs:
        if not can_be_probed(run.context):
            continue
        uses = SettingUses.of(run.context, run.plan.hardest)
        fingerprint = uses.fingerprint(run.context)
        run.verdicts = read_verdicts(folder, run.name, fingerprint)
        if not run.plan.count.missing:
            continue
        # an ignored setting may have been mended since, an unknown one stays unknown
        known = {verdict.setting for verdict in run.verdicts if verdict.verdict != "ignored"}
        probes = [probe for probe in vital_probes(uses) if not known.issuperset(probe.settings)]
        if not probes:
            continue
        settings = ", ".join(name for probe in probes for name in probe.settings)
        calls = sum(probe.max_calls for probe in probes)
        note(f"{run.name}: at most {calls} calls to see whether the server honours {settings}")
        verdicts, _ = await prove(run.context, uses, probes)
        run.verdicts = merge_verdicts(run.verdicts, verdicts)
        write_verdicts(folder, run.name, fingerprint, run.verdicts)
    if not accept_ignored:
        refuse_ignored(runs)


def refuse_ignored(runs: Sequence[CandidateRun]) -> None:
    for run in runs:
        if run.plan.count.missing and (ignored := [verdict for verdict in run.verdicts if verdict.stops_run]):
            raise WardroundError(f"candidate {run.name!r}: {describe_ignored(ignored)}")


def describe_ignored(ignored: Sequence[SettingVerdict]) -> str:
    """Which settings were ignored, what shows it, and what to do."""
    reasons = "; ".join(f"{verdict.setting} is ignored ({verdict.evidence})" for verdict in ignored)
    return f"{reasons}: mend the server, take it out of the study, or go on with `{ACCEPT}`, which labels every table"
