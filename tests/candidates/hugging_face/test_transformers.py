"""The provider `transformers`: settings, identity, answers, worker processes, and a whole study."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from exam_study import wardround, write_cases, write_study
from loaded_model import make_request
from tiny_chat_models import picture

from wardround.candidates.candidate import QuestionRefused, Reply, Request, RequestRejected, Unsupported
from wardround.candidates.registry import make_candidate
from wardround.core.ask import Message
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def candidate(folder: Path | str, **settings: Any) -> Any:
    fields = {"name": "m", "provider": "transformers", "model": str(folder), **settings}
    return make_candidate(CandidateSettings.model_validate(fields))


def replies(asked: Any, *requests: Request) -> list[Reply]:
    async def all_at_once() -> list[Reply]:
        await asked.prepare(None)
        try:
            return await asyncio.gather(*(asked.answer(request) for request in requests))
        finally:
            await asked.close()

    return asyncio.run(all_at_once())


def test_images_votes_and_log_probabilities_are_answered(model_folder: Callable) -> None:
    images = (picture(0), picture(1))
    request = make_request("Which?", trials=(0, 1, 2), images=images, max_tokens=6, logprobs=20)
    [reply] = replies(candidate(model_folder("llava")), request)
    assert len(reply.answers) == 3
    assert len({answer.first_token for answer in reply.answers}) == 1
    assert len(reply.answers[0].first_token or ()) == 20
    assert reply.answers[0].images == request.image_hashes
    assert reply.answers[0].model == "llava"
    assert reply.tokens_in > 10
    assert 3 <= reply.tokens_out <= 18


def test_images_reach_the_model_in_their_order(model_folder: Callable) -> None:
    orders = [(picture(0), picture(1)), (picture(0), picture(1)), (picture(1), picture(0))]
    requests = [make_request("Which?", images=images, max_tokens=1, logprobs=20) for images in orders]
    [first, again, swapped] = (
        dict(reply.answers[0].first_token or ()) for reply in _one_by_one(model_folder, requests)
    )
    assert first == again
    assert max(abs(swapped.get(token, -99) - value) for token, value in first.items()) > 0.01


def test_a_system_text_is_a_message_of_its_own(model_folder: Callable) -> None:
    plain = make_request("Which?", max_tokens=1, logprobs=20)
    system = replace(plain.ask, messages=(Message("system", ("You are examined.",)), *plain.ask.messages))
    [alone, with_system] = _one_by_one(model_folder, [plain, replace(plain, ask=system)])
    assert with_system.tokens_in > alone.tokens_in + len("You are examined.") / 2
    assert with_system.answers[0].first_token != alone.answers[0].first_token


def test_an_agent_searches_by_lines_of_text(model_folder: Callable) -> None:
    assert candidate(model_folder("llama")).search_mode == "text"


def _one_by_one(model_folder: Callable, requests: list[Request]) -> list[Reply]:
    """Alone in its batch each, so that equal requests are answered by equal arithmetic."""
    return [replies(candidate(model_folder("llava")), request)[0] for request in requests]


def test_a_trial_is_answered_alike_whatever_is_asked_with_it(model_folder: Callable) -> None:
    folder = model_folder("idefics3")
    settings = {"max_tokens": 8, "images": (picture(0),)}
    [together] = replies(candidate(folder), make_request("Which?", trials=(0, 1, 2, 3), **settings))
    parts = [make_request("Which?", trials=trials, **settings) for trials in ((2,), (0, 3))]
    [third, others] = replies(candidate(folder), *parts)
    texts = [answer.text for answer in together.answers]
    assert [texts[2]] == [answer.text for answer in third.answers]
    assert [texts[0], texts[3]] == [answer.text for answer in others.answers]


def test_reasoning_that_the_prompt_opens_is_kept_apart(model_folder: Callable) -> None:
    on, off = (make_request("Which?", max_tokens=6, temperature=0.0, reasoning=is_on) for is_on in (True, False))
    [thought, answered] = replies(candidate(model_folder("llama")), on, off)
    assert thought.answers[0].text == ""
    assert thought.answers[0].reasoning
    assert answered.answers[0].text
    assert answered.answers[0].reasoning is None


def test_a_template_without_a_switch_of_reasoning_makes_the_condition_inapplicable(model_folder: Callable) -> None:
    with pytest.raises(Unsupported, match="enable_thinking"):
        replies(candidate(model_folder("llava")), make_request("Which?", reasoning=True))


def test_a_prompt_beyond_the_context_is_refused_as_too_long(model_folder: Callable) -> None:
    with pytest.raises(QuestionRefused, match="context holds 40") as refused:
        replies(candidate(model_folder("llama"), context=40), make_request("cough " * 50))
    assert refused.value.finish == "too_long"


def test_an_image_that_cannot_be_read_is_rejected(model_folder: Callable) -> None:
    from wardround.cases.encoded_image import EncodedImage

    broken = EncodedImage(b"bm90IGFuIGltYWdl", "image/png", "0" * 64, 8, 8)
    with pytest.raises(RequestRejected, match="cannot identify image"):
        replies(candidate(model_folder("llava")), make_request("Which?", images=(broken,)))


def test_the_same_files_in_another_folder_are_the_same_candidate(model_folder: Callable, tmp_path: Path) -> None:
    shutil.copytree(model_folder("llama"), tmp_path / "llama")
    first, copy = candidate(model_folder("llama")), candidate(tmp_path / "llama", extra_body={"device": "cpu"})
    assert first.identity == copy.identity
    (tmp_path / "llama" / "chat_template.jinja").write_text("{{ messages[0].content }}")
    assert candidate(tmp_path / "llama").identity.revision != first.identity.revision


def test_a_model_of_the_hubs_cache_is_named_by_its_commit(
    model_folder: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    cache = tmp_path / "models--ward--tiny"
    shutil.copytree(model_folder("llama"), cache / "snapshots" / COMMIT)
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text(COMMIT)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    asked = candidate("ward/tiny")
    assert (asked.identity.model, asked.identity.revision) == ("ward/tiny", COMMIT)
    [reply] = replies(asked, make_request("Which?", max_tokens=2))
    assert reply.answers[0].model == "ward/tiny"
    with pytest.raises(WardroundError, match=r"run `hf download ward/tiny --revision v9` first"):
        candidate("ward/tiny", revision="v9")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "ward/missing"}, "ward/missing is not on this machine: run `hf download ward/missing` first"),
        ({"model": "./missing"}, "there is no such folder"),
        ({"model": None}, "model is required"),
        ({"extra_body": {"dtyp": "float16"}}, "extra_body.dtyp is not known; there are dtype, processor"),
        ({"sees": True}, "has no part for images"),
    ],
)
def test_settings_that_cannot_hold_are_refused_in_one_line(
    model_folder: Callable, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(WardroundError, match="candidate 'm': ") as refused:
        candidate(**{"folder": model_folder("llama"), **settings})
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"extra_body": {"dtype": "float99"}}, "transformers cannot load llama"),
        ({"gpus": 99}, "gpus = 99, but PyTorch finds"),
    ],
)
def test_a_model_that_cannot_be_loaded_is_one_line(
    model_folder: Callable, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(WardroundError) as refused:
        replies(candidate(model_folder("llama"), **settings))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_package_is_named_with_the_line_that_installs_it(
    model_folder: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(WardroundError, match=r"torch cannot be loaded .*: pip install 'wardround\[transformers\]'$"):
        replies(candidate(model_folder("llama")))


def test_a_worker_process_that_dies_is_started_again_and_its_requests_are_asked_again(model_folder: Callable) -> None:
    requests = [make_request(f"Which of {number}?", trials=(0, 1), max_tokens=20) for number in range(6)]
    expected = replies(candidate(model_folder("llama")), *requests)
    asked = candidate(model_folder("llama"), gpus=2, extra_body={"device": "cpu"})

    async def with_a_kill() -> list[Reply]:
        await asked.prepare(None)
        workers = [slot.worker for slot in asked._slots]
        try:
            calls = [asyncio.create_task(asked.answer(request)) for request in requests]
            await asyncio.sleep(0)  # all are submitted
            workers[0].process.kill()
            return await asyncio.gather(*calls)
        finally:
            await asked.close()

    assert asyncio.run(with_a_kill()) == expected
    assert any("started again" in warning for warning in asked.warnings)


def test_a_study_is_checked_and_run(model_folder: Callable, tmp_path: Path) -> None:
    write_cases(tmp_path / "cases", 3)
    tiny = {"name": "tiny", "provider": "transformers", "model": str(model_folder("llama"))}
    study = write_study(
        tmp_path,
        top={"offline": True, "trials": 2},
        candidate={**tiny, "base_url": ""},
        sampling={"max_tokens": 4},
        conditions={"confidence": ["votes", "logprobs"]},
    )
    study.write_text(study.read_text().replace('base_url = ""\n', ""))
    checked = wardround("check", study, cwd=tmp_path)
    assert "tiny" in checked.stdout
    ran = wardround("run", study, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "runs" / "exam" / "measures.csv").exists()
