"""Patterns of sentences that state a diagnosis (statements.py)."""

import re

from wardround.marking.parser.diagnoses.labels import phrases
from wardround.marking.parser.diagnoses.vocabulary import one_of, read_vocabulary

SENTENCE_END = re.compile(
    r"(?:(?<=[^\s.]{3})|(?<=\s(?:it|is|me|so)))[.!?;]+(?:\s+|\Z)|(?<=[A-Z]{2})\.\s+(?=[A-Z])"
    r"|(?:(?<=\d[\da-z%)])|(?<=[a-z]\s\d))\.\s+(?=[A-Z])|\n"
)
CLAUSE_END = re.compile(
    r",?\s+(?:(?:even )?though|although|while|whereas)\s+"
    r"|[,;]\s+(?:and )?(?:so|hence|thus|therefore),?\s+(?=(?:this|it|the|i|we)\b)"
    r"|[,;]?\s+(?<!not )(?:but|however),?\s+(?!rather|instead)|:\s+(?=the\b)"
    r"|\s[–—-]\s(?=(?:this|it|these|I|think|suspect)\b)",
    re.I,
)
BUT = re.compile(r"[,;]\s+(?:but|however)\b", re.I)
LEADING = re.compile(r"\b(?:primary|leading|main|foremost|first|top|most)\b", re.I)
UNLIKELY = re.compile(
    r"\bbut (?:this|it|that) (?:is|was|seems|appears) (?:\w+ )?(?:unlikely|improbable|excluded|ruled out|not)\b", re.I
)
SUBORDINATE = re.compile(
    r"(?:although|though|while|whereas|unlike|despite"
    r"|previously|initially|in this|at first|given|with|considering|based on|because of|in view of|in light of)\b"
    r"[^,;]{3,200}?(?:,[^,;]{3,80}){0,3}?,\s+(?=(?:this|it|these|that|the|i|we|he|she|they|her|his|my)\b)"
    r"|if (?:i|we) had to\b[^,;]*?,?\s+(?=(?:it|this|i|we|my)\b(?! had))",
    re.I,
)
NOT_BUT = re.compile(
    r"\bnot\s+(?!forget|sure|certain|know|only|just)[^,;.]{2,60}?,?\s+(?:but|rather)(?: rather| instead)?\s+", re.I
)


def _words(kind: str) -> str:
    return one_of(read_vocabulary("phrases.toml")[kind])


SUPPOSED = re.compile(_words("supposed"), re.I)
FURTHER = re.compile(rf"\b{_words('further')}\b", re.I)
FINAL = re.compile(rf"\b{_words('final')}\b", re.I)
OF_NAME = re.compile(
    r"\bdiagnosis of (?P<name>.+?)\s(?:is|can be|was|seems|should be|would be|appears|remains|fits)\b"
    r"(?! (?:un|less|not))",
    re.I,
)
SUBJECT_IS = re.compile(
    rf"(?P<before>(?:[^,;]*[,;]\s)*?[^,;]*?)\b{_words('subjects')}\b"
    rf"(?P<between>(?:,[^;:]{{2,80}}?,|\s{_words('between')}\b[^;:]{{0,80}}?)?)"
    rf"(?:\s{_words('links')}(?:\s{_words('adverbs')})*:?|:)\s+(?P<name>.+)",
    re.I,
)
STANDS = re.compile(rf"\b{_words('stands')}\b", re.I)
LIKELY = rf"most (?:likely|probable|plausible|fitting|suspected)(?=\W*\Z|\s?[,;(]|\s{_words('after_likely')}\b)"
NAME_IS = re.compile(
    rf"(?P<name>.+?)(?:\s*[,–—-]+\s*(?:that|this|it))?(?:\s|(?<=that|this)(?='s))"
    rf"(?:(?:{_words('stands')}|'s)(?: by far| to be| as|,? therefore,?| thus| \w+ly)*"
    rf"\s(?:the most common \w+ and )?(?:(?:the|my|our|your|an?)\s)?(?:(?:single|clear|overall)\s)?"
    rf"(?:{LIKELY}|{_words('likeliest')})|{_words('fits')})"
    r"(?!.*\bleast\b)",
    re.I,
)
NAME_LIKELY = re.compile(
    r"(?P<name>[^,;:]{3,60}?)\s+(?:most (?:likely|probable)|favou?red)(?=\s*(?:[,;]|vs\b|\Z))", re.I
)
MORE_LIKELY = re.compile(
    r"(?P<name>.+?)\s(?:is|seems|appears)(?: much| far| considerably)?\s"
    r"(?:more likely|likelier|more probable) than (?P<rest>.+)",
    re.I,
)
LESS_LIKELY = re.compile(
    r"(?P<name>.+?)\s(?:is|seems|appears)(?: much| far| considerably)?"
    r"\s(?:less likely|less probable) than (?P<rest>.+)",
    re.I,
)
MAKES = re.compile(
    r"\b(?:mak(?:e|es|ing)|render(?:s|ing)?|leaves?)\s+(?P<name>.+?)\s+"
    r"(?:as )?(?:by far )?(?:the )?(?:most|far more|more likely|very|highly|leading|best|obvious|clear|natural|only"
    r"|prime|top|diagnosis|answer|culprit)\b"
    r"|\bmakes? (?:this|it)\s(?:an?\s)?(?P<other>(?!more|less|un|very|most|likely|clear|difficult|hard)\w.+)",
    re.I,
)
TAKEN_AS = re.compile(
    r".*\b(?:i|we|one|you)\b[^;]*\b(?:interpret|read|regard|see|view|classify|take|label)\b.*\bas\s(?:an?\s)?(?P<name>.+)",
    re.I,
)
CORRECTS = re.compile(
    r"(?:on (?:second thoughts?|reflection|reconsideration)|actually|wait|correction|scratch that|sorry|no,)\b", re.I
)
CHOOSES = re.compile(
    r"\b(?:i|we|one|you)(?:'d| would| will|'m| am| can| could| should)?(?: now| still| therefore| \w+ly)?"
    rf"\s{_words('chooses')}"
    rf"(?:\s{_words('chosen_for')})*[:,]?\s+(?P<name>.+)",
    re.I,
)
POINTS = re.compile(
    r"(?<!less )(?<!not )(?<!in)\b(?P<firm>(?:most|best|strongly|highly|very|clearly|almost)\s(?:\w+ly )?)?"
    rf"{_words('points')}"
    r"(?: strongly| most)?\s(?:(?:an?|the)\s)?(?P<name>.+)",
    re.I,
)
PATIENT_HAS = re.compile(
    rf"\b{_words('patients')}(?: most| very)?(?: likely| probably| clearly)*\s{_words('has')}\s"
    r"(?!a history|no |had|been)(?P<name>.+)",
    re.I,
)
THIS_IS = re.compile(
    r"(?:(?:so|therefore|thus|overall|hence|in summary|in conclusion"
    r"|in my (?:opinion|view)|(?:most )?(?:likely|probably)),?\s)?"
    r"(?:it's|that's|what (?:i|we|you) (?:see|have)(?: here)? is"
    r"|(?:the )?(?:this|it|these|that|presentation|picture)(?: \w+){0,3}?\s"
    r"(?:is|are|appears to be|seems to be|must be|would be|(?:should|must|can only|has to|needs to)"
    r" (?:really )?be(?: considered| called| taken as| presumed(?: to be)?| treated as)?|can (?:really )?only be))"
    r"(?: \w+ly| most| almost| therefore)*\s(?P<name>.+)",
    re.I,
)
LATER_THIS = re.compile(r"(?:,\s+|\s)(?=(?:this|these|it)\s(?:is|are|must|should|can|has to|would be)\b)", re.I)
TOPS = re.compile(
    r"(?:.*[,;]\s+)?(?:at )?(?:the )?(?:top|head|high|first|number one) (?:of|on) (?:the|my) (?:list|differential) "
    r"(?:is|would be|should be|comes|sits|stands)\s(?P<name>.+)",
    re.I,
)
IS_LIKELY = re.compile(
    r".*?\s(?:is|are) (?P<firm>most likely|most probably|very likely|likely|probably)(?: to be)?\s+"
    r"(?:an?\s)?(?P<name>.+)",
    re.I,
)
PERSON_WITH = re.compile(
    rf"(?:this is |we have )?(?:an? )?[^,;]*?\b{_words('described')}\b[^,;]{{0,40}}?\swith\s(?P<name>[^,;]+)\Z", re.I
)
EXPLAINS = re.compile(
    r"(?P<name>[^,;]+?)\s(?:would |could |can |best |also |readily |fully )*"
    r"(?:explains?|accounts? for)\s(?!only|part|some|less|few|neither|just)",
    re.I,
)
EQUALS = re.compile(r".+\s(?:=+|[-=]+>|→|⇒)\s+(?P<name>.+)")
UNTIL_PROVEN = re.compile(
    r".*\b(?:is|are|has|have|as|=|:)\s(?:an?\s)?(?P<name>.+?) until (?:proven|shown|\S.*\botherwise)",
    re.I,
)
QUESTION = re.compile(
    r"(?:so|and|but)?,?\s*\b(?:wh(?:at|ich|y|o|ere|en)|how|do|does|did|is|are|can|could|would|should|have|has|will)\b",
    re.I,
)
ENDS = re.compile(rf".*\b{_words('ends')}\s+(?:an?\s|the\s)?(?P<name>\S.{{2,80}}?)(?: first)?\Z", re.I)
ONE_DIAGNOSIS = re.compile(
    r"\A(?:only )?(?:one|a single|the|this) (?:\w+ )?(?:diagnosis|condition|disease)\s*[:–—-]\s+", re.I
)
REASON = re.compile(r",? (?:as|because|since|given that) (?=(?:the|he|she|it|there|they|this|these|her|his)\b)", re.I)
DENIES = re.compile(
    r"(?:\b(?:not(?! only\b| just\b| merely\b)|no(?! doubt\b)|never|cannot|unlikely|neither"
    r"|without (?:evidence|signs?) of"
    r"|(?<!no )(?<!little )(?<!without )doubt|rul(?:es?|ed|ing) out|exclud(?:es?|ed|ing)"
    r"|(?:evidence|argues|speaks) against)"
    r"|\w+n't)\b(?![^,;:]*\b(?:but|than|exclude\w*|rule out)\b)[^,;:]{0,40}\Z",
    re.I,
)
DENIED = re.compile(r"\b(?:not|never|hardly|nothing|doubt|\w+n't)\b", re.I)
APPOSITION = re.compile(r",\s+an?\s[^,]*\Z")
SUMS_UP = re.compile(
    r"(?:together,? |all |overall,? )*(?:these|such) (?:\w+ )?(?:findings|features|appearances|changes|signs)\b", re.I
)
SUSPECTED = re.compile(
    rf"(?P<name>.+?)\s(?:is|was|should be|must be|has to be) "
    rf"(?:strongly |highly |very |clinically )?{_words('suspected')}\b",
    re.I,
)
SHOWS = re.compile(rf"\b{_words('shows')}\s+(?P<name>.+)", re.I)
STARTS = re.compile(
    r"(?:(?P<firm>most (?:likely|probabl[ey])|favou?r(?:ing)?|leaning(?: towards?)?)"
    r"|likely|probabl[ey]|suspected|suspect|presumed"
    r"|(?:the )?diagnosis of|(?:looks?|appears?|seems?) to be"
    r"|(?:looks?|sounds?) like|must be|has to be|(?:definite|certain|clear|obvious)ly"
    r"|my (?:vote|money|bet) (?:goes to|is on|is|would be(?: on)?)"
    r"|think(?: of)?)[:,]?\s+(?!(?:this|the|that|it|he|she)\b)(?P<name>.+)",
    re.I,
)
TO_EXCLUDE = re.compile(
    r".*\b(?:to|must|should|needs?)(?: also| still)? (?:exclude|rule out|consider)\s+(?P<name>.+)", re.I
)
POSSIBLY = re.compile(rf"{_words('possibly')}[:,]?\s+(?P<name>.+)", re.I)
REMAINS = re.compile(
    rf"(?P<name>.+?)\s(?:is|are|remains?|could be|may be|should(?: also)? be)(?: also| still)?\s"
    rf"(?:an? )?{_words('remains')}\b"
    r"(?!.*\bleading\b)",
    re.I,
)
INCLUDES = re.compile(
    r"\b(?:differential(?: diagnos[ei]s)?|considerations|possibilities|alternatives|diagnoses)\b[^:;]{0,40}?"
    r"(?:\sincludes?|\sincluding|\sare|\bfor\b[^:;]{0,60}?:|:)\s+(?P<name>.+)",
    re.I,
)
COMPARED = re.compile(
    r"(?:,?\swith\s+(?=.+\sas (?:the|an?) (?:\w+ )?(?:alternative|differential|runner-up))"
    r"|\s(?:rather than|over|as opposed to|instead of|more than)\s+|,\s*其次(?:需要?|应)?(?:考虑|为|是)?)"
    r"(?P<rest>.+)",
    re.I,
)
BEFORE_NAME = re.compile(
    r"(?:.*[,:]\s+)?(?:(?:of|among|amongst|out of) (?:these|them|those|the \w+)\s)?"
    r"(?:(?:i|we) (?:think|believe|feel|would say|conclude)(?: that)?\s)?"
    r"(?:(?:therefore|thus|hence|so|overall|clearly|here)\s)?(?:a )?(?:diagnosis of\s)?",
    re.I,
)
PRONOUN = re.compile(r"(?:this|it|that|which|these|(?:the )?(?:first|former|latter|second)|option \w)(?:\s.*)?", re.I)
LEAD_IN = re.compile(
    rf"(?:^|.*?\b)(?:{phrases('lead_ins')})(?:\s+|(?=[^\x00-\u02ff])|(?<='))(?P<name>.+)",
    re.I,
)
CLOSING = re.compile(rf"\s*(?:{phrases('closings')})[\s.]*\Z", re.I)
ARTICLE = re.compile(
    r"\A(?:(?:eine?[nrsm]?|der|die|das|une?|la|les?|un[ao]?|el|los|las|uma?|o|a|il|lo|gli|du|des|это)\s+|l'|d'|un')?"
    r"(?:(?:caso?|cas|fall) (?:t[íi]pi(?:co|que)\s)?(?:de|di|d'|von)\s*)?",
    re.I,
)
