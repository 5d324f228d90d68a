"""The verdicts on evidence: an honest server is practically never called `ignored`, whatever it happens to reply."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from wardround.running.settings.agreement import agreement, is_enough
from wardround.running.settings.images import COLOURS, named_colours, order_verdict, resolution_verdict, seen_verdict
from wardround.running.settings.max_tokens import max_tokens_verdict
from wardround.running.settings.model_name import is_same_model, model_verdict
from wardround.running.settings.prober import ProbeReply
from wardround.running.settings.reasoning import presence, reasoning_verdict
from wardround.running.settings.stop import stop_verdict
from wardround.running.settings.system_text import system_verdict
from wardround.running.settings.temperature import TemperatureEvidence, temperature_verdict
from wardround.running.settings.verdict import SettingVerdict, merge_verdicts

DIGITS = st.text("0123456789", min_size=12, max_size=12)


def reply(text: str, *, reasoning: str = "", tokens: int | None = None, finish: str = "stop") -> ProbeReply:
    return ProbeReply(text, reasoning, tokens, finish)


def sampled(modal_share: float, draws: random.Random) -> list[str]:
    """Replies of a server whose commonest reply has this share, and whose others never come twice."""
    replies: list[str] = []
    while not is_enough(replies):
        replies.append("commonest" if draws.random() < modal_share else str(draws.random()))
    return replies


@pytest.mark.parametrize("modal_share", [0.8, 0.9, 0.97])
def test_a_server_that_repeats_itself_mostly_is_called_different_as_seldom_as_stated(modal_share: float) -> None:
    """By hand, P(at most one of six replies is the commonest) = (1 - m)^6 + 6 m (1 - m)^5: 0.0016 for m = 0.8."""
    draws, times = random.Random(3), 20_000
    differ = sum(agreement(sampled(modal_share, draws)) == "differ" for _ in range(times))
    bound = (1 - modal_share) ** 6 + 6 * modal_share * (1 - modal_share) ** 5
    assert differ <= binom.ppf(0.9999, times, bound)
    assert modal_share != 0.8 or bound == pytest.approx(0.0016, abs=1e-6)


def test_a_server_that_never_repeats_itself_is_always_found() -> None:
    assert agreement(sampled(0.0, random.Random(1))) == "differ"


@given(st.lists(DIGITS, min_size=2, max_size=4, unique=True), DIGITS, st.floats(0.01, 2))
def test_a_server_that_samples_at_1_and_repeats_itself_at_0_is_honoured(
    high: list[str], zero: str, asked: float
) -> None:
    evidence = TemperatureEvidence(alone=tuple(map(reply, high)), at_zero=(reply(zero),) * 3)
    assert temperature_verdict(asked, evidence).verdict == "honoured"


@given(st.text(max_size=40), st.integers(1, 4), st.floats(0, 2))
def test_replies_without_digits_prove_nothing(text: str, count: int, asked: float) -> None:
    if sum(character.isdigit() for character in text) < 8:
        evidence = TemperatureEvidence(alone=(reply(text),) * count, at_zero=(reply(text),) * count)
        assert temperature_verdict(asked, evidence).verdict == "unknown"


def test_a_weak_model_whose_words_differ_at_1_and_agree_at_0_is_honoured() -> None:
    evidence = TemperatureEvidence(alone=(reply("Yes!"), reply("Sure")), at_zero=(reply("Sure"),) * 3)
    assert temperature_verdict(0.7, evidence).verdict == "honoured"


def test_a_reasoning_model_that_differs_at_0_is_not_accused() -> None:
    zero = tuple(reply(f"{n:012d}", reasoning="first I think") for n in range(6))
    assert temperature_verdict(0.0, TemperatureEvidence(at_zero=zero)).verdict == "unknown"


@given(st.text(), st.sampled_from(["##", "\n\n", "END"]))
def test_a_text_that_was_cut_at_its_stop_sequence_is_never_called_ignored(text: str, stop: str) -> None:
    cut = text.partition(stop)[0]
    for kept in (cut, cut + stop):  # some servers keep the sequence
        assert stop_verdict([stop], [reply(kept)]).verdict != "ignored"


@pytest.mark.parametrize("text", ["alpha##omega", "alpha###omega", "alpha####", "alpha##a##", "### omega"])
def test_a_reply_that_goes_on_after_the_first_whole_stop_sequence_is_ignored(text: str) -> None:
    assert stop_verdict(["##"], [reply(text)]).verdict == "ignored"


@pytest.mark.parametrize("text", ["alpha##", "alpha###", "alpha### \n"])
def test_a_kept_stop_sequence_that_overlaps_the_reply_is_honoured(text: str) -> None:
    assert stop_verdict(["##"], [reply(text)]).verdict == "honoured"


@given(st.lists(st.sampled_from(["1", "22", "word"]), max_size=16), st.sampled_from(["stop", "length"]))
def test_a_text_of_no_more_words_than_tokens_is_never_called_too_long(words: list[str], finish: str) -> None:
    assert max_tokens_verdict(64, 16, [reply(" ".join(words), finish=finish)]).verdict != "ignored"


def test_a_limit_that_covers_reasoning_leaves_it_open() -> None:
    counted = reply(" ".join(map(str, range(1, 201))))
    assert max_tokens_verdict(64, 16 + 8192, [counted]).verdict == "unknown"
    assert max_tokens_verdict(64, 16, [counted]).verdict == "ignored"


@given(st.text(min_size=1), st.floats(0, 1))
def test_visible_tokens_are_never_taken_for_hidden_reasoning(text: str, share: float) -> None:
    """A token has at least one byte; up to 16 more frame the reply."""
    tokens = round(share * len(text.encode())) + 16
    assert presence(reply(text, tokens=tokens)) != "present"


def test_reasoning_is_ignored_only_if_two_replies_clearly_lack_it() -> None:
    short, unclear = reply("229", tokens=3), reply("229")
    assert reasoning_verdict(True, [short, short]).verdict == "ignored"
    assert reasoning_verdict(True, [short]).verdict == "unknown"
    assert reasoning_verdict(True, [short, unclear]).verdict == "unknown"
    assert reasoning_verdict(True, [reply("229", tokens=300)]).verdict == "honoured"
    assert reasoning_verdict(False, [short, short]).verdict == "honoured"
    assert reasoning_verdict(False, [reply("229", reasoning="well")]).verdict == "ignored"


@given(st.lists(st.sampled_from(sorted(COLOURS)), min_size=3, max_size=3, unique=True))
def test_colours_that_are_named_are_seen(colours: list[str]) -> None:
    assert seen_verdict(colours, [f"It is {colour}." for colour in colours]).verdict == "honoured"
    assert seen_verdict(colours, ["I see a coloured image"] * 3).verdict == "unknown"
    assert seen_verdict(colours, colours[1:] + colours[:1]).verdict == "ignored"


def test_a_colour_inside_another_word_is_not_named() -> None:
    assert named_colours("The coloured, blackened evergreen is Red, then blue") == ["red", "blue"]


@pytest.mark.parametrize(
    ("replies", "verdict"),
    [
        (["red, blue", "green red"], "honoured"),
        (["blue red", "red green"], "ignored"),
        (["blue", "red"], "ignored"),  # only the second image is seen
        (["blue red", "green red"], "unknown"),
        (["red", "no idea"], "unknown"),
        (["red blue"], "unknown"),
    ],
)
def test_the_order_of_two_images(replies: list[str], verdict: str) -> None:
    assert order_verdict([("red", "blue"), ("green", "red")], replies).verdict == verdict


@pytest.mark.parametrize(
    ("replies", "verdict"),
    [
        (["12345", "67890"], "honoured"),
        (["12345", "6789"], "ignored"),
        (["?", "?"], "unknown"),
        (["12345"], "unknown"),
    ],
)
def test_the_resolution_of_images(replies: list[str], verdict: str) -> None:
    result = resolution_verdict(["12345", "67890"], replies, is_decisive=False)
    assert (result.verdict, result.stops_run) == (verdict, False)


def test_system_text_is_ignored_only_if_the_same_word_is_named_from_the_users_text() -> None:
    assert system_verdict("falcon", ["Falcon"], None).verdict == "honoured"
    assert system_verdict("falcon", ["NONE", "NONE"], "falcon").verdict == "ignored"
    assert system_verdict("falcon", ["NONE", "NONE"], "NONE").verdict == "unknown"
    assert system_verdict("falcon", ["NONE"], "falcon").verdict == "unknown"


@pytest.mark.parametrize(
    ("asked", "reported", "is_same"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("Qwen/Qwen3-VL-8B-Instruct", "qwen3-vl-8b-instruct", True),
        ("claude-opus-4-6", "claude-opus-4-6@20260101", True),
        ("gpt-4o", "gpt-4o-mini", False),
        ("exam", "another", False),
    ],
)
def test_names_of_one_model(asked: str, reported: str, is_same: bool) -> None:
    assert is_same_model(asked, reported) == is_same
    assert model_verdict(asked, [reported]).verdict == ("honoured" if is_same else "unknown")


def test_a_later_verdict_replaces_an_earlier_one_unless_it_knows_nothing() -> None:
    earlier = [SettingVerdict("stop", "#", "honoured", "probe"), SettingVerdict("seed", "sent", "ignored", "probe")]
    later = [SettingVerdict("stop", "#", "ignored", "answers"), SettingVerdict("seed", "sent", "unknown", "answers")]
    assert [verdict.verdict for verdict in merge_verdicts(earlier, later)] == ["ignored", "ignored"]
