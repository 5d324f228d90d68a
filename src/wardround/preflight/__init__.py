"""The check before a run: the hardest Asks of each candidate, how its replies read, and what the study will cost."""

from wardround.preflight.check import CheckResult, check_study
from wardround.preflight.votes import VOTES, votes_p_value

__all__ = ["VOTES", "CheckResult", "check_study", "votes_p_value"]
