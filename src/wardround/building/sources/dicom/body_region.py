"""The region of the body that a study shows, from the header's body part or a table's words (our choice of groups)."""

import re

REGIONS = {
    "head": r"head|brain|skull|face|orbit|eye|sinus|maxill|mandib|jaw|ear|temporal|pituitary|dental|tooth",
    "neck": r"neck|thyroid|larynx|pharynx|carotid|cspine|cervical",
    "chest": r"chest|thorax|lung|heart|cardiac|coronary|mediastin|rib|sternum|breast|esophag|aorta|pulmon",
    "abdomen": r"abdo|liver|pancrea|kidney|renal|spleen|bowel|colon|stomach|gallbladder|biliary|adrenal|append",
    "pelvis": r"pelvi|bladder|prostate|uter|ovar|rectum|sacr",
    "spine": r"spine|lumbar|thoracic spine|tspine|lspine|vertebra|whole ?spine",
    "limbs": r"shoulder|arm|elbow|wrist|hand|finger|humer|radius|ulna|hip|femur|thigh|knee|tibia|leg|ankle|foot"
    r"|toe|extrem",
}
_FIRST = ("spine",)  # `THORACICSPINE` is no chest


def body_region(text: str) -> str | None:
    """The region that a text names; None if it names none or several."""
    plain = re.sub(r"[^a-z]+", " ", text.lower())
    names = [name for name, words in REGIONS.items() if re.search(words, plain)]
    if special := [name for name in names if name in _FIRST]:
        return special[0]
    return names[0] if len(names) == 1 else None
