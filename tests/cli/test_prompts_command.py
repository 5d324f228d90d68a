"""`wardround prompts`: our own prompts are listed and printed with their slots."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from wardround.asking.prompts import own_folder
from wardround.cli.main import app


def test_list_names_every_prompt_with_its_kinds() -> None:
    printed = CliRunner().invoke(app, ["prompts", "list"]).output
    assert "choice, choice-images, choice-images-verbal" in printed
    prompts = json.loads(CliRunner().invoke(app, ["prompts", "list", "--json"]).output)["prompts"]
    assert prompts["judge"] == ["criteria", "criterion", "error", "error-images", "same", "support"]


def test_show_prints_the_text_as_it_is_and_what_its_slots_hold() -> None:
    printed = CliRunner().invoke(app, ["prompts", "show", "medq-deg/choice"]).output
    assert (own_folder() / "medq-deg" / "choice.txt").read_text(encoding="utf-8").rstrip("\n") in printed
    assert "{options} (needed): the options with their letters, one a line" in printed
    assert "{history}: the patient's history" in printed


def test_show_of_a_name_prints_all_its_kinds() -> None:
    recorded = json.loads(CliRunner().invoke(app, ["prompts", "show", "judge", "--json"]).output)["prompts"]
    assert [record["name"] for record in recorded] == [
        "judge/criteria",
        "judge/criterion",
        "judge/error",
        "judge/error-images",
        "judge/same",
        "judge/support",
    ]
    assert recorded[2]["needed"] == ["question", "gold", "answer", "reasoning"]


def test_an_unknown_prompt_or_kind_is_one_line_with_those_that_there_are() -> None:
    unknown = CliRunner().invoke(app, ["prompts", "show", "gpt"])
    assert "there is no prompt 'gpt'; there are building, clinbench" in str(unknown.exception)
    kind = CliRunner().invoke(app, ["prompts", "show", "medq-deg/open"])
    assert "prompt 'medq-deg' has no file 'open'; it has choice, " in str(kind.exception)
