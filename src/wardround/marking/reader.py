"""Parsing of answers while a study runs."""

from collections.abc import Sequence

from wardround.core.ask import Answer
from wardround.core.case import Question


class AnswerReader:
    """Reads answers with the parser of marks, which is loaded with the first answer: the first ask does not wait."""

    def text(self, answer: Answer, question: Question, order: tuple[int, ...]) -> str | None:
        """The chosen option, the first diagnosis, or a whole rubric answer; None if it is unparsed or refused."""
        if answer.refused_for is not None:
            return None
        if question.kind == "rubric":
            from wardround.marking.parser.clean import clean_reply

            return clean_reply(answer.text) or None
        if question.kind == "open":
            from wardround.marking.parser.open import ranked_diagnoses

            return next(iter(ranked_diagnoses(answer.text)), None)
        place = self.place(answer, [question.choices[index] for index in order])
        return None if place is None else question.choices[order[place]]

    def place(self, answer: Answer, options: Sequence[str]) -> int | None:
        """The place of the chosen option in the order shown."""
        from wardround.marking.parser.choice import parse_choice

        return parse_choice(answer.text, options).option

    def has_vote_distribution(self, answer: Answer, question: Question, order: tuple[int, ...]) -> bool:
        """Whether the log-probabilities of the first token are the distribution of votes."""
        from wardround.marking.parser.distribution import first_token_distribution

        distribution = first_token_distribution(answer, [question.choices[index] for index in order])
        return distribution is not None and distribution.is_complete
