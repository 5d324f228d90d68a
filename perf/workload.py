"""The work that all peers do: questions about images of 200 kB, as a case set and as plain texts."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from PIL import Image

from wardround.asking.prompts import Prompts
from wardround.cases.set import write_case_set
from wardround.core.case import Case

LARGE, SMALL = 450, 140  # noise of this size is a PNG of 200 kB, of 20 kB
MODEL = "null"
HISTORY = (
    "A 58-year-old woman is seen for six weeks of dull pain below the right ribs, worse after meals, with "
    "loss of appetite and three kilograms of weight. She has no fever and no jaundice. She had a "
    "cholecystectomy eleven years ago and takes a drug for high blood pressure. On examination the abdomen is "
    "soft with slight tenderness in the right upper quadrant and no mass. Blood tests show mild anaemia, "
    "normal liver enzymes and a slightly raised C-reactive protein."
)
OPTIONS = ["Focal nodular hyperplasia", "Haemangioma", "Hepatic metastasis", "Simple hepatic cyst"]


def write_cases(folder: Path, cases: int, questions: int, *, images: int, side: int) -> None:
    """A case set with so many questions a case, one image each, and so many different images."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(0)
    for number in range(images):
        noise = draw.integers(0, 256, (side, side), dtype=np.uint8)
        Image.fromarray(noise).save(folder / f"{number}.png")
    write_case_set((_case(number, questions, number % images) for number in range(cases)), folder)


def write_text_cases(folder: Path, cases: int, questions: int) -> None:
    """The same without images."""
    write_case_set((_case(number, questions, None) for number in range(cases)), folder)


def _case(number: int, questions: int, image: int | None) -> Case:
    asked = [
        {"id": f"q{place}", "kind": "choice", "prompt": _prompt(number, place), "options": OPTIONS, "gold": place % 4}
        for place in range(questions)
    ]
    shown = [{"path": f"{image}.png", "modality": "CT"}] if image is not None else []
    return Case.model_validate({"id": f"case-{number}", "history": HISTORY, "images": shown, "questions": asked})


def _prompt(number: int, place: int) -> str:
    return f"Which diagnosis explains finding {place + 1} of patient {number + 1} best?"


def write_study(folder: Path, url: str, name: str = "perf", **candidate: Any) -> Path:
    """A study of the case set in this folder with one candidate at this address."""
    settings = {"name": "null", "provider": "openai", "base_url": url, "model": MODEL, **candidate}
    lines = [f'name = "{name}"', 'cases = "."', "[sampling]", "temperature = 0.0", "max_tokens = 8", "[[candidates]]"]
    lines += [f"{key} = {orjson.dumps(value).decode()}" for key, value in settings.items()]
    file = folder / f"{name}.toml"
    file.write_text("\n".join(lines) + "\n")
    return file


def plain_asks(folder: Path, count: int) -> list[tuple[str, Path]]:
    """The first asks of the study as texts and images: the same words without wardround's records."""
    prompts = Prompts()
    asks: list[tuple[str, Path]] = []
    with (folder / "cases.jsonl").open("rb") as lines:
        for line in lines:
            case = orjson.loads(line)
            for question in case["questions"]:
                options = "\n".join(f"{letter}. {text}" for letter, text in zip("ABCD", OPTIONS, strict=True))
                slots = {
                    "images": "Images, in order: 1. CT",
                    "history": case["history"],
                    "question": question["prompt"],
                    "options": options,
                }
                asks.append((prompts.fill("paper", "choice", slots), folder / case["images"][0]["path"]))
    return asks[:count]


def with_bytes(asks: list[tuple[str, Path]]) -> list[tuple[str, bytes]]:
    """The same with each image's bytes in memory, once."""
    files = {path: path.read_bytes() for _, path in asks}
    return [(text, files[path]) for text, path in asks]


def messages(text: str, image: bytes) -> list[dict[str, Any]]:
    """One user's message with an image as a data URI."""
    url = f"data:image/png;base64,{base64.b64encode(image).decode()}"
    return [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": text}]}
    ]
