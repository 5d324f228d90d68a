# ruff: noqa: E501 (templates, one a line)
"""Conclusions in words that no other rule reads, looked for only if the others read nothing.

The last sentence, or the only one, must match a whole template ("between A and B, B wins", "the whirlpool sign makes
torsion the diagnosis"), and what the template leaves must be a letter, an option or a part of one.
"""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from wardround.core.text import LETTERS
from wardround.marking.parser import phrases
from wardround.marking.parser.loose import SENTENCE_END, has_telling_words, read_part
from wardround.marking.parser.option_text import OptionForms, find_whole_text, folded_words
from wardround.marking.parser.option_tokens import CONTRASTS, WORDS, option_tokens, stems_of

MAX_CLOSING = 240  # characters of a sentence that may be a conclusion
MAX_WORDED = 60  # of a reply that may be an option's words in another order

_LEAD = (
    r"(?:(?:obviously|clearly|surely|definitely|certainly|probably|perhaps|maybe|likely|most likely|simply|just|only|ok"
    r"|okay|well|hmm+|so|then|hence|thus|therefore|overall|anyway|finally|here"
    r"|(?:it|this|that|which)(?:'s| is|s)?|i(?:'d|'ll|'m| would| will| am)?|we(?:'d|'ll)?"
    r"|would|should|must|has to|have to|could only|can only|be|got to|gotta"
    r"|think|believe|guess|guessing|say|saying|bet|betting|go|going|pick|picking|choose|choosing|select|selecting|lean"
    r"|leaning|take|taking|tick|circle|mark|vote|voting|settle|settling|opt|opting|stick|sticking|answer|ans|on|with|for"
    r"|towards?|to|opt|not (?:\w+ly |100% )?(?:sure|certain)|hard to (?:say|tell)|tough (?:one|call)|but|leaving|leaves"
    r"|left|remaining|remains|us|me|i'm not a doctor|i am not a doctor|final answer|my answer|thinking"
    r"|(?:pretty|fairly|quite|very|\d+%) (?:sure|confident|certain)(?: that)?|confidently|with confidence|undoubtedly"
    r"|absolutely|100%|easy|easily|gonna|going to|imma|id|im|(?:i am |i'm )?inclined|tend|tending|prefer|preferring"
    r"|my (?:gut|instinct|money|hunch|vote|bet)(?: feeling)?(?: says| is| goes)?(?: on| to| for)?"
    r"|the scales? tips?|the balance tips?|ich (?:denke|glaube|meine|sage|tippe)(?: auf)?|je (?:pense|crois|dis|dirais)|secondo me|penso|(?:[èe]|es|c'est) la|la"
    r"|variante|creo que|creo|acho que|eu diria|yo dir[íi]a|all things considered|on balance|in the end|ultimately"
    r"|(?:from|based on|given|judging by|going by|on) (?:the |this )?(?:\w+ ){0,2}"
    r"(?:description|history|text|findings?|vignette|information|data|options|stem|question|presentation|picture|above))"
    r"[\s,.:;…)–—-]+)"
)
_LETTER = r"(?:(?:option|choice|letter|answer) )?[(\[\"']*(?P<name>[A-J])[)\]\"']*"
_TAIL_WORDS = (
    r"(?:,? (?:i(?:'d)? (?:think|believe|guess|say|suppose|reckon)|imo|imho|for (?:sure|me)|to me|it is|then|here|probably"
    r"|definitely|most likely|likely|final answer|(?:is )?(?:the )?likeliest|without (?:a |any )?doubt|hands down|100%|all the way"
    r"|(?:is )?(?:preferred|favou?red)|preferably|(?:is )?(?:more likely|likelier) than (?:option )?\(?[A-J]\)?|to [A-J]"
    r"|(?:because|coz|cos|cuz|b/c|bc|w/) [^.;?]{3,80}|/ [a-z][^.;?]{3,60}|first(?:,? then [A-J])?|to (?:exclude|rule out) [a-z][a-z ]{3,40}|with (?:high|moderate|low|good|full|reasonable|some) confidence"
    r"|(?:and )?not (?:option )?\(?[A-J]\)?|(?:over|rather than|instead of) (?:option )?\(?[A-J]\)?))"
)
_NAME = r"(?:an? |the )?(?P<name>[^,;:()]{1,80}?)"
_SEEN = (
    r"(?:seen|shown|visible|evident|noted|depicted|demonstrated|identified|indicated|involved|affected|injured|damaged"
    r"|enlarged|labell?ed|marked|highlighted|pictured|visuali[sz]ed|arrowed)"
)
_SIGHT = r"(?:lesion|picture|image|rash|finding|mass|scan|ecg|presentation|pattern)"
_SIGN = r"(?:∴|→|⇒|➜|▸|➤|»|=+>|-+>)"
_OF_CASE = r"(?: (?:here|first|in this (?:image|case|patient|setting|situation)|on this (?:image|scan|film)|for \w+))?"

# fullmatched by a short reply or its last sentence; what is named must be a letter
_LETTERED = (
    re.compile(rf"{_LEAD}{{1,7}}{_LETTER}{_TAIL_WORDS}?[.!]*", re.I),
    re.compile(rf"{_LETTER}{_TAIL_WORDS}{{1,2}}[.!]*", re.I),
    re.compile(
        rf"(?:i (?:can't|cannot|can not|am unable to) (?:see|view|open) [^,;.]{{3,40}}[,;] but ){_LEAD}{{0,5}}{_LETTER}[.!]*",
        re.I,
    ),
    re.compile(
        rf"the (?:single )?(?:most|best) (?:appropriate|suitable|plausible|fitting|likely|probable)(?: one)?(?: is|:) {_LETTER}[.!]*",
        re.I,
    ),
    re.compile(
        rf".*?(?:changed my (?:mind|view)|decid\w+|settl\w+ it|tip\w* (?:it|the balance))\W+{_LETTER}[.!]*", re.I
    ),
    re.compile(
        r"(?:the )?(?:[\w-]+ ){1,3}?(?:that |which )?(?:you|we|one|i|is|are|does|do|was|would|should)\b[^.;]{0,40}?"
        rf"(?:\bNOT\b|n't|\bnot)[^.;,]{{0,40}}? (?:is|are|=) {_LETTER}[.!]*"
    ),
    re.compile(
        rf"(?:the )?(?:exception|odd one out|false statement|incorrect statement)(?: here)?(?: is|:) {_LETTER}[.!]*"
    ),
)
_CHOICE_OF_TWO = re.compile(
    r"(?:[^.]{0,60}\. ?)?(?:it(?:'s| is) )?(?:between )?(?:options? )?\(?(?P<one>[A-J])\)? (?:and|or|vs\.?|versus) \(?(?P<two>[A-J])\)?"
    r"[\s,:;.–—>→-]+(?:but |and |so |then )?(?:i(?:'d| would|'ll)? (?:take|pick|choose|go with|say|favou?r|prefer|lean(?: towards?)?) )?"
    r"\(?(?P<name>[A-J])\)?(?: (?:is|seems|looks|as|being) (?:the )?(?:clearly |far |much )?"
    r"(?:superior|better|stronger|more (?:likely|specific|fitting|plausible|probable|appropriate|convincing))[\w ]{0,30}"
    r"| wins[\w ]{0,40}| (?:is )?more (?:likely|specific|plausible|probable)| fits better[\w ]{0,30}| it is)?[.!]*",
    re.I,
)
_LEFT_OVER = re.compile(
    r"(?:rule out |eliminat(?:e|ing) |exclud(?:e|ing) )?(?P<names>[A-J](?:, [A-J])*,? (?:and |& )?[A-J])"
    r"(?: (?:are |can be |were )?(?:out|wrong|excluded|ruled out|eliminated|incorrect|false))?"
    r"[\s.,:;→>-]+(?:so |thus |hence |(?:which |that |this )?leav(?:es|ing) |(?:i'm |we're )?left with |only )*(?P<name>[A-J])"
    r"(?: (?:remains|is left|stays|it is))?[.!]*",
    re.I,
)
_YES_TO_ONE = re.compile(r"(?:\(?[A-J]\)?[ :,-]+no[,;.\s]+(?:and |but )?)+(?P<name>[A-J])\)?[ :,-]+yes[.!]*", re.I)
_FITS = (
    r"(?:(?:would be|must be|has to be|is) it|would fit(?: best| well)?|(?:would )?makes? sense|sounds? (?:right|correct|best)"
    r"|matches(?: (?:this|the|these) [\w ]{1,30}| this| best)?|is the (?:only )?(?:one|option)(?: that is)? left|is likeliest"
    r"|is the only remaining (?:option|one|choice|diagnosis)|is the pick|is what fits(?: best)?|stands|does"
    r"|(?:would )?explains? (?:it all|everything|all (?:of )?(?:this|these|the)[\w ]{0,20})"
    r"|(?:comes?|should come|goes|would come) first|(?:is|would be) (?:the )?most (?:sensitive|specific|useful|accurate)(?: test)?"
    r"|has the (?:highest|best|greatest) (?:sensitivity|specificity|accuracy|yield)"
    r"|ties (?:it|everything|this|these|all (?:of )?this)(?: all)?(?: findings)? together|unifies [\w ]{3,30}"
    r"|(?:is|would be) (?:at the top|on top|first|number one) (?:of|on) (?:my|the) (?:list|differential))"
)
# matched at the beginning of the reply
_OPENING = re.compile(
    r"(?:final |my |best )?(?:answer|finding|diagnosis|dx|choice|result|verdict|pick|selection|option)\s*"
    rf"(?:{_SIGN}|[:=–—)])\s*\(?(?P<name>[A-J])\)?(?=\. | \(|\n| [–—-] )",
    re.I,
)
_WITH_PARTICLE = re.compile(
    r"\W*(?P<name>[A-J])(?:입니다|번(?:입니다)?|이다|예요|项|項|だと思います|と思います|である|だ)\W*"
)
# matched at the end of the reply
_SIGNED = re.compile(
    rf"(?:\A|\n|[.!?] )[^\n.]*?(?:{_SIGN}|(?<![^\s.!?])(?<!\w )>{{2,}})\s*{_NAME}\s*(?:<{{2,}}|«|←)?[.!]*\Z",
    re.I | re.M,
)
# fullmatched by the only or last sentence; what is named may be a part of an option. Before each template stand parts
# of words and signs: a sentence that matches it has one of them
_CONCLUDING = tuple(
    (tuple(parts.split("|")), re.compile(template, re.I))
    for parts, template in (
        (
            "makes",
            rf".*\bmakes {_NAME} (?:the|my|our) (?:(?:most )?likely |best |leading |clear |obvious )?"
            r"(?:diagnosis|answer|choice|option|culprit)[.!]*",
        ),
        (
            "make",
            rf".*\bmakes? {_NAME} (?:clearly |far |much )?(?:the )?(?:more|most|best) (?:convincing|likely|plausible|probable"
            r"|attractive|suitable|appropriate|fitting|consistent|compelling|reasonable)[.!]*",
        ),
        ("it|this|us|me", rf".*\b(?:makes|leaves|gives) (?:it|this|us with|me with) {_NAME}[.!]*"),
        (
            "more",
            r"(?:it(?:'s| is) |this is |i think )?more (?:likely|probably|in keeping with|consistent with|suggestive of) "
            rf"(?:to be )?{_NAME} than [\w -]+[.!]*",
        ),
        ("it|this|that", rf".*(?:\bbut|,|\bso) [^,;]{{0,50}}\b(?:it(?:'s| is| must be)|this is|that's) {_NAME}[.!]*"),
        (
            "diagnosis",
            r"(?:working|provisional|leading|primary|presumptive|presumed|probable|top|favou?red|principal)(?: differential)?"
            rf" diagnosis(?: is|:| -) {_NAME}[.!]*",
        ),
        (
            "top",
            r"(?:(?:at the )?top of (?:the|my) (?:differential|list)|top (?:differential|choice|pick|dx))"
            rf"(?: is|:| -) {_NAME}[.!]*",
        ),
        (
            "suspicion",
            r"(?:i have (?:a )?|there is (?:a )?)?(?:high|strong|highest) (?:clinical )?suspicion (?:for|of) "
            rf"{_NAME}[.!]*",
        ),
        (
            "thinking|suspecting|most",
            r"(?:i(?:'m| am) )?(?:thinking|suspecting|most (?:concerned|worried|suspicious) (?:about|for|of)) "
            rf"{_NAME}[.!]*",
        ),
        (
            "my",
            rf"{_NAME} (?:is|would be) my (?:top|first|number one|main|leading|preferred) "
            r"(?:choice|pick|diagnosis|answer|suspicion|guess|concern)[.!]*",
        ),
        (
            "looks",
            rf"(?:this|it|the (?:\w+ )?{_SIGHT})(?: \w+)? looks (?:most |very much |a lot |just )?like "
            rf"{_NAME}(?: (?:to me|\([^()]*\)))?[.!]*",
        ),
        (
            "send|book|take|admit|schedule|list|bring|put|proceed|go ahead",
            r"(?:i(?:'d| would| will|'ll) |we (?:should|would) |let's |please )?"
            r"(?:send|book|take|admit|schedule|list|bring|put|proceed|go ahead) (?:(?:him|her|them|in|the|this|patient"
            r"|man|woman|child|or|theatre|straight|to|on|up|urgently|directly|now|for|an?) )*(?:to|for|with|on) "
            rf"{_NAME}[.!]*",
        ),
        (
            "is known|is called|is termed|is named",
            r".*\b(?:condition|disease|disorder|entity|phenomenon|sign|syndrome|finding) is (?:known as|called|termed|named) "
            rf"{_NAME}[.!]*",
        ),
        ("=|>|∴|→|⇒|➜|▸|➤|»", rf"[^.;]*(?: = | {_SIGN} ){_NAME}[.!]*"),
        (
            "infection",
            rf"(?:so |thus |hence |therefore )?(?:an? )?(?:acute |chronic |active |classic |typical |likely )+{_NAME}"
            r" infection[.!]*",
        ),
        (", then", rf"(?:so |thus |hence |therefore |then )?{_NAME}, then[.!]*"),
        (
            "it|would fit|sens|sound|match|left|likeliest|only remaining|the pick|what fits|stands|does|explain|first|most|has the|together|unifies|at the top|on top|number one",
            rf"(?:[^;]*[;,] )?(?:so |thus |hence |therefore |only |answer choice |option )?{_NAME} {_FITS}[.!]*",
        ),
        (" down ", r".*\b(?:come|coming|comes) down (?:on the side of|to) " rf"{_NAME}[.!]*"),
        (" up to ", rf".*\badds? up to {_NAME}[.!]*"),
        (
            "putting|taking|weighing|adding",
            rf"(?:putting|taking|weighing|adding) [\w ]{{2,30}}(?: together| up| everything)?[,:] {_NAME}[.!]*",
        ),
        ("would be", rf"(?:top|first|head) (?:of|on) (?:my|the) (?:list|differential) would be {_NAME}[.!]*"),
        (
            "what ",
            rf"what (?:this|the \w+|all this) (?:describes|shows|represents|means|suggests|depicts) is {_NAME}[.!]*",
        ),
        (
            " which is ",
            rf"(?:the|this) [\w ]{{2,20}} (?:shows?|demonstrates?|reveals?) [\w ]{{3,50}}, which is {_NAME}[.!]*",
        ),
        (
            "as well as",
            rf"(?:nothing(?: else)?|no other (?:option|diagnosis|choice|one)) [\w ]{{3,40}} as well as {_NAME}(?: does)?[.!]*",
        ),
    )
)
# fullmatched by a reply of one sentence
_ALONE = tuple(
    (tuple(parts.split("|")), re.compile(template, re.I))
    for parts, template in (
        ("suspected ", rf"suspected {_NAME}[.!]*"),
        ("before anything|first of all", rf"(?:before anything else|first of all)[,:] {_NAME}[.!]*"),
        ("combination", rf"(?:a )?combination of {_NAME}[.!]*"),
        (" to ", rf"{_NAME} to (?:rule out|exclude) [\w ]{{3,40}}[.!]*"),
        (
            " is | are ",
            rf"{_NAME} (?:is|are) (?:{_SEEN}|mandatory|compulsory|essential|first[- ]line|the gold standard|my recommendation"
            r"|the standard of care|(?:most )?urgent|the (?:treatment|drug|test|agent) of choice"
            rf"|the first[- ]line (?:drug|agent|treatment|therapy)){_OF_CASE}[.!]*",
        ),
        (" is ", rf"an? [\w-]+ (?:of|in|involving|within) {_NAME} is {_SEEN}{_OF_CASE}[.!]*"),
        (
            "without delay|immediately|urgently|away|asap|stat|now|at once|today",
            rf"{_NAME} (?:without delay|immediately|urgently|right away|straight away|asap|stat|now|at once|today)[.!]*",
        ),
        ("a", rf"an? [\w -]{{3,40}}(?:,|:| such as|, i\.e\.,?|, namely) {_NAME}[.!]*"),
        (
            "biologic|therapy|treatment|agent|inhibitor|antibiotic|drug",
            r"(?:biologics?|[\w-]+ (?:therapy|treatment|agent|inhibitor|antibiotics?|drug))(?:,|:| such as|, i\.e\.,?| with"
            rf"| like) {_NAME}[.!]*",
        ),
        (
            "such as|like",
            rf"(?:i(?:'d| would) )?(?:start|give|use|prescribe|try|add) an? [\w -]{{2,30}} (?:such as|like) {_NAME}[.!]*",
        ),
        (
            "(",
            r"[^(),;:]{3,50} \((?P<name>[^()]{2,60})\)(?: is (?:first[- ]line|indicated|the answer|needed|preferred))?[.!]*",
        ),
        (
            "defect|pattern|disease|process|type|picture|physiology|one|features",
            rf"(?:[^.;]{{0,60}}, )?(?:(?:this|it) is |the pattern is |(?:this|it) has )?{_NAME} (?:ventilatory |lung |airways? )*"
            r"(?:defect|pattern|disease|process|type|picture|physiology|one|features)[.!]*",
        ),
        (">", rf"{_NAME} ?>{{1,3}} ?[^<>=]{{2,80}}(?:> ?[^<>=]{{2,80}})*"),
    )
)
_DENIED = re.compile(
    r"\b(?:contra-?indicated|resistant|clear|spared|intact|not|no|never|cannot|neither|nor|except|without|unless|if|whether|could|might|may|can|(?<!the )or|vs|versus|unlikely"
    r"|less|least|exclud\w+|rul\w+ out|avoid\w*|instead|normal|history|prior|previous|past|risk|differential|consider\w*"
    r"|treat(?:ed|ment)|mother|father|family|known|denies|unclear|unsure|uncertain|possibl\w+|mimics?|but so|need to know|depend\w*|second)\b|n't\b|\?"
)
_CLAUSE_BREAK = re.compile(r"[,;:(=>→⇒]| (?:but|than|so|to (?:rule out|exclude)|without|makes|(?:the|The) OR) ")
_LONE_LETTER = re.compile(r"\b[A-J]\b")
# a word or sign of every template: one search in place of many
_CUE = re.compile(
    r"[=>→⇒∴➜▸➤»(:]|(?<![a-z])(?:a(?:dd|dmit|lled|rrowed|s well as|sap|t once|ffected)|b(?:e it|ook|ring|efore anything)"
    r"|c(?:alled|ombination|ompulsory)|d(?:elay|iagnosis|ifferential|oes|own|efect|isease|epicted|emonstrated|amaged)"
    r"|e(?:ssential|vident|nlarged|xplains?|xclude)|f(?:irst|eatures)|g(?:ives|o ahead|old|reatest)|h(?:ighest|ighlighted)"
    r"|i(?:s it|t's|t is|t must|nfection|mmediately|dentified|ndicated|nvolved|njured|\.e)|known|l(?:eaves|ist|ooks|eft"
    r"|ikeliest|ike|abell?ed)|m(?:akes?|ore|ost|y|atches|andatory|arked)|n(?:amed|amely|ow|oted)|o(?:f choice|ne)"
    r"|p(?:ut|roceed|ick|utting|attern|rocess|icture|ictured|hysiology)|r(?:emaining|ule out|ight away|ecommendation)"
    r"|s(?:uspicion|uspect\w+|end|chedule|ense|ounds?|tands|een|hown|uch as|tat|tandard|traight)|t(?:han|his is|hat's|op"
    r"|hinking|ake|aking|ermed|hen|ies|oday|ype)|u(?:nifies|p to|rgent|rgently)|v(?:isible|isuali[sz]ed)"
    r"|w(?:ould fit|hat|hich is|ith|eighing))(?![a-z])"
)
_SIGN_CHARACTERS = "∴→⇒➜▸➤»>="
_MAPPED = re.compile(rf" (?:=|{_SIGN}) ")
_SUMS_UP = re.compile(
    rf"(?:{_SIGN}|>{{2,}}|here|so|thus|hence|therefore|overall|in (?:this|our) (?:case|patient))", re.I
)
_BRACKETED_LAST = re.compile(r"\s*\((?:had|if|were|should|in case|were it|note)\b[^()]*\)\s*\Z", re.I)

# numbers that name an option in another form: "one in four" is "25%", "24h" is "24 hours"
_BEFORE_QUANTITY = re.compile(
    r"\A(?:(?:the |its? )?(?:answer|risk|chance|probability|likelihood|proportion|prevalence|rate|dose|interval|value)"
    r" ?(?:is|=|:|of)? ?)?(?:(?:about|around|approximately|approx\.?|roughly|after|within|at|for|every|=|~|≈) ?)*"
)
_AFTER_QUANTITY = re.compile(
    r"(?:\s*\([^()]*\)| of (?:the )?\w+(?: \w+)?| chance| risk| post[- ]?dose| later)?[\s.!]*\Z"
)
_NUMBER_WORDS = {
    word: str(number)
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
} | {"fifteen": "15", "twenty": "20", "thirty": "30", "forty": "40", "fifty": "50", "hundred": "100"}
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b")
_SHARES = {
    "half": Fraction(1, 2),
    "third": Fraction(1, 3),
    "quarter": Fraction(1, 4),
    "fourth": Fraction(1, 4),
    "fifth": Fraction(1, 5),
    "tenth": Fraction(1, 10),
}
_SHARE = re.compile(r"(?:(?P<count>\d+|an?)[ -])?(?P<part>half|third|quarter|fourth|fifth|tenth)s?")
_RATIO = re.compile(r"(\d+) ?(?:in|/|out of|of) ?(\d+)")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?) ?(?:%|percent|per cent)")
_DECIMAL = re.compile(r"(0?\.\d+)")
_TIMED = re.compile(r"(\d+(?:\.\d+)?) ?(h|hr|hour|d|day|wk|week|mo|month|min|minute|y|yr|year)?s?")
_SECONDS = {"min": 60, "h": 3600, "d": 86400, "wk": 604800, "mo": 2629800, "y": 31557600}  # a month is a year's twelfth
_SAME_UNIT = {"hr": "h", "hour": "h", "day": "d", "week": "wk", "month": "mo", "minute": "min", "year": "y", "yr": "y"}
MAX_ROUNDING = Fraction(1, 200)  # "67%" is two thirds


def has_sign(text: str) -> bool:
    """Whether a text may have an arrow or an equals sign between words."""
    return any(map(text.__contains__, _SIGN_CHARACTERS))


def read_closing(text: str, options: Sequence[str], forms: OptionForms, is_contested: bool) -> int | None:
    """The option that the reply concludes with; `is_contested`: it claims several, so that it must prefer one."""
    has_letter = _LONE_LETTER.search(text) is not None
    option = _of_several(text, options) if len(text) <= MAX_CLOSING and has_letter else None
    if is_contested or option is not None:
        return option
    if opening := _OPENING.match(text) or _WITH_PARTICLE.fullmatch(text):
        return _lettered(opening["name"], options)
    text = _BRACKETED_LAST.sub("", text) if text.endswith(")") else text
    sentences = [sentence for part in SENTENCE_END.split(text[-4 * MAX_CLOSING :]) if (sentence := part.strip())]
    if not sentences or len(sentences[-1]) > MAX_CLOSING:
        return None
    last = sentences[-1].lstrip("◦•-* ")
    has_letter = has_letter and _LONE_LETTER.search(last) is not None
    for template in _LETTERED if has_letter else ():
        if (named := template.fullmatch(last)) and last[named.start("name")].isupper():
            return _lettered(named["name"], options)
    is_alone = len(sentences) == 1
    if is_alone and (option := read_quantity(text, options)) is not None:
        return option
    if not has_letter and not has_telling_words(last, option_tokens(tuple(options))):
        return None
    if _DENIED.search(last.lower()) and not _CLAUSE_BREAK.search(last):
        return None
    named_options = {_named(name, options, forms) for name in _names(text, last, is_alone)} - {None}
    if not named_options and is_alone:
        return _worded_option(text, options)
    return named_options.pop() if len(named_options) == 1 else None


def _names(text: str, last: str, is_alone: bool) -> Iterator[str]:
    """What the last sentence may conclude with."""
    lower = last.lower()
    if not _CUE.search(lower):
        return
    is_signed = has_sign(text)
    if is_signed and len(_MAPPED.findall(text)) > 1 and not _SUMS_UP.match(last):
        return  # "fever → pneumonia, wheeze → asthma"
    signed = _SIGNED.search(text, max(0, len(text) - MAX_CLOSING)) if is_signed else None
    if signed and not _is_denied(signed[0], signed):
        yield signed["name"]
    for parts, template in (*_CONCLUDING, *_ALONE) if is_alone else _CONCLUDING:
        if any(map(lower.__contains__, parts)) and (named := template.fullmatch(last)) and not _is_denied(last, named):
            yield named["name"]


def _worded_option(text: str, options: Sequence[str]) -> int | None:
    """The only option all of whose words a few words have, in any order: "reassurance and discharge home"."""
    tokens = option_tokens(tuple(options))
    words = stems_of(text, tokens.initials) if len(text) <= MAX_WORDED else ()
    said = frozenset(words) - WORDS["idle"]
    if _DENIED.search(text.lower()) or not said:
        return None
    named = [option for option, stems in enumerate(tokens.stems) if stems - WORDS["idle"] <= said]
    if len(named) != 1:
        return None
    stems = tokens.stems[named[0]] - WORDS["idle"]
    own = said - stems - WORDS["added"] - {"patient"}
    others = frozenset().union(*tokens.stems)
    if (
        sum(len(word) > 3 for word in stems) < 2
        or any(map(str.isdigit, text))
        or len(own) > 2
        or own & (others | WORDS["polarity"] | WORDS["sentence"])
    ):
        return None
    return None if any(own & contrast for contrast in CONTRASTS) else named[0]


def _is_denied(sentence: str, named: re.Match[str]) -> bool:
    """Whether the clause with the name, or what follows it, denies or doubts it."""
    lower = sentence.lower()
    clause = phrases.CLAUSE.split(lower[: named.start("name")])[-1]
    if ("looks" not in clause and phrases.DISTANT.search(clause)) or phrases.SUPPOSED.match(lower):
        return True
    after = lower[named.end("name") :]
    return bool(_DENIED.search(clause) or _DENIED.search(named["name"].lower()) or "?" in after)


def _of_several(text: str, options: Sequence[str]) -> int | None:
    """The option preferred to another one, or left over when all others are denied."""
    if (two := _CHOICE_OF_TWO.fullmatch(text)) and two["name"].upper() in (two["one"].upper(), two["two"].upper()):
        return _lettered(two["name"], options)
    if yes := _YES_TO_ONE.fullmatch(text):
        return _lettered(yes["name"], options)
    everything = set(LETTERS[: len(options)])
    denied = _LEFT_OVER.fullmatch(text)
    if denied:
        option = _lettered(denied["name"], options)
        left = everything - set(re.findall(r"\b[A-J]\b", denied["names"].upper()))
        return option if option is not None and left == {LETTERS[option]} else None
    return None


def _lettered(letter: str, options: Sequence[str]) -> int | None:
    place = LETTERS.index(letter.upper())
    return place if place < len(options) else None


def _named(name: str, options: Sequence[str], forms: OptionForms) -> int | None:
    """The option with this letter or text, or the only one with this part."""
    name = name.strip(" .!\"'")
    if len(name) == 1:
        return _lettered(name, options) if "A" <= name <= "J" and not forms.letters else None
    folds = folded_words(name)
    option = find_whole_text(name, folds, forms)
    return read_part(name, folds, options) if option is None else option


def read_quantity(text: str, options: Sequence[str]) -> int | None:
    """The option that is the same share or time as the whole reply."""
    if len(text) > 60:
        return None
    said = _AFTER_QUANTITY.sub("", _BEFORE_QUANTITY.sub("", _in_digits(text)))
    for read in (_share, _time):
        value = read(said)
        if value is None or all(map(_DECIMAL.fullmatch, options)):  # "75%" is not "0.75"
            continue
        of_options = [read(_in_digits(option)) for option in options]
        named = [place for place, other in enumerate(of_options) if other is not None and _is_same(other, value)]
        return named[0] if len(named) == 1 and None not in of_options else None
    return None


def _in_digits(text: str) -> str:
    return _NUMBER_WORD.sub(lambda word: _NUMBER_WORDS[word[0]], text.lower().strip(" ."))


def _is_same(one: Fraction, other: Fraction) -> bool:
    return abs(one - other) <= (MAX_ROUNDING if max(one, other) <= 1 else 0)


def _share(text: str) -> Fraction | None:
    """A part of one: "25%", "1 in 4", "a quarter", "0.25"."""
    if percent := _PERCENT.fullmatch(text):
        return Fraction(percent[1]) / 100
    if share := _SHARE.fullmatch(text):
        count = share["count"]
        return (int(count) if count and count.isdigit() else 1) * _SHARES[share["part"]]
    if ratio := _RATIO.fullmatch(text):
        return Fraction(int(ratio[1]), int(ratio[2])) if 0 < int(ratio[1]) <= int(ratio[2]) else None
    decimal = _DECIMAL.fullmatch(text)
    return Fraction(decimal[1]) if decimal else None


def _time(text: str) -> Fraction | None:
    """A time in seconds."""
    timed = _TIMED.fullmatch(text)
    if timed is None or timed[2] is None:
        return None
    unit = _SAME_UNIT.get(timed[2], timed[2])
    return Fraction(timed[1]) * _SECONDS[unit]
