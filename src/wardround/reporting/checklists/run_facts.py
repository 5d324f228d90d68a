"""What a run knows of the items of reporting guidelines: one sentence per subject, from the files of its folder."""

from collections.abc import Callable
from typing import Any

import polars as pl

from wardround.core.study import OUTCOMES
from wardround.measuring.acceptance.endpoints import primary_endpoint
from wardround.measuring.engine.reference import marks_at_reference
from wardround.reporting.checklists.examined import examined
from wardround.reporting.labels import measure_title
from wardround.reporting.numbers import count, format_interval, join_words, percent
from wardround.reporting.reference_condition import ranked_candidates, reference_values, score_measures
from wardround.reporting.refusals import refusals_note
from wardround.reporting.run_files import RunFiles
from wardround.running.run_folder import warnings_of

GROUP_KEYS = ("age_band", "sex", "modality", "tag")
Fact = Callable[[RunFiles], str]


def _task(run: RunFiles) -> str:
    kinds: list[str] = []
    if "kind" in run.all_marks.collect_schema():
        kinds = run.all_marks.select(pl.col("kind").drop_nulls().unique().sort()).collect()["kind"].to_list()
    candidates = f"{len(run.candidates)} candidates" if len(run.candidates) > 1 else "1 candidate"
    return f"{join_words(kinds) or 'choice'} questions about medical cases, answered by {candidates}"


def _objectives(run: RunFiles) -> str:
    families = list(run.study.comparisons)
    return f"declared comparisons: {join_words(families)}" if families else "no comparisons were declared"


def _cases(run: RunFiles) -> str:
    about = run.manifest.get("cases") or {}
    size = f"{count(about.get('cases'))} cases, {count(about.get('questions'))} questions"
    asked = examined(run)
    part = f"; asked: {asked.words()}" if asked is not None and not asked.is_set_whole else ""
    return f"case set `{about.get('path')}`, hash {str(about.get('hash'))[:12]}: {size}{part}"


def _composition(run: RunFiles) -> str:
    columns = run.all_marks.collect_schema().names()
    parts = []
    for key in (key for key in ("sex", "age_band", "specialty") if key in columns):
        cases = _reference_marks(run).select("case", key).unique().drop_nulls().group_by(key).len().sort(key).collect()
        if len(cases):
            sizes = ", ".join(f"{value} {number}" for value, number in cases.rows())
            parts.append(f"{key.replace('_', ' ')}: {sizes}")
    return "; ".join(parts)


def _cutoffs(run: RunFiles) -> str:
    dates = [f"{c.name} {c.cutoff}" for c in run.study.candidates if c.cutoff]
    return f"end of training: {', '.join(dates)}" if dates else ""


def _preparation(run: RunFiles) -> str:
    profile = (run.manifest.get("severities") or {}).get("profile")
    degraded = f"; images degraded by the severity table `{profile}`" if profile else ""
    return f"images sent as wardround renders them (docs/cases.md){degraded}"


def _omitted(run: RunFiles) -> str:
    skipped = len((run.manifest.get("cases") or {}).get("skipped") or [])
    reasons = [f"{number:,} {reason}" for reason, number in (run.manifest.get("inapplicable") or {}).items()]
    not_asked = f"; of all conditions and candidates: {', '.join(reasons)}" if reasons else ""
    return f"{skipped} cases could not be used{not_asked}"


def _unread(run: RunFiles) -> str:
    rates = [
        f"{line.candidate} {percent(line.unparsed)}%"
        for name in run.candidates
        if (line := run.find_line(score_measures(run)[0], name, {})) is not None
    ]
    rule = "count as not right (the best case is the measure `accuracy_if_unparsed_right`); their share"
    return " ".join(filter(None, [f"unparsed answers {rule}: {', '.join(rates)}.", refusals_note(run)]))


def _models(run: RunFiles) -> str:
    def words(name: str, entry: Any) -> str:
        reported = ", ".join(entry.get("reported_models") or [])
        parts = [entry.get("provider"), entry.get("model"), entry.get("revision"), reported and f"reported {reported}"]
        return f"{name} ({', '.join(str(part) for part in parts if part)})"

    return "; ".join(words(name, entry) for name, entry in run.candidate_entries.items())


def _sampling(run: RunFiles) -> str:
    shared = run.study.sampling.explicit_sampling
    own = {c.name: c.explicit_sampling for c in run.study.candidates if c.explicit_sampling}
    texts = [f"all: {shared}"] if shared else ["all: server defaults"]
    texts += [f"{name}: {values}" for name, values in own.items()]
    return f"{'; '.join(texts)}; {run.study.trials} trials; seed {run.study.seed}"


def _prompts(run: RunFiles) -> str:
    hashes = run.manifest.get("prompts") or {}
    return ", ".join(f"`{name}` {str(value)[:12]}" for name, value in hashes.items())


def _conditions(run: RunFiles) -> str:
    axes = [f"{axis}: {', '.join(values)}" for axis, values in run.varied_axes.items()]
    reference = ", ".join(f"{axis} {value}" for axis, value in reference_values(run).items())
    return "; ".join([*axes, f"reference condition: {reference}"]) if axes else "one condition"


def _output(run: RunFiles) -> str:
    return f"text, read by the parser `{run.manifest.get('parser', 'strict')}` (docs/parser.md); marks.parquet"


def _confidence(run: RunFiles) -> str:
    return f"confidence: {', '.join(run.declared_values('confidence'))}"


def _measures(run: RunFiles) -> str:
    names = run.measure_names
    return f"{len(names)} measures in measures.csv, first {join_words([measure_title(n) for n in score_measures(run)])}"


def _judge(run: RunFiles) -> str:
    judge = run.manifest.get("judge")
    return f"judge of open answers: {judge.get('name') or judge}" if isinstance(judge, dict) else "no judge"


def _dates(run: RunFiles) -> str:
    return f"answers from {run.manifest.get('started')} to {run.manifest.get('finished')}"


def _software(run: RunFiles) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in (run.manifest.get("versions") or {}).items())
    return f"wardround {run.manifest.get('wardround')}; {versions}"


def _people(run: RunFiles) -> str:
    return f"people: {join_words(sorted(run.people))}" if run.people else "no people were examined"


def _comparisons(run: RunFiles) -> str:
    families = list(dict.fromkeys(line.family or "" for line in run.comparison_lines))
    return f"paired differences, sign-flip tests, max-T within families: {join_words(families)}" if families else ""


def _acceptance(run: RunFiles) -> str:
    texts = []
    for endpoint in run.manifest.get("acceptance") or []:
        verdicts = ", ".join(f"{entry['name']} {entry['verdict']}" for entry in endpoint["candidates"])
        primary = " (primary)" if endpoint["name"] == primary_endpoint(run.study) else ""
        texts.append(f"{endpoint['name']}{primary}: {verdicts}")
    return f"endpoints fixed before the run: {'; '.join(texts)}" if texts else "no endpoints were declared"


def _clusters_needed(run: RunFiles) -> str:
    needed = [
        f"{entry['name']} about {entry['clusters_needed']:,} clusters of cases for {endpoint['name']}"
        for endpoint in run.manifest.get("acceptance") or []
        for entry in endpoint["candidates"]
        if entry.get("clusters_needed")
    ]
    return f"undecided endpoints: {'; '.join(needed)}" if needed else ""


def _cost(run: RunFiles) -> str:
    entries = run.candidate_entries.values()
    calls, tokens_in, tokens_out, cost, seconds = (
        sum(entry.get(key) or 0 for entry in entries) for key in ("calls", "tokens_in", "tokens_out", "cost", "seconds")
    )
    return f"{calls:,} calls, {tokens_in:,} input and {tokens_out:,} output tokens, {cost:.2f} USD, {seconds:,.0f} s"


def _protocol(run: RunFiles) -> str:
    frozen = (run.folder / "frozen.json").is_file()
    changed = run.manifest.get("exploratory") or []
    text = "study file frozen before the first answer (frozen.json)" if frozen else "the study was not frozen"
    return f"{text}; changed afterwards: {join_words(changed)}" if changed else text


def _files(run: RunFiles) -> str:
    return "study.toml, manifest.json, marks.parquet, measures.csv, comparisons.csv; answers with prompts: --pack"


def _flow(run: RunFiles) -> str:
    """Cases, and the marks of every candidate: at the reference condition, as all results are."""
    counts = _reference_marks(run).group_by("candidate", "outcome").len().collect()
    texts = []
    for name in dict.fromkeys([*run.candidates, *counts["candidate"].sort()]):
        own = dict(counts.filter(candidate=name).select("outcome", "len").rows())
        outcomes = [f"{outcome} {own[outcome]:,}" for outcome in OUTCOMES if outcome in own]
        texts.append(f"{name} {', '.join(outcomes) or 'none'}")
    where = " at the reference condition" if run.varied_axes else ""
    return f"{_cases(run)}; marks{where} ({run.study.trials} trials): {'; '.join(texts)}"


def _reference_marks(run: RunFiles) -> pl.LazyFrame:
    return marks_at_reference(run.all_marks, run.study)


def _results(run: RunFiles) -> str:
    texts = []
    for measure in score_measures(run):
        lines = [run.find_line(measure, name, {}) for name in ranked_candidates(run)]
        figures = [
            f"{line.candidate} {percent(line.value)} ({format_interval(measure, line.low, line.high) or 'no interval'})"
            for line in lines
            if line is not None and line.value is not None
        ]
        texts += [f"{measure_title(measure)}: {'; '.join(figures)}"] if figures else []
    return ". ".join(texts)


def _groups(run: RunFiles) -> str:
    present = {key for line in run.measure_lines for key in line.slice}
    keys = [key.replace("_", " ") for key in GROUP_KEYS if key in present]
    return f"results by {join_words(keys)} (section Groups of patients)" if keys else ""


def _crosstab(run: RunFiles) -> str:
    return "each option as a yes/no test (section Sensitivity and specificity); every answer and its key: marks.parquet"


def _degradation(run: RunFiles) -> str:
    values = [value for value in run.declared_values("degradation") if value != "none"]
    return f"degraded images: {', '.join(values)} (section Image quality)" if values else ""


def _drift(run: RunFiles) -> str:
    repeated = "answers were repeated during the run to see whether a model changed (sentinels)"
    return repeated if run.manifest.get("sentinel") else ""


def _warnings(run: RunFiles) -> str:
    warnings = warnings_of(run.manifest)
    return f"{len(warnings)} warnings: {'; '.join(warnings)}" if warnings else "no warnings"


FACTS: dict[str, Fact] = {
    "task": _task,
    "objectives": _objectives,
    "cases": _cases,
    "composition": _composition,
    "cutoffs": _cutoffs,
    "preparation": _preparation,
    "omitted": _omitted,
    "unread": _unread,
    "models": _models,
    "sampling": _sampling,
    "prompts": _prompts,
    "conditions": _conditions,
    "output": _output,
    "confidence": _confidence,
    "measures": _measures,
    "judge": _judge,
    "dates": _dates,
    "software": _software,
    "people": _people,
    "comparisons": _comparisons,
    "acceptance": _acceptance,
    "clusters_needed": _clusters_needed,
    "cost": _cost,
    "protocol": _protocol,
    "files": _files,
    "flow": _flow,
    "results": _results,
    "groups": _groups,
    "crosstab": _crosstab,
    "degradation": _degradation,
    "drift": _drift,
    "warnings": _warnings,
    "blinding": lambda run: "candidates are shown only what the condition says, never the key",
    "no_summarization": lambda run: "not applicable: nothing is summarised",
    "no_tuning": lambda run: "not applicable: wardround tunes no model",
}
