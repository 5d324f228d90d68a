"""The Python interface: the same engine and files as the commands, usable in a notebook."""

from __future__ import annotations

import asyncio
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from exam_server import ExamServer
from exam_study import case, write_cases
from PIL import Image

import wardround as wr
from wardround.core.errors import WardroundError
from wardround.core.interrupt import interrupt_runs

ROOT = Path(__file__).resolve().parent.parent
HOSTILE = "<script>alert('x')</script>"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with eight cases, each with an image; commands and studies are relative to it."""
    (tmp_path / "cases").mkdir()
    rng = np.random.default_rng(0)
    cases = []
    for number in range(8):
        Image.fromarray(rng.integers(0, 255, (32, 32), dtype=np.uint8)).save(tmp_path / "cases" / f"{number}.png")
        cases.append(
            case(number, history=f"History {number} {HOSTILE}", images=[{"path": f"{number}.png", "modality": "CT"}])
        )
    write_cases(tmp_path / "cases", cases)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make_study(**fields: object) -> wr.Study:
    candidates = [
        wr.Candidate(name="able", provider="simulated", extra_body={"accuracy": 0.75, "seed": 1}),
        wr.Candidate(name="random", provider="random"),
    ]
    settings = {"name": "first", "cases": "cases", "trials": 2, "seed": 3, "candidates": candidates}
    return wr.Study(**(settings | {"conditions": {"images": ["as-is", "blank"]}} | fields))


@pytest.mark.parametrize(
    ("modules", "libraries"),
    [
        ("wardround", ["numpy", "polars", "pydantic"]),
        ("wardround.cli.main", ["numpy", "polars", "pydantic"]),  # --help answers at once
        ("wardround.pipeline, wardround.benchmarks.engine.report_section", ["aiohttp", "altair", "numba"]),
        ("wardround.pipeline, wardround.running.study_run", ["numba", "lancedb", "pyarrow"]),  # memory of each process
    ],
)
def test_import_loads_no_library(modules: str, libraries: list[str]) -> None:
    program = f"import sys, {modules}; print([name for name in {libraries} if name in sys.modules])"

    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert loaded.strip() == "[]"


@pytest.mark.parametrize("name", wr.__all__)
def test_every_public_name_exists_and_is_documented(name: str) -> None:
    assert getattr(wr, name) is not None
    assert f"wr.{name}" in (ROOT / "docs" / "python.md").read_text(encoding="utf-8")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'exam'"):
        _ = wr.exam


def test_a_study_made_in_python_is_the_one_that_its_file_says(workspace: Path) -> None:
    study = make_study(sampling={"temperature": 0.5, "stop": ["\n"]}, judge={"provider": "lexical"})
    file = workspace / "study.toml"
    file.write_text(study.to_toml(), encoding="utf-8")

    again = wr.load_study(file)

    assert again == study
    assert again.hash == study.hash


def test_run_writes_the_files_of_the_command(workspace: Path) -> None:
    study = make_study()
    (workspace / "study.toml").write_text(study.to_toml(), encoding="utf-8")

    from_python = wr.run(study, runs="python/runs", quiet=True)
    from_file = wr.run("study.toml", runs="file/runs", quiet=True)

    for name in ("study.toml", "measures.csv", "comparisons.csv"):
        assert (from_python.folder / name).read_bytes() == (from_file.folder / name).read_bytes()
    assert from_python.marks.equals(from_file.marks)
    assert from_python.status == "complete"


def test_tables_are_data_frames(workspace: Path) -> None:
    run = wr.run(make_study(), quiet=True)

    accuracy = run.measures.filter(measure="accuracy", candidate="able", slice='{"images":"as-is"}')
    right = (
        run.marks.filter(pl.col("candidate") == "able", pl.col("condition").str.contains("as-is"))["outcome"] == "right"
    )

    assert accuracy["value"].item() == pytest.approx(right.mean())
    assert run.comparisons.columns[0] == "measure"


def test_answers_are_what_was_shown_and_replied(workspace: Path) -> None:
    run = wr.run(make_study(), quiet=True)

    answers = run.answers(candidate="able", condition={"images": "as-is"}, case="case-3", trial=0)
    answer = answers[0]
    wrong = run.answers(outcome="wrong", candidate="able")

    assert len(answers) == 1
    assert "History 3" in answer.prompt
    assert answer.condition["images"] == "as-is"
    shown = np.asarray(Image.open(io.BytesIO(answer.images[0])))
    assert (shown == np.asarray(Image.open(workspace / "cases" / "3.png"))).all()
    assert len(wrong) == run.marks.filter(outcome="wrong", candidate="able").height
    assert {record.outcome for record in wrong} == {"wrong"}


def test_answers_cannot_be_filtered_by_what_marks_do_not_have(workspace: Path) -> None:
    run = wr.run(make_study(), quiet=True)

    with pytest.raises(wr.WardroundError, match="filtered by 'color'; marks have candidate"):
        run.answers(color="red")


def test_what_a_notebook_shows_is_escaped(workspace: Path) -> None:
    run = wr.run(make_study(), quiet=True)

    shown = [run, run.answers(candidate="able"), run.answers(candidate="able")[0], run.report]

    for value in shown:
        assert HOSTILE not in value._repr_html_()
    assert "History 3 &lt;script&gt;" in run.answers(case="case-3")[0]._repr_html_()


def test_run_works_inside_a_running_event_loop(workspace: Path) -> None:
    async def cell() -> tuple[wr.Run, wr.Run]:
        return wr.run(make_study(), quiet=True), await wr.arun(make_study(name="second"), quiet=True)

    first, second = asyncio.run(cell())

    assert first.measures.drop("version").equals(second.measures.drop("version"))


def test_an_interrupted_run_in_a_thread_keeps_its_answers(workspace: Path) -> None:
    """The server holds replies until the run was interrupted: what is in flight then is finished and stored."""
    with ExamServer() as server:
        server.hold(answers=3)
        model = wr.Candidate(name="m", provider="openai", base_url=server.url, model="m", concurrency=1)
        study = make_study(candidates=[model])

        async def cell() -> wr.Run:
            running = asyncio.ensure_future(wr.arun(study, quiet=True))
            await asyncio.to_thread(server.wait_for, lambda: server.held > 0)
            interrupt_runs()
            server.release()
            return await running

        run = asyncio.run(cell())

    assert (run.status, run.manifest["why"]) == ("incomplete", "it was interrupted")
    assert 0 < run.marks.height < 32


def test_mark_and_report_repeat_a_run_from_its_answers(workspace: Path) -> None:
    run = wr.run(make_study(), quiet=True)
    before = (run.folder / "measures.csv").read_bytes()
    (run.folder / "measures.csv").unlink()
    (run.folder / "report.html").unlink()

    (workspace / "judge.toml").write_text('[judge]\nprovider = "lexical"\n', encoding="utf-8")

    again = wr.mark(run, judge="judge.toml")
    page = wr.report(run, with_cases=True)

    assert (again.folder / "measures.csv").read_bytes() == before
    assert page.path.exists()
    assert list((run.folder / "cases").glob("*.html"))


def test_compare_writes_one_page(workspace: Path) -> None:
    first, second = wr.run(make_study(), quiet=True), wr.run(make_study(name="second", trials=1), quiet=True)

    page = wr.compare(first, second)

    assert "second" in page.path.read_text(encoding="utf-8")


def test_check_asks_once_and_counts(workspace: Path) -> None:
    result = wr.check(make_study())

    assert result.ready
    assert result.summary["cases"] == 8


def test_a_paper_table_is_drawn_from_a_run(workspace: Path) -> None:
    result = wr.bench("medq-deg/table6", cases="cases", candidates=make_study().candidates, trials=1, runs="bench")

    table = wr.load_run(result.folder).table("medq-deg/table6")

    assert {row.labels[0] for row in table.rows if not row.published} == {"able", "random"}
    assert "<table" in table._repr_html_()
    assert "<table" in result._repr_html_()


def test_power_needs_more_cases_for_a_smaller_difference() -> None:
    assert wr.power(0.05).clusters > wr.power(0.1).clusters > 0


def test_a_folder_that_is_not_a_run_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(wr.WardroundError, match=r"is not a run folder, because it has no manifest\.json"):
        wr.load_run(tmp_path)


def test_cases_are_loaded_and_shown(workspace: Path) -> None:
    cases = wr.load_cases("cases")

    assert isinstance(cases, wr.CaseSet)
    assert len(cases) == 8
    assert HOSTILE not in next(iter(cases))._repr_html_()
    assert "case-0" in cases._repr_html_()


@pytest.mark.parametrize("wrong", [None, 3, [], {}, b"x", object()])
@pytest.mark.parametrize(
    "call",
    [
        *(
            wr.check,
            wr.run,
            wr.mark,
            wr.report,
            wr.compare,
            wr.load_run,
            wr.load_cases,
            wr.load_study,
            wr.starter_cases,
        ),
        *(wr.starter_cases, wr.CaseSet.open, wr.bench),
        lambda value: wr.load_cases("cases", value),
        lambda value: wr.bench("cure/table2", candidates=[value], cases="cases"),
        lambda value: wr.grid(candidates=value),
        lambda value: wr.power(value if value != 3 else None),
        lambda value: wr.power(0.1, accuracy=value),
        lambda value: wr.run("study.toml", runs=value or [], sort=1),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_in_one_line(call, wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(wr.WardroundError) as refused:
        call(wrong)
    assert "\n" not in str(refused.value)


def test_an_option_that_does_not_exist_is_refused_by_name():
    with pytest.raises(wr.WardroundError, match=r"wr\.run: got an unexpected keyword argument 'trails'"):
        wr.run("study.toml", trails=3)
    with pytest.raises(wr.WardroundError, match=r"wr\.bench: missing a required.* 'cases'"):
        wr.bench("cure/table2")


def test_a_study_is_read_by_a_path_or_a_text(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text('name = "x"\ncases = "y"\n[[candidates]]\nname = "a"\nprovider = "random"\n')
    assert wr.load_study(str(file)) == wr.load_study(file)


def test_a_reply_or_an_image_of_a_wrong_type_is_one_line() -> None:
    for reply, options in ((None, ["x", "y"]), ("A", "xy")):
        with pytest.raises(WardroundError, match="expected a reply as a text"):
            wr.parse_choice(reply, options)
    with pytest.raises(WardroundError, match="expected an image as an array of pixels, not NoneType"):
        wr.degrade(None, "gaussian_noise", "L1")


def test_an_image_of_pillow_is_degraded_like_its_array() -> None:
    pixels = np.arange(64 * 64, dtype=np.uint8).reshape(64, 64)
    by_pillow = wr.degrade(Image.fromarray(pixels), "gaussian_noise", "L1")
    assert np.array_equal(by_pillow, wr.degrade(pixels, "gaussian_noise", "L1"))
