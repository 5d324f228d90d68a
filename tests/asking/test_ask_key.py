"""Canonical JSON and the Ask key, against values written out by hand."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.core.ask import Ask, Identity, ImagePart, Message, Sampling
from wardround.core.canonical import blake, canonical_json

CANONICAL = [
    ({"b": 1, "a": [True, None, 0.1]}, '{"a":[true,null,0.1],"b":1}'),
    ({"x": 1.0, "y": 1e-07, "z": 1e22}, '{"x":1.0,"y":1e-07,"z":1e+22}'),
    ("e\u0301 \u212b", '"\u00e9 \u00c5"'),
    ({"e\u0301": 1, "f": 2, "d": 3}, '{"d":3,"f":2,"\u00e9":1}'),
    ('a"\\\n\u2028', '"a\\"\\\\\\n\u2028"'),
    (("a", ("b",)), '["a",["b"]]'),
]


@pytest.mark.parametrize(("value", "expected"), CANONICAL)
def test_canonical_json_is_sorted_normalised_and_without_spaces(value, expected):
    assert canonical_json(value) == expected


def test_a_value_that_is_not_a_number_has_no_key():
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json({"temperature": float("nan")})


NAMES = st.text(max_size=5).map(lambda name: unicodedata.normalize("NFC", name))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(NAMES, VALUES, min_size=2, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(value, random):
    items = list(value.items())
    random.shuffle(items)
    assert blake(dict(items)) == blake(value)


@given(VALUES)
def test_canonical_json_is_its_own_canonical_form(value):
    once = canonical_json(value)
    assert canonical_json(json.loads(once)) == once


RECIPE = (("window", {"width": 80.0, "center": 40.0}, 1), ("encode", {"format": "png"}, 1))
ASK = Ask(
    Identity("openai", "Qwen/Qwen3-VL", "r1", {"top_a": 0.5}),
    Sampling(temperature=1.0, max_tokens=64, stop=("\n",), reasoning=False),
    (
        Message("system", ("Be brief.",)),
        Message("user", (ImagePart("/data/1.dcm", "ab" * 32, RECIPE, 3), "Which cafe\u0301?")),
        Message("assistant", (), tool_calls=({"id": "t", "function": {"name": "search"}},)),
        Message("tool", ("found",), tool_call_id="t"),
    ),
    ({"type": "function"},),
)
WRITTEN_OUT = (
    '{"candidate":{"extra_body":{"top_a":0.5},"model":"Qwen/Qwen3-VL","provider":"openai","revision":"r1"},'
    '"messages":[{"content":["Be brief."],"role":"system"},'
    '{"content":[{"frame":3,"image":"' + "ab" * 32 + '",'
    '"recipe":[["window",{"center":40.0,"width":80.0},1],["encode",{"format":"png"},1]]},"Which caf\u00e9?"],'
    '"role":"user"},'
    '{"content":[],"role":"assistant","tool_calls":[{"function":{"name":"search"},"id":"t"}]},'
    '{"content":["found"],"role":"tool","tool_call_id":"t"}],'
    '"sampling":{"logprobs":null,"max_tokens":64,"reasoning":false,"stop":["\\n"],"temperature":1.0,'
    '"top_k":null,"top_p":null},"tools":[{"type":"function"}],"v":1}'
)


def test_the_key_is_the_hash_of_the_json_written_out_in_this_test():
    assert ASK.key == hashlib.blake2b(WRITTEN_OUT.encode(), digest_size=32).digest()
    assert len(ASK.key) == 32


def test_image_paths_and_cuts_are_not_in_the_key():
    system, user, *rest = ASK.messages
    moved = replace(user, parts=(replace(user.parts[0], path="/elsewhere/2.dcm"), user.parts[1]))
    assert replace(ASK, messages=(system, moved, *rest), cut=("image 2",)).key == ASK.key


IDENTITY, SAMPLING, USER = ASK.identity, ASK.sampling, ASK.messages[1]
CHANGES = {
    "model": {"identity": replace(IDENTITY, model="other")},
    "revision": {"identity": replace(IDENTITY, revision=None)},
    "extra body": {"identity": replace(IDENTITY, extra_body={"top_a": 0.25})},
    "temperature": {"sampling": replace(SAMPLING, temperature=0.0)},
    "no temperature": {"sampling": replace(SAMPLING, temperature=None)},
    "reasoning": {"sampling": replace(SAMPLING, reasoning=None)},
    "tools": {"tools": ()},
    "text": {"messages": (replace(USER, parts=(*USER.parts, " ")),)},
    "order": {"messages": (replace(USER, parts=USER.parts[::-1]),)},
    "frame": {"messages": (replace(USER, parts=(replace(USER.parts[0], frame=4), USER.parts[1])),)},
    "recipe": {"messages": (replace(USER, parts=(replace(USER.parts[0], recipe=RECIPE[:1]), USER.parts[1])),)},
    "unchanged": {"messages": (USER,)},
}


def test_any_other_change_makes_another_ask():
    keys = {name: replace(ASK, **change).key for name, change in CHANGES.items()}
    assert len({ASK.key, *keys.values()}) == len(CHANGES) + 1
