"""`wardround plugins` and the global option --plugins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wardround import plugins
from wardround.cli.main import main
from wardround.cli.shared_options import move_to_front

SECTION = """
from markupsafe import Markup
from wardround.plugins import section
from wardround.reporting import Section


@section("greeting")
def greeting(run):
    return Section("greeting", "Greeting", Markup("<p>hello from a file</p>"))
"""


@pytest.fixture(autouse=True)
def no_plugin_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test starts without plug-in files, and leaves none behind."""
    monkeypatch.setattr(plugins, "_from_files", {})
    monkeypatch.setattr(plugins, "_loaded_files", {})
    monkeypatch.setenv(plugins.FILES_VARIABLE, "")


@pytest.fixture
def plugin_file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(SECTION, encoding="utf-8")
    return path


def exit_code(monkeypatch: pytest.MonkeyPatch, *args: object) -> int:
    monkeypatch.setattr("sys.argv", ["wardround", *map(str, args)])
    with pytest.raises(SystemExit) as exit:
        main()
    return int(exit.value.code or 0)


@pytest.mark.parametrize("is_before", [True, False], ids=["before the command", "after the command"])
def test_a_plugin_file_is_loaded_before_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], plugin_file: Path, is_before: bool
) -> None:
    option = ["--plugins", plugin_file]
    args = [*option, "plugins", "--json"] if is_before else ["plugins", *option, "--json"]
    assert exit_code(monkeypatch, *args) == 0
    listed = json.loads(capsys.readouterr().out)["plugins"]
    assert {"group": "sections", "name": "greeting", "origin": str(plugin_file)} in listed


def test_installed_plugins_are_listed_with_their_package(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(monkeypatch, "plugins") == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["sections", "bench", "wardround"] in [row[:3] for row in rows]


def test_several_plugin_files_are_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], plugin_file: Path
) -> None:
    second = plugin_file.with_name("second.py")
    second.write_text(SECTION.replace('"greeting")', '"farewell")'), encoding="utf-8")
    assert exit_code(monkeypatch, "plugins", "--plugins", plugin_file, f"--plugins={second}", "--json") == 0
    names = {plugin["name"] for plugin in json.loads(capsys.readouterr().out)["plugins"]}
    assert {"greeting", "farewell"} <= names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / 0\n", "could not be loaded: ZeroDivisionError: division by zero"),
        ("def (\n", "could not be loaded: SyntaxError"),
        (SECTION + SECTION, "two plug-ins register 'greeting' in wardround.sections"),
        (None, "is not a file"),
    ],
)
def test_a_plugin_file_that_fails_is_one_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    plugin_file: Path,
    text: str | None,
    message: str,
) -> None:
    if text is None:
        plugin_file.unlink()
    else:
        plugin_file.write_text(text, encoding="utf-8")
    assert exit_code(monkeypatch, "--plugins", plugin_file, "plugins") == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert message in output.err
    assert output.err.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["run", "s.toml"], ["run", "s.toml"]),
        (["run", "s.toml", "--plugins", "a.py", "--pack"], ["--plugins", "a.py", "run", "s.toml", "--pack"]),
        (["--plugins=a.py", "run", "--plugins", "b.py"], ["--plugins=a.py", "--plugins", "b.py", "run"]),
        (["run", "--plugins"], ["--plugins", "run"]),
        (["run", "--", "--plugins", "a.py"], ["run", "--", "--plugins", "a.py"]),
    ],
)
def test_the_option_is_moved_before_the_command(args: list[str], expected: list[str]) -> None:
    assert move_to_front(args, "--plugins") == expected
