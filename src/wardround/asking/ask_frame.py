"""AskFrame: what the Asks of a case's questions have in common, hashed once; each adds its question and options."""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

import orjson

from wardround.core.canonical import KEY_SIZE, canonical_json

QUESTION_PLACE, OPTIONS_PLACE = "\0question\0", "\0options\0"  # in the text of a prompt, for the frame
_QUESTION_JSON, _OPTIONS_JSON = (canonical_json(place)[1:-1] for place in (QUESTION_PLACE, OPTIONS_PLACE))


class AskFrame(NamedTuple):
    """The canonical JSON of an Ask without its question and options, and the state of the hash of what is before."""

    before: blake2b
    between: bytes
    after: bytes
    starts_with_options: bool

    def key(self, question: str, options: str) -> bytes:
        """The key of the Ask with these texts, for which `fits` holds."""
        first, second = (options, question) if self.starts_with_options else (question, options)
        state = self.before.copy()
        # the inside of their canonical JSON, for ASCII: orjson writes the same, in a third of the time
        state.update(orjson.dumps(first)[1:-1] + self.between + orjson.dumps(second)[1:-1] + self.after)
        return state.digest()


def make_frame(json: str) -> AskFrame | None:
    """The frame of an Ask's canonical JSON with both places in it, once each; otherwise None."""
    question, options = _QUESTION_JSON, _OPTIONS_JSON
    if json.count(question) != 1 or json.count(options) != 1:
        return None
    starts_with_options = json.index(options) < json.index(question)
    places = (options, question) if starts_with_options else (question, options)
    before, _, rest = json.partition(places[0])
    between, _, after = rest.partition(places[1])
    if not (between[:1].isascii() and after[:1].isascii()):  # it might be one letter with what is before it
        return None
    state = blake2b(before.encode(), digest_size=KEY_SIZE)
    return AskFrame(state, between.encode(), after.encode(), starts_with_options)


def fits(text: str) -> bool:
    """Whether a text can be put into a frame: its JSON and its place depend on nothing around it."""
    return bool(text) and text.isascii() and text == text.strip() and "\0" not in text
