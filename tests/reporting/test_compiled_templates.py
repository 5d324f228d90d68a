"""Compiled templates are kept beside their sources, and never used for another source."""

import sys

import pytest
from jinja2 import Environment, FileSystemLoader

from wardround.reporting import templating
from wardround.reporting.compiled_templates import CompiledTemplates


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with one template, in a process that writes compiled modules beside their sources."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    (tmp_path / "page.html").write_text("{{ name }} of {{ 2|unit }}")
    (tmp_path / "filters.py").write_text("first version")
    return tmp_path


def render(folder, unit="mm"):
    """The page as a new process renders it, and whether it had to compile it."""
    compiled = []

    class Counting(Environment):
        def _compile(self, source, filename):
            compiled.append(filename)
            return super()._compile(source, filename)

    environment = Counting(
        loader=FileSystemLoader(folder), bytecode_cache=CompiledTemplates([str(folder / "filters.py")])
    )
    environment.filters["unit"] = lambda value: f"{value} {unit}"
    return environment.get_template("page.html").render(name="size"), bool(compiled)


def test_a_template_is_compiled_once(folder):
    assert render(folder) == ("size of 2 mm", True)
    assert render(folder) == ("size of 2 mm", False)


def test_a_changed_template_is_compiled_again(folder):
    render(folder)

    (folder / "page.html").write_text("{{ name }}: {{ 2|unit }}")

    assert render(folder) == ("size: 2 mm", True)


def test_a_changed_filter_is_not_answered_by_what_the_old_one_said_of_a_constant(folder):
    render(folder)

    (folder / "filters.py").write_text("second version")

    assert render(folder, unit="cm") == ("size of 2 cm", True)


@pytest.mark.parametrize("size", [0, 10, 60, -1])
def test_a_file_that_was_written_by_half_is_not_used(folder, size):
    render(folder)
    (file,) = (folder / "__pycache__").iterdir()

    file.write_bytes(file.read_bytes()[:size])

    assert render(folder) == ("size of 2 mm", True)
    assert render(folder) == ("size of 2 mm", False)


def test_nothing_is_kept_where_python_keeps_nothing(folder, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    assert [render(folder), render(folder)] == [("size of 2 mm", True)] * 2
    assert not (folder / "__pycache__").exists()


def test_a_folder_that_cannot_be_written_is_no_error(folder):
    (folder / "__pycache__").write_text("a file where the folder should be")

    assert [render(folder), render(folder)] == [("size of 2 mm", True)] * 2


def test_the_modules_of_all_filters_are_looked_at():
    cache = templating.environment().bytecode_cache
    modules = {sys.modules[function.__module__].__file__ for function in templating.FILTERS}

    assert cache._environment == CompiledTemplates([templating.__file__, *sorted(modules)])._environment
