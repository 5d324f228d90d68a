"""Negation: the words of a sentence that are denied, contrasted, compared, or said of a relative.

The rules are our own and contain no medical knowledge. "No evidence of X", "without X", "unlike X", "mimicking X" and
"family history of X" deny the words after them, up to the next verb. "X was ruled out" and "X was not seen" deny the
words before them, back to the previous verb. Neither crosses a sentence end, a semicolon, "but" or "however". "Not only
X", "X cannot be excluded" and "to rule out X" deny nothing: X is still possible.
"""

import re
from collections.abc import Sequence

COMMA, BREAK = ",", ";"  # punctuation that counts


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\S)(?:{'|'.join(patterns)})(?!\S)")


_BE = r"(?:is|are|was|were|be|been|being|seem(?:s|ed)?|appear(?:s|ed)?|remain(?:s|ed)?)"
_NOT_PASSIVE = "".join(f"(?<!{verb} )" for verb in ("is", "are", "was", "were", "be", "been", "being"))
_VERB = _any_of(
    *(_BE, "has|have|had|do|does|did|can|could|may|might|will|would|should|must"),
    r"(?:show|reveal|demonstrate|suggest|indicate|confirm|prove|detect|present|develop|define|represent|follow|cause)"
    r"(?:s|e?d)?",
    r"(?:support|exclude|argue|play|occur|resolve|establishe?|diagnose)(?:s|r?e?d)?",
    r"establish|proven|finds?|found|leads?|led|became|becomes|denie[ds]|underwent|speaks?|spoke",
)
_AUXILIARY = _any_of(
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
_AFFIRMING = _any_of(
    r"not (?:only|just|merely|necessarily|uncommon(?:ly)?|rare(?:ly)?|infrequent(?:ly)?|unusual(?:ly)?|unlikely)",
    r"(?:no|without) (?:doubt|question)",
    rf"(?:cannot|not|never) (?:(?:be|been|yet|\w+ly) )*{_EXCLUDED}",
    r"(?:cannot|not) (?:(?:be|\w+ly) )*(?:tell|told|distinguish(?:ed)?|differentiated?|discriminated?|separated?)",
    rf"(?:to|should|must|needs?)(?: be)? {_EXCLUDED}",
)
_BEHIND = _any_of(  # deny the words before
    rf"{_BE} (?:\w+ly )?(?:{_EXCLUDED}|disprove[dn]|refuted|discarded|absent|unlikely|improbable|negative)",
    r"(?:considered|thought|deemed|judged) (?:unlikely|improbable)",
    rf"(?:not|never|hardly ever) (?:be |been |have been )?{_SEEN}",
    r"(?:not|never) (?:the (?:cause|explanation|diagnosis)|an? (?:cause|feature|finding|part|consideration))",
    r"(?:do|does|did) not (?:occur|develop|exist)",
    r"play(?:s|ed)? no (?:role|part)",
    r"an exclusion criterion|exclusion criteria",
    rf"{_SEEN} in (?:no|none)",
)
_CONTRAST = _any_of(  # deny the words after, up to a comma
    r"rather than|instead of|unlike|in contrast (?:to|with)|as opposed to|contrary to",
    r"(?:argu|speak|count)(?:es?|ed|s|ing)? against|spoke against|evidence against",
    r"mimic\w*(?: of)?|masquerad\w+ as|simulating",
    r"(?:mistaken|mistook) for|(?:misdiagnosed|misinterpreted) as|confused with|thought to (?:have been|have|be)",
    r"family history of|(?:mother|father|brother|sister|parents?|siblings?|uncle|aunt|cousin|relatives?|grand\w+)"
    r"(?: (?:had|has|have|with|who|died|of|from|also))+",
)
_SUBJECT = _any_of(  # deny the words after, across one verb
    r"none(?: of)?|neither(?: of)?|no (?:patients?|persons?|one|wom[ae]n|m[ae]n|child(?:ren)?|subjects?|cases?)"
)
_AHEAD = _any_of(  # deny the words after
    r"no|not|cannot|never|nor|without|absence of|lack of|lack(?:ed|s|ing)|negative for|free (?:of|from)",
    rf"{_NOT_PASSIVE}(?:absent|denie[ds]|exclude[ds]?|ruled? out)",
    r"excluding|exclusion of|rules out|ruling out",
)
_CUES = re.compile(
    r"\b(?:no|not|cannot|never|none|neither|nor|without|absen|lack|negative|free|den[iy]|exclu|rul|rather|instead|unlike|"
    r"unlikely|improbable|contra|oppos|against|mimic|masq|simul|mist|misd|misi|confus|thought|famil|dispro|refut|discard|"
    r"mother|father|brother|sister|parent|sibling|uncle|aunt|cousin|relative|grand)"
)


def denied_places(pieces: Sequence[str]) -> frozenset[int]:
    """The places of denied words in a sentence of lower-case words, COMMA and BREAK."""
    text = " ".join(pieces)
    if not _CUES.search(text):
        return frozenset()
    place_by_offset, start = {}, 0
    for place, piece in enumerate(pieces):
        place_by_offset[start] = place
        start += len(piece) + 1
    used_spans = [match.span() for match in _AFFIRMING.finditer(text)]
    places: set[int] = set()
    for cues in (_BEHIND, _CONTRAST, _SUBJECT, _AHEAD):
        for match in cues.finditer(text):
            if any(match.start() < end and start < match.end() for start, end in used_spans):
                continue
            used_spans.append(match.span())
            first = place_by_offset[match.start()]
            after = first + match[0].count(" ") + 1
            if cues is _BEHIND:
                places |= _denied_before(pieces, first)
            else:
                places |= _denied_after(
                    pieces, first, after, is_contrast=cues is _CONTRAST, crosses_verb=cues is _SUBJECT
                )
    return frozenset(places)


def _denied_after(pieces: Sequence[str], cue: int, after: int, *, is_contrast: bool, crosses_verb: bool) -> set[int]:
    """The places after a cue, up to a verb (the second one if `crosses_verb`) or the end of its phrase."""
    opening = _clause_start(pieces, cue)
    ends_at_comma = is_contrast or (pieces[opening] in _FRONTED and COMMA not in pieces[opening:cue])
    verbs_to_cross, end = int(crosses_verb), after
    while end < len(pieces):
        piece = pieces[end]
        if piece in _STOPS or piece in _RELATIVES or (piece == COMMA and ends_at_comma):
            return set(range(after, end))
        if _VERB.fullmatch(piece) and end > after:  # "not have X", "not show X": this verb is denied too
            if not verbs_to_cross:
                break
            verbs_to_cross -= 1
        end += 1
    else:
        return set(range(after, end))
    is_object = any(_VERB.fullmatch(piece) for piece in pieces[opening : cue + 1])
    if is_object:  # "showed no X, and Y was found": Y begins something new
        joints = [place for place in range(after, end) if pieces[place] in (COMMA, "and")]
        end = joints[-1] if joints else end
    return set(range(after, end))


def _denied_before(pieces: Sequence[str], cue: int) -> set[int]:
    """The places before a cue: its subject, back to the previous verb."""
    end = _start_of_auxiliaries(pieces, cue)
    if end and pieces[end - 1] in ("and", "but"):  # "X was suspected but was disproved": X is the subject of both
        verbs = [place for place in range(end - 1) if _VERB.fullmatch(pieces[place])]
        end = _start_of_auxiliaries(pieces, verbs[-1]) if verbs else end
    start = end
    while start and pieces[start - 1] not in _STOPS:
        if _VERB.fullmatch(pieces[start - 1]):  # "showed X, and Y was ruled out": X is another verb's
            commas = [place for place in range(start, end - 1) if pieces[place] == COMMA]
            return set(range(commas[0] if commas else start, end))
        start -= 1
    return set(range(start, end))


def _start_of_auxiliaries(pieces: Sequence[str], place: int) -> int:
    while place and _AUXILIARY.fullmatch(pieces[place - 1]):
        place -= 1
    return place


def _clause_start(pieces: Sequence[str], place: int) -> int:
    while place and pieces[place - 1] not in _STOPS:
        place -= 1
    return place
