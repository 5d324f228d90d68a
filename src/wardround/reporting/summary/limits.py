"""What an examination cannot say: few cases, an unvalidated judge, invented cases and respondents, contamination."""

from wardround.measuring.validation.judge_validation import judge_note
from wardround.reporting.judge_note import is_judged
from wardround.reporting.numbers import count, join_words, number
from wardround.reporting.reference_condition import score_measures
from wardround.reporting.run_files import RunFiles
from wardround.reporting.summary.figures import SummaryFigures
from wardround.reporting.tables.run_notes import cutoff_notes

WIDE = 0.10  # half an interval: wider ones are said to be so; our choice
MIN_PATIENTS = 8


def limits(run: RunFiles, figures: SummaryFigures | None) -> list[str]:
    """One sentence for each thing that the figures leave open, the gravest first; None: a run without a summary."""
    made = [
        "" if run.is_complete else "The run is incomplete: every figure covers only the answers so far.",
        _simulated(run),
        _invented(run),
        _few_cases(figures) if figures is not None else "",
        _judge(run),
        *_contamination(run),
        _images(run, figures) if figures is not None else "",
        "A score says how a candidate answered these cases under these conditions; it says nothing of safety in care.",
    ]
    return [sentence for sentence in made if sentence]


def _simulated(run: RunFiles) -> str:
    names = [name for name, entry in run.candidate_entries.items() if entry.get("provider") == "simulated"]
    if not names:
        return ""
    if len(names) == len(run.candidates):
        return "All candidates are simulated respondents: their answers are drawn by chance from planted parameters."
    return f"Simulated respondents, whose answers are drawn by chance: {join_words(names)}."


def _invented(run: RunFiles) -> str:
    notes = " ".join(run.manifest.get("notes") or [])
    return "The cases are invented: no patient stands behind them." if "invented cases" in notes else ""


def _few_cases(figures: SummaryFigures) -> str:
    lines = [line for line in figures.scores.values() if line.value is not None and line.clusters]
    if not lines:
        return ""
    clusters = min(line.clusters or 0 for line in lines)
    widths = [(line.high - line.low) / 2 for line in lines if line.low is not None and line.high is not None]
    if not widths:
        return f"There are only {count(clusters)} independent cases: too few for an interval."
    if max(widths) <= WIDE:
        return ""
    return (
        f"There are few cases ({count(clusters)} independent ones): a score is known to about "
        f"\N{PLUS-MINUS SIGN}{number(100 * max(widths), 0)} points, and smaller differences cannot be seen."
    )


def _judge(run: RunFiles) -> str:
    if not any(is_judged(measure) for measure in score_measures(run)) or not run.manifest.get("judge"):
        return ""
    note = judge_note(run.folder)
    return f"Open answers were marked by a judge that no one has validated ({note})." if "not validated" in note else ""


def _contamination(run: RunFiles) -> list[str]:
    """What is known of whether a candidate has seen the cases in training."""
    if "probe" in run.varied_axes or not (notes := cutoff_notes(run)):
        return []
    return [note.removeprefix("Warning: ")[:1].upper() + note.removeprefix("Warning: ")[1:] for note in notes]


def _images(run: RunFiles, figures: SummaryFigures) -> str:
    """A study of images without a control cannot say whether they were looked at."""
    has_images = bool((run.manifest.get("cases") or {}).get("images"))
    sees = [name for name in run.candidates if name not in run.text_only]
    if not has_images or figures.images or not sees:
        return ""
    return "Whether a candidate looks at the images was not examined: no control condition shows others or none."
