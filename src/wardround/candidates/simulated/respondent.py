"""`simulated`: a respondent with known parameters, against which measures can be checked.

Its parameters (parameters.py) are in `extra_body`, and so in every Ask key. Choice questions of K options:

- mode "favourite" (the default): each item has one favourite option, drawn once: the right one with
  probability `accuracy` = a, else any wrong one. Each trial votes for the favourite with probability
  `sharpness` = s, else for any other option. Expected accuracy: a s + (1 - a) (1 - s) / (K - 1).
- mode "independent": each trial is right with probability `accuracy`, else takes any wrong option.

In both modes a trial is unparsed with probability `unparsed`, independently of the rest. Log-probabilities are those
of this vote. As verbal confidence it states `confidence`: one number, or one for right and one for wrong answers.
`phrasing` is the form of the reply; with log-probabilities it is the bare letter, as only the first token counts.

Open questions: the gold is named first with probability `hit1` and among the first three with probability
`hit3` (then second or third, evenly), else not at all; the rest of the five are invented. This is drawn once
per item, or in each trial where the mode is "independent".

`after_wrong` is its accuracy if its Ask carries a wrong answer to an earlier question: an error upstream spreads.

With `believes = "evidence"` it is right only if the literature in its Ask affirms the right diagnosis, under its name
or one of `accept`, or if it `knows` it anyway (drawn once per item with that probability). Otherwise it takes the
first other diagnosis that the literature affirms (of the question's options, or of the set's open questions), else a
fixed wrong one. accuracy, hit1 and hit3 then have no effect. As an agent every simulated respondent searches once,
with the first words of the history.

Leakage probes are answered from its `memory` (memory.py).

`by` sets other values if all of `when` holds. An item has the same random number under all conditions, and a degraded
question that of its clean twin, so that chance does not blur differences between conditions; candidates whose
parameters differ, if only in `seed`, are independent. Sampling settings have no effect. Since answers are stored by
Ask, questions that look the same must have the same gold.
"""

import json
import random
from collections.abc import Sequence

from pydantic import ValidationError

from wardround.asking.carry import format_carried
from wardround.asking.degradation import degradation_labels
from wardround.candidates.candidate import OfflineCandidate, Reply, Request, settings_error
from wardround.candidates.sampled import draw_index, first_token, numbered_list, stream, with_confidence
from wardround.candidates.simulated.evidence import affirming_clauses, first_named, intermediate_reply, literature
from wardround.candidates.simulated.memory import answer_probe
from wardround.candidates.simulated.parameters import (
    QUESTION_FIELDS,
    Phrasing,
    PlantedParameters,
    SimulatedParameters,
    vote_shares,
)
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer
from wardround.core.canonical import canonical_json
from wardround.core.field_errors import list_errors
from wardround.core.random import seeded
from wardround.core.text import LETTERS

UNPARSED_REPLY = "Sorry, this cannot be judged."
UNPARSED_TOKEN = "Sorry"
LIST_LENGTH = 5
INVENTED = tuple(
    f"{name} {kind}"
    for name in ("Velmor", "Astrin", "Quelby", "Dornal", "Ipswen", "Tavrok")
    for kind in ("syndrome", "disease", "dysplasia")
)


class Simulated(OfflineCandidate):
    """Answers from planted parameters."""

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            self.parameters = SimulatedParameters.model_validate(self.settings.extra_body)
        except ValidationError as error:
            field, message = list_errors(error)[0]
            place = f"extra_body.{field}" if field else "extra_body"
            raise settings_error(self.settings, f"{place}: {message}") from None
        self._identity_json = canonical_json(self.identity.named)
        self.supports_probes = True
        self._diagnoses: list[str] = []

    async def prepare(self, cases: CaseSet) -> None:
        if self.parameters.believes == "evidence":
            golds = (question.gold for case in cases for question in case.questions if question.kind == "open")
            self._diagnoses = list(dict.fromkeys(str(gold) for gold in golds))

    async def answer(self, request: Request) -> Reply:
        if request.is_intermediate:
            return Reply([Answer(intermediate_reply(request))] * len(request.trials))
        if request.condition.probe != "none":
            memory = self.parameters.for_values(request_values(request)).memory
            return Reply([answer_probe(request, memory)] * len(request.trials))
        planted = self.parameters.for_values(request_values(request)).after_carried(carries_wrong(request))
        make_answer = {"open": self._answer_open, "rubric": self._answer_rubric}.get(
            request.question.kind, self._answer_choice
        )
        return Reply([make_answer(request, planted, stream(request, trial)) for trial in request.trials])

    def _item_rng(self, request: Request) -> random.Random:
        """The random stream of an item: the same in every trial and under every condition."""
        return seeded("item", self._identity_json, request.case.id, request.question.of or request.question.id)

    def _answer_choice(self, request: Request, planted: PlantedParameters, rng: random.Random) -> Answer:
        gold = request.question.gold
        assert isinstance(gold, int)
        if self.parameters.believes == "evidence":
            options = request.question.choices
            believed = self._believed_diagnosis(request, planted, options, options[gold])
            favourite = options.index(believed) if believed else int(gold == 0)
        else:
            favourite = favourite_option(self._item_rng(request), planted.accuracy, len(request.order), gold)
        shares = vote_shares(planted, self.parameters.mode, len(request.order), gold, favourite)
        shown = [shares[index] for index in request.order]
        parsed = [(1 - planted.unparsed) * share for share in shown]
        tokens = first_token(parsed, request, unparsed=(UNPARSED_TOKEN, planted.unparsed))
        phrasing = "letter" if tokens else self.parameters.phrasing
        place = None if rng.random() < planted.unparsed else draw_index(shown, rng)
        if place is None:
            text = UNPARSED_TOKEN if tokens else UNPARSED_REPLY
        else:
            text = phrase_letter(LETTERS[place], phrasing)
            text = with_confidence(text, planted.stated_confidence(request.order[place] == gold), request)
        return Answer(text, first_token=tokens, images=request.image_hashes)

    def _answer_open(self, request: Request, planted: PlantedParameters, rng: random.Random) -> Answer:
        if rng.random() < planted.unparsed:
            return Answer("", images=request.image_hashes)
        gold, first = str(request.question.gold), None
        if self.parameters.believes == "evidence":
            first = self._believed_diagnosis(request, planted, self._diagnoses, gold) or INVENTED[0]
            rank = 0 if first == gold else None
        else:
            rank = gold_rank(rng if self.parameters.mode == "independent" else self._item_rng(request), planted)
        names = rng.sample(INVENTED, LIST_LENGTH)
        if first is not None:
            names[0] = first
        elif rank is not None:
            names[rank] = gold
        text = with_confidence(numbered_list(names), planted.stated_confidence(rank == 0), request)
        return Answer(text, images=request.image_hashes)

    def _answer_rubric(self, request: Request, planted: PlantedParameters, rng: random.Random) -> Answer:
        """States the text of every criterion that it meets, one a line; each is met independently."""
        if rng.random() < planted.unparsed:
            return Answer("", images=request.image_hashes)
        draws = rng if self.parameters.mode == "independent" else self._item_rng(request)
        stated = [
            criterion.text
            for criterion in request.question.criteria
            if draws.random() < (planted.criteria_met if criterion.points > 0 else planted.penalties)
        ]
        return Answer("\n".join(["Here is what I would say.", *stated]), images=request.image_hashes)

    def _believed_diagnosis(
        self, request: Request, planted: PlantedParameters, diagnoses: Sequence[str], gold: str
    ) -> str | None:
        """The diagnosis that it takes from the literature in the Ask, if any."""
        clauses = affirming_clauses(literature(request.ask.messages))
        if self._item_rng(request).random() < planted.knows or first_named(clauses, [gold, *request.question.accept]):
            return gold
        return first_named(clauses, [name for name in diagnoses if name != gold])


def favourite_option(item_rng: random.Random, accuracy: float, options: int, gold: int) -> int:
    """The favourite option of an item. A higher accuracy only ever makes more favourites right."""
    right = item_rng.random() < accuracy
    wrong = item_rng.choice([option for option in range(options) if option != gold])
    return gold if right else wrong


def gold_rank(rng: random.Random, planted: PlantedParameters) -> int | None:
    """The place of the gold in a list, from 0, if it is in it."""
    first, third = planted.hits
    draw = rng.random()
    if draw < first:
        return 0
    return rng.choice((1, 2)) if draw < third else None


def phrase_letter(letter: str, phrasing: Phrasing) -> str:
    """A reply that names the letter."""
    if phrasing == "sentence":
        return f"The answer is {letter}."
    return json.dumps({"answer": letter}) if phrasing == "json" else letter


def carries_wrong(request: Request) -> bool:
    """Whether the Ask carries an answer to an earlier question that is not the right one."""
    if not request.question.given or request.condition.carry == "none":
        return False
    earlier = (question for question in request.case.questions if question.id in request.question.given)
    right_lines = (format_carried(request.case, {question.id: question.gold_text}) for question in earlier)
    text = "\n".join(part for message in request.ask.messages for part in message.parts if isinstance(part, str))
    return any(f"\n{line}\n" not in text for line in right_lines)


def request_values(request: Request) -> dict[str, set[str]]:
    """The values of a request's axes, and of the fields of its question and case."""
    case, question, condition = request.case, request.question, request.condition
    single_values = {
        **condition.values,
        "question": question.id,
        **{name: getattr(question, name) for name in QUESTION_FIELDS},
        "specialty": case.specialty,
        "split": case.split,
    }
    degradations = degradation_labels(case, question, condition)
    return {
        **{key: {value} for key, value in single_values.items() if value is not None},
        "tag": set(case.tags),
        "modality": {image.modality for image in case.images if image.modality is not None},
        "degradation": {condition.degradation, *degradations},
        "type": {name.partition("@")[0] for name in degradations},
        "severity": {name.partition("@")[2] for name in degradations} or {"L0"},
    }
