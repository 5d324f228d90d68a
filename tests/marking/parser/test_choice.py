"""The answer parser against replies that were labelled before it was written."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from wardround.core.errors import WardroundError
from wardround.marking import MODES, parse_choice, parser_version
from wardround.marking.parser import phrases
from wardround.marking.parser.choice import PARSER, Reading

GOLDEN = Path(__file__).parents[2] / "golden"
CHEST = ["Pneumonia", "Pulmonary embolism", "Asthma", "Heart failure"]


def golden(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (GOLDEN / name).read_text(encoding="utf-8").splitlines()]


ODD, REAL = golden("odd_replies.jsonl"), golden("smollm2_replies.jsonl")


def misread(labelled: list[dict[str, Any]]) -> list[tuple[str, int | None, Reading]]:
    readings = [(entry, parse_choice(entry["reply"], entry["options"])) for entry in labelled]
    return [(entry["reply"], entry["option"], read) for entry, read in readings if read.option != entry["option"]]


def test_the_phrases_for_ascii_text_find_there_what_all_phrases_find() -> None:
    replies = [entry["reply"].lower() for entry in [*ODD, *REAL] if entry["reply"].isascii()]
    searches = {name: search for name, search in vars(phrases).items() if isinstance(search, phrases.PhraseSearch)}
    assert len(searches) > 10
    for name, search in searches.items():
        for reply in replies:
            spans = [
                [match.span() for match in pattern.finditer(reply)] for pattern in (search.pattern, search.of_ascii)
            ]
            assert spans[0] == spans[1], (name, reply)


def test_there_are_enough_of_them() -> None:
    assert len(REAL) >= 300
    assert len({entry["prompt"] for entry in REAL}) == 6
    assert len(ODD) >= 200


def test_every_odd_reply_is_read_as_labelled() -> None:
    assert misread(ODD) == []


def test_every_reply_of_a_real_model_is_read_as_labelled() -> None:
    assert misread(REAL) == []


@pytest.mark.parametrize(
    ("name", "most_unread"),
    [
        ("held_out", 0),
        ("later_replies", 3),
        ("choice/development", 2),
        ("choice/development_2", 19),
        ("choice/held_out_own/1", 0),
        ("choice/held_out_own/2", 3),
        ("choice/held_out_own/3", 2),
        ("choice/held_out_own/4", 2),
        ("choice/held_out_own/5", 4),
        ("choice/held_out_own/6", 3),
        ("choice/held_out_own/7", 2),
        ("choice/held_out_own/8", 2),
        ("choice/held_out_own/9", 2),
        ("choice/held_out/10", 1),
        ("choice/held_out/11", 7),
        ("choice/held_out/12", 16),
        ("choice/held_out/13", 0),
        ("choice/held_out/14", 2),
        ("choice/held_out/15", 6),
        ("choice/held_out/16", 0),
        ("choice/development_6", 10),
        ("choice/development_7", 35),
    ],
)
def test_no_labelled_reply_is_read_wrongly_and_few_are_not_read(name: str, most_unread: int) -> None:
    """Labelled before they were read; rules were mended on all since. docs/parser-history.md: first figures."""
    misreadings = misread(golden(f"{name}.jsonl"))
    assert [reply for reply, _, read in misreadings if read.option is not None] == []
    assert len(misreadings) <= most_unread


def test_few_replies_of_the_third_development_set_are_read_wrongly() -> None:
    """Written to be hard: most of what is not read needs medical knowledge."""
    misreadings = misread(golden("choice/development_3.jsonl"))
    assert sum(read.option is not None for _, _, read in misreadings) <= 2
    assert len(misreadings) <= 110


def test_few_replies_of_the_fourth_development_set_are_read_wrongly() -> None:
    """A third are traps: statements about an option that do not choose it."""
    labelled = golden("choice/development_4.jsonl")
    assert sum(entry["why"] in ("trap", "none") for entry in labelled) >= 140
    misreadings = misread(labelled)
    assert sum(read.option is not None for _, _, read in misreadings) <= 14
    assert len(misreadings) <= 36


def test_few_replies_of_the_fifth_development_set_are_read_wrongly() -> None:
    """Written by others to be hard; most name no letter."""
    misreadings = misread(golden("choice/development_5.jsonl"))
    assert sum(read.option is not None for _, _, read in misreadings) <= 12
    assert len(misreadings) <= 145


def test_the_sets_of_three_authors_are_read_as_documented() -> None:
    """docs/parser-history.md has what the rules read the first time, before they were mended with these sets."""
    misreadings = [reading for number in (21, 22, 23) for reading in misread(golden(f"choice/held_out/{number}.jsonl"))]
    assert [reply for reply, _, read in misreadings if read.option is not None] == []
    assert len(misreadings) <= 26


def test_replies_no_rule_was_mended_with_are_read_as_documented() -> None:
    """docs/parser.md: the first reading by the present rules."""
    misreadings = [reading for number in (24, 25, 26) for reading in misread(golden(f"choice/held_out/{number}.jsonl"))]
    assert sum(read.option is not None for _, _, read in misreadings) <= 2
    assert len(misreadings) <= 30


NAMED_WITHIN = ["Rheumatoid arthritis", "Osteoarthritis", "Psoriatic arthritis", "Systemic lupus erythematosus"]


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("Malar rash, oral ulcers, low C3. SLE. The arthritis here is non-erosive, which argues against RA.", 3),
        ("Osteophytes, no erosions, worse in the evening, so this is OA. Psoriatic arthritis has pitted nails.", 1),
        ("History of osteoarthritis. The rash and the anti-dsDNA have another cause.", None),
        ("Is this SLE? Nothing in the text says so.", None),
        ("Nail pitting and a sausage finger, which makes C the best choice, and A a poor one.", 2),
        ("Symmetrical small joints and anti-CCP => (A). Were the knees involved, B would be likelier.", 0),
        ("Many would be tempted by B. The swelling of the fingers was not described further.", None),
        ("Rheumatoid arthritis affects the small joints. Osteoarthritis affects the large joints.", None),
    ],
)
def test_a_name_or_letter_within_the_reasons_is_read_if_no_other_stands_so(reply: str, option: int | None) -> None:
    assert parse_choice(reply, NAMED_WITHIN).option == option


def test_a_letter_in_a_reply_of_capitals_is_not_the_pronoun() -> None:
    reply = "THE CALCIFICATIONS NEED A BIOPSY. I WOULD PLACE THIS IN CATEGORY 4, WHICH IS D HERE."
    assert parse_choice(reply, ["Normal", "Benign", "Probably benign", "Suspicious"]).option in (3, None)


FRACTURES = ["Scaphoid fracture", "Colles fracture", "Smith fracture", "Lunate dislocation"]


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("Smith fracture (C) is the reverse, with volar displacement.\n\nAnswer: B", 1),
        ("Smith fracture (C) has volar displacement. I'd go with B.", 1),
        ("Lunate dislocation (D) spares the radius.\n\nSo my answer would be option **B**.", 1),
        ("Dinner fork. Colles. Letter B.\n\nSmith fracture (C) would tilt the other way.", 1),
        ("C. Smith fracture is what this is. The answer is B.", None),
        ("Smith fracture (C) is most likely here. I'd go with B.", None),
        ("Dorsal tilt, so Smith fracture (C) and lunate dislocation (D) aren't it.\n\n**B. Colles fracture**", 1),
        ("That makes a scaphoid (A) unlikely. No volar tilt to suggest Smith (C).\n\nThe best answer is B.", 1),
        ("fell on the outstretched hand, dorsal tilt >> B", 1),
        ("A. Scaphoid fracture must be ruled out first", 0),
        ("Scaphoid fracture must be ruled out. The tilt was not described.", None),
    ],
)
def test_a_sentence_about_an_option_does_not_contest_the_answer(reply: str, option: int | None) -> None:
    assert parse_choice(reply, FRACTURES).option == option


@pytest.mark.parametrize(
    ("name", "most_wrong", "most_unread"), [("17", 0, 4), ("18", 0, 1), ("19", 0, 3), ("20", 0, 8)]
)
def test_the_last_held_out_sets_are_read_as_documented(name: str, most_wrong: int, most_unread: int) -> None:
    """docs/parser.md has their first readings."""
    read_options = [read.option for _, _, read in misread(golden(f"choice/held_out/{name}.jsonl"))]
    assert sum(option is not None for option in read_options) <= most_wrong
    assert sum(option is None for option in read_options) <= most_unread


NAMES_A_PLACE = re.compile(r"\b[A-J]\b|\b(?:first|second|third|fourth|fifth|last|1st|2nd|3rd)\b", re.I)


def affirmed() -> SearchStrategy[dict[str, Any]]:
    """Labelled replies that name no place and are read by the rule "affirmed"."""
    return st.sampled_from(
        [
            entry
            for name in ("choice/development_2", "choice/development_3", "choice/held_out/12", "choice/held_out/14")
            for entry in golden(f"{name}.jsonl")
            if not NAMES_A_PLACE.search(entry["reply"])
            and parse_choice(entry["reply"], entry["options"]).rule == "affirmed"
        ]
    )


@given(st.deferred(affirmed), st.randoms(use_true_random=False))
def test_the_order_of_the_options_does_not_change_what_a_conclusion_affirms(
    entry: dict[str, Any], random: Random
) -> None:
    shuffled = random.sample(entry["options"], len(entry["options"]))
    option, read = parse_choice(entry["reply"], entry["options"]).option, parse_choice(entry["reply"], shuffled)
    assert option is not None
    assert read.option is not None
    assert shuffled[read.option] == entry["options"][option]


def test_a_repeated_reply_is_read_alike() -> None:
    assert parse_choice("The CT shows a PE.", CHEST) == parse_choice("The CT shows a PE.", tuple(CHEST))
    assert parse_choice("The CT shows a PE.", CHEST[::-1]).option == 2
    assert parse_choice("B", CHEST, "clinbench-paper") != parse_choice("B", CHEST)


def test_the_held_out_replies_are_many_and_a_share_names_no_option() -> None:
    own = [f"choice/held_out_own/{number}.jsonl" for number in range(1, 10)]
    of_others = [f"choice/held_out/{number}.jsonl" for number in range(10, 17)]
    held_out = [entry for name in (*own, *of_others) for entry in golden(name)]
    assert len(held_out) >= 3200
    assert sum(entry["option"] is None for entry in held_out) > 250


SIZES, NUMBERS, DENSITIES = ["<5 mm", "5-10 mm", ">10 mm"], ["5", "10", "15"], ["-1000 HU", "-100 HU", "0 HU", "+40 HU"]
STAGES, SIDES, VESSELS = (
    ["Stage I", "Stage II", "Stage III"],
    ["Left", "Right"],
    ["Arteriovenous malformation", "Cavernous malformation", "Developmental venous anomaly"],
)


@pytest.mark.parametrize(
    ("reply", "options", "option"),
    [
        ("<5 mm", SIZES, 0),
        ("> 10 mm", SIZES, 2),
        ("less than 5 mm", SIZES, 0),
        ("10 mm", SIZES, None),
        ("5 mm", SIZES, None),
        ("5 – 10 mm", SIZES, 1),
        ("-5", NUMBERS, None),
        ("The answer is -5.", NUMBERS, None),
        ("- 5", NUMBERS, 0),
        ("-1000 HU", DENSITIES, 0),
        ("−100 HU", DENSITIES, 1),
        ("100 HU", DENSITIES, None),
        ("40 HU", DENSITIES, 3),
        ("10 mm", ["<10 mm", "10-20 mm", ">20 mm"], None),
    ],
)
def test_a_number_with_another_sign_or_comparator_is_another_number(
    reply: str, options: list[str], option: int | None
) -> None:
    assert parse_choice(reply, options).option == option


@pytest.mark.parametrize(
    ("reply", "options", "option"),
    [
        ("Stage II, no, III", STAGES, 2),
        ("Stage II or III", STAGES, None),
        ("At least stage II.", STAGES, None),
        ("The answer is B. Just kidding, A.", CHEST, 0),
        ("No doubt.", ["Yes", "No"], None),
        ("No doubt, asthma.", CHEST, 2),
        ("No, thanks", ["Yes", "No"], None),
        ("That's right, the left one", SIDES, 0),
        ("That's right.", SIDES, None),
        ("On the right.", SIDES, 1),
        ("The answer might be C.", CHEST, None),
        ("All options except B can be excluded.", CHEST, 1),
        ("All options but B are correct.", CHEST, None),
        ("I doubt it is A.", CHEST, None),
        ("There is pneumonia in the differential.", CHEST, None),
        ("Switching to B would be wrong.", CHEST, None),
    ],
)
def test_idioms_and_corrections_are_read_as_they_are_meant(reply: str, options: list[str], option: int | None) -> None:
    assert parse_choice(reply, options).option == option


@pytest.mark.parametrize(
    ("reply", "options", "option"),
    [
        ("AVM", VESSELS, 0),
        ("The diagnosis is an AVM.", VESSELS, 0),
        ("AM", ["Arteriovenous malformation", "Acute myelitis"], None),
        ("GIST", ["Gastrointestinal stromal tumor", "Carcinoid"], 0),
        ("CNS", ["Colonoscopy", "Endoscopy"], None),
        ("option number 3", CHEST, 2),
        ("option number 5", ["5", "10", "15", "20", "25"], None),
        ("The fourth", CHEST, 3),
        ("I'd pick the last one.", CHEST, 3),
        ("The fourth", ["Third ventricle", "Fourth ventricle", "Cisterna magna", "Aqueduct"], 1),
        ("First, exclude A. Then B.", CHEST, None),
        ("A: 2/10 B: 9/10", CHEST, 1),
        ("Pneumonia (3/5), asthma (5/5)", CHEST, 2),
        ("A: 9/10 B: 9/10", CHEST, None),
        ("A (1), B (8), C (2), D (3)", CHEST, None),
    ],
)
def test_abbreviations_places_and_scores_name_options(reply: str, options: list[str], option: int | None) -> None:
    assert parse_choice(reply, options).option == option


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("Were the patient immunosuppressed, B would be correct.", None),
        ("If this was a CT, C would be correct.", None),
        ("B would be correct in a febrile patient.", None),
        ("In this patient, B would be the best answer.", 1),
        ("Had there been fever I would have chosen A, but as it is I choose C.", 2),
        ("Many would say A.", None),
        ("It is tempting to answer A.", None),
        ("It is tempting to answer A, but the correct answer is B.", 1),
        ("The referring physician believes it is asthma.", None),
        ('I was asked to reply in the form "The answer is A".', None),
        ("Answer with the letter of the right option only, for example: Answer: A", None),
        ("The worst option is B.", None),
        ("My second choice is B.", None),
        ("The second most likely diagnosis is asthma.", None),
    ],
)
def test_what_would_be_what_others_say_and_what_is_not_best_is_not_the_answer(reply: str, option: int | None) -> None:
    assert parse_choice(reply, CHEST).option == option


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        ("A ✗, B ✗, C ✓, D ✗", "verdicts"),
        ("A: incorrect, no fever\nB: incorrect\nC: correct, wheeze\nD: incorrect", "verdicts"),
        ("| Option | Fits |\n|---|---|\n| A | No |\n| B | No |\n| C | Yes |\n| D | No |", "verdicts"),
        ("- [ ] A\n- [ ] B\n- [x] C\n- [ ] D", "verdicts"),
        ('{"A": false, "B": false, "C": true, "D": false}', "verdicts"),
        ("C > B > A", "ranking"),
        ("From most to least likely: C, B, A", "ranking"),
        ("A: 10%, B: 20%, C: 70%", "shares"),
        ("P(A) = 0.1, P(B) = 0.2, P(C) = 0.7", "shares"),
    ],
)
def test_a_list_with_one_option_on_top_is_read(reply: str, rule: str) -> None:
    reading = parse_choice(reply, CHEST)
    assert (reading.option, reading.rule) == (2, rule)


@pytest.mark.parametrize(
    "reply",
    [
        "A ✓ B ✓ C ✗ D ✗",
        "A: true\nB: true\nC: false\nD: true",
        "A = B > C",
        "From least to most likely: A, D, C, B",
        "A: 50%, B: 50%",
        "Sensitivity of the sign: A 90%, B 85%",
        "A: incorrect\nB: incorrect",
        "The answer is B.\n\nA: correct\nB: incorrect\nC: incorrect",
    ],
)
def test_a_list_without_one_option_on_top_or_against_the_answer_is_not_read(reply: str) -> None:
    assert parse_choice(reply, CHEST).option is None


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("PE", 1),
        ("The CT is diagnostic of PE.", 1),
        ("Community-acquired pneumonia", 0),
        ("pulmonary embolus", 1),
        ("CHF", 3),
        ("No PE.", None),
        ("PE or pneumonia", None),
        ("CT to exclude PE.", None),
        ("The patient's father died of a PE.", None),
        ("Is this PE?", None),
    ],
)
def test_an_abbreviation_or_a_longer_name_is_its_option(reply: str, option: int | None) -> None:
    assert parse_choice(reply, CHEST).option == option


@pytest.mark.parametrize(
    ("options", "reply", "option"),
    [
        (["Bacterial pneumonia", "Asthma"], "pneumonia", 0),
        (["Bacterial pneumonia", "Asthma"], "viral pneumonia", None),
        (["Primary CNS lymphoma", "Glioblastoma"], "The patient most likely has lymphoma.", 0),
        (["Primary CNS lymphoma", "Glioblastoma"], "Hodgkin lymphoma", None),
        (["Acute pancreatitis", "Acute cholecystitis"], "gallstone pancreatitis", 0),
        (["Acute pancreatitis", "Acute cholecystitis"], "chronic pancreatitis", None),
        (["Glioblastoma, WHO grade IV", "Meningioma, WHO grade I"], "WHO grade IV", 0),
        (["Glioblastoma, WHO grade IV", "Meningioma, WHO grade I"], "WHO grade III", None),
        (["Lisinopril 5 mg once daily", "Lisinopril 10 mg once daily"], "10 mg once daily", 1),
        (["Lisinopril 5 mg once daily", "Lisinopril 10 mg once daily"], "Lisinopril", None),
        (["Warfarin", "No anticoagulation"], "Anticoagulation", None),
        (["Warfarin", "Aspirin"], "Stop aspirin.", None),
        (["Stop metformin and start insulin", "Add a sulfonylurea"], "insulin", None),
        (["Osteosarcoma", "Ewing sarcoma"], "sarcoma", None),
        (["Sinus tachycardia", "Atrial flutter"], "AF", None),
        (["Cushing disease", "Adrenal adenoma"], "Cushing syndrome", None),
        (["Streptococcus pneumoniae", "Klebsiella pneumoniae"], "S. pneumoniae", 0),
    ],
)
def test_part_of_an_option_names_it_only_if_it_says_nothing_else(
    options: list[str], reply: str, option: int | None
) -> None:
    assert parse_choice(reply, options).option == option


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("Wheeze comes and goes. Bottom line: C.", 2),
        ("Not A (no fever), not D (normal BNP). Winner: C", 2),
        ("Ruled out: B", None),
        ("Most likely: A. Also consider: C", 0),
        ("wheeze → C\nfever → A\northopnea → D", None),
        ("wheeze → C\nfever → A\n\nThere is wheeze, so C.", 2),
        ("B. With orthopnea I'd go for D.", 1),
        ("C. There is wheeze. Pneumonia (A) would show an infiltrate, an embolism (B) a filling defect.", 2),
        ("Is there fever? No. Pneumonia causes fever.", None),
        ("Only C explains the wheeze.", 2),
        ("The remaining option, C, is consistent with the wheeze.", 2),
        ("Even though I leaned toward B, the CT says A.", 0),
        ("Pneumonia is endemic. The findings support asthma.", 2),
        ("Pneumonia is endemic. Wheeze suggests asthma.", None),
    ],
)
def test_the_last_words_of_a_reply_are_its_answer_if_they_are_said_of_the_whole_case(
    reply: str, option: int | None
) -> None:
    assert parse_choice(reply, CHEST).option == option


@pytest.mark.parametrize(
    ("options", "reply", "option"),
    [
        (["Enlarged cardiac silhouette", "Widened mediastinum"], "The film demonstrates cardiomegaly.", 0),
        (["Sleepwalking", "Insomnia"], "somnambulism", 0),
        (["Increase", "Decrease", "No change"], "The GFR would fall.", 1),
        (["Increase in preload", "Decrease in preload", "Increase in afterload"], "Afterload is increased.", 2),
        (["Entamoeba histolytica", "Echinococcus granulosus"], "entameba histolitica", 0),
        (["Left frontal lobe", "Right frontal lobe", "Left parietal lobe"], "left parietal", 2),
        (["Left main coronary artery", "Right coronary artery", "Left circumflex"], "left coronary artery", None),
        (["Sensitivity 80%", "Sensitivity 90%"], "\\boxed{90\\%}", 1),
        (["Discharge home", "Admit to the ward"], "Don't discharge.", None),
    ],
)
def test_other_names_and_changed_word_orders_name_an_option(options: list[str], reply: str, option: int | None) -> None:
    assert parse_choice(reply, options).option == option


def test_stated_confidences_are_read_as_labelled() -> None:
    labelled = [entry for entry in ODD if "confidence" in entry]
    assert len(labelled) >= 20
    for entry in labelled:
        assert parse_choice(entry["reply"], entry["options"]).confidence == entry["confidence"], entry["reply"]


@pytest.mark.parametrize(
    ("line", "confidence"),
    [
        ("Confidence (0-100): 85", 0.85),
        ("Confidence (0% to 100%): 85%", 0.85),
        ("Sicherheit: 0,85", 0.85),
        ("Confiance : 87,5 %", 0.875),
        ("Confidence: 80-90%", None),
        ("Confidence: 85, since there is fever", 0.85),
    ],
)
def test_confidences_beside_their_scale_with_a_comma_or_as_a_range(line: str, confidence: float | None) -> None:
    read = parse_choice(f"B\n{line}", CHEST)
    assert (read.option, read.confidence) == (1, confidence)


def test_a_confidence_in_words_or_beyond_100_percent_is_none() -> None:
    for reply in ("A\nConfidence: high", "A\nConfidence: 250%", "A"):
        assert parse_choice(reply, CHEST).confidence is None


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("Many students choose A.", None),
        ("A common mistake is to choose C. The right answer is D.", 3),
        ("The first diagnosis to consider is pneumonia.", None),
        ("If there were fever, the answer would be A.", None),
        ("The answer would be A if there were fever; here it is B.", 1),
        ("A is the best answer? I think not.", None),
        ("I was told the answer is A. This is wrong.", None),
        ("B. However, some might argue that the answer is C.", 1),
        ("The answer is B, or possibly C.", None),
        ("My answer is A. However, B is also possible.", 0),
        ("Asthma is less likely than pneumonia.", None),
        ("The mortality of asthma is 3%, of heart failure 20%.", None),
        ("The correct answer is not listed.", None),
        ("I rule out A and B.", None),
    ],
)
def test_what_is_said_of_an_option_is_not_always_a_choice(reply: str, option: int | None) -> None:
    assert parse_choice(reply, CHEST).option == option


@pytest.mark.parametrize(
    "reply",
    [
        '{"A": false, "B": true, "C": true, "D": false}',
        '{"A": 0.4, "B": 0.4, "C": 0.2}',
        "The answer is A or",
        "The answer is B and",
        "The answer is B (or C).",
        "The answer is B. Wait, let me check the film again.",
        "Answer: A\n\nAnswer: C",
        "B is the correct answer if there was fever.",
        "A\n\nB\n\nC",
    ],
)
def test_lists_of_options_and_answers_taken_back_or_cut_off_are_not_read(reply: str) -> None:
    assert parse_choice(reply, CHEST).option is None


def test_part_of_an_option_that_another_shares_names_neither() -> None:
    options = ["Diabetes mellitus", "Type 2 diabetes mellitus", "Diabetes insipidus"]
    for reply in ("Diabetes", "The answer is diabetes.", "The patient has diabetes, type 2."):
        assert parse_choice(reply, options).option is None
    assert parse_choice("Type 2 diabetes", options).option == 1
    assert parse_choice("diabetes", ["Diabetes mellitus", "Asthma"]).option == 0


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("Ich würde B wählen.", 1),
        ("Am ehesten D.", 3),
        ("À mon avis, C.", 2),
        ("Creo que es la D.", 3),
        ("最可能的是B，但也不能排除A", 1),
        ("B选项最符合", 1),
        ("A、B、C均不正确，故答案为D", 3),
        ("A alternativa correta é a letra C.", 2),
        ("正解はBです。", 1),
        ("따라서 정답은 D번입니다.", 3),
        ("Правильный ответ — C.", 2),
        ("Ich denke, dass C richtig ist.", 2),
        ("Die Ursache ist eine Lungenembolie (B).", 1),
    ],
)
def test_opinions_in_other_languages(reply: str, option: int) -> None:
    assert parse_choice(reply, CHEST).option == option


NOISE = st.tuples(
    st.sampled_from(["", " ", "\n\n", "\t", " \n "]),
    st.sampled_from(
        [
            "",
            "<think>The answer is A. No, B!</think>\n",
            "<think>\nA? B? C? D? E?\n</think>\n\n",
            "<reasoning>Option D is correct.</reasoning> ",
            "Sure! ",
            "Thank you for this question.\n\n",
            "Let me look at the case.\n",
        ]
    ),
    st.sampled_from(["", "**"]),
    st.sampled_from(
        [
            "",
            "\n\nI hope this helps!",
            "\n\nPlease consult a physician.",
            "\n\nThis is not medical advice.\n\nLet me know if I can help.",
        ]
    ),
    st.sampled_from(["", "  ", "\n\n\n", "\n"]),
)


@given(st.sampled_from(ODD + REAL), NOISE)
@settings(max_examples=1500, deadline=None)
def test_noise_changes_no_reading(entry: dict[str, Any], noise: tuple[str, ...]) -> None:
    space, before, bold, after, end = noise
    reply = entry["reply"]
    said = f"{space}{before}{bold}{reply}{bold}{after}{end}"
    unfinished = reply.lower().count("<think>") > reply.lower().count("</think>")
    if unfinished:  # whatever comes after an open tag is reasoning
        said = f"{space}{before}{reply}"
    assert parse_choice(said, entry["options"]).option == entry["option"]


@given(st.text(max_size=200), st.lists(st.text(min_size=1, max_size=20), min_size=2, max_size=12))
@settings(max_examples=500, deadline=None)
def test_any_text_gives_a_legal_option_or_none(reply: str, options: list[str]) -> None:
    for mode in MODES:
        read = parse_choice(reply, options, mode)
        assert read.option is None or 0 <= read.option < len(options)
        assert read.rule
        assert read.confidence is None or 0 <= read.confidence <= 1


@given(st.integers(0, 25))
def test_every_letter_is_its_option(place: int) -> None:
    options = [f"finding number {number} of many" for number in range(100, 126)]
    letter = chr(ord("A") + place)
    for reply in (letter, f"({letter})", f"The answer is {letter}.", f"{letter}. {options[place]}", options[place]):
        assert parse_choice(reply, options).option == place
    for end in ("\n\nThe patient has fever.", "\n1. Fever", "<|im_end|>", "</s>"):  # A and I are words elsewhere
        assert parse_choice(f"{letter}{end}", options).option == place
        assert parse_choice(f"Answer: {letter}{end}", options).option == place
    assert parse_choice(f"{letter}\n\n({letter}).", options).option == place


HOSTILE = ["a ", "A ", "(", "answer is ", "<think>", "\\boxed{", '{"answer":', "Pneumonia ", "not A ", "\n", "~~a"]
HOSTILE += ["\\text{", "A or ", "confidence ", "1", "<answer>", '"', "A.\n", "</think>", "is ", "**", "%", "- ", "[/"]
HOSTILE += ["A > ", "A: correct\n", "B ✗ ", "10% A, ", "| A | yes |\n", "Q: ", "rank: ", "if ", "many would say "]
HOSTILE += ["the patient has x embolism ", "the most and the most ", "favor x over ", "the next best ", "PE ", "A、"]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_reply_of_100_kb_is_read(piece: str) -> None:
    reply = piece * (100_000 // len(piece))
    assert parse_choice(reply + "\n\nThe answer is B.", CHEST).option in (None, 1)


@given(st.lists(st.sampled_from(HOSTILE), min_size=2, max_size=4))
@settings(max_examples=25, deadline=None)
def test_a_reply_of_eight_times_the_length_takes_no_more_than_a_polynomial_more(pieces: list[str]) -> None:
    """Quadratic work is 64 times; a pattern that backtracks without bound takes 2 to the power of the length."""
    piece = "".join(pieces)
    short, long = (piece * (length // len(piece) + 1) for length in (3_000, 24_000))
    assert seconds_of_cpu(long) <= 200 * max(seconds_of_cpu(short), 1e-4)


def seconds_of_cpu(reply: str) -> float:
    seconds = []
    for _ in range(3):
        started = time.process_time()
        parse_choice(reply, CHEST)
        seconds.append(time.process_time() - started)
    return min(seconds)


def test_first_tokens_are_read_like_replies() -> None:
    tokens = {"B": 1, " B": 1, "b": 1, "**B": 1, "(B": 1, "The": None, "Pul": None, "E": None, " I": None, "": None}
    for token, option in tokens.items():
        assert parse_choice(token, CHEST).option == option, token


def test_a_very_long_reasoning_keeps_its_end() -> None:
    reply = "The patient is breathless. " * 5_000 + "\n\nThe answer is C."
    assert parse_choice(reply, CHEST).option == 2


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(WardroundError, match="unknown parser mode 'lenient'"):
        parse_choice("B", CHEST, mode="lenient")


def test_each_mode_has_its_version() -> None:
    assert parser_version() == PARSER
    assert len({parser_version(mode) for mode in MODES}) == len(MODES)


# the papers' own rules, with what they misread


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("B", 1),
        ("b", 1),
        (" B\n", 1),
        ("B.", 1),
        ("(C)", 2),
        ("The answer is B", None),  # T is the first capital letter
        ("Definitely B", 3),
        ("A patient like this has B", 0),
        ("b.", None),
        ("none of them", None),
        ("", None),
    ],
)
def test_medq_deg_takes_the_first_capital_letter(reply: str, option: int | None) -> None:
    assert parse_choice(reply, CHEST, mode="medq-deg-paper").option == option


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("The answer is B.", 1),
        ("Sudden onset.\n\nThe answer is [B].", 1),
        ("** The answer is C.", 2),
        ("The answer is (D)", 3),
        ("The answer is Asthma.", 2),
        ("The answer is [B. Pulmonary embolism].", 1),
        ("The answer is B. Asthma.", None),
        ("The answer is A. No, the answer is B.", None),
        ("The answer is A. The answer is B.", 1),
        ("The answer is B. I hope this helps.", None),
        ("B", None),
        ("The answer is E.", None),
        ("The answer is unclear.", None),
    ],
)
def test_clinbench_wants_its_final_sentence(reply: str, option: int | None) -> None:
    assert parse_choice(reply, CHEST, mode="clinbench-paper").option == option


@pytest.mark.parametrize(
    ("reply", "options"),
    [
        ("1.5 cm", ["5 mm", "15 mm", "1.5 mm", "50 mm"]),
        ("5 g", ["5 mg", "10 mg"]),
        ("0.5 mcg/kg", ["0.5 mg/kg", "1 mg/kg"]),
        ("2 hours", ["2 days", "3 days"]),
        ("The lesion measures 5 cm.", ["5 mm", "9 mm"]),
        ("every 6 weeks", ["6 months", "6 years"]),
        ("MRI without gadolinium", ["MRI with gadolinium", "CT angiography", "Ultrasound"]),
        ("Type A dissection", ["Myocardial infarction", "Type B dissection", "Pericarditis"]),
        ("10 mg twice daily", ["10 mg once daily", "20 mg once daily"]),
    ],
)
def test_another_unit_class_or_frequency_names_no_option(reply, options):
    assert parse_choice(reply, options).option is None


PELVIS = ["Acute appendicitis", "Ovarian torsion", "Ectopic pregnancy", "Diverticulitis"]
SHARES, THIRDS = ["25%", "50%", "75%", "100%"], ["One third", "One half", "Two thirds", "Three quarters"]
TIMES = ["2 hours", "6 hours", "12 hours", "24 hours"]
HEARTS = ["Left ventricular hypertrophy", "Right ventricular hypertrophy", "Left atrial enlargement", "Normal heart"]
STEPS = ["Start oral antibiotics", "Emergency laparotomy", "Discharge with reassurance", "Observation"]


@pytest.mark.parametrize(
    ("reply", "options", "option"),
    [
        ("Between A and B, B.", CHEST, 1),
        ("Between A and C, C wins because of the wheeze.", CHEST, 2),
        ("A, C and D excluded: B", CHEST, 1),
        ("A no, C no, D no, B yes", CHEST, 1),
        ("I can't see the image, but from the description D.", CHEST, 3),
        ("B with high confidence", CHEST, 1),
        ("Could only be B", CHEST, 1),
        ("So the finding you would NOT expect is D.", CHEST, 3),
        ("High suspicion for PE", CHEST, 1),
        ("Clear lungs, swollen calf. It all adds up to PE.", CHEST, 1),
        ("Pulmonary embolism ties everything together.", CHEST, 1),
        ("With a negative hCG the whirlpool sign makes torsion the diagnosis.", PELVIS, 1),
        ("Take him to the OR for an emergency laparotomy.", STEPS, 1),
        ("Reassurance and discharge home", STEPS, 2),
        ("one in four", SHARES, 0),
        ("roughly half", SHARES, 1),
        ("Around 67% of cases.", THIRDS, 2),
        ("after 24h", TIMES, 3),
        ("one day", TIMES, 3),
    ],
)
def test_a_conclusion_is_read(reply: str, options: list[str], option: int) -> None:
    assert parse_choice(reply, options)[:2] == (option, "concluded")


@pytest.mark.parametrize(
    ("reply", "options"),
    [
        ("A or B", CHEST),
        ("Between A and B", CHEST),
        ("Could be B", CHEST),
        ("Least likely: B", CHEST),
        ("A and C are wrong", CHEST),
        ("First, B.", CHEST),
        ("Pulmonary embolism is possible, but so is pneumonia.", CHEST),
        ("Fever → pneumonia, wheeze → asthma", CHEST),
        ("No other option but asthma was excluded", CHEST),
        ("Pneumonia is seen in elderly patients.", CHEST),
        ("Right atrial enlargement", HEARTS),
        ("25-50%", SHARES),
        (">75%", SHARES),
        ("-25%", SHARES),
        ("a third", SHARES),
        ("75%", ["0.05", "0.25", "0.75"]),
        ("more than 12 hours", TIMES),
        ("Emergency laparotomy is not needed", STEPS),
        ("If unstable, emergency laparotomy.", STEPS),
    ],
)
def test_what_is_not_concluded_is_not_read(reply: str, options: list[str]) -> None:
    assert parse_choice(reply, options).option is None


def test_the_option_with_the_higher_rank_is_read_if_it_is_abbreviated() -> None:
    assert parse_choice("PE > pneumonia > asthma", CHEST).option == 1


SPINE, TYPES = ["T10", "T11", "T12", "L1"], ["Type I hypersensitivity", "Type II hypersensitivity"]
EYE = ["Retinoblastoma", "Congenital cataract", "Coats disease"]


@pytest.mark.parametrize(
    ("reply", "options", "option"),
    [
        ("I would answer C. Retinoblastoma is the one not to miss, yet the age is against it.", EYE, 2),
        ("The answer is B. Pneumonia would give fever.", CHEST, 1),
        ("The answer is B. Asthma is the diagnosis.", CHEST, None),
        ("I say A. Asthma explains the wheeze.", CHEST, None),
        ("No fever and a high D-dimer. (B) Pulmonary embolism. Asthma would wheeze.", CHEST, 1),
        ("Let us look at each. (A) Pneumonia. There is no fever.", CHEST, None),
        ("The clear lungs and the long flight settle it: B. The others (A and C) lack them.", CHEST, 1),
        ("My first thought: B. But the fever does not fit.", CHEST, None),
        ("Start with the obvious: A. There is no fever, so it can be dropped.", CHEST, None),
        ("Although A is more frequent, the picture here fits B.", CHEST, 1),
        ("If B were right, the ECG would favour A.", CHEST, None),
        ("Although the fever fits A, B is tempting.", CHEST, None),
        ("By process of elimination we arrive at D.", CHEST, 3),
        ("Initially I considered A, but the D-dimer makes B more convincing.", CHEST, 1),
        ("She is pregnant, so asthma is worse at night. Answer = B", CHEST, 1),
        ("so pneumonia cannot be excluded", CHEST, None),
        ("therefore asthma does not fit", CHEST, None),
        ("I would not report this as pneumonia.", CHEST, None),
        ("It must be pneumonia or embolism.", CHEST, None),
        ("Asthma has to be excluded.", CHEST, None),
        ("The condition least likely here is asthma.", CHEST, None),
        ("The lungs are clear. The family history is asthma.", CHEST, None),
        ("I would report this radiograph as normal.", ["Normal", "Abnormal"], 0),
        ("Behind the ligament, at the level of the twelfth thoracic vertebra.", SPINE, 2),
        ("The lesion at the level of T12 is old.", SPINE, None),
        ("Complexes are deposited in the vessel walls, i.e. a type II reaction.", TYPES, 1),
        ("He has type 2 diabetes.", TYPES, None),
        ("Silvery scale over the elbows, plus nail pitting — psoriatic disease.", ["Psoriasis", "Lichen planus"], 0),
        ("The next step is to image the brain with plain CT.", ["CT head", "MRI brain"], 0),
    ],
)
def test_the_end_of_an_explanation_is_read_only_if_it_affirms(
    reply: str, options: list[str], option: int | None
) -> None:
    assert parse_choice(reply, options).option == option


BUGS = ["Staphylococcus aureus", "Pseudomonas aeruginosa", "Klebsiella pneumoniae"]
LESIONS, GRADES = ["Benign", "Probably benign", "Malignant"], ["Grade 0", "Grade 1", "Grade 2"]
LISTED = ["All of the above", "Fever", "Cough", "None of the above"]
STENTS, CARE = ["No complication", "Migration", "Occlusion"], ["Surgery", "Radiotherapy", "Chemotherapy"]
LENGTHS, DRUGS = ["2.1 cm", "3.4 cm", "4.8 cm"], ["Naloxone", "Flumazenil", "Atropine", "Spironolactone"]


@pytest.mark.parametrize(
    ("reply", "options", "option"),
    [
        ("P. aeruginosa is the classic organism at this age.", BUGS, 1),
        ("P. aeruginosa is resistant to ceftriaxone.", BUGS, None),
        ("The largest diameter is about 3.4 centimetres.", LENGTHS, 1),
        ("The slice thickness is 3.4 cm.", LENGTHS, None),
        ("A nodule like this one is probably benign.", LESIONS, 1),
        ("The calcifications are benign, as they are coarse.", LESIONS, 0),
        ("I'd grade this one as A: no osteophytes.", GRADES, 0),
        ("II. The joint space is narrowed.", ["Stage I", "Stage II", "Stage III"], 1),
        ("All of these are common in measles.", LISTED, 0),
        ("None of these is caused by the drug.", LISTED, 3),
        ("All of these should be asked about.", LISTED, None),
        ("Not all of these occur.", LISTED, None),
        ("The stent is open and I do not see any complication.", STENTS, 0),
        ("I do not see any other complication.", STENTS, None),
        ("Narcan 0.4 mg IV should be given.", DRUGS, 0),
        ("An aldosterone antagonist would be the best fourth drug.", DRUGS, 3),
        ("Naloxone reverses opioids.", DRUGS, None),
        (
            "- A. Naloxone: opioids\n- B. Flumazenil: sleeping pills\n- C. Atropine: sarin ✅\n\nOximes follow.",
            DRUGS,
            2,
        ),
        ("- A. Naloxone ✅ opioids\n- B. Flumazenil\n- C. Atropine", DRUGS, None),
        ("Surgery is preferred for local disease, radiotherapy for the unfit.", CARE, None),
        ("It must be the clot, so B. The heart failure (D) is old.", CHEST, 1),
        ("That's option B. (Asthma is for the young.)", CHEST, 1),
        ("Step 1: no fever, so pneumonia (A) and asthma (C) would be of low yield.\n\n➡️ D. Heart failure", CHEST, 3),
        ("The long flight makes pulmonary embolism (B) far more likely than the others. Asthma wheezes.", CHEST, 1),
        ("She has a history of atopy; I'd avoid C and go for B.", CHEST, 1),
        ("My recommendation is (D): the BNP is high, so it is reasonable to treat.", CHEST, 3),
        ("A Heart failure is likely.", CHEST, 3),
        ("The reference standard for pulmonary embolism is CT.", CHEST, None),
        ("The second most likely diagnosis is asthma.", CHEST, None),
        ("The options are pneumonia, asthma and heart failure.", CHEST, None),
        ("Nope, the angles are sharp on both sides.", ["Yes", "No"], 1),
    ],
)
def test_a_statement_is_read_only_if_it_names_an_option_in_the_place_of_the_answer(
    reply: str, options: list[str], option: int | None
) -> None:
    assert parse_choice(reply, options).option == option


def test_a_single_option_that_the_reply_denies_is_not_read() -> None:
    assert parse_choice("There is a fracture, so yes.", ["No"]).option is None
