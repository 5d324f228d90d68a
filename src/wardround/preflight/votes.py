"""Votes against log-probabilities: whether both say the same of a candidate's confidence, on a few items."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

from wardround.core.ask import NO_LOGPROBS, Answer
from wardround.marking.parser.distribution import FirstTokenDistribution, first_token_distribution
from wardround.marking.reader import AnswerReader
from wardround.running.candidate_run import CandidateRun
from wardround.running.plan import all_units
from wardround.running.settings.verdict import SettingVerdict, Verdict
from wardround.running.study_run import StudyRun
from wardround.running.trials import TrialGroup

VOTES, ITEMS, DRAWS = 20, 5, 9_999
ALPHA, IGNORED_ALPHA = 0.01, 0.001  # of a warning, and of the verdict `ignored`

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class VoteComparison:
    """What votes say of log-probabilities: the verdicts, and a warning for the user."""

    verdicts: tuple[SettingVerdict, ...] = ()
    warnings: tuple[str, ...] = ()


async def compare_votes(study_run: StudyRun, run: CandidateRun) -> VoteComparison:
    """Compares votes with log-probabilities on a few items, if the study asks for log-probabilities."""
    units = (unit for unit in all_units(run.context, study_run.cases) if unit.condition.confidence == "logprobs")
    items, asked = [], 0
    for unit in islice(units, ITEMS):
        group, question = TrialGroup(run.context, unit), unit.unit[-1]
        (answer,), order = await group.votes_by("logprobs", question, 1)
        asked += 1
        distribution = first_token_distribution(answer, [question.choices[index] for index in order])
        if distribution is None:
            missing = logprobs_verdict(0, is_refused=answer.finish == NO_LOGPROBS)
            return VoteComparison((missing,), ("gives no log-probabilities: every item will be voted on instead",))
        if not distribution.is_complete:
            continue
        votes, order = await group.votes_by("votes", question, VOTES)
        items.append((_vote_counts(votes, [question.choices[index] for index in order]), _shares(distribution)))
    if not asked:
        return VoteComparison()
    p = votes_p_value(items)
    verdicts = (logprobs_verdict(asked), distribution_verdict(len(items), p))
    if p >= ALPHA:
        return VoteComparison(verdicts)
    warning = (
        f"{VOTES} votes on each of {len(items)} items disagree with the log-probabilities (p = {p:.2g}): "
        "are the study's votes drawn at temperature 1 without filters?"
    )
    return VoteComparison(verdicts, (warning,))


def logprobs_verdict(replies: int, *, is_refused: bool = False) -> SettingVerdict:
    """Whether log-probabilities came back; if not, items are voted on instead."""
    verdict: Verdict = "honoured" if replies else "refused" if is_refused else "ignored"
    why = f"{replies} replies have them" if replies else "none came back: every item is voted on instead"
    return SettingVerdict("logprobs", "sent", verdict, why, is_decisive=False)


def distribution_verdict(items: int, p: float) -> SettingVerdict:
    """Whether log-probabilities are those of the distribution that votes are drawn from."""
    verdict: Verdict = "unknown" if not items or IGNORED_ALPHA <= p < ALPHA else "ignored" if p < ALPHA else "honoured"
    why = f"{VOTES} votes on each of {items} items: p = {p:.2g}" if items else "too few of the probability is reported"
    return SettingVerdict("logprobs of the votes", "the sampled distribution", verdict, why)


def _shares(distribution: FirstTokenDistribution) -> Floats:
    """The shares of votes that the log-probabilities predict, one per option and one for unparsed votes."""
    shares = np.array([*distribution.shares, distribution.unparsed])
    shares += distribution.outside / len(shares) + 1e-9
    normalized: Floats = shares / shares.sum()
    return normalized


def _vote_counts(votes: list[Answer], options: list[str]) -> Floats:
    reader = AnswerReader()
    counts = Counter(reader.place(answer, options) for answer in votes)
    return np.array([*(counts[index] for index in range(len(options))), counts[None]], float)


def votes_p_value(items: Sequence[tuple[Floats, Floats]]) -> float:
    """The p-value of a G-test of votes (counts, shares) over all items, simulated: chi-squared needs more votes."""
    random, observed, simulated = np.random.default_rng(0), 0.0, np.zeros(DRAWS)
    for counts, shares in items:
        expected = counts.sum() * shares
        observed += rel_entr(counts, expected).sum()
        simulated += rel_entr(random.multinomial(int(counts.sum()), shares, DRAWS), expected).sum(axis=1)
    return float((1 + np.sum(simulated >= observed - 1e-9)) / (1 + DRAWS))
