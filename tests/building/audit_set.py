"""A case set without any leak or shortcut, and the same set with each kind of them planted."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pydicom
from exam_study import write_cases
from PIL import Image, PngImagePlugin
from pydicom.data import get_testdata_file

Cases = list[dict[str, Any]]
SYLLABLES = ["bar", "cel", "dor", "fen", "gal", "hil", "jor", "kel", "lum", "mar", "nor", "pel", "quin", "ros", "sil"]
ENDINGS = ["osis", "itis", "oma", "emia", "opathy", "algia"]


def word(draw: random.Random, parts: int = 2) -> str:
    return "".join(draw.choice(SYLLABLES) for _ in range(parts))


def clean_cases(count: int = 120, seed: int = 2, options: int = 4) -> Cases:
    """Cases of invented words: histories and diseases share none, golds go round, clusters have one or two cases."""
    draw = random.Random(seed)
    vocabulary = [f"{word(draw, 2)}ing" for _ in range(500)]
    diseases = sorted({f"{word(draw)}ic {word(draw)}{draw.choice(ENDINGS)}" for _ in range(3 * count)})
    golds = [number % options for number in range(count)]
    draw.shuffle(golds)
    cases = []
    for number in range(count):
        offered = draw.sample(diseases, options)
        cluster = number - number % 2 if number % 6 < 2 else number
        cases.append(
            {
                "id": f"case-{number:03}",
                "split": "dev" if cluster % 10 == 9 else "test",
                "specialty": draw.choice(["neuro", "chest"]),
                "cluster": f"patient-{cluster}",
                "origin": {"name": "invented", "pmids": [str(31_000_000 + number)], "gene": f"ZQ{number}X"},
                "patient": {"age": draw.randint(1, 90), "sex": draw.choice("FM")},
                "history": " ".join(draw.choice(vocabulary) for _ in range(50)) + ".",
                "questions": [
                    {
                        "id": "mcq",
                        "kind": "choice",
                        "prompt": "What is the most likely diagnosis?",
                        "options": offered,
                        "gold": golds[number],
                        "accept": [f"{word(draw, 3)} disease"],
                    }
                ],
            }
        )
    return cases


def gold(case: dict[str, Any]) -> str:
    question = case["questions"][0]
    return question["options"][question["gold"]]


def picture(seed: int) -> Image.Image:
    noise = np.random.default_rng(seed).integers(0, 256, (24, 24), dtype=np.uint8)
    return Image.fromarray(noise).resize((96, 96), Image.Resampling.BICUBIC)


def write_clean(folder: Path, cases: Cases, count: int = 30) -> Cases:
    """Gives the first cases an image each: PNG, JPEG and DICOM. Their files reveal nothing."""
    (folder / "images").mkdir(parents=True)
    for number, case in enumerate(cases[:count]):
        suffix = ("png", "jpg", "dcm")[number % 3]
        case["images"] = [{"path": f"images/{number}.{suffix}", "modality": "CT"}]
        if suffix == "dcm":
            write_dicom(image_of(folder, case), number)
        else:
            picture(number).save(image_of(folder, case))
    write_cases(folder, cases)
    return cases


def image_of(folder: Path, case: dict[str, Any]) -> Path:
    return folder / case["images"][0]["path"]


def write_dicom(file: Path, seed: int, **tags: str) -> None:
    dataset = pydicom.dcmread(get_testdata_file("CT_small.dcm"))
    for name in ("PatientName", "PatientID", "PatientBirthDate", "AccessionNumber", "OtherPatientIDs"):
        if name in dataset:
            delattr(dataset, name)
    dataset.OtherPatientIDsSequence = []
    shown = np.asarray(picture(seed).resize((dataset.Columns, dataset.Rows)), dtype=np.int16) * 4
    dataset.PixelData = shown.tobytes()
    for name, value in tags.items():
        setattr(dataset, name, value)
    dataset.save_as(file)


Plant = Callable[[Path, dict[str, Any], Cases], None]


def _add_to_history(text: Callable[[dict[str, Any]], str]) -> Plant:
    def plant(folder: Path, case: dict[str, Any], cases: Cases) -> None:
        case["history"] += " " + text(case)

    return plant


def _words_apart(case: dict[str, Any]) -> str:
    first, second = gold(case).split()
    return f"The {second} seemed at last to be {first}."


def _core(folder: Path, case: dict[str, Any], cases: Cases) -> None:
    case["history"] += f" There had been {gold(case)}."
    question = case["questions"][0]
    question["options"][question["gold"]] = f"{gold(case).title()} (stage III), complicated by sepsis"


def _impossible(folder: Path, case: dict[str, Any], cases: Cases) -> None:
    question = case["questions"][0]
    case["patient"]["sex"] = "F"
    question["options"][(question["gold"] + 1) % len(question["options"])] = "Prostatic melosis"


def _in_prompt(folder: Path, case: dict[str, Any], cases: Cases) -> None:
    case["questions"][0]["prompt"] = f"Which stage of {gold(case)} is it?"


def _file_name(folder: Path, case: dict[str, Any], cases: Cases) -> None:
    name = f"images/{gold(case).replace(' ', '_')}_1.png"
    image_of(folder, case).rename(folder / name)
    case["images"][0]["path"] = name


def _exif(folder: Path, case: dict[str, Any], cases: Cases) -> None:
    exif = Image.Exif()
    exif[0x010E] = f"{gold(case)}, third week"
    picture(cases.index(case)).save(image_of(folder, case), exif=exif)


def _png_text(text: str) -> Plant:
    def plant(folder: Path, case: dict[str, Any], cases: Cases) -> None:
        chunk = PngImagePlugin.PngInfo()
        chunk.add_text("Comment", text.format(gold=gold(case)))
        picture(cases.index(case)).save(image_of(folder, case), pnginfo=chunk)

    return plant


def _dicom(**tags: str) -> Plant:
    def plant(folder: Path, case: dict[str, Any], cases: Cases) -> None:
        filled = {name: value.format(gold=gold(case)) for name, value in tags.items()}
        write_dicom(image_of(folder, case), cases.index(case), **filled)

    return plant


def _same_text(folder: Path, case: dict[str, Any], cases: Cases) -> None:
    case["history"] = cases[60]["history"].upper()


def _nearly_same_text_across_splits(folder: Path, case: dict[str, Any], cases: Cases) -> None:
    words = cases[61]["history"].split()
    words[10] = "otherwise"
    case["history"], case["split"] = " ".join(words), "train"


def _split_cluster(folder: Path, case: dict[str, Any], cases: Cases) -> None:
    case["cluster"], case["split"] = cases[102]["cluster"], "train"


def _same_image(folder: Path, case: dict[str, Any], cases: Cases) -> None:
    picture(cases.index(case) - 3).save(image_of(folder, case))


def _near_image_across_splits(folder: Path, case: dict[str, Any], cases: Cases) -> None:
    picture(cases.index(case) - 3).resize((64, 64)).save(image_of(folder, case))
    case["split"] = "train"


def _image_twice(folder: Path, case: dict[str, Any], cases: Cases) -> None:
    case["images"] *= 2


def _unreadable(folder: Path, case: dict[str, Any], cases: Cases) -> None:
    image_of(folder, case).write_bytes(image_of(folder, case).read_bytes()[:200])


def _blank(folder: Path, case: dict[str, Any], cases: Cases) -> None:
    greys = np.full((96, 96), 200, np.uint8)
    greys[:2, :2] = 0
    Image.fromarray(greys).save(image_of(folder, case))


def _initials(case: dict[str, Any]) -> str:
    return "".join(word[0] for word in gold(case).split()).upper()


# name of the plant: (kind, severity, the number of the case, how it is planted there)
PLANTS: dict[str, tuple[str, str, int, Plant]] = {
    "name": ("leak_name", "error", 40, _add_to_history(lambda case: f"Known to have {gold(case).title()}.")),
    "synonym": ("leak_name", "error", 41, _add_to_history(lambda case: case["questions"][0]["accept"][0].upper())),
    "in the prompt": ("leak_name", "error", 42, _in_prompt),
    "words": ("leak_words", "error", 43, _add_to_history(_words_apart)),
    "core": ("leak_core", "error", 48, _core),
    "head noun": ("head_noun", "warning", 49, _add_to_history(lambda case: f"A {gold(case).split()[1]} was seen.")),
    "initials": ("leak_initials", "warning", 52, _add_to_history(lambda case: f"Known to have {_initials(case)}.")),
    "impossible": ("impossible_option", "warning", 51, _impossible),
    "omim": ("leak_id", "error", 44, _add_to_history(lambda case: "See OMIM:612164.")),
    "icd": ("leak_id", "error", 45, _add_to_history(lambda case: "Coded as ICD-10 G40.3.")),
    "pmid": ("leak_id", "error", 46, _add_to_history(lambda case: f"As told in {case['origin']['pmids'][0]}.")),
    "gene": ("leak_gene", "error", 47, _add_to_history(lambda case: f"The panel found {case['origin']['gene']}.")),
    "other gene": ("gene_named", "warning", 50, _add_to_history(lambda case: "A STXBP1 mutation was excluded.")),
    "file name": ("leak_file_name", "error", 0, _file_name),
    "exif": ("leak_file_text", "error", 1, _exif),
    "dicom tag": ("leak_file_text", "error", 2, _dicom(StudyDescription="CT, {gold}")),
    "png text": ("leak_file_text", "error", 3, _png_text("{gold}")),
    "patient name": ("patient_identity", "error", 5, _dicom(PatientName="Musterfrau^Erika")),
    "patient id": ("patient_identity", "warning", 8, _dicom(PatientID="4711-0815")),
    "identity in png": ("patient_identity", "error", 9, _png_text("Patient name: Erika Musterfrau")),
    "same text": ("duplicate_text", "warning", 105, _same_text),
    "near text across splits": ("near_text", "error", 106, _nearly_same_text_across_splits),
    "cluster in splits": ("cluster_in_splits", "error", 104, _split_cluster),
    "same image": ("duplicate_image", "warning", 15, _same_image),
    "near image across splits": ("near_image", "error", 21, _near_image_across_splits),
    "image twice": ("repeated_image", "warning", 22, _image_twice),
    "unreadable": ("unreadable_image", "error", 10, _unreadable),
    "blank": ("blank_image", "warning", 16, _blank),
}


def _longer_gold(case: dict[str, Any], number: int) -> None:
    case["questions"][0]["options"][case["questions"][0]["gold"]] += " with several organs involved"


def _shorter_gold(case: dict[str, Any], number: int) -> None:
    question = case["questions"][0]
    question["options"] = [f"{option} of several organs" for option in question["options"]]
    question["options"][question["gold"]] = gold(case).removesuffix(" of several organs")


def _second_place(case: dict[str, Any], number: int) -> None:
    question = case["questions"][0]
    if number % 2:
        options, place = question["options"], question["gold"]
        options[place], options[1] = options[1], options[place]
        question["gold"] = 1


def _word_of_gold_in_history(case: dict[str, Any], number: int) -> None:
    case["history"] += f" Signs were {gold(case).split()[0]}."


def _always_right(case: dict[str, Any], number: int) -> None:
    question = case["questions"][0]
    common = ["Gallic norosis", "Marbar peloma", "Silic fenemia"]
    question["options"] = [common[number % 3] if place == question["gold"] else option
                           for place, option in enumerate(question["options"])]  # fmt: skip


def _telling_word(case: dict[str, Any], number: int) -> None:
    question = case["questions"][0]
    question["options"] = [
        f"{'probable' if place == question['gold'] else 'possible'} {option}"
        for place, option in enumerate(question["options"])
    ]


SHORTCUT_PLANTS: dict[str, Callable[[dict[str, Any], int], None]] = {
    "longest": _longer_gold,
    "shortest": _shorter_gold,
    "position": _second_place,
    "overlap": _word_of_gold_in_history,
    "prior": _always_right,
    "words": _telling_word,
}
