"""The item table of a reporting guideline as Markdown: what the run knows, and what the author must add."""

import tomllib
from importlib.resources import files
from pathlib import Path

from pydantic import Field

from wardround.core.errors import WardroundError
from wardround.core.files import write_file
from wardround.core.toml_table import StrictTable
from wardround.reporting.checklists.run_facts import FACTS
from wardround.reporting.run_files import RunFiles, read_run

CHECKLISTS = ("tripod-llm", "stard-ai")


class ChecklistItem(StrictTable):
    number: str
    section: str
    topic: str
    known: list[str] = []  # names of FACTS
    add: str = ""


class Checklist(StrictTable):
    title: str
    source: str
    items: list[ChecklistItem] = Field(min_length=1)


def load_checklist(name: str) -> Checklist:
    if name not in CHECKLISTS:
        raise WardroundError(f"there is no checklist {name!r}; expected one of {', '.join(CHECKLISTS)}")
    text = (files(__package__) / f"{name.replace('-', '_')}.toml").read_text(encoding="utf-8")
    return Checklist.model_validate(tomllib.loads(text))


def write_checklist(folder: Path, name: str, out: Path | None = None) -> Path:
    """Writes the table of a guideline for a run: by default RUN/NAME.md."""
    text = checklist_text(read_run(folder), load_checklist(name))
    target = out or folder / f"{name}.md"
    write_file(target, text)
    return target


def checklist_text(run: RunFiles, checklist: Checklist) -> str:
    facts = {name: fact(run) for name, fact in FACTS.items()}
    lines = [
        f"# {checklist.title}: {run.name}",
        "",
        f"{checklist.source}. The numbers are the guideline's; the words are wardround's, so read the original too. "
        "What a run knows is filled in, and the last column is the author's.",
        *([] if run.is_complete else ["", "**The run is incomplete.**"]),
        "",
        "| item | section | about | known from the run | the author adds |",
        "|---|---|---|---|---|",
    ]
    for item in checklist.items:
        known = ". ".join(filter(None, (facts[name].rstrip(".") for name in item.known)))
        cells = (item.number, item.section, item.topic, known, item.add)
        lines.append(f"| {' | '.join(_cell(text) for text in cells)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
