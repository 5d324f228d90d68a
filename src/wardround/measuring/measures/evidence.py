"""What supplied documents do to answers (CURE, Fig. 2): correct or not, supported by them or not."""

from __future__ import annotations

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.item_sums import Marked


def evidence_sums(marks: Marked) -> dict[str, Floats]:
    """The four outcomes of correct x grounded, over marks that are scored and whose grounding was judged.

    Correct is a right first diagnosis, or a right option. Whether documents cover the truth is asked of
    every mark that tells it, scored or not.
    """
    found: dict[str, Floats] = {}
    if marks.has("grounded"):
        judged = marks.frame["grounded"].is_not_null().to_numpy() & ~marks.outcome("unscored")
        grounded, right = marks.flags("grounded"), marks.outcome("right")
        found |= {
            "grounding_of": marks.total(judged),
            "grounded": marks.total(judged & grounded),
            "evidence_based_correct": marks.total(judged & right & grounded),
            "knowledge_based_correct": marks.total(judged & right & ~grounded),
            "evidence_misled": marks.total(judged & ~right & grounded),
            "hallucination": marks.total(judged & ~right & ~grounded),
        }
    if marks.has("covered"):
        told = marks.frame["covered"].is_not_null().to_numpy()
        found |= {"covered_of": marks.total(told), "covered": marks.total(marks.flags("covered"))}
    return found
