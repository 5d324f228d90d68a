"""Negation: which words of a sentence are denied, contrasted with, likened to, or said of a relative.

Our own rules; they know no medicine. "No evidence of X", "without X", "unlike X", "mimicking X" and "family history of
X" deny what follows, up to the next verb. "X was ruled out" and "X was not seen" deny what stands before, back to the
verb before. Neither goes beyond the sentence, a semicolon, "but" or "however". "Not only X", "X cannot be excluded" and
"to rule out X" deny nothing: the text still takes X for possible.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

COMMA, BREAK = ",", ";"  # the marks that count beside words


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\S)(?:{'|'.join(patterns)})(?!\S)")


_BE = r"(?:is|are|was|were|be|been|being|seem(?:s|ed)?|appear(?:s|ed)?|remain(?:s|ed)?)"
_NOT_PASSIVE = "".join(f"(?<!{verb} )" for verb in ("is", "are", "was", "were", "be", "been", "being"))
_VERB = _any(
    *(_BE, "has|have|had|do|does|did|can|could|may|might|will|would|should|must"),
    r"(?:show|reveal|demonstrate|suggest|indicate|confirm|prove|detect|present|develop|define|represent|follow|cause)"
    r"(?:s|e?d)?",
    r"(?:support|exclude|argue|play|occur|resolve|establishe?|diagnose)(?:s|r?e?d)?",
    r"establish|proven|finds?|found|leads?|led|became|becomes|denie[ds]|underwent|speaks?|spoke",
)
_AUXILIARY = _any(
    _BE, "has|have|had|can|could|may|might|will|would|should|also|then|later|finally|initially|first|\\w+ly"
)
_STOPS = frozenset([BREAK, "but", "however", "although", "though", "whereas", "while", "yet", "except", "because"])
_RELATIVES = frozenset(["which", "where", "who", "whose", "when"])
_FRONTED = frozenset(
    ["in", "after", "with", "without", "despite", "unlike", "given", "before", "on", "at", "as", "among"]
)

_SEEN = (
    r"(?:seen|found|present|detected|identified|demonstrated|demonstrable|observed|visible|evident|confirmed|included|"
    r"encountered|diagnosed|noted|shown|established|proven|proved|detectable|apparent|recogni[sz]ed|recorded)"
)
_EXCLUDED = r"(?:excluded?|ruled? out)"
_AFFIRMING = _any(
    r"not (?:only|just|merely|necessarily|uncommon(?:ly)?|rare(?:ly)?|infrequent(?:ly)?|unusual(?:ly)?|unlikely)",
    r"(?:no|without) (?:doubt|question)",
    rf"(?:cannot|not|never) (?:(?:be|been|yet|\w+ly) )*{_EXCLUDED}",
    r"(?:cannot|not) (?:(?:be|\w+ly) )*(?:tell|told|distinguish(?:ed)?|differentiated?|discriminated?|separated?)",
    rf"(?:to|should|must|needs?)(?: be)? {_EXCLUDED}",
)
_BEHIND = _any(  # deny what stands before
    rf"{_BE} (?:\w+ly )?(?:{_EXCLUDED}|disprove[dn]|refuted|discarded|absent|unlikely|improbable|negative)",
    r"(?:considered|thought|deemed|judged) (?:unlikely|improbable)",
    rf"(?:not|never|hardly ever) (?:be |been |have been )?{_SEEN}",
    r"(?:not|never) (?:the (?:cause|explanation|diagnosis)|an? (?:cause|feature|finding|part|consideration))",
    r"(?:do|does|did) not (?:occur|develop|exist)",
    r"play(?:s|ed)? no (?:role|part)",
    r"an exclusion criterion|exclusion criteria",
    rf"{_SEEN} in (?:no|none)",
)
_CONTRAST = _any(  # deny what follows, up to a comma
    r"rather than|instead of|unlike|in contrast (?:to|with)|as opposed to|contrary to",
    r"(?:argu|speak|count)(?:es?|ed|s|ing)? against|spoke against|evidence against",
    r"mimic\w*(?: of)?|masquerad\w+ as|simulating",
    r"(?:mistaken|mistook) for|(?:misdiagnosed|misinterpreted) as|confused with|thought to (?:have been|have|be)",
    r"family history of|(?:mother|father|brother|sister|parents?|siblings?|uncle|aunt|cousin|relatives?|grand\w+)"
    r"(?: (?:had|has|have|with|who|died|of|from|also))+",
)
_SUBJECT = _any(  # deny what follows, beyond one verb
    r"none(?: of)?|neither(?: of)?|no (?:patients?|persons?|one|wom[ae]n|m[ae]n|child(?:ren)?|subjects?|cases?)"
)
_AHEAD = _any(  # deny what follows
    r"no|not|cannot|never|nor|without|absence of|lack of|lack(?:ed|s|ing)|negative for|free (?:of|from)",
    rf"{_NOT_PASSIVE}(?:absent|denie[ds]|exclude[ds]?|ruled? out)",
    r"excluding|exclusion of|rules out|ruling out",
)
_CUES = re.compile(
    r"\b(?:no|not|cannot|never|none|neither|nor|without|absen|lack|negative|free|den[iy]|exclu|rul|rather|instead|unlike|"
    r"unlikely|improbable|contra|oppos|against|mimic|masq|simul|mist|misd|misi|confus|thought|famil|dispro|refut|discard|"
    r"mother|father|brother|sister|parent|sibling|uncle|aunt|cousin|relative|grand)"
)


def denied(pieces: Sequence[str]) -> frozenset[int]:
    """The places, in a sentence of small words, COMMA and BREAK, of what is denied."""
    text = " ".join(pieces)
    if not _CUES.search(text):
        return frozenset()
    number, start = {}, 0
    for place, piece in enumerate(pieces):
        number[start] = place
        start += len(piece) + 1
    taken = [found.span() for found in _AFFIRMING.finditer(text)]
    places: set[int] = set()
    for cues in (_BEHIND, _CONTRAST, _SUBJECT, _AHEAD):
        for found in cues.finditer(text):
            if any(found.start() < end and start < found.end() for start, end in taken):
                continue
            taken.append(found.span())
            first = number[found.start()]
            after = first + found[0].count(" ") + 1
            if cues is _BEHIND:
                places |= _before(pieces, first)
            else:
                places |= _following(pieces, first, after, contrast=cues is _CONTRAST, verbs=cues is _SUBJECT)
    return frozenset(places)


def _following(pieces: Sequence[str], cue: int, after: int, *, contrast: bool, verbs: bool) -> set[int]:
    """What follows a cue: up to a verb (`verbs`: the second one), or where its phrase ends."""
    opening = _clause_start(pieces, cue)
    up_to_comma = contrast or (pieces[opening] in _FRONTED and COMMA not in pieces[opening:cue])
    skipped, end = int(verbs), after
    while end < len(pieces):
        piece = pieces[end]
        if piece in _STOPS or piece in _RELATIVES or (piece == COMMA and up_to_comma):
            return set(range(after, end))
        if _VERB.fullmatch(piece) and end > after:  # "not have X", "not show X": this verb is denied too
            if not skipped:
                break
            skipped -= 1
        end += 1
    else:
        return set(range(after, end))
    as_object = any(_VERB.fullmatch(piece) for piece in pieces[opening : cue + 1])
    if as_object:  # "showed no X, and Y was found": Y begins something new
        joints = [place for place in range(after, end) if pieces[place] in (COMMA, "and")]
        end = joints[-1] if joints else end
    return set(range(after, end))


def _before(pieces: Sequence[str], cue: int) -> set[int]:
    """What stands before a cue: its subject, back to the verb before."""
    end = _before_auxiliaries(pieces, cue)
    if end and pieces[end - 1] in ("and", "but"):  # "X was suspected but was disproved": X is the subject of both
        verbs = [place for place in range(end - 1) if _VERB.fullmatch(pieces[place])]
        end = _before_auxiliaries(pieces, verbs[-1]) if verbs else end
    start = end
    while start and pieces[start - 1] not in _STOPS:
        if _VERB.fullmatch(pieces[start - 1]):  # "showed X, and Y was ruled out": X is another verb's
            commas = [place for place in range(start, end - 1) if pieces[place] == COMMA]
            return set(range(commas[0] if commas else start, end))
        start -= 1
    return set(range(start, end))


def _before_auxiliaries(pieces: Sequence[str], place: int) -> int:
    while place and _AUXILIARY.fullmatch(pieces[place - 1]):
        place -= 1
    return place


def _clause_start(pieces: Sequence[str], place: int) -> int:
    while place and pieces[place - 1] not in _STOPS:
        place -= 1
    return place
