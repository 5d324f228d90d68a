"""The samples of a task, and the solver that asks them as `wardround run` would."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import orjson

from wardround.candidates.candidate import Request
from wardround.candidates.inspect.conversion import messages_of
from wardround.cases.encoded_image import EncodedImage
from wardround.core.ask import Ask, ImagePart
from wardround.degrade.recipe import render_degraded
from wardround.exporting.single_asks import SingleAsk, SingleAsks
from wardround.reporting.case_pages import changed_axes

CACHED_IMAGES = 64  # encoded images in memory; the questions about one image follow each other


def make_samples(asks: SingleAsks) -> dict[str, tuple[SingleAsk, Any]]:
    """Every question under every condition with its sample, by the id of the sample."""
    from inspect_ai.dataset import Sample

    has_conditions = len(asks.study.all_conditions) > 1
    samples: dict[str, tuple[SingleAsk, Any]] = {}
    for asked in asks:
        values = asked.condition.values
        axes = {axis: values[axis] for axis in asks.study.varied_axes} if has_conditions else {}
        id = "/".join([asked.case.id, asked.question.id, *(f"{axis}={value}" for axis, value in axes.items())])
        metadata = {"case": asked.case.id, "question": asked.question.id, **changed_axes(values)}
        text = _shown_text(asks.render(asked, trial=0).ask)
        samples[id] = asked, Sample(id=id, input=text, target=asked.question.gold_text, metadata=metadata)
    return samples


def make_solver(asks: SingleAsks, asked_by_id: Mapping[str, SingleAsk]) -> Any:
    """Sends the messages of the trial that the epoch stands for: options rotate by it, images are drawn when needed."""
    from inspect_ai.solver import solver

    def ask_question() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            asked, trial = asked_by_id[str(state.sample_id)], state.epoch - 1
            rendered = asks.render(asked, trial)
            parts = [part for message in rendered.ask.messages for part in message.parts]
            images = [
                await asyncio.to_thread(_encode, part.path, part.json) for part in parts if isinstance(part, ImagePart)
            ]
            request = Request(
                *(rendered.ask, asked.case, asked.question, asked.condition, rendered.order, (trial,)),
                images=tuple(images),
            )
            state.messages = messages_of(request)
            return await generate(state)

        return solve

    return solver(name="wardround_ask")(ask_question)()


@lru_cache(CACHED_IMAGES)
def _encode(path: str, part: str) -> EncodedImage:
    """An image as it is sent; `part` is the canonical JSON of its frame and recipe."""
    named = orjson.loads(part)
    return render_degraded(path, named["frame"], tuple(map(tuple, named["recipe"])))


def _shown_text(ask: Ask) -> str:
    """The prompt as Inspect's viewer lists it; the messages of the log have the images."""
    parts = [part for message in ask.messages for part in message.parts]
    return "\n".join("[image]" if isinstance(part, ImagePart) else part for part in parts)
