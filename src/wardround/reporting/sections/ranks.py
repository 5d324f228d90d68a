"""The section Ranks: draws the rank intervals that measuring/comparing/ranks.py computes."""

from markupsafe import Markup

from wardround.measuring import rank_intervals
from wardround.reporting.figures import svg
from wardround.reporting.judge_note import judging_note
from wardround.reporting.labels import measure_title
from wardround.reporting.reference_condition import ranked_candidates
from wardround.reporting.run_files import RunFiles
from wardround.reporting.sections.section import Section
from wardround.reporting.templating import render

MIN_CANDIDATES = 3


def ranks(run: RunFiles) -> Section | None:
    """A ranking for each family that compares all candidates with each other."""
    intervals = rank_intervals(run.comparisons)
    rankings, open_rankings, names = [], list[str](), ranked_candidates(run)

    def order(name: str) -> int:
        return names.index(name) if name in names else len(names)

    for (_, measure), family in intervals.group_by("family", "measure", maintain_order=True):
        count = len(family)
        if count < MIN_CANDIDATES:
            continue
        rows = sorted(
            family.iter_rows(named=True), key=lambda row: (row["first"] + row["last"], order(row["candidate"]))
        )
        if all((row["first"], row["last"]) == (1, count) for row in rows):
            open_rankings.append(_all_open(str(measure), count))
            continue
        ranges = [_rank_range(run.printed_name(row["candidate"]), row["first"], row["last"], count) for row in rows]
        rankings.append((measure_title(str(measure)), svg.rank_axis(count), ranges))
    if not rankings and not open_rankings:
        return None
    note = judging_note(run, intervals["measure"].unique(maintain_order=True))
    html = render("sections/ranks.html", rankings=rankings, open_rankings=open_rankings, judged=note)
    return Section("ranks", "Ranks", html)


def _all_open(measure: str, count: int) -> str:
    """The sentence for a ranking in which no difference was shown."""
    title = measure_title(measure).lower()
    return f"By {title} no difference between the {count} candidates is shown: each may have any rank."


def _rank_range(name: str, first: int, last: int, count: int) -> tuple[str, str, Markup]:
    """A candidate, its ranks in words, and their drawing."""
    ranks = str(first) if first == last else f"{first} to {last}"
    return (name, ranks, svg.rank_bar(first, last, count, f"{name}: rank {ranks} of {count}"))
