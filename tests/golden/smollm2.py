"""Asks SmolLM2 the questions whose replies are kept here: `python tests/golden/smollm2.py TRIAL OUT [STEP]`.

Run once for smollm2_replies.jsonl (trial 0) and once for the model-made part of held_out.jsonl (trial 1, every sixth).
The labels are added afterwards by reading.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tomllib
from collections.abc import AsyncIterator, Iterator
from importlib import resources
from pathlib import Path

from wardround.candidates.candidate import Request
from wardround.candidates.local.model import Local
from wardround.core.ask import Ask, Message, Sampling
from wardround.core.case import Case
from wardround.core.condition import Condition
from wardround.core.study import CandidateSettings
from wardround.core.text import LETTERS

sys.path.insert(0, str(Path(__file__).parents[1] / "running"))
from test_votes_against_logprobs import QUESTIONS

STARTERS = 14
ENDINGS = {
    "letter": ("Answer with the letter of the right option only.", 24),
    "sentence": ('Think briefly, then end your reply with the sentence "The answer is [Option]."', 64),
    "json": ('Reply with a JSON object only: {"answer": the letter, "confidence": a number from 0 to 1}.', 48),
    "steps": ("Think step by step, then give your answer.", 128),
    "confidence": ("Give the letter of your answer, and say in words how sure you are.", 48),
    "prose": ("What do you think, and why?", 64),
}


def questions() -> Iterator[tuple[str, list[str]]]:
    """The short questions and those of some starter cases."""
    for line in QUESTIONS.strip().splitlines():
        prompt, *options = line.split("|")
        yield prompt, options
    text = resources.files("wardround.building.sources.starter").joinpath("cases.toml").read_text(encoding="utf-8")
    for case in tomllib.loads(text)["case"][:STARTERS]:
        yield f"{' '.join(case['history'].split())}\n\n{case['mcq']['prompt']}", case["mcq"]["options"]


async def replies(trial: int, step: int) -> AsyncIterator[dict[str, object]]:
    """One reply to every question, or to every `step`-th, under every ending."""
    model = Local(CandidateSettings(name="SmolLM2", provider="local", model="smollm2", sees=False))
    await model.prepare(None)  # type: ignore[arg-type]
    asked = [(name, *question) for name in ENDINGS for question in questions()]
    for name, question, options in asked[::step]:
        ending, tokens = ENDINGS[name]
        shown = "\n".join(f"{letter}. {option}" for letter, option in zip(LETTERS, options, strict=False))
        message = Message("user", (f"{question}\n{shown}\n\n{ending}",))
        ask = Ask(model.identity, Sampling(temperature=1.0, max_tokens=tokens), (message,))
        record = {"id": "q", "kind": "choice", "prompt": question, "options": options, "gold": 0}
        case = Case.model_validate({"id": "c", "questions": [record]})
        request = Request(ask, case, case.questions[0], Condition(), tuple(range(len(options))), (trial,))
        reply = (await model.answer(request)).answers[0].text
        yield {"prompt": name, "options": options, "reply": reply}
    await model.close()


async def write(trial: int, out: Path, step: int = 1) -> None:
    with out.open("w", encoding="utf-8") as file:
        async for reply in replies(trial, step):
            print(json.dumps(reply, ensure_ascii=False), file=file, flush=True)


if __name__ == "__main__":
    asyncio.run(write(int(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:])))
