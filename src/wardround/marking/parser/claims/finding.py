# ruff: noqa: E501 (patterns)
"""The options that a reply names as its answer, by the words around them or by their place."""

import re
from typing import NamedTuple

from wardround.marking.parser.claims.placed import (
    closes_reply,
    is_last_letter,
    is_list_of_options,
    is_own_sentence,
    is_pointed_to,
    position_rule,
    sums_up,
)
from wardround.marking.parser.claims.worded import Claim, is_distant, worded_claims
from wardround.marking.parser.mentions import Mention

PLACED_RULES = ("opening", "own line")  # rules that read the place at the beginning of a line
_STATEMENT_AFTER = re.compile(
    r"[)\]\"']* (?!(?:because|since|as|due|given|with|for|in|on|by|based|and|or|but|then|so|from|per|the|an?|it)\b)[a-z]"
)


class ClaimedMentions(NamedTuple):
    """The claims of a reply and the mentions that it does not reject, both in order."""

    claims: list[Claim]
    standing: list[Mention]


NO_CLAIMS = ClaimedMentions([], [])


def find_claims(text: str, mentions: list[Mention]) -> ClaimedMentions:
    """The claims among the options that a reply names."""
    lower = text.lower()
    claims, unclaimed = worded_claims(text, lower, mentions)
    is_worded = bool(claims)
    if not is_worded:
        unclaimed = [(mention, before) for mention, before in unclaimed if not is_distant(lower, mention, before)]
    standing = sorted([claim.mention for claim in claims] + [mention for mention, _ in unclaimed])
    is_list = len(unclaimed) > 1 and is_list_of_options(text, [mention for mention, _ in unclaimed])
    for mention, before in unclaimed:
        rule = position_rule(lower, mention, mentions, is_list)
        if rule is None and mention is mentions[-1] and is_last_letter(text, lower, mention, mentions):
            rule = "at the end"
        if rule is None and mention is standing[-1] and not is_list and closes_reply(text, mention, standing):
            rule = "at the end"
        if rule is None and not is_worded and not is_list and is_own_sentence(text, lower, mention, mentions):
            rule = "own line"
        if rule is None and not is_worded and is_pointed_to(lower, mention, before):
            first = (
                lower.rfind("\n", 0, mention.start) if "|" in text and mention is mentions[-1] else 0
            )  # under a table
            others = {other.option for other in standing if other.kind == mention.kind and other.start >= first}
            is_overall = mention is mentions[-1] and sums_up(text, mention, before)
            rule = "pointed to" if others == {mention.option} or is_overall else None
        if rule is not None:
            claims.append(Claim(mention, rule))
    return ClaimedMentions(_without_statements(sorted(claims, key=lambda claim: claim.mention.start), text), standing)


def _without_statements(claims: list[Claim], text: str) -> list[Claim]:
    """Without options that only begin a sentence about them, if words or the end of the reply claim another.

    "Smith fracture (C) is the reverse, with volar displacement. Answer: B"
    """
    firm = {claim.mention.option for claim in claims if claim.rule not in PLACED_RULES}
    if not firm:
        return claims
    return [
        claim
        for claim in claims
        if claim.rule not in PLACED_RULES
        or claim.mention.option in firm
        or text[claim.mention.start].isascii()  # "B. Smith fracture is ..." begins with its answer
        or _STATEMENT_AFTER.match(text, claim.mention.end) is None
    ]
