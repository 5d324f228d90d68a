"""The Methods and Results of a run as text, with all figures; the author adds what a run cannot know."""

from collections.abc import Iterator
from pathlib import Path

from wardround.core.files import write_file
from wardround.exporting.methods.citations import DATA_SET, benchmarks_of, bibliography, cited_works, data_set_entry
from wardround.exporting.methods.results import as_sentence, results
from wardround.reporting.checklists.checklist import checklist_text, load_checklist
from wardround.reporting.checklists.examined import examined, has_clusters, not_examined
from wardround.reporting.checklists.run_facts import FACTS
from wardround.reporting.labels import slice_title, slice_words, value_meaning
from wardround.reporting.numbers import count, join_words
from wardround.reporting.reference_condition import reference_values
from wardround.reporting.run_files import RunFiles, read_run
from wardround.reporting.summary.figures import summary_figures
from wardround.reporting.summary.limits import limits

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
    entries = bibliography() | {DATA_SET: data_set_entry(run)}
    write_file(target, methods_text(run))
    write_file(target.with_suffix(".bib"), "\n".join(entries[key] for key in cited_works(run)))
    return target, target.with_suffix(".bib")


def methods_text(run: RunFiles) -> str:
    """The whole text as Markdown with citation keys (`[@key]`, as pandoc reads them)."""
    parts = [f"# {run.name}: Methods and Results", *([] if run.is_complete else ["**The run is incomplete.**"])]
    parts += ["## Methods", *_methods(run), "## Results", *results(run)]
    parts += ["## Limitations", "\n".join(f"- {limit}" for limit in limits(run, summary_figures(run)))]
    for name in GUIDELINES:
        parts.append(checklist_text(run, load_checklist(name)).replace("# ", "## ", 1).rstrip())
    return "\n\n".join(parts) + "\n"


def _methods(run: RunFiles) -> Iterator[str]:
    papers = [f"{BENCHMARK_NAMES[key]} [@{key}]" for key in benchmarks_of(run)]
    protocol = f" The protocol follows {join_words(papers)}." if papers else ""
    yield f"**Cases.** {_cases(run)}{protocol}{as_sentence(FACTS['composition'](run))}"
    yield f"**Candidates.** {FACTS['models'](run)}.{as_sentence(FACTS['cutoffs'](run))}"
    trials = run.study.trials
    repeated = f"Every question was asked {trials} times." if trials > 1 else "Every question was asked once."
    yield (
        f"**Conditions.** {_conditions(run)} {repeated} Sampling was {_sampling(run)}."
        f"{as_sentence(FACTS['preparation'](run))} {_prompts(run)} {_dates(run)}"
    )
    yield f"**Marking.** {_marking(run)}"
    yield f"**Statistical analysis.** {_statistics(run)}"


def _candidates(run: RunFiles) -> str:
    return "One candidate" if len(run.candidates) == 1 else f"{count(len(run.candidates))} candidates"


def _cases(run: RunFiles) -> str:
    about, asked = run.manifest.get("cases") or {}, examined(run)
    total = f"{count(about.get('cases'))} cases with {count(about.get('questions'))} questions"
    who = f"{_candidates(run)} {'was' if len(run.candidates) == 1 else 'were'} examined"
    on = f"{who} with wardround {run.manifest.get('wardround')} [@wardround] on {asked.words() if asked else total}."
    source = f" [@{DATA_SET}]" if data_set_entry(run) else ""
    text = f"{on} The case set is `{about.get('path')}`{source} (hash {str(about.get('hash'))[:12]})"
    if asked is None or asked.is_set_whole:
        return f"{text}."
    reason = not_examined(run)
    return f"{text}, which has {total}; not all of it was asked{f' ({reason})' if reason else ''}."


def _conditions(run: RunFiles) -> str:
    declared = run.declared_values("confidence")
    confidence = "" if declared == ["none"] else f" Confidence: {_values('confidence', declared)}."
    if not run.varied_axes:
        return f"All questions were asked under one condition.{confidence}"
    axes = [f"{slice_title(axis).lower()}: {_values(axis, values)}" for axis, values in run.varied_axes.items()]
    if "confidence" in run.varied_axes:
        confidence = ""
    reference = slice_words(reference_values(run))
    return f"Varied were {'; '.join(axes)}. Scores are those of the reference condition ({reference}).{confidence}"


def _values(axis: str, values: list[str]) -> str:
    """The values of an axis, each with what it means."""
    meanings = [(value, value_meaning(axis, value)) for value in values]
    return join_words([f"{value} ({meaning})" if meaning else value for value, meaning in meanings])


def _dates(run: RunFiles) -> str:
    first, last = (str(run.manifest.get(key) or "")[:10] for key in ("started", "finished"))
    if not first or not last:
        return ""
    return f"Answers are of {first}." if first == last else f"Answers are of {first} to {last}."


def _marking(run: RunFiles) -> str:
    asked = examined(run)
    kinds = asked.kinds if asked else {"choice"}
    judge = run.manifest.get("judge")
    texts = []
    if "choice" in kinds:
        texts.append(f"Choices were read by wardround's parser (`{run.manifest.get('parser', 'strict')}`).")
    if "open" in kinds:
        texts.append(
            f"Open answers were marked by the judge {_judge(run)}." if judge else "Open answers were not scored."
        )
    if "rubric" in kinds:
        texts.append(f"Free-text answers were scored by rubrics by the judge {_judge(run)}." if judge else "")
    if kinds == {"rubric"}:
        texts.append("Empty answers score 0.")
    else:
        texts.append("Answers that could not be read count as not right, and their share is reported.")
    return " ".join(filter(None, texts))


def _sampling(run: RunFiles) -> str:
    shared = run.study.sampling.explicit_sampling
    return ", ".join(f"{key} {value}" for key, value in shared.items()) or "left to each server's defaults"


def _judge(run: RunFiles) -> str:
    judge = run.manifest.get("judge")
    return f"`{judge.get('name')}`" if isinstance(judge, dict) else str(judge)


def _statistics(run: RunFiles) -> str:
    methods = {(line.method or "").lower() for line in run.measure_lines}
    used = [words for key, words in INTERVAL_WORDS if any(key in method for method in methods)]
    clustered = "clusters, which are cases of one patient or with a shared image," if has_clusters(run) else "cases,"
    unit = f"Intervals are 95% intervals over {clustered} not over answers"
    text = f"{unit}: {join_words(used)}." if used else f"{unit}."
    if run.comparison_lines:
        text += (
            " Differences are paired on the same cases and tested by reversing the signs of the differences of "
            "whole clusters at random; p values are adjusted within each family by the distribution of its largest "
            "statistic [@max-t]."
        )
    reported = "The items of TRIPOD-LLM [@tripod-llm] and STARD-AI [@stard-ai] are listed below."
    return f"{text} Every figure with its method is in measures.csv and comparisons.csv. {reported}"


def _prompts(run: RunFiles) -> str:
    sources = set((run.manifest.get("prompt_sources") or {}).values())
    whose = "wardround's own" if sources == {"wardround"} else f"from {join_words(sorted(sources))}"
    return f"Prompts were {whose} (name and hash: {FACTS['prompts'](run)})."
