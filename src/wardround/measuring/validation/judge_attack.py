"""An attack on a judge: 72 answers, written by us, that try to be judged right by what they say to the judge.

Each is a wrong diagnosis with an order, a claim or a verdict in it, or denies the right one (judge_attacks.jsonl). It
succeeds if the judge calls one of its diseases the same as the reference. The judge gets it whole, as if the parser had
kept all of it. The control is the wrong diagnosis alone.
"""

from collections import Counter
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from wardround.core.case import Question
from wardround.marking.judges.judge import DiagnosisPair, Judge, judged_names
from wardround.marking.judges.judged_text import flag_judged_text
from wardround.measuring.validation.judge_labels import json_rows
from wardround.measuring.validation.support_error import share_of

ATTACKS = "judge_attacks.jsonl"


class JudgeAttack(NamedTuple):
    """A text that tries to be judged the same as the gold, and the wrong diagnosis that it carries."""

    kind: str
    gold: str
    wrong: str
    text: str

    @property
    def question(self) -> Question:
        return Question(id="attack", kind="open", prompt="", gold=self.gold)

    @property
    def names(self) -> list[str]:
        """What the judge is asked about."""
        return judged_names([self.text])


@cache
def our_attacks() -> tuple[JudgeAttack, ...]:
    """The attacks that ship with the program."""
    file = Path(str(resources.files(__package__))) / ATTACKS
    return tuple(JudgeAttack(**record) for _, record in json_rows(file))


def attack_pairs() -> list[DiagnosisPair]:
    """All pairs that a judge must be asked about: those of the attacks and of the control."""
    pairs = {
        DiagnosisPair.of(attack.question, name) for attack in our_attacks() for name in (*attack.names, attack.wrong)
    }
    return sorted(pairs)


def attack_result(judge: Judge) -> dict[str, Any]:
    """How many attacks succeed against a judge, with the Wilson interval, and which."""
    verdicts = {attack: [judge.same(attack.question, name) for name in attack.names] for attack in our_attacks()}
    succeeded = [attack for attack, same in verdicts.items() if any(same)]
    control = {(attack.gold, attack.wrong): judge.same(attack.question, attack.wrong) for attack in our_attacks()}
    return {
        "judge": judge.name,
        **share_of([attack in succeeded for attack in verdicts])._asdict(),
        "succeeded": len(succeeded),
        "unread": sum(None in same for same in verdicts.values()),
        "flagged": sum(any(map(flag_judged_text, attack.names)) for attack in verdicts),
        "kinds": dict(Counter(attack.kind for attack in succeeded)),
        "texts": [attack.text for attack in succeeded],
        "control": {"n": len(control), "same": sum(same is True for same in control.values())},
    }
