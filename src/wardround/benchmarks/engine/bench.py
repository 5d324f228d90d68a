"""Runs a named study: the paper's table on any cases and candidates, with intervals, in every format."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from wardround.benchmarks.engine.bench_sets import run_on_case_sets
from wardround.benchmarks.engine.benchmark import REPORT_SECTION, STUDY_FILE
from wardround.benchmarks.engine.composition import composition_tables
from wardround.benchmarks.engine.drawing import Drawing, draw, write_table, write_table_files
from wardround.benchmarks.engine.inventory import SetInventory
from wardround.benchmarks.engine.literature import literature_settings, needs_literature
from wardround.benchmarks.engine.named_study import NamedStudy, find_study
from wardround.benchmarks.engine.report_section import make_section, report_table, study_of_run
from wardround.benchmarks.engine.requirements import missing_requirement
from wardround.benchmarks.engine.study_file import study_settings, write_study
from wardround.cases.set import CaseSet
from wardround.cases.splits import DEV
from wardround.core.errors import WardroundError
from wardround.core.store.location import StoreLocation
from wardround.degrade.types import parse_type
from wardround.marking.parser.choice import parser_version
from wardround.pipeline import RunOutcome, run_study
from wardround.reporting.run_files import RunFiles, read_run
from wardround.reporting.sections.section import Section
from wardround.reporting.tables.table import Table
from wardround.reporting.wording import wording_note

CARRY = ("own", "gold")  # what --carry may be; other values of the axis are conditions of studies


@dataclass(frozen=True)
class BenchResult:
    """The tables of a named study, the files written, and how the run ended."""

    name: str
    tables: list[Table]
    folder: Path | None = None
    files: list[Path] = field(default_factory=list)
    exit_code: int = 0
    status: str = "complete"
    why: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON: every cell with its figure, interval and n."""
        return {
            "study": self.name,
            "run": str(self.folder) if self.folder else None,
            "status": self.status,
            "why": self.why,
            "tables": [asdict(table) for table in self.tables],
            "files": [str(file) for file in self.files],
        }

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in self.tables)


def bench(
    study: str | NamedStudy,
    *,
    cases: Path,
    candidates: list[dict[str, Any]],
    judge: Mapping[str, Any] | None = None,
    runs: Path | None = None,
    answers: StoreLocation | None = None,
    trials: int | None = None,
    type: str | None = None,
    encoder: str | None = None,
    index: str | None = None,
    reranker: str | None = None,
    logprobs: bool = False,
    carry: str | None = None,
    image_size: str | None = None,
    unlimited_agent: bool = False,
    prompts: Path | None = None,
    parser: str | None = None,
    published: bool = False,
    accept_ignored: bool = False,
    note: Callable[[str], None] = print,
) -> BenchResult:
    """Runs a named study or continues it, and writes its table (and figure) into the run folder.

    `study` is a name (`cure/table1`) or a path (`./my-benchmark/table1`), `type` the degradation of its doses,
    `encoder` the image encoder of a feature map, `index` the source of evidence, `reranker` what reorders its hits.
    `logprobs` derives votes from one request's log-probabilities, `carry` says which earlier answers a stage is given,
    and `image_size` whether large images are shrunk (`limited`) or sent as they are (`native`). `unlimited_agent`: an
    agent may reply and search as often as its transcript and the budget allow. `accept_ignored` goes on with settings
    that a server ignores, and labels them in every table.
    """
    check_options(carry, parser)
    study = find_study(study) if isinstance(study, str) else study
    name, definition, runs = study.name, study.definition, runs or Path("runs")
    if definition.unavailable_reason:
        raise WardroundError(f"{name} {definition.unavailable_reason}")
    if definition.is_composition:
        return BenchResult(name, composition_tables(CaseSet.open(cases), study, published=published))
    if definition.drawn_from == "cases":
        folder = runs / study.run_name
        tables, files = study.benchmark.section_function(study.key)(CaseSet.open(cases), folder, encoder, note)
        return BenchResult(name, _add_choices(tables, study), folder, files)
    if not candidates:
        raise WardroundError(f"{name} needs a candidate: --candidate NAME=PROVIDER, or --candidates FILE")
    if definition.drawn_from == "sets":
        results = run_on_case_sets(
            *(study, cases, candidates),
            runs=runs,
            answers=answers,
            trials=trials,
            prompts=prompts,
            parser=parser,
            accept_ignored=accept_ignored,
            note=note,
        )
        return _draw_case_sets(study, results, runs / study.run_name, note)
    if study.template.errors and judge is None:
        raise WardroundError(f"{name} needs a judge that is a model: --judge ADDRESS,model=...")
    if study.template.doses:
        if type is None:
            raise WardroundError(f"{name} needs a type of degradation: --type gaussian_noise")
        type = parse_type(type)
    literature = None
    if needs_literature(study.template):
        if index is None:
            raise WardroundError(f"{name} needs literature: --index INDEX (`wardround literature build` makes one)")
        literature = literature_settings(study.template, index, reranker, unlimited_agent=unlimited_agent)
    inventory = SetInventory.from_cases(CaseSet.open(cases))
    if missing := missing_requirement(definition, inventory, has_index=index is not None, has_type=type is not None):
        note(f"{name} asks for more than the case set has: {missing}")
    if carry is not None:
        _check_carry(study, inventory)
    if inventory.has("split", DEV) and len(inventory.counts["split"]) > 1:
        count = inventory.counts["split"][DEV]
        note(f"{count} cases are for development; `wardround cases convert --split test` leaves them out")
    settings = study_settings(
        *(name, study.template, cases, candidates),
        trials=trials,
        judge=judge,
        type=type,
        stored=inventory.has("degraded", "stored") and not inventory.has("degraded", "assigned"),
        logprobs=logprobs,
        carry=carry,
        image_size=image_size,
        literature=literature,
        prompts=prompts,
        parser=parser,
    )
    file = runs / settings["name"] / STUDY_FILE
    write_study(settings, file, study.label)
    section = _DrawnSection(study, published, note)
    ended = run_study(
        file,
        runs=runs,
        answers=answers,
        named_study=study.to_manifest() | ({"published": True} if published else {}),
        keeps_choice=parser is None,
        accept_ignored=accept_ignored,
        sections={REPORT_SECTION: section},
        note=note,
    )
    if not read_run(ended.folder).all_marks.head(1).collect().height and ended.exit_code == 0:
        raise WardroundError(f"{name}: the case set has nothing that it can ask{f': {missing}' if missing else ''}")
    if section.drawing is None:  # the report says that the section failed; this raises its error
        section(read_run(ended.folder))
    return _result(study, ended, section.tables, section.files)


def check_options(carry: str | None, parser: str | None) -> None:
    """Refuses values that --carry and --parser do not have."""
    if carry is not None and carry not in CARRY:
        raise WardroundError(f"--carry {carry}: expected one of {', '.join(CARRY)}")
    if parser is not None:
        parser_version(parser)


def _check_carry(study: NamedStudy, inventory: SetInventory) -> None:
    """Refuses --carry where it could change nothing."""
    if "carry" in study.template.conditions:
        raise WardroundError(f"{study.name} asks with every value of carry already: leave out --carry")
    if not inventory.has("chain"):
        raise WardroundError("--carry is for chains, and no question of this case set belongs to one")


class _DrawnSection:
    """The report section of a study, which keeps what it drew and writes its files: all is drawn once."""

    def __init__(self, study: NamedStudy, published: bool, note: Callable[[str], None]) -> None:
        self._study, self._published, self._note = study, published, note
        self.drawing: Drawing | None = None
        self.tables: list[Table] = []
        self.files: list[Path] = []

    def __call__(self, run: RunFiles) -> Section:
        drawing = draw(self._study, run)
        table = drawing.with_published() if self._published else drawing.table
        self.files = write_table(table, self._study, run.folder, self._note)
        section = make_section(drawing, self.files if report_table(drawing) == table else None)
        extra_tables = drawing.extra_tables if self._published else drawing.extra_tables_without_published()
        for number, extra in enumerate(extra_tables, 2):
            self.files += write_table_files(extra, run.folder, f"table-{number}")
        self.tables, self.files = [table, *extra_tables], [*self.files, *drawing.extra_files]
        for message in drawing.messages:
            self._note(message)
        self.drawing = drawing
        return section


def redraw(run: RunFiles, note: Callable[[str], None]) -> Section | None:
    """The section of a bench run, whose table.* and figures are written anew; None for a run of another kind."""
    study = study_of_run(run)
    if study is None:
        return None
    if not study.definition.columns:
        note(f"the table of {study.name} is over several runs: `wardround bench {study.name}` draws it anew")
        return None
    shows_published = bool((run.manifest.get("named_study") or {}).get("published"))
    return _DrawnSection(study, shows_published, note)(run)


def _draw_case_sets(
    study: NamedStudy, results: list[tuple[str, RunFiles, RunOutcome]], folder: Path, note: Callable[[str], None]
) -> BenchResult:
    """One table of the runs on all case sets."""
    folder.mkdir(parents=True, exist_ok=True)
    runs = [(set_name, run) for set_name, run, _ in results]
    tables, files = study.benchmark.section_function(study.key)(runs, folder, note)
    wording = list(dict.fromkeys(filter(None, (wording_note(run.manifest) for _, run in runs))))
    tables = [replace(table, notes=[*table.notes, *wording]) for table in _add_choices(tables, study)]
    worst = max((ended for _, _, ended in results), key=lambda ended: ended.exit_code)
    return replace(
        _result(study, worst, tables, [*write_table_files(tables[0], folder, "table"), *files]), folder=folder
    )


def _add_choices(tables: list[Table], study: NamedStudy) -> list[Table]:
    return [replace(table, notes=[*table.notes, *study.definition.choices]) for table in tables]


def _result(study: NamedStudy, ended: RunOutcome, tables: list[Table], files: list[Path]) -> BenchResult:
    manifest = ended.manifest
    return BenchResult(study.name, tables, ended.folder, files, ended.exit_code, manifest["status"], manifest["why"])
