# ruff: noqa: E501 (patterns)
"""The option on which a sentence about the case ends, or that it puts first, looked for if no other rule reads one.

"Two failed trials qualify him for clozapine", "the biopsy has been obtained from the rectum", "TAVR is favoured at 84":
what follows a verb that shows, places or demands, or stands before a verdict, must name one option, and all sentences
the same one. What is reported, supposed, past or true of many is left out.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from wardround.marking.parser.conclusions.weighing import MIN_EVIDENCE, SUPPOSES
from wardround.marking.parser.words.word_search import WordSearch

MAX_FOCUSED = 4  # sentences of a reply
MIN_WORDS = 6  # of a reply
MAX_NAME = 90  # characters
MAX_NOMINAL = 6  # words of a sentence without a verb
NEAR = 32  # characters before a verb that may deny it

_ARTICLE = r"(?:(?:an?|the|this|his|her|their|another|some|any|likely|probable|classic(?:al)?|typical|simple|acute|urgent|immediate|early|prompt|emergency|possible|presumed|of|for|with|by|from|in|to|on|at|via|through|una?|une|el|la|le|les|der|die|das|eine?n?|uma?|o|un') ){0,3}"
_SHOWS = WordSearch(
    r"\b(?:shows?|showing|defines?|describes?|characteri[sz]es?|reveals?|revealing|demonstrates?|demonstrating|depicts?|displays?|displaying|exhibits?|implicates?|implicating|localis(?:es?|ing)(?: \w+){0,3} (?:to|in)|localiz(?:es?|ing)(?: \w+){0,3} (?:to|in)|lateralis\w+ to"
    r"|plac(?:es?|ing) (?:it|this|him|her|the \w+) (?:in|at|under|within)|puts? (?:it|this|him|her|the \w+) (?:in|at|under|within)|qualif(?:y|ies) (?:\w+ )?(?:for|as)|warrants?|requires?|necessitates?|mandates?|calls? for|demands?"
    r"|equals?|represents?|constitutes?|denotes?|signifies|spells?|means?|meaning|implies|reflects?|reflecting|indicates?|indicating|suggests?|suggesting|confirms?|confirming|supports?|supporting|favou?rs?|favou?ring|clinches|screams|makes? (?:this|it|for)"
    r"|points? (?:\w+ ){0,2}(?:to|towards?|at)|pointing (?:\w+ ){0,2}(?:to|towards?|at)|corresponds? to|amounts? to|adds? up to|sums? to|seen (?:with|in)|says|works? out (?:to|at|as)|comes? (?:out )?(?:to|at)|exits? (?:\w+ ){0,3}(?:via|through|by)|leaves (?:\w+ ){0,3}(?:via|through)|passes through|runs (?:through|in)"
    r"|(?:obtained|taken|arises?|arising|originat\w+|comes?|derived|released|secreted|produced) (?:from|by|in)|due to|because of|caused by|characteri[sz]ed by|results? (?:from|in)|resulting (?:from|in)|(?:consistent|compatible|in keeping|in line) with|typical (?:of|for)|characteristic (?:of|for)|diagnostic (?:of|for)|hallmark of|pathognomonic (?:of|for)"
    r"|worrisome for|concerning for|suspicious for|suggestive of|indicative of|evidence of|sign of|signs of|picture of|case of|diagnosis of|example of|consists? of|known as|called|termed|named|namely|i\.e\.,?|that is,?|in other words,?"
    r"|treated (?:\w+ )?(?:with|by)|managed (?:with|by)|(?:benefit|profit) (?:most )?from|(?:needs?|needing|deserves?|should (?:have|get|receive|undergo|go for|be (?:given|offered|started on|treated with|put on|referred for|sent for|switched to))|must (?:have|get|receive|undergo)|go for|proceed (?:to|with)|think(?! of)|start(?:ed|ing)?(?: \w+)? (?:on|with)?|begin(?: with)?|give|use|administer|order|request|arrange|perform|do|get|send (?:him|her|them) (?:for|to)|switch (?:\w+ )?to|works? by|acts? (?:by|on|at)|inhibits?|blocks?|blocking|there(?: is|'s| are)|sees?|t[íi]pico de|sugiere|indica|muestra|compatible (?:con|avec)|corresponde a|[ée]voque|sugg[èe]re|montre|correspond à|en faveur d[eu]|spricht f[üu]r|passt zu|zeigt|deutet auf|suggerisce|mostra|sugere|wskazuje na|sugeruje|указывает на|соответствует|tyder på|wijst op|past bij|visar|viser|(?:he|she|they|patient|child|baby|infant|boy|girl|man|woman|lesion|tumou?r) (?:has|have)|is|are|remains?|would be|must be|has to be|should be))\b[ :]"
)
_VERDICT = re.compile(
    r" (?:(?:is|are|would be|should be|must be|has to be|needs? to be|remains)(?: (?:clearly|therefore|thus|then|now|urgently|immediately|first|strongly|probably|most likely))?"
    r" (?:(?:the )?(?:best|safest|most (?:likely|appropriate|suitable|consistent|probable|effective|important)|treatment|drug|test|investigation|next|right|correct|right)|(?:strongly |most |generally )?favou?red|indicated|preferred|preferable|started|given|performed|done|begun|initiated|urgent|needed|required|warranted|safer|torn|broken|fractured|ruptured|affected|involved|injured|damaged|offered|required|present|visible|seen|evident|shown|likely|responsible|consistent|classic)\b"
    r"|(?:is|are) (?=[\w ,]{0,40}\bhere\b)|(?:carries|has|offers|gives|provides) the (?:lowest|highest|best|greatest|least|most|fewest|strongest)\b|fits?\b|explains?\b|accounts for\b|straight ?away|right away|immediately|at once|now\b|first\b|asap\b|stat\b)",
    re.I,
)
_PIECE = re.compile(
    r"[;:]\s|\s[–—-]\s|(?<=\w),\s|\s(?=(?:because|since|although|though|while|whereas|as (?:he|she|the|it|they|there|tsh|his|her)|but|so that|therefore|so|hence|thus|given|considering|to prevent|and then|then) )",
    re.I,
)
_NAME_ENDS = re.compile(
    r"[,;:(\[—…]|\.\.|\s[-–]\s|(?<=\w\w)\.(?:\s|\Z)|!|\s(?:because|since|(?<!such )as|given|and (?:not|then|the|a|is|are|was|it|he|she|they|no)|which|that|who|until|till|while|but|can|could|should|would|must|due|after|before|rather|instead|unless|plus|here|please|now|over|without|is|are|was|were|has|have|had|until|when|where|being|targeting|along with|together with|in (?:this|the|a|an|his|her|view|patients)|on (?:this|the)|with (?:a|an|the|bone|no|his|her)|for (?:this|the|a|an|his|her|at least|\d+)|from|at (?:this|the)|to (?:prevent|avoid|treat|look|see|exclude|rule|cover|confirm))\b"
)
_DENIED = WordSearch(
    r"\b(?:not|no|never|neither|nor|cannot|without|rather than|instead of|could|might|may|would(?! (?:be|have|give|start|use|do|go|order))|if|unless|less|unlikely|initially|at first|also|sometimes|often|usually|thought|used to|was|were|had|too|beyond|short of|whether)\b|n't\b"
)
_GENERAL = WordSearch(
    r"\b(?:his|her|their|my|the) (?:father|mother|sister|brother|family|son|daughter|wife|husband|cousin|aunt|uncle|parents?)\b|'s (?:father|mother|sister|brother|letter)\b|\b(?:if|neither|recall|details|rul(?:e|es|ed|ing) out|exclude|second most|considerations|cut-?offs?|consider\w*|patients|allergic|allergy|intolerant|resistant|(?:is|are) on(?! the\b| this\b)|takes|taking|or (?:lower|higher|more|less|above|below)|two of|carriers?|radiologists?|guidelines?|students?|textbooks?|colleagues?|consultants?|physicians?|doctors? (?:thought|said)|paramedics?|others?(?! words)|denies|nurses|in the past|treated as|away with|difficulty|some (?:parents|people|patients|authors)|many (?:people|patients|would|students|causes)|most people|reference standard|gold standard for|dangerous|feared|fears|tempting|distractor|trap|worst|least|last (?:year|month|week)|years? ago|history of|previous|previously|prior|differential|second[ -](?:line|choice)|alternative|complications?|side effects?|adverse|survival|mortality|prognosis|frequency|thickness|interval|incidence|prevalence|emergency with|question|options?|choices?|instructions?|referred (?:for|with)|referral|was (?:treated|given|taken|started)|has been taking|causes? of (?:anemia|death)|worldwide|in general|from a patient|reports?|reported|wrote|said|asks?|asked|mentioned|clinical question|indication|requested|the most (?:common|frequent)|commonest|ones)\b|\?"
)
_VERB = WordSearch(
    r"\b(?:is|are|was|were|has|have|had|can|do|does|did|will|would|could|should|must|may|might|positive|negative|\w+(?:es|ed|ing)|\w{3,}[^su]s(?= (?:the|a|an|to|in|on|from|with|of|by|for|no|not)\b))\b"
)
_ORDER = re.compile(
    r"\W*(?:(?:please|just|simply|first|next|now|so|then|i(?:'d| would| will)|we(?:'d| would| should| must)|you should|one should|(?:he|she|they|the (?:patient|child|baby|doctor|team|physician)) (?:should|must|needs to|has to|ought to)(?: be)?),? )*"
    r"(?P<order>restrict|transfus|drain|monitor|observ|stop|discontinu|continu|increas|reduc|decreas|lower|rais|admit|discharg|refer|inform|tell|respect|honou?r|perform|aspirat|excis|resect|remov|biops|intubat|ventilat|defibrillat|cardiovert|shock|pac|withhold|switch|chang|replac|repeat|check|measur|test|screen|image|scan|send|call|notify|report|isolat|vaccinat|immuni[sz]|reassur|treat|start|begin|initiat|give|administer|add|titrat|dialy[sz]|embolis|repair|reduce|splint|cast|immobilis|elevat|apply|insert|plac|correct|supplement|rehydrat|resuscitat|anticoagulat|thrombolys|explor|operat|deliver|induc|clamp|massag|compress|decompress|ligat|band|inject|irrigat|wash|debrid|amputat|fix|discuss|explain|disclos|apologi[sz]|obtain|consult|document|involve|ask|offer|counsel|encourag|let|keep|leave|do|get|order|arrange|use)\w{0,4}\b",
    re.I,
)
_REASON = re.compile(
    r"\s[(–—-]|[;:]\s|,?\s(?:because|since|as|given|with (?:a|an|the|no)|for (?:this|the|her|his)|in (?:this|the)|due to|targeting|considering)\s",
    re.I,
)
_CLAUSE_BREAK = re.compile(r"[,;:(]\s?|\s[–—-]\s")
_UNSURE = WordSearch(
    r"\b(?:would|could|may|might|if|unless|whether|was|were|had|versus|vs|or|like|unlike|such as|than|besides|mimics?|resembl\w+|including|includes?|excludes?|excluding|exclude|against|allerg\w+|taking|on|prevents?|preventing|causes?|causing|treats?|treating|prophylaxis|risk|associated|from|after|before|diagnosing|diagnose|wants?|wanted|asked|ordered|prescribed|gave|received|underwent|took|got|developed|suffered|presented|came|went|uses|used)\b"
)
_TURNS = re.compile(r"\W*(?:but|however|yet|nevertheless)\b", re.I)
_BUT = re.compile(r"\b(?:but(?! not\b)|however|although|though)\b", re.I)
_JOINED = re.compile(r"\b(?:and|plus)(?: \w+)?\Z")
_PARTICIPLE = re.compile(r"\w+ed (?:to|by|with|from)\b|(?:positive|negative)\b")
_MADE = re.compile(
    r"\b(?:make|makes|making) (?:an? |the )?([^,;:]{2,60}?) (?:the |my )?(?:most likely|likeliest|(?:[\w-]+ ){0,2}(?:answer|diagnosis|culprit|choice|cause|treatment|step|test|investigation|explanation|option|priority|drug|approach|procedure|organism|candidate))\b",
    re.I,
)
_LEAD = re.compile(
    r"\W*(?:(?:so|thus|hence|therefore|overall|here|now|well|first|next|i'd|i would|we should|you should|please|just|simply|in (?:short|summary|this (?:case|patient|setting))|this is|that is|it is|it's|that's|the answer is|classic|likely|probable|most likely|typical|an?|the)\b,? ?)*",
    re.I,
)

Name = Callable[[str], int | None]  # the only option that a few words name
Weigh = Callable[[str], Mapping[int, float]]  # the options that a text names


def read_focus(
    sentences: Sequence[str], may_name: Callable[[str], bool], weigh: Weigh, name: Name, exact: Name
) -> int | None:
    """The option on which the sentences end, or that they put first; None if there is none, or several.

    `exact` is the option that is all that a few words say.
    """
    if len(sentences) > MAX_FOCUSED or sum(len(sentence.split()) for sentence in sentences) < MIN_WORDS:
        return None
    named: set[int] = set()
    affirmed: set[int] = set()
    for place, sentence in enumerate(sentences):
        affirmed |= weigh(sentence).keys()
        if len(affirmed) > 1:
            return None
        is_turned = any(map(_TURNS.match, sentences[place + 1 :]))
        if is_turned or not may_name(sentence) or SUPPOSES.match(sentence) or _GENERAL.search(sentence):
            continue
        for words, before in _foci(sentence):
            option = name(words)
            if option is None or weigh(before).get(option, 0) >= weigh(words).get(option, MIN_EVIDENCE):
                continue  # "zoster is caused by the varicella-zoster virus"
            named.add(option)
        if len(sentence.split()) > MIN_WORDS:
            for ends in _ends(sentence):
                named |= set(islice((option for option in map(exact, ends) if option is not None), 1))
    return named.pop() if len(named) == 1 and affirmed <= named else None


def _ends(sentence: str) -> Iterator[list[str]]:
    """The last words of a sentence, and of its part before a bracket or a reason, from many to few."""
    for part in {sentence, _REASON.split(sentence, maxsplit=1)[0]}:
        *before, end = _CLAUSE_BREAK.split(part.rstrip(" .!"))
        words = end.split()
        if before or len(words) > MAX_NOMINAL:
            leads = ((" ".join(words[:-count]), count) for count in range(min(MAX_NOMINAL, len(words)), 0, -1))
            yield [
                " ".join(words[-count:])
                for lead, count in leads
                if not (_DENIED.search(lead[-NEAR:]) or _UNSURE.search(lead) or _JOINED.search(lead))
            ]


def _foci(sentence: str) -> Iterator[tuple[str, str]]:
    """The words of a sentence that may be a name of what it is about, and those before a verb that says so."""
    pieces = _PIECE.split(sentence)
    if len(pieces[0].split()) <= MAX_NOMINAL and not (_VERB.search(pieces[0]) or _DENIED.search(sentence)):
        yield pieces[0], ""  # "Wet AMD."
    if len(pieces) > 1 and sentence[len(pieces[0])] not in ", ":
        yield pieces[0], ""  # "transfuse packed red cells: Hb 5.8"
    if made := _MADE.search(sentence):
        yield made[1], ""
    for piece in pieces:
        if (order := _ORDER.match(piece)) and not _DENIED.search(piece):
            yield piece[order.start("order") :], ""  # "restrict fluids to 800 mL/d"
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
        if words and not _BUT.search(rest) and not _PARTICIPLE.match(words):
            yield words, sentence[: verb.start()]
