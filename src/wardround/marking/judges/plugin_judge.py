"""Judges from plug-ins (group `wardround.judges`), for [judge] provider = "NAME".

A plug-in is called with the [judge] settings and returns a PairJudge. It is asked once for all distinct pairs of a
run, each time the run is marked; the verdicts are written to verdicts.parquet, its calls are not stored.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from wardround.candidates.registry import PROVIDERS, checked_extensions, load_extension
from wardround.core.errors import WardroundError
from wardround.core.study import JudgeSettings
from wardround.marking.judges.judge import DiagnosisPair
from wardround.marking.judges.model_judge import JudgeVerdicts
from wardround.plugins import Plugin

RULE = "lexical"


class PairJudge(Protocol):
    """Decides whether pairs of names mean the same disease."""

    name: str  # with a version; marks and verdicts carry it

    def verdicts(self, pairs: Sequence[DiagnosisPair]) -> Sequence[bool | None]:
        """For each pair (gold, accept, diagnosis), in order: True (same), False (not same) or None (no verdict)."""
        ...


def judge_plugins() -> Mapping[str, Plugin]:
    """The judges of plug-ins by name."""
    return checked_extensions("judges", (RULE, *PROVIDERS))


def make_plugin_judge(settings: JudgeSettings, *, offline: bool = False) -> PairJudge | None:
    """The judge that a plug-in offers under the name in [judge] provider, if any."""
    plugin = judge_plugins().get(settings.provider)
    if plugin is None:
        return None
    judge: PairJudge = load_extension(plugin, offline=offline)(settings)
    return judge


def ask_plugin_judge(judge: PairJudge, pairs: Sequence[DiagnosisPair]) -> JudgeVerdicts:
    """The judge's verdicts on these pairs."""
    try:
        verdicts = list(judge.verdicts(pairs))
    except Exception as error:
        raise WardroundError(f"judge {judge.name}: {type(error).__name__}: {error}") from error
    if len(verdicts) != len(pairs):
        raise WardroundError(f"judge {judge.name}: returned {len(verdicts)} verdicts for {len(pairs)} pairs")
    for pair, verdict in zip(pairs, verdicts, strict=True):
        if not (verdict is None or isinstance(verdict, bool)):
            raise WardroundError(
                f"judge {judge.name}: returned {verdict!r} for {pair.diagnosis!r}; expected True, False or None"
            )
    return JudgeVerdicts(judge.name, dict(zip(pairs, verdicts, strict=True)))
