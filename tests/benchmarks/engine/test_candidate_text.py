"""Candidates as they are typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wardround.benchmarks.engine.candidate_text import parse_candidate, read_candidates
from wardround.core.errors import WardroundError


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("random", {"name": "random", "provider": "random"}),
        ("floor=random,sees=false", {"name": "floor", "provider": "random", "sees": False}),
        (
            "q=http://127.0.0.1:8000/v1,model=Qwen/Q-8B,temperature=0.5",
            {
                "name": "q",
                "provider": "openai",
                "base_url": "http://127.0.0.1:8000/v1",
                "model": "Qwen/Q-8B",
                "temperature": 0.5,
            },
        ),
        (
            "q=openai,base_url=https://host/v1?a=b,api_key_env=KEY",
            {"name": "q", "provider": "openai", "base_url": "https://host/v1?a=b", "api_key_env": "KEY"},
        ),
        (
            "s=simulated,extra_body.accuracy=0.7,extra_body.mode=independent",
            {"name": "s", "provider": "simulated", "extra_body": {"accuracy": 0.7, "mode": "independent"}},
        ),
        (
            'm=local,model=a, b and c,stop=["x","y"]',
            {"name": "m", "provider": "local", "model": "a, b and c", "stop": ["x", "y"]},
        ),
    ],
)
def test_a_typed_candidate_is_the_table_of_a_study(text: str, table: dict[str, Any]) -> None:
    assert parse_candidate(text) == table


@pytest.mark.parametrize("text", ["", "=random", "a=", "a=model=b", "a=random,sees=false,sees.well=true"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(WardroundError, match="candidate"):
        parse_candidate(text)


def test_a_candidates_file_gives_candidates_and_judge(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text('[[candidates]]\nname = "a"\nprovider = "random"\n[judge]\nprovider = "lexical"\n')
    assert read_candidates(file) == ([{"name": "a", "provider": "random"}], {"provider": "lexical"})


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("name = 1", "name: unknown key"),
        ("", "has no [[candidates]]"),
        ("= 1", "is not TOML"),
        (None, "no such candidates file"),
    ],
)
def test_another_file_is_refused_in_one_line(tmp_path: Path, text: str | None, complaint: str) -> None:
    file = tmp_path / "c.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(WardroundError) as error:
        read_candidates(file)
    assert complaint in str(error.value)
    assert json.dumps(str(error.value)).count("\\n") == 0
