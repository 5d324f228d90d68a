"""A case set as tasks of lm-evaluation-harness: a folder for `lm_eval --include_path`. Choice questions only.

Three tasks, as far as there are questions for them: log-likelihoods of the letters, replies read by our strict parser,
and replies to questions with images. Keys of the YAML files as lm-eval 0.4.13 reads them (looked up 2026-11-18).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from wardround.cases.set import CaseSet
from wardround.core.ask import ImagePart
from wardround.core.errors import BadInput
from wardround.core.files import new_folder, write_file
from wardround.core.study import Study
from wardround.core.text import option_letter
from wardround.degrade.recipe import render_degraded
from wardround.exporting.destination import require_new_folder
from wardround.exporting.single_asks import CANDIDATE, SingleAsks

IMAGE_PLACE = "<image>"  # what lm-eval replaces by the model's own token
MAX_REPLY_TOKENS = 1024  # lm-eval needs a limit; its own default of 256 cuts reasoning
TEXT_QUESTIONS, IMAGE_QUESTIONS = "questions.jsonl", "image_questions.jsonl"
LOADING_FILE = '''"""What the tasks beside this file need: their questions and images."""

import json
from pathlib import Path

import datasets

FOLDER = Path(__file__).parent


def load_text_questions(**_):
    return _load("questions.jsonl")


def load_image_questions(**_):
    return _load("image_questions.jsonl")


def _load(name):
    with (FOLDER / name).open(encoding="utf-8") as lines:
        return {"test": datasets.Dataset.from_list([json.loads(line) for line in lines])}


def open_images(question):
    from PIL import Image

    return [Image.open(FOLDER / path).convert("RGB") for path in question["images"]]
'''
# imported when lm-eval loads the task, so that a missing package is named before a model is asked
MARKING_FILE = '''"""The marks of replies, by the strict parser of wardround (pip install wardround)."""

from wardround.marking.parser.choice import parse_choice


def mark_reply(question, replies):
    option = parse_choice(replies[0], question["options"], mode="strict").option
    return {"acc": float(option == question["gold"]), "unparsed": float(option is None)}
'''
COMMON = """test_split: test
doc_to_text: prompt
doc_to_target: gold
num_fewshot: 0
metadata:
  version: 1
"""
LETTERS_TASK = """task: {task}
custom_dataset: !function questions.load_text_questions
output_type: multiple_choice
doc_to_choice: letters
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
"""
REPLIES_TASK = """task: {task}
custom_dataset: !function questions.{loader}
output_type: generate_until
process_results: !function replies.mark_reply
generation_kwargs:
  until: []
  do_sample: false
  temperature: 0.0
  max_gen_toks: {tokens}
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
  - metric: unparsed
    aggregation: mean
    higher_is_better: false
"""


def export_cases(source: Path, out: Path, note: Callable[[str], None]) -> list[Path]:
    """Writes the folder; `note` says how many questions were left out, and why."""
    require_new_folder(out)
    cases = CaseSet.open(source)
    study = Study(name="lm-eval", cases=str(cases.folder), candidates=[CANDIDATE])
    asks = SingleAsks(study, cases)
    rows: dict[str, list[dict[str, Any]]] = {TEXT_QUESTIONS: [], IMAGE_QUESTIONS: []}
    with new_folder(out) as draft:
        for asked in asks:
            messages = asks.render(asked, trial=0).ask.messages
            parts = [part for message in messages for part in message.parts]
            images = [_write_image(part, draft) for part in parts if isinstance(part, ImagePart)]
            rows[IMAGE_QUESTIONS if images else TEXT_QUESTIONS].append(
                {
                    "case": asked.case.id,
                    "question": asked.question.id,
                    "prompt": "".join(_text(part) for part in parts),
                    "options": asked.question.choices,
                    "letters": [option_letter(place) for place in range(len(asked.question.choices))],
                    "gold": asked.question.gold,
                    "images": images,
                }
            )
        if not any(rows.values()):
            raise BadInput(source, f"has no question for lm-eval: {_describe(asks.left_out) or 'it has no questions'}")
        files = _write_tasks(draft, _task_name(cases), rows)
    if asks.left_out:
        note(f"left out: {_describe(asks.left_out)}")
    return [out / file for file in files]


def _write_tasks(folder: Path, name: str, rows: dict[str, list[dict[str, Any]]]) -> list[str]:
    files = {"questions.py": LOADING_FILE, "replies.py": MARKING_FILE}
    for file, questions in rows.items():
        if questions:
            files[file] = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in questions)
    if rows[TEXT_QUESTIONS]:
        files[f"{name}.yaml"] = LETTERS_TASK.format(task=name) + COMMON
        task = f"{name}_replies"
        settings = REPLIES_TASK.format(task=task, loader="load_text_questions", tokens=MAX_REPLY_TOKENS)
        files[f"{task}.yaml"] = settings + COMMON
    if rows[IMAGE_QUESTIONS]:
        task = f"{name}_images"
        settings = REPLIES_TASK.format(task=task, loader="load_image_questions", tokens=MAX_REPLY_TOKENS)
        files[f"{task}.yaml"] = settings + "doc_to_image: !function questions.open_images\n" + COMMON
    for file, text in files.items():
        write_file(folder / file, text)
    return sorted(files)


def _write_image(part: ImagePart, folder: Path) -> str:
    """Writes an image as it would be sent, and returns its path in the folder."""
    encoded = render_degraded(Path(part.path), part.frame, part.recipe)
    path = f"images/{encoded.sha256}.{encoded.media_type.partition('/')[2]}"
    (folder / "images").mkdir(exist_ok=True)
    (folder / path).write_bytes(encoded.data)
    return path


def _text(part: str | ImagePart) -> str:
    """A part of a prompt; a text that itself contains lm-eval's mark of an image loses it."""
    return f"{IMAGE_PLACE}\n" if isinstance(part, ImagePart) else part.replace(IMAGE_PLACE, "")


def _task_name(cases: CaseSet) -> str:
    return re.sub(r"\W", "_", cases.folder.resolve().name)


def _describe(left_out: Counter[str]) -> str:
    counts: Iterable[tuple[str, int]] = left_out.most_common()
    return "; ".join(f"{count} x {reason}" for reason, count in counts)
