"""`simulated`: a respondent with a planted truth, so that measures can be checked against what is known.

Its parameters (planted.py) stand in `extra_body`, and so in every Ask key. Choice questions of K options:

- mode "favourite" (the default): each item has one favourite option, drawn once: the right one with
  probability `accuracy` = a, else any wrong one. Each trial votes for the favourite with probability
  `sharpness` = s, else for any other option. Expected accuracy: a s + (1 - a) (1 - s) / (K - 1).
- mode "independent": each trial is right with probability `accuracy`, else takes any wrong option.

Either way a trial cannot be parsed with probability `unparsed`, whatever the rest. Log-probabilities are those
of this very vote. Asked for confidence in words it states `confidence`: one number, or one for right and one
for wrong answers. `phrasing` says how the letter is told; where log-probabilities are asked for, the reply is
the bare letter, as only the first token counts.

Open questions: the gold is named first with probability `hit1` and among the first three with probability
`hit3` (then second or third, evenly), else not at all; the rest of the five are invented. This is drawn once
per item, or in each trial where the mode is "independent".

With `after_wrong` that is its accuracy where its Ask carries an answer to an earlier question that is not the right
one: an error upstream spreads.

With `believes = "evidence"` it is right only if the literature in its Ask affirms the right diagnosis, under its name
or one of `accept`, or if it `knows` it anyway (drawn once per item with that probability). Otherwise it takes another
diagnosis that the literature affirms first (of the question's options, or of the set's open questions), else a fixed
wrong one. accuracy, hit1 and hit3 then mean nothing. As an agent every simulated respondent searches once, with the
first words of the history.

Probes of leakage are answered from its `memory` (recalling.py).

`by` plants other values where all of `when` holds. An item is drawn with the same number under all conditions,
and a degraded question with that of its clean twin, so that chance does not blur differences between
conditions; candidates whose parameters differ, be it only in `seed`, are drawn independently. Sampling
settings change nothing. Since answers are stored by Ask, questions that look the same must have the same gold.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

from wardround.asking.carry import established, right_text
from wardround.asking.options import LETTERS, seeded
from wardround.candidates.candidate import Reply, Request, Settled
from wardround.candidates.sampled import drawn, first_token, numbered, sent, stream, with_confidence
from wardround.candidates.simulated.evidence import affirmed, first_named, literature, on_the_way
from wardround.candidates.simulated.memory import recalled
from wardround.candidates.simulated.parameters import Phrasing, Planted, parameters_from, vote_shares
from wardround.cases.set import CaseSet
from wardround.core.ask import Answer
from wardround.core.canonical import canonical_json

UNREADABLE = "Sorry, this cannot be judged."
UNREADABLE_TOKEN = "Sorry"
LISTED = 5
INVENTED = tuple(
    f"{name} {kind}"
    for name in ("Velmor", "Astrin", "Quelby", "Dornal", "Ipswen", "Tavrok")
    for kind in ("syndrome", "disease", "dysplasia")
)


class Simulated(Settled):
    """Answers from planted parameters."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.parameters = parameters_from(self.settings.extra_body, self.settings.name)
        self._named = canonical_json(self.identity.named)
        self.writes = True
        self._diagnoses: list[str] = []

    async def prepare(self, cases: CaseSet) -> None:
        if self.parameters.believes == "evidence":
            golds = (question.gold for case in cases for question in case.questions if question.kind == "open")
            self._diagnoses = list(dict.fromkeys(str(gold) for gold in golds))

    async def answer(self, request: Request) -> Reply:
        if request.on_the_way:
            return Reply([Answer(on_the_way(request))] * len(request.trials))
        if request.condition.probe != "none":
            memory = self.parameters.at(facts(request)).memory
            return Reply([recalled(request, memory)] * len(request.trials))
        planted = self.parameters.at(facts(request)).after(carries_wrong(request))
        reply = self._list if request.question.kind == "open" else self._choose
        return Reply([reply(request, planted, stream(request, trial)) for trial in request.trials])

    def _item(self, request: Request) -> random.Random:
        """The random numbers of an item: the same in every trial and under every condition."""
        return seeded("item", self._named, request.case.id, request.question.of or request.question.id)

    def _choose(self, request: Request, planted: Planted, numbers: random.Random) -> Answer:
        gold = request.question.gold
        assert isinstance(gold, int)
        if self.parameters.believes == "evidence":
            options = request.question.choices
            believed = self._believed(request, planted, options, options[gold])
            favourite = options.index(believed) if believed else int(gold == 0)
        else:
            favourite = favoured(self._item(request), planted.accuracy, len(request.order), gold)
        shares = vote_shares(planted, self.parameters.mode, len(request.order), gold, favourite)
        shown = [shares[index] for index in request.order]
        parsed = [(1 - planted.unparsed) * share for share in shown]
        tokens = first_token(parsed, request, unparsed=(UNREADABLE_TOKEN, planted.unparsed))
        phrasing = "letter" if tokens else self.parameters.phrasing
        place = None if numbers.random() < planted.unparsed else drawn(shown, numbers)
        if place is None:
            text = UNREADABLE_TOKEN if tokens else UNREADABLE
        else:
            text = phrased(LETTERS[place], phrasing)
            text = with_confidence(text, planted.stated(request.order[place] == gold), request)
        return Answer(text, first_token=tokens, images=sent(request))

    def _list(self, request: Request, planted: Planted, numbers: random.Random) -> Answer:
        if numbers.random() < planted.unparsed:
            return Answer("", images=sent(request))
        gold, first = str(request.question.gold), None
        if self.parameters.believes == "evidence":
            first = self._believed(request, planted, self._diagnoses, gold) or INVENTED[0]
            rank = 0 if first == gold else None
        else:
            rank = gold_rank(numbers if self.parameters.mode == "independent" else self._item(request), planted)
        names = numbers.sample(INVENTED, LISTED)
        if first is not None:
            names[0] = first
        elif rank is not None:
            names[rank] = gold
        text = with_confidence(numbered(names), planted.stated(rank == 0), request)
        return Answer(text, images=sent(request))

    def _believed(self, request: Request, planted: Planted, diagnoses: Sequence[str], gold: str) -> str | None:
        """The diagnosis that it takes from the literature in the Ask; None where it finds none."""
        clauses = affirmed(literature(request.ask.messages))
        if self._item(request).random() < planted.knows or first_named(clauses, [gold, *request.question.accept]):
            return gold
        return first_named(clauses, [name for name in diagnoses if name != gold])


def favoured(item: random.Random, accuracy: float, options: int, gold: int) -> int:
    """The favourite option of an item. A higher accuracy only ever makes more favourites right."""
    right = item.random() < accuracy
    wrong = item.choice([option for option in range(options) if option != gold])
    return gold if right else wrong


def gold_rank(numbers: random.Random, planted: Planted) -> int | None:
    """At which place, from 0, of a list the gold stands."""
    first, third = planted.hits
    drawn = numbers.random()
    if drawn < first:
        return 0
    return numbers.choice((1, 2)) if drawn < third else None


def phrased(letter: str, phrasing: Phrasing) -> str:
    """The letter as a model might tell it."""
    if phrasing == "sentence":
        return f"The answer is {letter}."
    return json.dumps({"answer": letter}) if phrasing == "json" else letter


def carries_wrong(request: Request) -> bool:
    """Whether the Ask carries something to the question that is not the right answer to an earlier one."""
    if not request.question.given or request.condition.carry == "none":
        return False
    before = (each for each in request.case.questions if each.id in request.question.given)
    said = "\n".join(part for message in request.ask.messages for part in message.parts if isinstance(part, str))
    return any(f"\n{established(request.case, {each.id: right_text(each)})}\n" not in said for each in before)


def facts(request: Request) -> dict[str, set[str]]:
    """What holds of a request: the values of its axes, and of the fields of its question and case."""
    case, question, condition = request.case, request.question, request.condition
    single = {
        **condition.values,
        "question": question.id,
        "kind": question.kind,
        "stage": question.stage,
        "skill": question.skill,
        "capability": question.capability,
        "task": question.task,
        "grade": question.grade,
        "chain": question.chain,
        "specialty": case.specialty,
        "split": case.split,
    }
    degraded = degradations(request)
    return {
        **{key: {value} for key, value in single.items() if value is not None},
        "tag": set(case.tags),
        "modality": {image.modality for image in case.images if image.modality is not None},
        "degradation": {condition.degradation, *degraded},
        "type": {name.partition("@")[0] for name in degraded},
        "severity": {name.partition("@")[2] for name in degraded} or {"L0"},
    }


def degradations(request: Request) -> list[str]:
    """What the images suffered, as TYPE@LEVEL."""
    named = request.condition.degradation
    if named in ("assigned", "stored"):
        return request.question.degradations
    return [] if named == "none" else [named]
