"""The section Summary: first on the page, one printed page, and the same as Markdown."""

from dataclasses import dataclass

from markupsafe import Markup

from wardround.measuring.acceptance.endpoints import ACCEPTANCE, ACCEPTANCE_FILE
from wardround.reporting.labels import slice_words
from wardround.reporting.numbers import count, join_words, percent
from wardround.reporting.reference_condition import ranked_candidates, reference_values
from wardround.reporting.run_files import RunFiles, read_table
from wardround.reporting.sections.section import Section
from wardround.reporting.summary.claims import SummaryClaim, claims
from wardround.reporting.summary.figures import SummaryFigures, is_shown, leaders, summary_figures
from wardround.reporting.summary.limits import limits
from wardround.reporting.tables.figure_cell import draw_track, format_line, measure_scale
from wardround.reporting.templating import render

ROWS = {  # the kinds of claims that are read together
    "Right": ("chance", "others", "people", "unread"),
    "Images": ("images", "options"),
    "Breaks": ("degradation", "group", "stage"),
    "Confidence": ("confidence",),
}
CHIP_KINDS = ("chance", "images", "options", "degradation", "group", "stage", "confidence", "unread")


@dataclass(frozen=True)
class Verdict:
    """What one endpoint of [acceptance] decides."""

    endpoint: str
    verdict: str


@dataclass(frozen=True)
class CandidateSummary:
    name: str
    is_simulated: bool
    score: str
    track: Markup
    verdicts: list[Verdict]
    claims: list[SummaryClaim]

    @property
    def chips(self) -> list[SummaryClaim]:
        """The findings that are worth a word: what is good or bad."""
        return [claim for claim in self.claims if claim.kind in CHIP_KINDS and claim.tone in ("good", "bad")]

    @property
    def rows(self) -> list[tuple[str, list[SummaryClaim]]]:
        """The claims by what they are about."""
        rows = [(label, [claim for claim in self.claims if claim.kind in kinds]) for label, kinds in ROWS.items()]
        return [(label, own) for label, own in rows if own]


@dataclass(frozen=True)
class Summary:
    """`answer` is the whole in a sentence or two; `limits` is what the examination cannot say."""

    name: str
    answer: str
    scope: str
    candidates: list[CandidateSummary]
    limits: list[str]


def summarise(run: RunFiles) -> Summary | None:
    """None if the run has no score."""
    if (figures := summary_figures(run)) is None:
        return None
    verdicts = _verdicts(run)
    candidates = [
        CandidateSummary(
            run.printed_name(name),
            run.candidate_entries.get(name, {}).get("provider") == "simulated",
            percent(figures.scores[name].value),
            _track(figures, name),
            verdicts.get(name, []),
            claims(run, figures, name),
        )
        for name in ranked_candidates(run)
        if name in figures.scores and figures.scores[name].value is not None
    ]
    return Summary(run.name, _answer(run, figures), _scope(run, figures), candidates, limits(run, figures))


def summary_section(run: RunFiles) -> Section | None:
    if (summary := summarise(run)) is None:
        return None
    return Section("summary", "Summary", render("summary/section.html", summary=summary))


def as_markdown(summary: Summary) -> str:
    """The summary as Markdown, for a mail or a protocol."""
    lines = [f"# {summary.name}: summary", "", f"**{summary.answer}**", "", summary.scope]
    for candidate in summary.candidates:
        simulated = " (simulated)" if candidate.is_simulated else ""
        lines += ["", f"## {candidate.name}{simulated}", ""]
        lines += [f"- **{label}**: {' '.join(claim.sentence for claim in own)}" for label, own in candidate.rows]
        lines += [f"- **Acceptance, {verdict.endpoint}**: {verdict.verdict}" for verdict in candidate.verdicts]
    lines += ["", "## What this examination cannot say", "", *(f"- {limit}" for limit in summary.limits)]
    return "\n".join([*lines, ""])


def _track(figures: SummaryFigures, name: str) -> Markup:
    line = figures.scores[name]
    return draw_track(name, format_line(line), measure_scale(line.measure, figures.chance))


def _scope(run: RunFiles, figures: SummaryFigures) -> str:
    """Cases, condition, and how far the sentences can be trusted."""
    lines = [line for line in figures.scores.values() if line.clusters]
    clusters = max((line.clusters or 0 for line in lines), default=0)
    condition = reference_values(run)
    named = " (the reference condition)" if run.condition is None else ""
    asked = f", asked with {slice_words(condition)}{named}" if condition else ""
    return (
        f"{count(clusters)} independent cases{asked}. Brackets hold 95% intervals. Every claim rests on a test "
        "that is adjusted for all candidates and comparisons of its kind: if there is nothing to find, at most one "
        "summary in twenty makes a false claim of that kind. Intervals are not adjusted, so one may exclude what is "
        "said not to be shown."
    )


def _answer(run: RunFiles, figures: SummaryFigures) -> str:
    """Who leads, and whether anyone is better than guessing."""
    first = leaders(figures)
    above = [
        name
        for name, tested in figures.against_chance.items()
        if tested.is_shown and (tested.line.value or 0.0) > (figures.chance or 0.0)
    ]
    if figures.against_chance and not above:
        subject = (
            "No candidate is" if len(figures.against_chance) > 1 else f"{next(iter(figures.against_chance))} is not"
        )
        return f"{subject} shown to be right more often than by guessing ({percent(figures.chance)}%)."
    if not first:
        return _best_score(run, figures)
    scores = [f"{name} ({percent(figures.scores[name].value)}%)" for name in first]
    total = len({name for line in figures.pairs for name in (line.a, line.b)})
    if len(first) == total:
        return f"No difference between the {total} candidates is shown: {join_words(scores)}."
    if len(first) == 1 and all(is_shown(line) for line in figures.pairs_of(first[0]).values()):
        return f"{scores[0]} leads: it is shown to be right more often than every other candidate."
    others = "The other is" if total - len(first) == 1 else f"Each of the {total - len(first)} others is"
    shown = scores if len(scores) <= 6 else [*scores[:6], f"{len(scores) - 6} more"]
    lead = (
        "leads: none is shown to be better" if len(first) == 1 else "lead: none is shown to be better than any of them"
    )
    return f"{join_words(shown)} {lead}. {others} shown to be right less often than another candidate."


def _best_score(run: RunFiles, figures: SummaryFigures) -> str:
    name = next((name for name in ranked_candidates(run) if name in figures.scores), None)
    if name is None:
        return ""
    return f"{name} is right in {percent(figures.scores[name].value)}% of its answers."


def _verdicts(run: RunFiles) -> dict[str, list[Verdict]]:
    """The verdict of every endpoint on every candidate: over the whole and all groups."""
    file = run.folder / ACCEPTANCE_FILE
    if not run.study.acceptance or not file.is_file():
        return {}
    verdicts: dict[str, list[Verdict]] = {}
    rows = read_table(file, ACCEPTANCE).unique(["endpoint", "candidate"], keep="first", maintain_order=True)
    for row in rows.iter_rows(named=True):  # the whole comes before its groups
        verdicts.setdefault(row["candidate"], []).append(Verdict(row["endpoint"], row["verdict"]))
    return verdicts
