"""Builds the starter case set: our texts, with images taken out of the installed packages."""

from __future__ import annotations

import importlib.util
import shutil
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import PIL.Image

from wardround.building.sources.dicom.deidentifying import deidentified, write
from wardround.building.sources.dicom.identifiers import Known
from wardround.building.sources.dicom.secret import Secret
from wardround.cases.images import pixels, recipe_for
from wardround.cases.set import FILE_NAME, write_case_set
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput, WardroundError

ORIGIN = "wardround-starter"
OPEN_PROMPT = "What is the most likely diagnosis? Name the most likely first."
NO_SECRET = b"starter"  # the files are public: their new UIDs only have to be the same every time
DISTRIBUTIONS = {"skimage": "scikit-image"}  # where pip knows a package by another name


def build_starter(folder: Path) -> Path:
    """Writes the starter case set into a folder and returns that folder. Building again gives the same bytes."""
    folder = Path(folder)
    _refuse_another_set(folder / FILE_NAME)
    entries = _told("images.toml")
    cases = [_case(told, entries) for told in _told("cases.toml")["case"]]
    (folder / "images").mkdir(parents=True, exist_ok=True)
    for name, entry in entries.items():
        _take(entry, folder / _path(name, entries))
    (folder / "README.md").write_text(_text("README.md"), encoding="utf-8")
    write_case_set(cases, folder)
    return folder


def _refuse_another_set(file: Path) -> None:
    if file.exists() and ORIGIN not in file.read_text(encoding="utf-8", errors="replace"):
        raise BadInput(file, "is another case set; the starter set does not overwrite it")


def _told(name: str) -> dict[str, Any]:
    return tomllib.loads(_text(name))


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _case(told: dict[str, Any], entries: dict[str, Any]) -> Case:
    shown = dict(told["image"])
    name = shown.pop("name")
    entry = entries[name]
    written: dict[str, Any] = {
        "id": told["id"],
        "split": told["split"],
        "specialty": told["specialty"],
        "tags": told["tags"],
        "cluster": entry["picture"],
        "origin": {"name": ORIGIN},
        "patient": told["patient"],
        "history": _one_line(told["history"]),
        "images": [{"path": _path(name, entries), "modality": entry["modality"], **shown}],
        "questions": list(_questions(told)),
    }
    if "findings" in told:
        written["findings"] = _one_line(told["findings"])
    return Case.model_validate(written)


def _questions(told: dict[str, Any]) -> list[dict[str, Any]]:
    choice = told["mcq"]
    questions = [{"id": "mcq", "kind": "choice", **choice, "gold": choice["options"].index(choice["gold"])}]
    if "open" in told:
        questions.append({"id": "open", "kind": "open", "prompt": OPEN_PROMPT, **told["open"]})
    return questions


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _path(name: str, entries: dict[str, Any]) -> str:
    """A number instead of the name, which may tell what a question asks."""
    entry = entries[name]
    suffix = ".png" if "crop" in entry else "".join(Path(entry["file"]).suffixes)
    return f"images/picture-{list(entries).index(name) + 1:02d}{suffix}"


def _take(entry: dict[str, Any], there: Path) -> None:
    """Copies an image out of its package, or cuts its part out. DICOM headers go the way of a hospital's."""
    source = _installed(entry["package"]) / entry["file"]
    if not source.is_file():
        raise BadInput(source, "is not in the installed package; the starter set needs it")
    if "crop" not in entry and source.suffix == ".dcm":
        write(deidentified(source, Secret(NO_SECRET), Known()), there)
        return
    if "crop" not in entry:
        shutil.copyfile(source, there)
        return
    image = Image(path=source.name, modality=entry["modality"])
    whole = PIL.Image.fromarray(pixels(source, None, recipe_for(image)))
    whole.crop(tuple(entry["crop"])).save(there)


def _installed(package: str) -> Path:
    """The folder of an installed package, found without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        name = DISTRIBUTIONS.get(package, package)
        raise WardroundError(f"the starter set takes images from {name}, which is not installed: pip install {name}")
    return Path(spec.submodule_search_locations[0])
