"""What a phrase of an article names: a disease, or a symptom, a finding, an organ, a procedure. Our choice of words."""

import re

from wardround.building.text.diagnosis_core import CLASS_WORDS, ORGANS, is_specific
from wardround.core.names import content_words
from wardround.marking.parser.diagnoses.names import ends_as_disease

FINDINGS = frozenset(["mass", "lesion", "swelling", "nodule", "finding", "sign", "pain", "fever", "bite"])
_PLACE = re.compile(r",|\s(?:of|with|in|without|from|involving|due to|caused by|secondary to|after)\s", re.IGNORECASE)
_DESIGNATION = re.compile(
    r",?\s+(?:type|grade|stage|class|variant)\s+\w{1,5}$|\s+(?:\d{1,2}[A-Z]?|[A-H]|[IVX]{1,4})$", re.I
)
_OTHER_ENDS = re.compile(  # besides those of the reader of open answers
    r"(?:\b(?!\w*(?:metabol|organ|mechan)ism)\w{4,}ism|purpura|catatonia|scurvy|allergy|intolerance|overdose|toxicity|intoxication|envenomation|abuse|withdrawal|sprue|gangrenosum"
    r"|gangrene|typhus|typhoid|plague|leprosy|anthrax|botulism|zona|polio|lipoidica"
    r"|fo?etalis|erythematosus|planus|corporis|capitis|nodosum|multiforme|ha?emophilia|leuka?emia|necrolysis|embolus"
    r"|emboli|thrombus|ha?ematoma|stones?|calcul(?:us|i)|bezoar|foreign body|tuberculosis|mastocytosis|\w{3}virus)$",
    re.IGNORECASE,
)
_PROCEDURE = re.compile(  # what was done, of whom, and with what, is not a disease
    r"\b(?:recipients?|dialysis|h(?:a)?emodialysis|transplantation|transplant|surgery|operation|therapy|treatment|vaccination"
    r"|immunosuppression|anticoagulants?|antibod(?:y|ies)|implants?|devices?|catheters?|nutrition|users?|workers?|pregnancy"
    r"|donors?|survivors?|anesthesia|anaesthesia|\w{3,}(?:ectomy|ectomies|otomy|ostomy|plasty|oscopy|graphy|centesis))$",
    re.IGNORECASE,
)
_DESCRIBED = (  # words before a symptom that do not make a disease of it
    r"recurrent|recurring|acute|subacute|chronic|sudden|severe|progressive|rapidly|slowly|persistent|intermittent"
    r"|transient|episodic|unexplained|refractory|intractable|prolonged|profound|massive|life-threatening|painless|painful"
    r"|isolated|first|new-onset|late-onset|early-onset|neonatal|bilateral|unilateral|left|right|upper|lower"
    r"|gastrointestinal|abdominal|chest|back|neck|leg|arm|knee|hip|shoulder|pelvic|flank|muscle|limb|joint|facial|scrotal"
    r"|altered|obstructive|iron deficiency|of unknown origin"
)
_SYMPTOM = re.compile(
    rf"(?:(?:{_DESCRIBED})\s+){{0,4}}"
    r"(?:ataxia|pains?|fever|seizures?|status epilepticus|confusion|delirium|coma|headaches?|syncope|collapse"
    r"|dyspno?ea|breathlessness|cough|ha?emoptysis|jaundice|ascites|diarrho?ea|constipation|vomiting|nausea|dysphagia"
    r"|weakness|paralysis|fatigue|weight loss|rash|rashes|pruritus|itch(?:ing)?|ulcers?|swelling|o?edema|bleeding"
    r"|ha?ematuria|ha?ematemesis|mela?ena|shock|cardiac arrest|acute abdomen|visual loss|vision loss|diplopia|vertigo"
    r"|dizziness|hearing loss|hoarseness|stridor|palpitations|bradycardia|tachycardia|hypotension|ana?emia"
    r"|thrombocytopa?enia|pancytopenia|neutropenia|leu[ck]ocytosis|eosinophilia|hypo\w+a?emia|hyper\w+a?emia"
    r"|proteinuria|transient ischa?emic attacks?|lymphadenopathy|splenomegaly|hepatomegaly|malabsorption"
    r"|failure to thrive|memory loss|dementia|psychosis|amnesia|tremor|chorea|odyssey|puzzle|mystery)",
    re.IGNORECASE,
)


def names_a_disease(name: str) -> bool:
    """Whether a word of it is more than an organ or a class. `Right atrial mass` is a finding."""
    words = content_words(name)
    if not words or words[-1] in FINDINGS or _PROCEDURE.search(name):
        return False
    if re.fullmatch(r"[A-Z][A-Za-z0-9-]{1,7}", name) and sum(letter.isupper() for letter in name) > 1:
        return True
    return any(is_specific(word) and word not in CLASS_WORDS | ORGANS for word in words) or (
        bool(set(words) & CLASS_WORDS) and bool(set(words) & ORGANS)
    )


def is_disease_like(name: str) -> bool:
    """Whether a name ends, or its part before `of`, `in` and the like, as diseases do. A symptom is not one."""
    plain = _DESIGNATION.sub("", name)
    heads = [plain, _PLACE.split(plain)[0]]
    if any(_PROCEDURE.search(head) for head in heads) or is_symptom(name):
        return False
    forms = [form for head in heads for form in (head, head.lower().removesuffix("s"))]
    return any(ends_as_disease(form) or _OTHER_ENDS.search(form) for form in forms)


def is_symptom(name: str) -> bool:
    """Whether a name is what brings patients to a doctor, or a finding of the laboratory."""
    return _SYMPTOM.fullmatch(_PLACE.split(name)[0].strip()) is not None
