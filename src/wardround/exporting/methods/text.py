"""The Methods and Results of a run as text, with all figures; the author adds what a run cannot know."""

from collections.abc import Iterator
from pathlib import Path

from wardround.core.files import write_file
from wardround.exporting.methods.citations import benchmarks_of, bibliography, cited_works
from wardround.reporting.checklists.checklist import checklist_text, load_checklist
from wardround.reporting.checklists.run_facts import FACTS
from wardround.reporting.labels import measure_title, slice_words
from wardround.reporting.numbers import count, format_interval, join_words, p_value, percent
from wardround.reporting.reference_condition import ranked_candidates, reference_values, score_measures
from wardround.reporting.run_files import ComparisonLine, RunFiles, read_run
from wardround.reporting.summary.figures import summary_figures
from wardround.reporting.summary.limits import limits

ALPHA = 0.05
GUIDELINES = ("tripod-llm", "stard-ai")
BENCHMARK_NAMES = {"cure": "CURE", "xpcr": "X-PCR", "medq-deg": "MedQ-Deg", "clinbench": "ClinBench"}
INTERVAL_WORDS = (
    ("wilson", "Wilson's interval with the effective number of independent cases [@wilson]"),
    ("bca", "the bias-corrected bootstrap over clusters [@bootstrap]"),
    ("bootstrap", "the bootstrap over clusters [@bootstrap]"),
    ("student", "Student's t over clusters"),
    ("jackknife", "the jackknife over clusters"),
)


def write_methods(folder: Path, out: Path | None = None) -> tuple[Path, Path]:
    """Writes the text and its BibTeX beside each other: by default RUN/methods.md and RUN/methods.bib."""
    run = read_run(folder)
    target = out or folder / "methods.md"
    entries = bibliography()
    write_file(target, methods_text(run))
    write_file(target.with_suffix(".bib"), "\n".join(entries[key] for key in cited_works(run)))
    return target, target.with_suffix(".bib")


def methods_text(run: RunFiles) -> str:
    """The whole text as Markdown with citation keys (`[@key]`, as pandoc reads them)."""
    parts = [f"# {run.name}: Methods and Results", *([] if run.is_complete else ["**The run is incomplete.**"])]
    parts += ["## Methods", *_methods(run), "## Results", *_results(run)]
    parts += ["## Limitations", "\n".join(f"- {limit}" for limit in _limits(run))]
    for name in GUIDELINES:
        parts.append(checklist_text(run, load_checklist(name)).replace("# ", "## ", 1).rstrip())
    return "\n\n".join(parts) + "\n"


def _methods(run: RunFiles) -> Iterator[str]:
    papers = [f"{BENCHMARK_NAMES[key]} [@{key}]" for key in benchmarks_of(run)]
    protocol = f" The protocol follows {join_words(papers)}." if papers else ""
    cases = run.manifest.get("cases") or {}
    yield (
        f"**Cases.** {_candidates(run)} {'was' if len(run.candidates) == 1 else 'were'} examined with wardround "
        f"{run.manifest.get('wardround')} [@wardround] on {count(cases.get('cases'))} cases with "
        f"{count(cases.get('questions'))} questions (case set `{cases.get('path')}`, hash "
        f"{str(cases.get('hash'))[:12]}).{protocol}{_sentence(FACTS['composition'](run))}"
    )
    yield f"**Candidates.** {FACTS['models'](run)}.{_sentence(FACTS['cutoffs'](run))}"
    trials = run.study.trials
    repeated = f"Every question was asked {trials} times." if trials > 1 else "Every question was asked once."
    yield (
        f"**Conditions.** {_conditions(run)} {repeated} Sampling was {_sampling(run)}."
        f"{_sentence(FACTS['preparation'](run))} {_prompts(run)}"
    )
    judged = f" Open answers were marked by the judge {_judge(run)}." if run.manifest.get("judge") else ""
    yield (
        f"**Marking.** Choices were read by wardround's parser (`{run.manifest.get('parser', 'strict')}`)."
        f"{judged} Answers that could not be read count as not right, and their share is reported."
    )
    yield f"**Statistical analysis.** {_statistics(run)}"


def _results(run: RunFiles) -> Iterator[str]:
    for measure in score_measures(run):
        figures = []
        for name in ranked_candidates(run):
            line = run.find_line(measure, name, {})
            if line is None or line.value is None:
                continue
            interval = format_interval(measure, line.low, line.high)
            bounds = f"95% CI {interval}" if interval else "no interval"
            figures.append(
                f"{run.printed_name(name)} {percent(line.value)}% ({bounds}; {line.clusters} independent cases)"
            )
        if figures:
            yield f"**{measure_title(measure)}.** At the reference condition: {'; '.join(figures)}."
    chance = run.manifest.get("chance")
    if chance is not None:
        yield f"A random choice is right in {percent(chance)}% of the choice questions."
    families = list(dict.fromkeys(line.family for line in run.comparison_lines))
    for family in families:
        lines = [line for line in run.comparison_lines if line.family == family and line.value is not None]
        if lines:
            declared = "not declared before the run" if "not declared" in str(family) else f"family `{family}`"
            yield f"**Comparisons** ({declared}). {' '.join(_comparison(run, line) for line in lines)}"
    if run.manifest.get("acceptance"):
        yield f"**Acceptance.**{_sentence(FACTS['acceptance'](run))}"
    yield f"**Answers not read.**{_sentence(FACTS['unread'](run))}"


def _comparison(run: RunFiles, line: ComparisonLine) -> str:
    """One difference, with what it shows: never more than its adjusted p carries."""
    where = f" ({slice_words(line.slice)})" if line.slice else ""
    a, b = run.printed_name(line.a), run.printed_name(line.b)
    value = line.value or 0.0
    interval = "no interval"
    if line.low is not None and line.high is not None:
        interval = f"95% CI {100 * line.low:.1f} to {100 * line.high:.1f}"
    p = line.p_adjusted if line.p_adjusted is not None else line.p
    tested = f"adjusted p {_equals(p)}" if line.p_adjusted is not None else f"p {_equals(p)}"
    verdict = "" if p is not None and p < ALPHA else "; no difference shown"
    name = measure_title(line.measure).lower()
    return f"{a} minus {b} in {name}{where}: {100 * value:+.1f} points ({interval}; {tested}{verdict})."


def _equals(p: float | None) -> str:
    text = p_value(p)
    return text if text.startswith(("<", ">")) else f"= {text}"


def _candidates(run: RunFiles) -> str:
    return "One candidate" if len(run.candidates) == 1 else f"{count(len(run.candidates))} candidates"


def _conditions(run: RunFiles) -> str:
    if not run.varied_axes:
        return "All questions were asked under one condition."
    axes = [f"{axis} ({join_words(list(values))})" for axis, values in run.varied_axes.items()]
    return f"Varied were {join_words(axes)}; the reference condition was {slice_words(reference_values(run))}."


def _sampling(run: RunFiles) -> str:
    shared = run.study.sampling.explicit_sampling
    return ", ".join(f"{key} {value}" for key, value in shared.items()) or "left to each server's defaults"


def _judge(run: RunFiles) -> str:
    judge = run.manifest.get("judge")
    return f"`{judge.get('name')}`" if isinstance(judge, dict) else str(judge)


def _statistics(run: RunFiles) -> str:
    methods = {(line.method or "").lower() for line in run.measure_lines}
    used = [words for key, words in INTERVAL_WORDS if any(key in method for method in methods)]
    unit = "Intervals are 95% intervals over independent cases (clusters of one patient), not over answers"
    text = f"{unit}: {join_words(used)}." if used else f"{unit}."
    if run.comparison_lines:
        text += (
            " Differences are paired on the same cases and tested by flipping signs of clusters; p values are "
            "adjusted within each family by the largest statistic [@max-t]."
        )
    reported = "The items of TRIPOD-LLM [@tripod-llm] and STARD-AI stand below."
    return f"{text} Every figure with its method is in measures.csv and comparisons.csv. {reported}"


def _prompts(run: RunFiles) -> str:
    sources = set((run.manifest.get("prompt_sources") or {}).values())
    whose = "wardround's own" if sources == {"wardround"} else f"from {join_words(sorted(sources))}"
    return f"Prompts were {whose} (name and hash: {FACTS['prompts'](run)})."


def _limits(run: RunFiles) -> list[str]:
    figures = summary_figures(run)
    return limits(run, figures) if figures is not None else ["The run has no score."]


def _sentence(text: str) -> str:
    """A fact as a sentence of its own, after a space; nothing if there is none."""
    text = text.strip().rstrip(".")
    return f" {text[0].upper()}{text[1:]}." if text else ""
