"""Tiny models of five architectures, each made and loaded once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tiny_chat_models import qwen_processor, save_model


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if missing := [name for name in ("torch", "transformers") if find_spec(name) is None]:
        for item in items:
            if item.path.parent == Path(__file__).parent:
                item.add_marker(pytest.mark.skip(reason=f"{' and '.join(missing)} not installed"))


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a model of some kind."""
    return cache(lambda kind: save_model(kind, tmp_path_factory.mktemp("models") / kind, thinks=kind == "llama"))


@pytest.fixture(scope="session")
def engine_of(model_folder: Callable[[str], Path]) -> Iterator[Callable[[str], Any]]:
    """A running engine of some kind."""
    from transformers import AutoProcessor

    from wardround.candidates.transformers.engine import Engine
    from wardround.candidates.transformers.job import ModelPlan
    from wardround.candidates.transformers.loading import load_model

    engines = []

    @cache
    def engine(kind: str) -> Engine:
        with pytest.MonkeyPatch.context() as patch:
            if kind == "qwen2_5_vl":
                patch.setattr(AutoProcessor, "from_pretrained", lambda folder, **_: qwen_processor(folder))
            engines.append(Engine(load_model(ModelPlan(str(model_folder(kind)), kind))))
        return engines[-1]

    yield engine
    for started in engines:
        started.close()
