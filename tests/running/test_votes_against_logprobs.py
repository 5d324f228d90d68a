"""The votes of a real model are samples from the distribution of its log-probabilities."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import chi2

from wardround.cases.set import write_case_set
from wardround.core.case import Case
from wardround.pipeline import run_study

pytest.importorskip("xllamacpp")

QUESTIONS = """
Which vitamin is lacking in scurvy?|Vitamin A|Vitamin C|Vitamin D|Vitamin K
Which organ makes insulin?|Liver|Spleen|Pancreas|Kidney
Which bone is in the thigh?|Femur|Tibia|Ulna|Radius
Which cells carry oxygen?|Platelets|Red cells|Lymphocytes|Neutrophils
Which valve lies between the left atrium and ventricle?|Aortic|Tricuspid|Pulmonary|Mitral
Which nerve moves the diaphragm?|Phrenic|Vagus|Facial|Ulnar
Which hormone raises blood calcium?|Calcitonin|Parathyroid hormone|Insulin|Gastrin
Which gas do the lungs remove?|Helium|Argon|Carbon dioxide|Neon
Which organ filters blood into urine?|Heart|Lung|Brain|Kidney
Which part of the eye focuses light?|Lens|Sclera|Choroid|Iris
Which drug thins the blood?|Warfarin|Insulin|Morphine|Digoxin
Which gland sits below the larynx?|Pituitary|Thyroid|Adrenal|Pineal
Which lobe handles vision?|Frontal|Parietal|Occipital|Temporal
Which joint is a hinge?|Hip|Shoulder|Wrist|Knee
Which infection is caused by a virus?|Measles|Cholera|Tetanus|Syphilis
Which vessel carries blood away from the heart?|Vein|Artery|Capillary|Venule
Which test measures heart rhythm?|Spirometry|Audiogram|Electrocardiogram|Colonoscopy
Which mineral is in haemoglobin?|Zinc|Copper|Iodine|Iron
Which organ stores bile?|Gallbladder|Stomach|Bladder|Colon
Which muscle flexes the elbow?|Triceps|Biceps|Deltoid|Soleus
Which disease affects the alveoli?|Gout|Gastritis|Emphysema|Cystitis
Which bone protects the brain?|Sternum|Pelvis|Scapula|Skull
Which hormone lowers blood sugar?|Insulin|Glucagon|Cortisol|Adrenaline
Which scan uses magnetism?|CT|MRI|Ultrasound|X-ray
Which tissue joins muscle to bone?|Ligament|Cartilage|Tendon|Fascia
Which white cell makes antibodies?|Basophil|Monocyte|Eosinophil|Plasma cell
Which artery feeds the heart muscle?|Coronary|Carotid|Renal|Femoral
Which vitamin is made in sunlight?|Vitamin B12|Vitamin D|Vitamin E|Vitamin K
Which layer is outermost in skin?|Dermis|Fat|Epidermis|Fascia
Which organ detoxifies drugs?|Spleen|Thymus|Bladder|Liver
Which joint disease has urate crystals?|Gout|Lupus|Rickets|Scurvy
Which part of the nephron filters?|Loop|Glomerulus|Collecting duct|Ureter
Which sign suggests meningitis?|Rash on feet|Cough|Neck stiffness|Hair loss
Which blood group is the universal donor?|AB positive|A positive|B positive|O negative
Which organism causes tuberculosis?|Mycobacterium|Plasmodium|Candida|Giardia
Which chamber pumps to the lungs?|Left atrium|Right ventricle|Left ventricle|Right atrium
Which drug treats asthma attacks?|Aspirin|Warfarin|Salbutamol|Heparin
Which bone is the collar bone?|Scapula|Humerus|Patella|Clavicle
Which sense uses the cochlea?|Hearing|Smell|Taste|Sight
Which electrolyte is high in Addison disease?|Sodium|Potassium|Glucose|Chloride
"""
STUDY = """
name = "agreement"
cases = "cases"
trials = {trials}
offline = true
[sampling]
temperature = {temperature}
top_p = 1.0
max_tokens = 1
[[candidates]]
name = "SmolLM2"
provider = "local"
model = "smollm2"
timeout = 600
[conditions]
confidence = ["votes", "logprobs"]
"""


def p_values(folder: Path, questions: int, trials: int, temperature: float) -> list[float]:
    """A G-test per question of the votes against the distribution from log-probabilities."""
    lines = QUESTIONS.strip().splitlines()[:questions]
    cases = []
    for number, line in enumerate(lines):
        prompt, *options = line.split("|")
        question = {"id": "q", "kind": "choice", "prompt": prompt, "options": options, "gold": number % 4}
        cases.append(Case.model_validate({"id": f"q{number}", "questions": [question]}))
    write_case_set(cases, folder / "cases")
    study = folder / "study.toml"
    study.write_text(STUDY.format(trials=trials, temperature=temperature))
    ended = run_study(study, runs=folder / "runs", quiet=True, note=lambda line: None)
    assert ended.exit_code == 0
    marks = pl.read_parquet(ended.folder / "marks.parquet")
    by_case = marks.partition_by("case", as_dict=True)
    return [g_test(by_case[f"q{number}",], trials) for number in range(len(lines))]


def g_test(marks: pl.DataFrame, trials: int) -> float:
    distributions = marks.filter(pl.col("shares").is_not_null())
    votes = marks.filter(pl.col("condition").str.json_path_match("$.confidence") == "votes")
    assert len(distributions) == 1, "the log-probabilities of this question are incomplete"
    assert len(votes) == trials
    shares = distributions["shares"][0].to_list()
    expected = trials * np.array([*shares, 1 - sum(shares)])  # a reply without a letter is one more outcome
    observed = np.array([(votes["option"] == option).sum() for option in range(4)] + [votes["option"].null_count()])
    order = np.argsort(expected)
    while len(order) > 2 and expected[order[0]] < 5:  # too few to be tested alone
        expected[order[1]] += expected[order[0]]
        observed[order[1]] += observed[order[0]]
        order = order[1:][np.argsort(expected[order[1:]])]
    is_observed = observed[order] > 0
    g = 2 * np.sum(observed[order][is_observed] * np.log(observed[order][is_observed] / expected[order][is_observed]))
    return float(chi2.sf(g, len(order) - 1))


def holm_smallest(p_values: list[float]) -> float:
    """The smallest p-value, adjusted for how many there are."""
    return min(1.0, min(p_values) * len(p_values))


@pytest.mark.slow
def test_votes_and_logprobs_of_a_few_questions_agree(tmp_path: Path) -> None:
    assert holm_smallest(p_values(tmp_path, questions=3, trials=60, temperature=1.0)) > 0.01


@pytest.mark.slow
def test_200_votes_and_logprobs_of_forty_questions_agree(tmp_path: Path) -> None:
    assert holm_smallest(p_values(tmp_path, questions=40, trials=200, temperature=1.0)) > 0.01


@pytest.mark.slow
def test_votes_at_another_temperature_do_not_agree(tmp_path: Path) -> None:
    assert holm_smallest(p_values(tmp_path, questions=40, trials=200, temperature=0.6)) < 0.01
