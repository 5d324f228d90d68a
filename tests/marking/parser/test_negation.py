"""Which diagnoses a sentence denies, and where a denial ends."""

from __future__ import annotations

import pytest

from wardround.marking.evidence.document import read_document, split_sentences
from wardround.marking.evidence.grounding import is_supported

DENYING = [
    "There was no evidence of sarcoidosis.",
    "No sarcoidosis was seen.",
    "A mass without sarcoidosis.",
    "The absence of sarcoidosis was noted.",
    "Sarcoidosis was excluded.",
    "Sarcoidosis was finally ruled out by biopsy.",
    "CT ruled out sarcoidosis and showed a cyst.",
    "Unlike sarcoidosis, it spares the nodes.",
    "Sarcoidosis was not found.",
    "Sarcoidosis could not be demonstrated.",
    "It was lymphoma rather than sarcoidosis.",
    "No lymphoma, tuberculosis or sarcoidosis was found.",
    "The patient did not have sarcoidosis.",
    "None of the patients had sarcoidosis.",
    "Sarcoidosis was found in no patient.",
    "Neither lymphoma nor sarcoidosis was present.",
    "Negative for sarcoidosis.",
    "Sarcoidosis had been suspected but was disproved.",
    "It was misdiagnosed as sarcoidosis.",
    "He was misdiagnosed with sarcoidosis; he had lymphoma.",
    "A diagnosis of sarcoidosis was made elsewhere and later revised to lymphoma.",
    "A lymphoma mimicking sarcoidosis.",
    "There was a family history of sarcoidosis.",
    "His father had sarcoidosis.",
    "Lymphoma can look like sarcoidosis.",
    "It may be confused with lymphoma, tuberculosis and sarcoidosis.",
    "Sarcoidosis was suspected in all patients and excluded in all.",
    "The differential included sarcoidosis; biopsy showed lymphoma.",
    "Sarcoidosis was considered first. Biopsy showed lymphoma.",
    "What was treated as sarcoidosis turned out to be lymphoma.",
    "A lymphoma that was initially labelled as sarcoidosis.",
    "A normal ACE level made sarcoidosis unlikely.",
    "Sarcoidosis, which had been assumed for years, was refuted by biopsy.",
    "Biopsy distinguishes lymphoma from sarcoidosis.",
    "Sarcoidosis would have shown granulomas.",
    "Negative work-up for sarcoidosis led to a biopsy.",
]
AFFIRMING = [
    "Sarcoidosis was found.",
    "No fever was noted, but sarcoidosis was found.",
    "No fever was noted; sarcoidosis was found.",
    "Lymphoma was ruled out; however, sarcoidosis was found.",
    "CT excluded lymphoma and demonstrated sarcoidosis.",
    "There was no lymphoma, and sarcoidosis was found.",
    "CT showed sarcoidosis, and lymphoma was excluded.",
    "There was no fever. Sarcoidosis was found.",
    "A lesion without calcification suggests sarcoidosis.",
    "Without treatment, sarcoidosis may progress.",
    "Sarcoidosis cannot be excluded.",
    "Not only sarcoidosis is seen.",
    "Sarcoidosis is not uncommon.",
    "Biopsy was done to rule out sarcoidosis.",
    "Sarcoidosis without lymphoma.",
    "Sarcoidosis versus lymphoma was discussed.",
    "Non-smokers have sarcoidosis.",
    "The differential includes sarcoidosis and lymphoma.",
    "Sarcoidosis was suspected.",
    "Sarcoidosis was suspected and confirmed by biopsy.",
    "Sarcoidosis was suspected. Biopsy confirmed the diagnosis.",
    "Sarcoidosis was considered; the family declined biopsy.",
    "Lymphoma was suspected, but biopsy showed sarcoidosis.",
]


@pytest.mark.parametrize("sentence", DENYING)
def test_a_denial_does_not_support(sentence):
    assert not is_supported(["sarcoidosis"], [sentence])
    assert is_supported(["sarcoidosis"], [f"{sentence} Later, sarcoidosis was diagnosed."])
    assert is_supported(["sarcoidosis"], [sentence, "Sarcoidosis of the lung"])


@pytest.mark.parametrize("sentence", AFFIRMING)
def test_what_is_not_denied_supports(sentence):
    assert is_supported(["sarcoidosis"], [sentence])


def test_a_denied_name_is_not_put_together_from_other_words():
    assert not is_supported(["hepatic adenoma"], ["Hepatic lesions\nNo adenoma was found."])
    assert is_supported(["hepatic adenoma"], ["Hepatic lesions\nAn adenoma was found."])


def test_a_window_reaches_over_one_sentence_end_at_most():
    assert is_supported(["renal angiomyolipoma"], ["Renal masses. They were angiomyolipomas."])
    assert not is_supported(["renal angiomyolipoma"], ["Renal masses. We had ten. They were angiomyolipomas."])


def test_what_decides_a_name_cannot_be_left_out():
    name = "chronic beta gamma delta epsilon"
    assert not is_supported([name], ["acute beta gamma delta epsilon"])
    assert is_supported([name], ["chronic beta gamma delta"])


def test_non_makes_another_disease():
    assert not is_supported(["Hodgkin lymphoma"], ["Non-Hodgkin lymphoma of the stomach"])
    assert is_supported(["non-Hodgkin lymphoma"], ["Non-Hodgkin lymphoma of the stomach"])
    assert not is_supported(["non-Hodgkin lymphoma"], ["Hodgkin lymphoma"])


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("haemophilia A", "Acquired haemophilia A in an old man"),
        ("systemic lupus erythematosus", "Drug-induced systemic lupus erythematosus"),
        ("hypertension", "Pulmonary hypertension after embolism"),
        ("granulomatosis with polyangiitis", "Eosinophilic granulomatosis with polyangiitis"),
        ("spinocerebellar ataxia type 6", "Spinocerebellar ataxia type 3; types 1, 2, 6 and 7 were normal"),
    ],
)
def test_another_subtype_does_not_support(name, document):
    assert not is_supported([name], [document])
    assert is_supported([name], [f"{document}. Severe {name} was diagnosed in another patient."])


def test_a_description_is_not_a_subtype():
    assert is_supported(["sarcoidosis"], ["Cardiac sarcoidosis"])
    assert is_supported(["vasculitis"], ["Severe vasculitis"])
    assert is_supported(["pancreatic cancer"], ["Carcinoma of the pancreas"])


def test_an_abbreviation_in_brackets_is_a_name_too():
    assert is_supported(["polypoidal choroidal vasculopathy (PCV)"], ["PCV in Asian eyes"])
    assert is_supported(["polypoidal choroidal vasculopathy (PCV)"], ["polypoidal choroidal vasculopathy"])


def test_sentences_end_where_they_end():
    text = "Imaging of X\nIt was 3.5 cm (Fig. 2), e.g. Large. Dr. Smith saw it. Was it? It was."
    assert split_sentences(text) == [
        "Imaging of X",
        "It was 3.5 cm (Fig. 2), e.g. Large.",
        "Dr. Smith saw it.",
        "Was it?",
        "It was.",
    ]


def test_words_of_a_document_know_their_sentence():
    words = read_document("No gout. Crohn's disease, however, was seen.").words
    assert [(word.text, word.sentence, word.is_denied) for word in words[:4]] == [
        ("no", 0, False),
        ("gout", 0, True),
        ("crohn", 1, False),
        ("disease", 1, False),
    ]
