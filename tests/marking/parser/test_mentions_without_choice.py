"""Replies that name or resemble an option and choose none; and answers that a sentence about another one follows."""

from __future__ import annotations

import pytest

from wardround.marking import parse_choice

CHEST = ["Asthma", "COPD", "Pulmonary embolism", "Heart failure"]
DRUGS = ["Warfarin", "Aspirin", "Heparin", "Morphine"]
FILMS = ["Right-sided pneumothorax", "Pleural effusion", "Lobar pneumonia", "Normal radiograph"]
SKIN = ["Seborrhoeic keratosis", "Actinic keratosis", "Superficial basal cell carcinoma", "Melanoma"]
GERMS = ["Staphylococcus aureus", "Streptococcus pneumoniae", "Escherichia coli", "Klebsiella pneumoniae"]
PRESENT = ["Present", "Absent", "Cannot be assessed"]
FRACTURE = ["Yes, a fracture is present", "No fracture is present", "Cannot be determined"]
SHARES = ["2.5%", "5%", "16%", "34%"]
YEARS = ["Colonoscopy in 10 years", "Colonoscopy in 5 years", "Colonoscopy in 3 years", "Colonoscopy in 1 year"]
SIZES = [
    "The lesion is larger than 3 cm",
    "The lesion is 2-3 cm",
    "The lesion is 1-2 cm",
    "The lesion is smaller than 1 cm",
]


@pytest.mark.parametrize(
    ("reply", "options"),
    [
        ("The patient is on warfarin for atrial fibrillation.", DRUGS),
        ("She is on aspirin for primary prevention.", DRUGS),
        ("The effusion is on the right.", ["Left pleural effusion", "Pneumothorax", "Atelectasis"]),
        ("The nurse gave morphine at the scene.", DRUGS),
        ("The paramedics administered aspirin.", DRUGS),
        ("Warfarin interacts with many antibiotics.", DRUGS),
        ("Known COPD, on home oxygen.", CHEST),
        ("The patient has asthma since childhood.", CHEST),
        ("The history is suggestive of asthma but the spirometry is normal.", CHEST),
        ("The picture is suggestive of heart failure but the BNP is normal.", CHEST),
        ("Findings point to COPD, yet he has never smoked and spirometry is normal.", CHEST),
        ("There is a pneumothorax on the left side.", FILMS),
        ("The pneumothorax is on the left.", FILMS),
        ("Left pneumothorax.", FILMS),
        ("Squamous cell carcinoma in situ", SKIN),
        ("This is an invasive squamous cell carcinoma.", SKIN),
        ("The blood culture grew Staphylococcus epidermidis.", GERMS),
        ("Streptococcus agalactiae is the pathogen.", GERMS),
        ("Streptococcus pyogenes.", GERMS),
        ("Klebsiella oxytoca.", GERMS),
        ("Group A streptococcus.", ["Group B streptococcus", "Listeria monocytogenes", "Escherichia coli"]),
        ("A 12 mm stone in the ureter.", ["5 mm ureteral stone", "20 mm renal stone", "No stone"]),
    ],
)
def test_a_mention_or_something_alike_is_no_choice(reply: str, options: list[str]) -> None:
    assert parse_choice(reply, options).option is None


CHOLANGITIS = ["Primary biliary cholangitis", "Autoimmune hepatitis", "Choledocholithiasis"]
BLOCKS = ["First-degree AV block", "Mobitz I second-degree block", "Third-degree AV block"]


@pytest.mark.parametrize(
    ("reply", "options", "option"),
    [
        ("Beads on a string at MRCP, with ulcerative colitis: PSC.", CHOLANGITIS, None),
        ("Antimitochondrial antibodies are positive: PBC.", CHOLANGITIS, 0),
        ("P waves march through at 90, QRS escape at 34. That's CHB; he needs a pacemaker.", BLOCKS, 2),
    ],
)
def test_an_abbreviation_of_something_alike_names_no_option(reply: str, options: list[str], option: int | None) -> None:
    assert parse_choice(reply, options).option == option


@pytest.mark.parametrize(
    ("reply", "options", "option"),
    [
        ("The patient is short of breath: this is asthma.", CHEST, 0),
        ("Give morphine now, as the nurse suggested.", DRUGS, 3),
        ("The findings point to COPD, but not to heart failure.", CHEST, 1),
        ("There is a pneumothorax on the right side.", FILMS, 0),
        ("Superficial basal cell carcinoma, not squamous cell carcinoma.", SKIN, 2),
        ("Klebsiella pneumoniae, not Klebsiella oxytoca.", GERMS, 3),
        ("Klebsiella.", GERMS, 3),
        ("Klebsiella pneumonia.", GERMS, 3),
    ],
)
def test_what_resembles_a_mere_mention_and_chooses_is_read(reply: str, options: list[str], option: int) -> None:
    assert parse_choice(reply, options).option == option


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("The answer is clearly B. Asthma has reversible obstruction.", 1),
        ("This best matches **A**. In pulmonary embolism, the D-dimer would be raised.", 0),
        ("Crackles and a high BNP: **D**.\n\nOther options are less likely:\n- A: no wheeze\n- B: never smoked", 3),
        ("The onset was sudden. C is thus preferable to B.", 2),
        ("The most appropriate is C. pulmonary embolism; heart failure if the D-dimer is low", 2),
        ("A raised D-dimer separates it from asthma (option A). He is immobile.\n\nAnswer → C", 2),
        ("The answer is B. Asthma fits best.", None),
        ("The answer is A. Heart failure explains the crackles and the BNP.", None),
        ("The answer is B. Asthma has reversible obstruction, as in this patient.", None),
        ("A. Pulmonary embolism has pleuritic pain and a raised D-dimer, as here.", None),
        ("A high BNP: **D**.\n\nOther options are less likely:\n- A: no wheeze\n- D: no crackles", None),
    ],
)
def test_a_letter_stands_against_a_sentence_about_another_option(reply: str, option: int | None) -> None:
    assert parse_choice(reply, CHEST).option == option


@pytest.mark.parametrize(
    ("reply", "options", "option"),
    [
        ("There is no pneumothorax on this radiograph; lung markings reach the periphery.", PRESENT, 1),
        ("There is no cardiomegaly; however, the effusion is large.", PRESENT, None),
        ("There is no effusion. The cortex is broken.", PRESENT, None),
        ("There is no doubt about it. The line is sharp.", PRESENT, None),
        ("There is no evidence of a fracture in this radiograph. The cortical margins are intact.", FRACTURE, 1),
        ("There is no dislocation.", FRACTURE, None),
        ("There is no evidence against a fracture.", FRACTURE, None),
        ("There is no reason to think that a fracture is absent.", FRACTURE, None),
    ],
)
def test_a_finding_that_is_not_there_is_absent(reply: str, options: list[str], option: int | None) -> None:
    assert parse_choice(reply, options).option == option


@pytest.mark.parametrize(
    ("reply", "options", "option"),
    [
        ("About 16% of values lie above one standard deviation in a normal distribution.", SHARES, 2),
        ("About 30% of values would be needed to decide between 16% and 34%.", SHARES, None),
        ("About 17% of values lie there.", SHARES, None),
        ("Because he had five adenomas <10 mm, surveillance would be repeated after 3 years.", YEARS, 2),
        ("Surveillance would be repeated after 2 years.", YEARS, None),
        ("Surveillance should not be repeated after 3 years.", YEARS, None),
        ("The lesion is roughly 1.5 cm in its longest diameter.", SIZES, 2),
        ("The lesion measures 4 cm.", SIZES, 0),
        ("The lesion is about 2 cm in its longest diameter.", SIZES, None),  # in two of the ranges
        ("The lesion is 15 mm.", SIZES, None),
        ("The slice is roughly 1.5 cm thick.", SIZES, None),
    ],
)
def test_a_number_with_its_unit_names_its_option_or_range(reply: str, options: list[str], option: int | None) -> None:
    assert parse_choice(reply, options).option == option
