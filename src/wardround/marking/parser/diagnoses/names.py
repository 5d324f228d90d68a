"""Names of diagnoses: one name without article, share and reason; the several names of a list on one line."""

import re

MAX_WORDS = 16
MAX_LENGTH = 180

_MARKS = " *_`\"',;:.。#>|\\–—-"
_NUMBER = re.compile(r"\(?(?:\d{1,2}[.):]|[a-hA-H]\))\s*(?=\D)")
_OPENING = re.compile(
    r"(?:(?:an?|the|either|some|this|option|letter)\s+"
    r"|(?:(?:most|more|very|highly)\s+)?(?:likely|probabl[ey]|possibl[ey]|plausible|suspected|presumed|presumptive|clearly)\s+"
    r"|(?:diagnos(?:is|tic) of|(?:(?:classic(?:al)?|typical)\s+)?(?:case|example|presentation|picture) of|that of|suspicion of)\s+"
    r"|(?:first|second|third|fourth|fifth|final|next)(?:ly)?[,:]\s+|(?:then|finally|also|and|or|namely|called)\s+|\?\s*)",
    re.I,
)
_RANK = re.compile(
    r"(?:(?:second|third|next|most|less|least|also|very)\s+)*(?:likely|probable|possible|unlikely|plausible)\s*[:–-]\s+"
    r"|(?:primary|alternative|secondary|leading|top)\s*:\s+",
    re.I,
)
_SHARE = re.compile(
    r"[\s(\[,:–—-]{0,4}(?:(?:estimated |approx\w* )?(?:probability|likelihood|confidence|certainty)(?: level)?)?[:=\s~≈]*"
    r"(?<![\w.])(?:\d{1,3}(?:\.\d+)?\s?(?:[-–]\s?\d{1,3})?\s?%|[01]?\.\d+)(?: (?:likel\w+|prob\w+|conf\w+|cert\w+))?[)\]]?\s*\Z",
    re.I,
)
_SHARE_FIRST = re.compile(r"\A\d{1,3}(?:\.\d+)?\s?%\s*(?:likely|probability|chance)?(?: of)?\s*[:–-]?\s*", re.I)
_PATIENT = r"(?:patient|case|child|boy|girl|man|woman|infant|baby|individual|scenario|context|setting|age group|clinical \w+)"
_REASON = re.compile(
    r"\s+[–—-]+\s+.*|:(?:\s.*|\Z)|(?<=[^\x00-\x7f]):.*|\s+[-=]?>\s+.*"
    r"|,?\s+(?:because|since|given|considering|based on|owing to|thanks to|according to|in view of|in light of"
    r"|due to (?:the|his|her|its|their|a)\b(?! \w+ (?:mutation|deficiency|virus|toxin))"
    r"|as (?:the|he|she|there|it|this|these|an?|shown|evidenced|suggested|indicated|demonstrated|supported|confirmed|well|seen)"
    r"|which|whose|that|pending|requiring|warranting|debido a|aufgrund|en raison d\S+|porque|weil|bei|with evidence"
    r"|where|while|whereas|although|though|but|however|so|therefore|thus|hence|rather than|instead of|over(?= \w)"
    r"|more than|until proven|explaining|making|(?:most )?consistent with|compatible with|suggestive of|presenting (?:with|as)"
    r"|(?:strongly |further |best |well )?(?:supported|evidenced|suggested|confirmed|characteri[sz]ed|indicated|explained|shown|proven) by"
    r"|with (?:high|low|moderate|reasonable|some|good) (?:confidence|certainty|probability|likelihood)"
    r"|with (?:typical|classic|characteristic|supporting|an? \d+% )"
    r"|at this (?:point|time|stage)|(?:in|for) (?:this|the given|our|such an?|the present|these) (?:\w+ ){0,2}" + _PATIENT + r"s?"
    r"|in the (?:setting|context|absence|presence) of|in an? \d+[- ]"
    r"|(?:is|are|was|were|has|have|had|would|should|could|can|cannot|may(?!-)|might|must|remains?|fits?|best|seems?|appears?)\b)\b.*"
    r"|,\s+(?:(?:an?|the|also|most|specifically|particularly|especially|likely|probably|possibly|caused|secondary to|not|with)\b).*",
    re.S,
)
_BRACKET = re.compile(r"\s*[(\[]([^()\[\]]*)(?:[)\]]|\Z)")
_REASON_IN_BRACKET = re.compile(
    r",|%|\b(?:most|more|less|least|likely|likelihood|unlikely|probab\w+|possib\w+|because|given|due to|support\w*|fits?|would|no|not"
    r"|without|ruled|exclud\w+|consider\w*|although|but|if|high|low|moderate|leading|primary diagnosis|is|are|was|has|seen|confidence"
    r"|classic\w*|typical\w*|my|top|first|best|rank\w*|alternative|differential|normal|negative|positive for|based on)\b"
    r"|(?:\S+\s+){6}",
    re.I,
)
_SYNONYM = re.compile(r"formerly|previously|also known|a\.?k\.?a|type|stage|grade|[a-z]?\d", re.I)
_EXPLANATION = re.compile(r"\s+[–—-]+\s+.*|:\s.*|[(\[].*|,\s+(?:because|since|given|based on|as|which|but|although|though)\b.*", re.S)
_WHOLE_PHRASES = re.compile(
    r"hand, foot,? and mouth|head and neck|graft[- ]versus[- ]host|nausea and vomiting|skin and soft tissue|ear, nose,? and throat"
    r"|signs and symptoms|ventilation and perfusion|brain and spin\w+|pulmonary-renal|upper and lower|oral and genital",
    re.I,
)
_SEPARATOR = re.compile(
    r"\s*;\s*|\s+>+\s+|\s*[、]\s*|\s*,\s*(?:(?:followed by|and then|then|and|or|y|und|et|e|oder|ou)\s+)?"
    r"|,?\s+(?:or|followed by|and then|then|versus|vs\.?|as opposed to|oder|ou|rather than|和|或|или)\s+",
    re.I,
)
_AND = re.compile(r"\s+(?:and|und|et|y|e|и|as well as)\s+")
_QUALIFIER = re.compile(
    r"(?:stanford|who|ann arbor|nyha|tnm|debakey|gold|fuhrman|gleason|figo|child-pugh|class)\b.*"
    r"|(?:.*\b)?(?:type|variant|form|subtype|phase|stage|grade|class|pattern|predominant|onset|mutated|nos|unspecified)(?:\s+\S{1,5})?"
    r"|(?:left|right|bilateral|unilateral|acute|chronic|subacute|severe|moderate|mild|ruptured|recurrent|refractory|metastatic"
    r"|advanced|early|late|active|atypical|classic(?:al)?|benign|malignant|primary|secondary|congenital|acquired|complicated"
    r"|uncomplicated|perforated|locali[sz]ed|diffuse|systemic|limited|juvenile|adult|familial|sporadic|idiopathic|in situ)"
    r"(?:[- ]sided?)?"
    r"|(?:with(?:out)?|complicated by|secondary to|due to|involving|status post|in|of)\b.*",
    re.I,
)
_DISEASE_END = re.compile(
    r"(?:itis|oma|osis|emia|aemia|pathy|plegia|algia|uria|penia|ectasis|cele|lepsy|lithiasis|syndrome|disease|disorder|infarction"
    r"|embolism|dissection|failure|infection|deficiency|fractures?|stenosis|abscess|effusion|stroke|cancer|tumou?r|cyst|injury"
    r"|h(?:a)?emorrhage|thrombosis|pneumonia|asthma|diabetes|hypertension|[A-Z]{2,6})\Z"
)
_FINDING = re.compile(
    r"\b(?:symptoms?|signs?|findings?|(?:on|by) (?:imaging|ct|mri|ultrasound|biopsy|histology|examination)|year-old|history of|levels?|count"
    r"|elevated|raised|positive|absent|with (?:\w+ )?(?:fever|pain|cough)|\w+ pain (?:with|after|and))\b",
    re.I,
)
# words of sentences that are not names
_SENTENCE_WORD = re.compile(
    r"\b(?:is|are|was|were|has|have|had|should|would|could|can|cannot|can't|may(?!-)|might|must|will|does|did|do not|don't|been|be|shows?"
    r"|showed|reveals?|presents?|needs?|needed|requires?|required|supports?|suggests?|indicates?|explains?|means|please|consult|we"
    r"|you|your|he|she|they|it(?!-)|these|there|here|let|let's|according|however|therefore|because|based on|sorry|unable|my|image was"
    r"|provided|includes?|points?|makes?|given that|if|not enough|i'm|i'll|i'd|fits?|confirms?|moved|want|thank)\b|\bI (?=[a-z])"
)
_NO_NAME = re.compile(
    r"(?:n/?a|none|unknown|unclear|undetermined|indeterminate|not (?:sure|known|available|applicable|specified|possible)|cannot\b.*|unable\b.*"
    r"|no diagnosis|(?:the )?diagnos[ei]s|yes|no|ok(?:ay)?|sure|certainly|of course|the|this|it|these|that|null|insufficient\b.*"
    r"|not enough\b.*|(?:high|low|moderate|medium)(?: (?:confidence|probability|likelihood))?|confidence\b.*|first|second|third"
    r"|(?:most|more|less|least) likely|answer|[A-Ha-h]|assistant|\d+[- ](?:year|month|week|day)s?\b.*|patient|(?:none|all) of the above"
    r"|(?:caused|characteri[sz]ed|associated|defined|known|made|supported|confirmed|established|suggested|unlikely|less|not|very|often"
    r"|usually|consistent|compatible|important|clear|correct|best|also)\b.*|(?:in )?(?:summary|conclusion)|based on\b.*|needed|likely|possible|probable)",
    re.I,
)


def clean_name(text: str) -> str:
    """A name without number, article, share, reason and the marks around it; empty if there is none."""
    name = text.strip(_MARKS)
    if name[:1] in "[(" and name[-1:] in "])":
        name = name[1:-1]
    name = _SHARE_FIRST.sub("", _SHARE.sub("", _NUMBER.sub("", name, count=1)))
    name = _without_opening(name)
    name = _SHARE.sub("", _BRACKET.sub(_kept_bracket, name)) if "(" in name or "[" in name else name
    name = _without_opening(_SHARE.sub("", _REASON.sub("", name)).strip(_MARKS))
    if name.count("(") > name.count(")"):
        name += ")"
    return name if re.search(r"[^\W\d_]", name) and not _NO_NAME.fullmatch(name) else ""


def _without_opening(name: str) -> str:
    rank = _RANK.match(name)
    name = name[rank.end() :] if rank else name
    while (opening := _OPENING.match(name)) and opening.end() < len(name):
        name = name[opening.end() :].lstrip(_MARKS)
    return name


def _kept_bracket(bracket: re.Match[str]) -> str:
    """An abbreviation or another name in brackets is kept, a reason is not."""
    inside = bracket[1].strip()
    is_name = inside[:1].isupper() or not inside.isascii() or _DISEASE_END.search(inside) or _SYNONYM.match(inside)
    return f" ({inside})" if is_name and not _REASON_IN_BRACKET.search(inside) else ""


def cut_reason(text: str) -> str:
    """The start of a text, without the reason or clause that follows the names."""
    return _REASON.sub("", _BRACKET.sub(_kept_bracket, text) if not text.startswith(("(", "[")) else text)


def is_sentence(text: str) -> bool:
    """Whether a text, but for an explanation after a dash, a colon or in brackets, is a sentence or too long for a name."""
    text = _EXPLANATION.sub("", text)
    lowered = text[:1].lower() + text[1:]
    return len(text) > MAX_LENGTH or len(text.split()) > MAX_WORDS or _SENTENCE_WORD.search(lowered) is not None


def is_finding(text: str) -> bool:
    """Whether a text that may be a name describes a patient or a test."""
    return _FINDING.search(text) is not None


def split_names(text: str, *, is_list: bool = False) -> list[str]:
    """The clean names in a text, in order. In a list the last two may be joined by "and"."""
    masks: list[str] = []

    def mask(match: re.Match[str]) -> str:
        masks.append(match[0])
        return f"\x00{len(masks) - 1}\x00"

    masked = _WHOLE_PHRASES.sub(mask, re.sub(r"[(\[][^()\[\]]*[)\]]", mask, text))
    parts: list[str] = []
    for part in _SEPARATOR.split(masked):
        part = part.strip()
        if parts and (_QUALIFIER.fullmatch(part) or not part):
            parts[-1] += f", {part}" if part else ""
        else:
            parts.append(part)
    pieces = [piece for part in parts for piece in _split_and(part, is_list=is_list or len(parts) > 2)]
    unmask = re.compile("\x00(\\d+)\x00")

    def restore(piece: str) -> str:
        while unmask.search(piece):
            piece = unmask.sub(lambda match: masks[int(match[1])], piece)
        return piece

    names = [clean_name(restore(piece)) for piece in pieces]
    return [name for name in names if name and not is_sentence(name)]


def _split_and(part: str, *, is_list: bool) -> list[str]:
    """A name with "and" in it stays whole, unless it stands in a list or what precedes "and" ends as a disease does."""
    parts = _AND.split(part)
    if len(parts) == 1 or (len(parts) == 2 and " of " in part and not _DISEASE_END.search(parts[0])):
        return [part]
    return parts if is_list or all(_DISEASE_END.search(piece.strip()) for piece in parts[:-1]) else [part]
