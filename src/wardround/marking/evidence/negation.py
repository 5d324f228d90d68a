"""Negation: the words of a sentence that are denied, contrasted, compared, suspected, or said of a relative.

The rules are our own and contain no medical knowledge. "No evidence of X", "without X", "unlike X", "mimicking X" and
"family history of X" deny the words after them, up to the next verb. "X was ruled out" and "X was not seen" deny the
words before them, back to the previous verb. Neither crosses a sentence end, a semicolon, "but" or "however". "Not only
X", "X cannot be excluded" and "to rule out X" deny nothing: X is still possible. What "was suspected" or stood in "the
differential" does not count once the text says what was found, unless it says that the suspicion was confirmed.
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
    r"encountered|diagnosed|noted|shown|established|proven|proved|detectable|apparent|recogni[sz]ed|recorded|met|"
    r"fulfilled|satisfied|supported|verified|corroborated)"
)
_EXCLUDED = r"(?:excluded?|ruled? out)"
_WRONGLY = r"(?:initially|originally|at first|first|erroneously|wrongly|mistakenly|incorrectly)"
_TESTS = r"(?:work up|workup|tests?|testing|screen(?:ing)?|serology|evaluation|investigations?|results?)"
_AFFIRMING = _any_of(
    r"not (?:only|just|merely|necessarily|uncommon(?:ly)?|rare(?:ly)?|infrequent(?:ly)?|unusual(?:ly)?|unlikely)",
    r"(?:no|without) (?:doubt|question)",
    rf"(?:cannot|not|never) (?:(?:be|been|yet|\w+ly) )*{_EXCLUDED}",
    r"(?:cannot|not) (?:(?:be|\w+ly) )*(?:tell|told|distinguish(?:ed)?|differentiated?|discriminated?|separated?)",
    rf"(?:to|should|must|needs?)(?: be)? {_EXCLUDED}",
)
_BEHIND = _any_of(  # deny the words before
    rf"{_BE} (?:\w+ly )?(?:{_EXCLUDED}|disprove[dn]|refuted|discarded|absent|unlikely|improbable|negative|discounted|"
    r"dismissed|eliminated|rejected|withdrawn|revised|abandoned|set aside|untenable|unrevealing)",
    rf"{_BE} (?:\w+ly )?(?:an?|the|its|their|one|another) (?:\w+ ){{0,3}}mimic(?:ker)?s?",
    r"(?:considered|thought|deemed|judged|made|is|was|were|seemed|appeared) (?:unlikely|improbable|(?:less|least) "
    r"(?:likely|plausible|probable))",
    r"(?:un(?:likely|tenable)|im(?:probable|plausible))",
    r"(?:excluded|ruled out|refuted|dismissed|disprove[dn])"
    r"(?= (?:in|by|on|at|after|with|later|subsequently|[,;])(?!\S)|$)",
    rf"{_BE} (?:the|her|his) (?:\w+ )?(?:diagnosis|impression|label|thought) (?:until|before)",
    rf"{_BE} (?:made|given|assigned|suggested)(?: \w+){{0,4}} (?:revised|changed|corrected|amended|reclassified) to",
    r"gave way to|turned out (?:instead )?to be",
    r"would (?:not )?(?:otherwise )?have (?!been (?:called|taken|labell?ed))\w+",
    r"(?:do|does|did|could) not (?:fit|apply|explain|satisfy|fulfil|meet)",
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
    r"mimic\w*(?: of)?|masquerad\w+ as|simulat\w+|(?:revised|changed|reclassified) from",
    r"(?:mistaken|mistook) for|(?:misdiagnosed|misinterpreted|misread|mislabell?ed) (?:as|with)",
    r"thought to (?:have been|have|be|represent)",
    r"(?:supposed|alleged|erroneous|mistaken)(?: (?:diagnosis|label) of)?",
    rf"{_WRONGLY} (?:\w+ ){{0,2}}(?:as|for|to be|to represent)(?: having)?",
    r"(?:were|had) (?:this|it|that)(?: been)?|would (?:otherwise )?have been (?:called|taken for|labell?ed)",
    r"(?:(?:treated|managed|operated on|received \w+|\w+tion|surgery) for|for (?:presumed|suspected))"
    r"(?=.* (?:erroneous|mistaken|wrong|incorrect|unnecessari)ly(?!\S))",
    r"(?:unnecessary|needless|inappropriate) \w+ for(?: (?:presumed|suspected))?",
    r"family history of|(?:mother|father|brother|sister|parents?|siblings?|uncle|aunt|cousin|relatives?|grand\w+)"
    r"(?: (?:had|has|have|with|who|died|of|from|also|carrie[ds]|suffer(?:s|ed)))+",
)
_LIKENESS = _any_of(  # deny the words after, all of a list
    r"(?:looks?|looked) (?:\w+ly )?like|resembl\w+|confused with|taken for|indistinguishable from|overlap\w* with",
    r"(?:distinguish|differentiat|discriminat|separat)\w*(?: (?!from)\w+){0,6} from|distinct from",
    rf"(?:negative|normal|unrevealing|unremarkable) (?:\w+ )?{_TESTS} for|exclusion criteria (?:were|included?)",
    r"(?:no|not|nor)(?: \w+){1,3} (?:to|that) (?:support|suggest|indicate)\w*",
)
_SUBJECT = _any_of(  # deny the words after, across one verb
    r"none(?: of)?|neither(?: of)?|no (?:patients?|persons?|one|wom[ae]n|m[ae]n|child(?:ren)?|subjects?|cases?)"
)
_AHEAD = _any_of(  # deny the words after
    r"no|not|cannot|never|nor|without|absence of|lack of|lack(?:ed|s|ing)|negative for|free (?:of|from)",
    rf"{_NOT_PASSIVE}(?:absent|denie[ds]|exclude[ds]?|ruled? out)",
    r"excluding|exclusion of|rules out|ruling out",
)
_CUES = re.compile(  # a sentence without the beginning of any cue is not searched further
    r"\b(?:no|not|cannot|never|none|neither|nor|without|absen|lack|negative|free|den[iy]|exclu|rul|rather|instead|unlike|"
    r"unlikely|improbable|impl|unten|contra|oppos|against|mimic|masq|simul|reclass|chang|mist|misd|misi|confus|thought|"
    r"famil|dispro|refut|discard|mother|father|brother|sister|parent|sibling|uncle|aunt|cousin|relative|grand|discount|"
    r"dismiss|eliminat|reject|withdr|revis|abandon|set aside|unrev|less|least|gave|turn|would|look|resemb|taken|indist|"
    r"overlap|disti|differen|discrim|separ|normal|unrem|suppos|alleg|erron|initial|first|origin|wrong|incorr|unnec|needl|"
    r"inapp|until|before|(?:were|had) (?:this|it|that))"
)

# suspicion: what was considered does not count once something else was found (`suspected_places`, `settling_place`)
_KIND = r"(?:\w+ )?(?:initial|first|working|referring|former|provisional|presumptive|clinical|radiological|main)"
_SUSPECTED_BEFORE = _any_of(
    rf"{_BE} (?:\w+ly |first |also |all |each |long )*(?:suspected|considered|feared|dreaded|assumed|entertained|"
    r"proposed|presumed|sought|looked for|favou?red|thought of|searched for|raised|discussed)",
    rf"(?:{_BE}|had been) (?:the|her|his|our|their) {_KIND} (?:diagnos[ie]s|impression|thought|label|consideration|"
    r"differential|alternative|contender)",
    r"seemed (?:possible|likely|plausible|probable)|had been (?:suspected|considered|assumed|feared|thought of)",
)
_SUSPECTED_AFTER = _any_of(
    r"suspected|suspicion (?:of|for)|suspicious (?:of|for)|suggestive of|(?:raised|raising|raises) (?:\w+ ){0,2}"
    r"(?:concern|suspicion|possibility|question) (?:for|of)|concern(?:ing|ed)? for",
    r"differentials?(?: diagnos[ie]s)?(?: (?:was|were|had|has))?(?: \w+ly)? (?:includ\w+|compris\w+|of|between)",
    rf"(?:{_KIND} )?(?:impression|label)(?: was)? of|{_KIND} (?:impression|diagnosis|label)(?: (?:was|of))+",
    rf"interpreted as|{_TESTS} for|screened for|tested for|looked for|favou?r(?:ed|ing)|considered",
    r"labell?ed as(?: having)?",
)
_SUSPICION = re.compile(
    r"\b(?:susp|consider|fear|dread|assum|entertain|propos|presum|sought|look|favou?r|thought|search|rais|discuss|"
    r"impression|label|seem|differential|concern|suggestive|interpret|work|tests?|testing|screen|serology|evaluat|"
    r"investig|result|alternative|contender|diagnos)"
)
_SETTLING = _any_of(
    r"(?:show|reveal|demonstrat|confirm|establish|identif|detect|disclos|diagnos|conclud|yield)(?:s|ed|es|ied)",
    r"prove[ds]?|proven|grew|turned out|final(?:ly)?|found|fulfilled|satisfied|pointed to|positive|negative|normal|"
    r"none|excluded|ruled out|instead|eventually|ultimately|due to|reflected|reported|diagnostic|recovered",
)
_CONFIRMED = _any_of(
    r"(?:confirm|prov|establish|verif)\w+ (?:the (?:diagnosis|suspicion)|this|it|in|by|on|at|histologically)",
    r"and (?:\w+ly )?(?:confirmed|proven|proved|verified|diagnosed)",
)


def denied_places(pieces: Sequence[str]) -> frozenset[int]:
    """The places of denied words in a sentence of lower-case words, COMMA and BREAK."""
    text = " ".join(pieces)
    if not _CUES.search(text):
        return frozenset()
    place_by_offset = _places_by_offset(pieces)
    used_spans = [match.span() for match in _AFFIRMING.finditer(text)]
    places: set[int] = set()
    for cues in (_LIKENESS, _BEHIND, _CONTRAST, _SUBJECT, _AHEAD):
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


def suspected_places(pieces: Sequence[str]) -> frozenset[int]:
    """The places of words that a sentence says were suspected, unless it says that they were confirmed."""
    text = " ".join(pieces)
    if not _SUSPICION.search(text):
        return frozenset()
    place_by_offset, places = _places_by_offset(pieces), set[int]()
    for cues in (_SUSPECTED_BEFORE, _SUSPECTED_AFTER):
        for match in cues.finditer(text):
            if _CONFIRMED.search(text, match.end()):
                continue
            first = place_by_offset[match.start()]
            if cues is _SUSPECTED_BEFORE:
                places |= _denied_before(pieces, first)
            else:
                after = first + match[0].count(" ") + 1
                places |= _denied_after(pieces, first, after, is_contrast=False, crosses_verb=False)
    return frozenset(places)


def settling_place(pieces: Sequence[str]) -> int:
    """The place of the last word by which a sentence says what was found; -1 without one."""
    text = " ".join(pieces)
    place_by_offset = _places_by_offset(pieces)
    return max((place_by_offset[match.start()] for match in _SETTLING.finditer(text)), default=-1)


def confirms(pieces: Sequence[str]) -> bool:
    """Whether a sentence confirms what was suspected before it, without its name."""
    return bool(_CONFIRMED.search(" ".join(pieces)))


def _places_by_offset(pieces: Sequence[str]) -> dict[int, int]:
    """The place of each piece, by its offset in the pieces joined by spaces."""
    place_by_offset, start = {}, 0
    for place, piece in enumerate(pieces):
        place_by_offset[start] = place
        start += len(piece) + 1
    return place_by_offset


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
    if end and pieces[end - 1] == COMMA:  # "X, which had been assumed, was refuted"
        relatives = [place for place in range(end - 2) if pieces[place] == COMMA and pieces[place + 1] in _RELATIVES]
        end = relatives[-1] if relatives else end
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
