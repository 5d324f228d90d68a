# ruff: noqa: E501 (patterns)
"""The option on which a sentence about the case ends, or that it puts first, looked for if no other rule reads one.

"Two failed trials qualify him for clozapine", "the biopsy has been obtained from the rectum", "TAVR is favoured at 84":
what follows a verb that shows, places or demands, or stands before a verdict, must name one option, and all sentences
the same one. What is reported, supposed, past or true of many is left out.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from wardround.marking.parser.conclusions.weighing import SUPPOSES
from wardround.marking.parser.words.word_search import WordSearch

MAX_FOCUSED = 4  # sentences of a reply
MIN_WORDS = 6  # of a reply
MAX_NAME = 90  # characters
NEAR = 32  # characters before a verb that may deny it

_ARTICLE = r"(?:(?:an?|the|this|his|her|their|another|some|any|likely|probable|classic(?:al)?|typical|simple|acute|urgent|immediate|early|prompt|emergency|possible|presumed|of|for|with|by|from|in|to|on|at|via|through) ){0,3}"
_SHOWS = WordSearch(
    r"\b(?:shows?|showing|reveals?|revealing|demonstrates?|demonstrating|depicts?|displays?|displaying|exhibits?|implicates?|implicating|localis(?:es?|ing)(?: \w+){0,3} (?:to|in)|localiz(?:es?|ing)(?: \w+){0,3} (?:to|in)|lateralis\w+ to"
    r"|plac(?:es?|ing) (?:it|this|him|her|the \w+) (?:in|at|under|within)|puts? (?:it|this|him|her|the \w+) (?:in|at|under|within)|qualif(?:y|ies) (?:\w+ )?(?:for|as)|warrants?|requires?|necessitates?|mandates?|calls? for|demands?"
    r"|equals?|represents?|constitutes?|denotes?|signifies|spells?|means?|meaning|implies|reflects?|reflecting|indicates?|indicating|suggests?|suggesting|confirms?|confirming|supports?|supporting|favou?rs?|favou?ring|clinches|screams|makes? (?:this|it|for)"
    r"|points? (?:\w+ ){0,2}(?:to|towards?|at)|pointing (?:\w+ ){0,2}(?:to|towards?|at)|corresponds? to|amounts? to|works? out (?:to|at|as)|comes? (?:out )?(?:to|at)|exits? (?:\w+ ){0,3}(?:via|through|by)|leaves (?:\w+ ){0,3}(?:via|through)|passes through|runs (?:through|in)"
    r"|(?:obtained|taken|arises?|arising|originat\w+|comes?|derived|released|secreted|produced) (?:from|by|in)|due to|because of|caused by|results? (?:from|in)|resulting (?:from|in)|(?:consistent|compatible|in keeping|in line) with|typical (?:of|for)|characteristic (?:of|for)|diagnostic (?:of|for)|hallmark of|pathognomonic (?:of|for)"
    r"|worrisome for|concerning for|suspicious for|suggestive of|indicative of|evidence of|sign of|signs of|picture of|case of|diagnosis of|example of|known as|called|termed|named|namely|i\.e\.,?|that is,?|in other words,?"
    r"|treated (?:\w+ )?(?:with|by)|managed (?:with|by)|(?:benefit|profit) (?:most )?from|(?:needs?|needing|deserves?|should (?:have|get|receive|undergo|go for|be (?:given|offered|started on|treated with|put on|referred for|sent for|switched to))|must (?:have|get|receive|undergo)|go for|proceed (?:to|with)|think(?! of)|start(?:ed|ing)?(?: \w+)? (?:on|with)?|begin(?: with)?|give|use|administer|order|request|arrange|perform|do|get|send (?:him|her|them) (?:for|to)|switch (?:\w+ )?to|works? by|acts? (?:by|on|at)|inhibits?|blocks?|blocking|there(?: is|'s| are)|sees?|has|have|having|is|are|remains?|would be|must be|has to be|should be))\b[ :]"
)
_VERDICT = re.compile(
    r" (?:(?:is|are|would be|should be|must be|has to be|needs? to be|remains)(?: (?:clearly|therefore|thus|then|now|urgently|immediately|first|strongly|probably|most likely))?"
    r" (?:(?:the )?(?:best|safest|most (?:likely|appropriate|suitable|consistent|probable|effective|important)|treatment|drug|test|investigation|next|right|correct|right)|(?:strongly |most |generally )?favou?red|indicated|preferred|preferable|started|given|performed|done|begun|initiated|urgent|needed|required|warranted|safer|torn|broken|fractured|ruptured|affected|involved|injured|damaged|offered|required|present|visible|seen|evident|shown|likely|responsible|consistent|classic)\b"
    r"|(?:is|are) (?=[\w ,]{0,40}\bhere\b)|fits?\b|explains?\b|accounts for\b|straight ?away|right away|immediately|at once|now\b|first\b|asap\b|stat\b)",
    re.I,
)
_PIECE = re.compile(r"[;:]\s|\s[–—-]\s|(?<=\w),\s|\s(?=(?:because|since|although|though|while|whereas|as (?:he|she|the|it|they|there|tsh|his|her)|but|so that|therefore|so|hence|thus|given|considering|to prevent|and then|then) )", re.I)
_NAME_ENDS = re.compile(
    r"[,;:(\[—…]|\.\.|\s[-–]\s|(?<=\w\w)\.(?:\s|\Z)|!|\s(?:because|since|as|given|and (?:not|then|the|a|is|are|was|it|he|she|they|no)|which|that|who|until|till|while|but|can|could|should|would|must|due|after|before|rather|instead|unless|plus|here|please|now|over|without|is|are|was|were|has|have|had|until|when|where|being|targeting|along with|together with|in (?:this|the|a|an|his|her|view|patients)|on (?:this|the)|with (?:a|an|the|bone|no|his|her)|for (?:this|the|a|an|his|her|at least|\d+)|from|at (?:this|the)|to (?:prevent|avoid|treat|look|see|exclude|rule|cover|confirm))\b"
)
_DENIED = WordSearch(
    r"\b(?:not|no|never|neither|nor|cannot|without|rather than|instead of|could|might|may|would(?! (?:be|have|give|start|use|do|go|order))|if|unless|less|unlikely|initially|at first|also|sometimes|often|usually|can|thought|used to|was|were|had|too)\b|n't\b"
)
_GENERAL = WordSearch(
    r"\b(?:his|her|their|my|the) (?:father|mother|sister|brother|family|son|daughter|wife|husband)\b|'s (?:father|mother|sister|brother|letter)\b|\b(?:if|neither|recall|details|rul(?:e|es|ed|ing) out|exclude|second most|considerations|cut-?offs?|or (?:lower|higher|more|less|above|below)|two of|carriers?|radiologists?|guidelines?|students?|textbooks?|colleagues?|consultants?|physicians?|doctors? (?:thought|said)|paramedics?|others?|some (?:parents|people|patients|authors)|many (?:people|patients|would|students|causes)|most people|reference standard|gold standard for|dangerous|feared|fears|tempting|distractor|trap|worst|least|last (?:year|month|week)|years? ago|history of|previous|previously|prior|differential|second[ -](?:line|choice)|alternative|complications?|side effects?|adverse|survival|mortality|prognosis|frequency|thickness|interval|incidence|prevalence|emergency with|question|options?|choices?|instructions?|referred (?:for|with)|referral|was (?:treated|given|taken|started)|has been taking|causes? of (?:anemia|death)|worldwide|in general|from a patient|reports?|reported|wrote|says|said|asks?|asked|mentioned|clinical question|indication|requested|the most (?:common|frequent)|commonest|ones)\b|\?"
)
_MADE = re.compile(r"\b(?:make|makes|making) (?:an? |the )?([^,;:]{2,60}?) (?:the |my )?(?:most likely|likeliest|(?:\w+ )?(?:answer|diagnosis|culprit|choice|cause|treatment))\b", re.I)
_LEAD = re.compile(
    r"\W*(?:(?:so|thus|hence|therefore|overall|here|now|well|first|next|i'd|i would|we should|you should|please|just|simply|in (?:short|summary|this (?:case|patient|setting))|this is|that is|it is|it's|that's|the answer is|classic|likely|probable|most likely|typical|an?|the)\b,? ?)*",
    re.I,
)

Name = Callable[[str], int | None]  # the only option that a few words name
Weigh = Callable[[str], dict[int, float]]  # the options that a text names


def read_focus(sentences: Sequence[str], weigh: Weigh, name: Name) -> int | None:
    """The option on which the sentences end, or that they put first; None if there is none, or several."""
    if len(sentences) > MAX_FOCUSED or sum(len(sentence.split()) for sentence in sentences) < MIN_WORDS:
        return None
    named: set[int] = set()
    affirmed: set[int] = set()
    for sentence in sentences:
        affirmed |= weigh(sentence).keys()
        if len(affirmed) > 1:
            return None
        if SUPPOSES.match(sentence) or _GENERAL.search(sentence):
            continue
        for words, before in _foci(sentence):
            option = name(words)
            if option is not None and option not in weigh(before):  # "zoster is caused by the varicella-zoster virus"
                named.add(option)
    return named.pop() if len(named) == 1 and affirmed <= named else None


def _foci(sentence: str) -> Iterator[tuple[str, str]]:
    """The words of a sentence that may be a name of what it is about, and those before a verb that says so."""
    pieces = _PIECE.split(sentence)
    if len(pieces) > 1 and sentence[len(pieces[0])] not in ", ":
        yield pieces[0], ""  # "transfuse packed red cells: Hb 5.8"
    if made := _MADE.search(sentence):
        yield made[1], ""
    for piece in pieces:
        if (verdict := _VERDICT.search(piece)) is not None and not _DENIED.search(piece[: verdict.end()]):
            yield piece[_LEAD.match(piece).end() : verdict.start()], ""  # type: ignore[union-attr]
    start = 0
    while (verb := _SHOWS.search(sentence, start)) is not None:
        start = verb.end()
        before = re.split(r"[,;:]\s", sentence[: verb.start()])[-1][-NEAR:]
        if _DENIED.search(before) or _DENIED.search(sentence[verb.end() : verb.end() + 8]):
            continue
        rest = re.sub(rf"\A{_ARTICLE}", "", sentence[verb.end() : verb.end() + MAX_NAME])
        stop = _NAME_ENDS.search(rest)
        words = (rest[: stop.start()] if stop else rest).strip(" .*\"'")
        if words:
            yield words, sentence[: verb.start()]
