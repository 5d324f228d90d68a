"""Builds the starter case set: our texts, with images from installed packages."""

import shutil
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import PIL.Image

from wardround.building.sources.dicom.deidentification import deidentify_file, write_dicom
from wardround.building.sources.dicom.identifiers import NO_IDENTIFIERS
from wardround.building.sources.dicom.secret import Secret
from wardround.building.sources.packaged_images import find_packaged_file
from wardround.cases.images import pixels, recipe_for
from wardround.cases.set import FILE_NAME, write_case_set
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput
from wardround.core.text import single_line

ORIGIN = "wardround-starter"
OPEN_PROMPT = "What is the most likely diagnosis? Name the most likely first."
PUBLIC_SALT = b"starter"  # the files are public: their new UIDs only have to be the same every time


def build_starter(folder: Path) -> Path:
    """Writes the starter case set into a folder and returns that folder. Building again gives the same bytes."""
    folder = Path(folder)
    file = folder / FILE_NAME
    if file.exists() and ORIGIN not in file.read_text(encoding="utf-8", errors="replace"):
        raise BadInput(file, "is another case set; the starter set does not overwrite it")
    entries = _read_toml("images.toml")
    cases = [_case(fields, entries) for fields in _read_toml("cases.toml")["case"]]
    (folder / "images").mkdir(parents=True, exist_ok=True)
    for name, entry in entries.items():
        _write_image(entry, folder / _path(name, entries))
    (folder / "README.md").write_text(_text("README.md"), encoding="utf-8")
    write_case_set(cases, folder)
    return folder


def _read_toml(name: str) -> dict[str, Any]:
    return tomllib.loads(_text(name))


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _case(fields: dict[str, Any], entries: dict[str, Any]) -> Case:
    image = dict(fields["image"])
    name = image.pop("name")
    entry = entries[name]
    case: dict[str, Any] = {
        "id": fields["id"],
        "split": fields["split"],
        "specialty": fields["specialty"],
        "tags": fields["tags"],
        "cluster": entry["picture"],
        "origin": {"name": ORIGIN},
        "patient": fields["patient"],
        "history": single_line(fields["history"]),
        "images": [{"path": _path(name, entries), "modality": entry["modality"], **image}],
        "questions": list(_questions(fields)),
    }
    if "findings" in fields:
        case["findings"] = single_line(fields["findings"])
    return Case.model_validate(case)


def _questions(fields: dict[str, Any]) -> list[dict[str, Any]]:
    choice = fields["mcq"]
    questions = [{"id": "mcq", "kind": "choice", **choice, "gold": choice["options"].index(choice["gold"])}]
    if "open" in fields:
        questions.append({"id": "open", "kind": "open", "prompt": OPEN_PROMPT, **fields["open"]})
    return questions


def _path(name: str, entries: dict[str, Any]) -> str:
    """A number instead of the name, which may reveal the answer."""
    entry = entries[name]
    suffix = ".png" if "crop" in entry else "".join(Path(entry["file"]).suffixes)
    return f"images/picture-{list(entries).index(name) + 1:02d}{suffix}"


def _write_image(entry: dict[str, Any], target: Path) -> None:
    """Copies an image from its package, or a crop of it. DICOM files are de-identified."""
    source = find_packaged_file(entry["package"], entry["file"])
    if "crop" not in entry and source.suffix == ".dcm":
        write_dicom(deidentify_file(source, Secret(PUBLIC_SALT), NO_IDENTIFIERS), target)
        return
    if "crop" not in entry:
        shutil.copyfile(source, target)
        return
    image = Image(path=source.name, modality=entry["modality"])
    whole = PIL.Image.fromarray(pixels(source, None, recipe_for(image)))
    whole.crop(tuple(entry["crop"])).save(target)
