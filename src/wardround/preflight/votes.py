"""Votes against log-probabilities: whether both say the same of a candidate's confidence, on a few items."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

from wardround.core.ask import Answer
from wardround.marking.parser.distribution import FirstTokenDistribution, first_token_distribution
from wardround.marking.reader import AnswerReader
from wardround.running.candidate_run import CandidateRun
from wardround.running.plan import all_units
from wardround.running.study_run import StudyRun
from wardround.running.trials import TrialGroup

VOTES, ITEMS, ALPHA, DRAWS = 20, 5, 0.01, 9_999

Floats = NDArray[np.float64]


async def compare_votes(study_run: StudyRun, run: CandidateRun) -> list[str]:
    """Compares votes with log-probabilities on a few items, if the study asks for log-probabilities."""
    units = (unit for unit in all_units(run.context, study_run.cases) if unit.condition.confidence == "logprobs")
    items = []
    for unit in islice(units, ITEMS):
        group, question = TrialGroup(run.context, unit), unit.unit[-1]
        (answer,), order = await group.votes_by("logprobs", question, 1)
        distribution = first_token_distribution(answer, [question.choices[index] for index in order])
        if distribution is None:
            return ["gives no log-probabilities: every item will be voted on instead"]
        if not distribution.is_complete:
            continue
        votes, order = await group.votes_by("votes", question, VOTES)
        items.append((_vote_counts(votes, [question.choices[index] for index in order]), _shares(distribution)))
    if (p := votes_p_value(items)) < ALPHA:
        return [
            f"{VOTES} votes on each of {len(items)} items disagree with the log-probabilities (p = {p:.2g}): "
            "are the study's votes drawn at temperature 1 without filters?"
        ]
    return []


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
