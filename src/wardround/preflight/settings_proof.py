"""The proof of a candidate's settings in a check: every probe that the study calls for, and the verdicts together."""

from dataclasses import dataclass

from wardround.preflight.sight import Sight
from wardround.preflight.votes import VoteComparison
from wardround.running.candidate_run import CandidateRun
from wardround.running.settings.before_run import describe_ignored
from wardround.running.settings.images import SEEN, probe_colours
from wardround.running.settings.model_name import model_verdict
from wardround.running.settings.prober import Prober
from wardround.running.settings.proof import all_probes, prove
from wardround.running.settings.records import read_verdicts, write_verdicts
from wardround.running.settings.uses import SettingUses, can_be_probed
from wardround.running.settings.verdict import SettingVerdict, Verdict, merge_verdicts
from wardround.running.study_run import StudyRun

SIGHT_VERDICTS: dict[str, Verdict] = {"seen": "honoured", "ignored": "ignored", "refused": "refused"}


@dataclass(frozen=True)
class SettingsProof:
    """The verdicts on one candidate's settings, and the calls that they took."""

    verdicts: tuple[SettingVerdict, ...] = ()
    calls: int = 0

    @property
    def ignored_reason(self) -> str | None:
        """Why a run would be refused."""
        ignored = [verdict for verdict in self.verdicts if verdict.stops_run]
        return describe_ignored(ignored) if ignored else None


async def prove_settings(
    study_run: StudyRun, run: CandidateRun, sight: Sight | None, votes: VoteComparison
) -> SettingsProof:
    """Probes what the study uses, and keeps the verdicts for the run."""
    context = run.context
    if not can_be_probed(context):
        return SettingsProof()
    uses = SettingUses.of(context, run.plan.hardest)
    fingerprint = uses.fingerprint(context)
    earlier = read_verdicts(study_run.folder, run.name, fingerprint)
    if not run.plan.count.missing:
        return SettingsProof(tuple(earlier))
    verdicts, calls = await prove(context, uses, all_probes(uses))
    if sight is not None:
        sight_verdict, more_calls = await _sight_verdict(run, uses, sight)
        verdicts, calls = [*verdicts, sight_verdict], calls + more_calls
    verdicts += votes.verdicts
    if context.caller.settings.base_url is not None:
        verdicts.append(model_verdict(context.caller.settings.model, context.models))
    current = {verdict.setting for verdict in verdicts}
    # what cannot be probed now, because all Asks with images are answered, stays as it was
    kept = merge_verdicts([verdict for verdict in earlier if verdict.setting not in current], verdicts)
    write_verdicts(study_run.folder, run.name, fingerprint, kept)
    return SettingsProof(tuple(kept), calls)


async def _sight_verdict(run: CandidateRun, uses: SettingUses, sight: Sight) -> tuple[SettingVerdict, int]:
    """The verdict on images; two plain colours decide if a number was misread."""
    if (verdict := SIGHT_VERDICTS.get(sight.result)) is not None:
        return SettingVerdict(SEEN, "yes", verdict, sight.why or "a large number in an image was read"), 0
    prober = Prober(run.context, uses.probe_reasoning)
    return await probe_colours(prober), prober.calls
