"""Plug-ins: the example package adds one extension of every kind; mistakes are told in one line."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from exam_study import WARDROUND, wardround
from fresh_environment import FreshEnvironment, build_distributions
from PIL import Image

from wardround import plugins
from wardround.core.errors import WardroundError

ROOT = Path(__file__).resolve().parent.parent
KINDS = ("providers", "benchmarks", "readers", "degradations", "measures", "judges", "sections")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> FreshEnvironment:
    """wardround and the example package, installed as users install them."""
    folder = tmp_path_factory.mktemp("plugin")
    environment = FreshEnvironment.make(folder)
    environment.install(
        *(build_distributions(project, folder, "--wheel")["wheel"] for project in (ROOT, ROOT / "examples" / "plugin"))
    )
    (folder / "quiz.csv").write_text(
        "question,right,wrong1,wrong2,wrong3\n"
        + "".join(f"Question {n}?,disease {n} alpha,flu,disease {n} gamma,disease {n} delta\n" for n in range(12)),
        encoding="utf-8",
    )
    environment.run("wardround", "cases", "convert", "quiz.csv", "--from", "quiz", "--out", "cases")
    return environment


def test_the_installed_wheel_is_what_runs(environment: FreshEnvironment) -> None:
    place = environment.run("python", "-c", "import wardround; print(wardround.__file__)")

    assert place.startswith(str(environment.folder))


def test_the_command_lists_one_extension_of_every_kind(environment: FreshEnvironment) -> None:
    listed = json.loads(environment.run("wardround", "plugins", "--json"))["plugins"]

    example = {plugin["group"]: plugin["name"] for plugin in listed if plugin["origin"] == "wardround-example 1.0"}
    assert sorted(example) == sorted(KINDS)


def test_a_provider_a_benchmark_a_measure_and_a_section_work_together(environment: FreshEnvironment) -> None:
    command = ("bench", "letters/table1", "--cases", "cases", "--candidate", "brief=shortest", "--json")

    result = json.loads(environment.run("wardround", *command))

    run = environment.folder / result["run"]
    measures = pl.read_csv(run / "measures.csv").filter(measure="accuracy", candidate="brief")
    chosen = pl.read_csv(run / "measures.csv").filter(measure="first_option", candidate="brief", slice="{}")
    assert set(measures["value"]) == {0.0}  # "flu" is the shortest option of every question, and wrong
    assert chosen["value"].item() == 0.0
    assert chosen["high"].item() > 0.0  # an interval over 12 cases, like any other measure
    assert "Marked answers" in (run / "report.html").read_text(encoding="utf-8")
    assert "First" in json.dumps(result["tables"])
    recorded = json.loads((run / "manifest.json").read_text(encoding="utf-8"))["plugins"]
    assert {"group": "providers", "name": "shortest", "origin": "wardround-example 1.0"} in recorded


def test_a_judge_marks_open_answers(environment: FreshEnvironment) -> None:
    case = {"id": "o", "questions": [{"id": "q", "kind": "open", "prompt": "?", "gold": "aortic stenosis"}]}
    (environment.folder / "open").mkdir()
    (environment.folder / "open" / "cases.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")
    (environment.folder / "open.toml").write_text(
        'name = "open"\ncases = "open"\n[[candidates]]\nname = "s"\nprovider = "simulated"\n'
        'extra_body = { hit1 = 1.0, hit3 = 1.0 }\n[judge]\nprovider = "initials"\n',
        encoding="utf-8",
    )

    environment.run("wardround", "run", "open.toml")

    marks = pl.read_parquet(environment.folder / "runs" / "open" / "marks.parquet")
    assert marks["judge"].to_list() == ["initials-1"]
    assert marks["hits"].to_list()[0][0] is True


def test_a_degradation_is_drawn_by_worker_processes(environment: FreshEnvironment) -> None:
    Image.fromarray(np.full((64, 64), 200, np.uint8)).save(environment.folder / "flat.png")
    command = ("degrade", "flat.png", "--types", "vignette", "--levels", "L2", "--out", "degraded", "--workers", "2")

    environment.run("wardround", *command)

    copy = next((environment.folder / "degraded").rglob("*.png"))
    pixels = np.asarray(Image.open(copy))
    assert pixels[32, 32] == pytest.approx(200, abs=2)
    assert pixels[0, 0] == pytest.approx(200 * (1 - 0.8), abs=2)  # the corner: both squares are 1, halved to 1


def test_a_file_adds_a_provider_without_packaging(tmp_path: Path) -> None:
    plugin = (ROOT / "examples" / "plugin" / "src" / "wardround_example" / "provider.py").read_text(encoding="utf-8")
    plugin = plugin.replace("class Shortest", '@provider("shortest")\nclass Shortest')
    plugin = plugin.replace("from wardround.core", "from wardround.plugins import provider\nfrom wardround.core")
    (tmp_path / "mine.py").write_text(plugin, encoding="utf-8")
    question = {"id": "q", "kind": "choice", "prompt": "?", "options": ["long option", "x"], "gold": 1}
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "cases.jsonl").write_text(json.dumps({"id": "a", "questions": [question]}) + "\n")
    (tmp_path / "study.toml").write_text(
        'name = "p"\ncases = "cases"\n[[candidates]]\nname = "s"\nprovider = "shortest"\nsees = false\n'
    )

    done = wardround("--plugins", "mine.py", "run", "study.toml", cwd=tmp_path, command=WARDROUND)

    assert done.returncode == 0, done.stderr
    assert pl.read_parquet(tmp_path / "runs" / "p" / "marks.parquet")["outcome"].to_list() == ["right"]


def test_an_unknown_group_is_refused() -> None:
    with pytest.raises(WardroundError, match="no plug-in group 'parsers'; the groups are providers"):
        plugins.extensions("parsers")


def test_two_registrations_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_from_files", {})
    plugins.register("sections", "mine", object())

    with pytest.raises(WardroundError, match=r"two plug-ins register 'mine' in wardround\.sections"):
        plugins.register("sections", "mine", object())


def test_a_file_that_fails_is_told_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("1 / 0\n")

    done = wardround("--plugins", file, "plugins", cwd=tmp_path)

    assert done.returncode == 1
    assert done.stderr.strip().endswith("broken.py: could not be loaded: ZeroDivisionError: division by zero")
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("package", ["numpy", "polars", "pillow", "wardround"])
def test_the_version_of_a_package_is_that_of_its_metadata(package: str) -> None:
    assert plugins.package_version(package) == importlib.metadata.version(package)


def test_every_group_is_documented() -> None:
    page = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")

    assert [group for group in plugins.GROUPS if f"wardround.{group}" not in page] == []
