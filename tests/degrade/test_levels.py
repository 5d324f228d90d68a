"""A level is as bad on any image: by what is lost, at any size, L2 worse than L1; copies that are not are flagged."""

import json
import math

import numpy as np
import pytest
import real_images as real
from PIL import Image
from scipy.ndimage import gaussian_filter
from skimage.metrics import structural_similarity

from wardround.cases.set import CaseSet
from wardround.degrade import TYPES, category_of, degrade, fits, load_profile
from wardround.degrade.bands import QualityBand, band_at, band_problem, list_flags
from wardround.degrade.folder import degrade_files, profile_of_set
from wardround.degrade.operations.body import body_mask
from wardround.degrade.quality import measure_quality, psnr
from wardround.degrade.rendering import apply_parameters, seed_of
from wardround.degrade.severities import CLINICAL, ESTIMATED

PACKAGED = (*real.DICOM, *real.MORE, "retina", "immunohistochemistry", *real.STAND_INS)
QUICK = ("CT_small.dcm", "MR_small.dcm", "examples_rgb_color.dcm", "dermoscopy")
MODALITIES = {"retina": "Fundus", "immunohistochemistry": "Histopathology"}
PROFILES = (CLINICAL, ESTIMATED)


def fitting_types(name: str) -> list[str]:
    """Without motion: of a turned or moved image PSNR and SSIM say nothing."""
    modality = MODALITIES.get(name) or real.modality_of(name)
    return [type for type in TYPES if fits(type, modality) and category_of(type) != "Motion"]


def body_ssim(clean: np.ndarray, degraded: np.ndarray, body: np.ndarray) -> float:
    """scikit-image's, as Wang et al. have it."""
    grey, worse = (real.luma(image) for image in (clean, degraded))
    _, similar = structural_similarity(
        grey, worse, data_range=255, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, full=True
    )
    return float(similar[body].mean())


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PACKAGED]
)
def test_ssim_in_the_body_falls_from_l1_to_l2(name, profile):
    image, body = real.real_image(name), real.body(name)
    for type in fitting_types(name):
        mild, severe = (body_ssim(image, degrade(image, type, level, profile), body) for level in ("L1", "L2"))
        assert severe < mild < 1, type


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", ["US1_UNCI.dcm", "MR2_UNCI.dcm", "J2K_pixelrep_mismatch.dcm", "chest", "dermoscopy"])
def test_brightness_and_exposure_black_out_nothing(name, profile):
    image, body = real.real_image(name), real.body(name)
    for type in ("adjust_brightness", "exposure"):
        for level, limit in (("L1", 0.12), ("L2", 0.25)):
            degraded = degrade(image, type, level, profile)
            assert np.abs(degraded.astype(int) - image)[body].mean() > 0
            assert measure_quality(image, degraded, body)["clipped"] <= limit, (type, level)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "name", ["MR_small.dcm", "OBXXXX1A.dcm", "examples_palette.dcm", "examples_rgb_color.dcm", "retina", "chest"]
)
def test_what_looks_black_or_white_counts_as_lost(name, profile):
    """Before, up to 70% of these bodies had fewer than 10 of 255 grey levels at L2, and 7% were clipped."""
    image, body = real.real_image(name), real.body(name)
    before = real.luma(image)
    for type in ("adjust_brightness", "exposure"):
        for level, most in (("L1", 0.05), ("L2", 0.20)):
            after = real.luma(degrade(image, type, level, profile))
            black, white = (after < 10) & (before >= 25), (after > 250) & (before <= 235)
            assert (black | white)[body].mean() <= most, (type, level)


def test_a_darker_retina_keeps_more_than_its_red():
    image = real.real_image("retina")
    body = real.body("retina") & (image[..., 1] > 25)
    for level in ("L1", "L2"):
        assert (degrade(image, "adjust_brightness", level, ESTIMATED)[..., 1][body] > 0).mean() > 0.8


def test_nearly_black_and_nearly_white_are_clipped():
    clean = np.full((40, 40), 100, np.uint8)
    clean[:4] = 12  # black already
    degraded = clean.copy()
    degraded[:8], degraded[8:16], degraded[16:24] = 9, 252, 20
    assert measure_quality(clean, degraded, np.ones((40, 40), bool))["clipped"] == pytest.approx(0.3)


def test_a_dark_image_is_made_lighter_and_a_bright_one_darker():
    dark = np.full((64, 64), 25, np.uint8)
    dark[:, ::3] = 40
    for image, sign in ((dark, 1), (255 - dark, -1)):
        for direction in ("darker", "lighter", "either"):
            parameters = {"shift": 0.2, "direction": direction}
            shifted = apply_parameters(image, "adjust_brightness", 1.0, parameters, "display").image
            np.testing.assert_array_equal(shifted.astype(int) - image, sign * 51)


def resized(image: np.ndarray, side: int) -> np.ndarray:
    height, width = image.shape[:2]
    factor = side / min(height, width)
    method = Image.Resampling.LANCZOS if factor < 1 else Image.Resampling.BICUBIC
    return np.asarray(Image.fromarray(image).resize((round(width * factor), round(height * factor)), method))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("name", "type", "drift"),
    [
        ("J2K_pixelrep_mismatch.dcm", "low_dose", 0.8),
        ("J2K_pixelrep_mismatch.dcm", "sparse_view", 2.0),
        ("J2K_pixelrep_mismatch.dcm", "limited_angle", 1.5),
        ("examples_overlay.dcm", "undersampling", 2.5),
        ("MR2_UNCI.dcm", "ghosting", 0.8),
        ("MR2_UNCI.dcm", "bias_field", 0.8),
        ("MR2_UNCI.dcm", "gaussian_noise", 0.8),
        ("immunohistochemistry", "blood_cell", 1.5),
    ],
)
def test_severity_does_not_drift_with_the_size_of_the_image(name, type, drift, profile):
    """Resized images, with what is drawn at random the same: before, low_dose went from 34 to 16 dB."""
    image = real.real_image(name)
    for severity in (1.0, 2.0):
        values = []
        for side in (128, 512, 1024):
            clean = resized(image, side)
            parameters = load_profile(profile).at(type, severity)
            degraded = apply_parameters(clean, type, severity, parameters, "display", seed_of(image, type)).image
            values.append(psnr(clean, degraded, body_mask(clean)))
        assert max(values) - min(values) <= drift, (severity, values)


LARGE = ("explicit_VR-UN.dcm", "MR2_UNCI.dcm", "gdcm-US-ALOKA-16.dcm", "retina", "immunohistochemistry")


@pytest.mark.parametrize(("type", "drift"), [("gaussian_blur", 1.6), ("motion_blur", 0.4)])
def test_blurs_do_not_drift_with_the_size_of_the_image_on_average(type, drift):
    """Single images do, by the detail that they have. Before, half of them had 2.4 dB more at 256 pixels."""
    profile = load_profile(CLINICAL)
    changes = []
    for name in LARGE:
        image = real.real_image(name)
        values = []
        for side in (512, 256):
            clean = resized(image, side)
            blurred = apply_parameters(clean, type, 1.0, profile.at(type, 1.0), "display", seed_of(image, type)).image
            values.append(psnr(clean, blurred, body_mask(clean)))
        changes.append(values[1] - values[0])
    assert abs(np.median(changes)) <= drift, changes


def test_more_severe_motion_goes_farther():
    for name in PROFILES:
        for type in ("object_rotation", "object_movement"):
            rows = [load_profile(name).at(type, severity) for severity in (1.0, 2.0)]
            assert rows[0]["least"] < rows[1]["least"]
            assert rows[0]["most"] < rows[1]["most"]


BANDS = {
    "L1": {"clipped": 0.1, "psnr": [10, 40], "ssim": [0.4, 0.99]},
    "L2": {"clipped": 0.3, "psnr": [6, 36], "ssim": [0.2, 0.97]},
    "Ultrasound": {"L1": {"ssim": [0.3, 0.98]}},
}


def test_a_band_lies_between_those_of_the_levels_and_may_be_a_modalitys_own():
    assert band_at(BANDS, 1.0, "CT") == QualityBand(0.1, (10, 40), (0.4, 0.99))
    middle = band_at(BANDS, 1.5, None)
    assert middle is not None
    assert middle.clipped == pytest.approx(0.2)
    assert middle.psnr == pytest.approx((8, 38))
    assert band_at(BANDS, 0.5, None) == QualityBand(0.1, (10, math.inf), (0.4, math.inf))
    assert band_at(BANDS, 1.0, "us") == QualityBand(0.1, (10, 40), (0.3, 0.98))
    assert band_at({}, 1.0, "CT") is None


def test_a_type_may_have_a_band_of_its_own():
    bands = load_profile("clinical-1").bands
    assert band_at(bands, 2.0, "CT", "sparse_view").psnr == (16, 36)
    assert band_at(bands, 2.0, "CT", "limited_angle").psnr == band_at(bands, 2.0, "CT").psnr
    unreadable = {"clipped": 0.07, "psnr_body": 14.6, "ssim_body": 0.47}  # a head at L2, before
    assert list_flags(unreadable, "Artifacts", band_at(bands, 2.0, "CT", "sparse_view"))
    assert not list_flags(unreadable, "Artifacts", band_at(bands, 2.0, "CT", "limited_angle"))


def test_a_faint_spot_that_ssim_hardly_sees_is_not_flagged():
    image = real.real_image("immunohistochemistry")
    for level, severity in (("L1", 1.0), ("L2", 2.0)):
        quality = measure_quality(image, degrade(image, "dark_spots", level, ESTIMATED), np.ones(image.shape[:2], bool))
        assert not list_flags(quality | {"ssim_body": 0.998}, "Artifacts", spots_band(severity))
        assert list_flags(quality | {"psnr_body": 41.0}, "Artifacts", spots_band(severity))


@pytest.mark.parametrize("profile", PROFILES)
def test_blurs_that_take_the_trabeculae_of_a_bone_are_not_flagged(profile):
    """Before, most mild blurs of smooth radiographs counted as invisible, and were left out of case sets."""
    ankle, body = real.real_image("RG3_UNCI.dcm"), real.body("RG3_UNCI.dcm")
    bone = (slice(1180, 1320), slice(760, 880))  # as it is, it is full of fine detail
    clean = ankle[bone].astype(float)
    for type in ("gaussian_blur", "motion_blur"):
        blurred = degrade(ankle, type, "L1", profile)
        left = blurred[bone] - gaussian_filter(blurred[bone].astype(float), 4)
        assert left.std() < 0.5 * (clean - gaussian_filter(clean, 4)).std()
        band = band_at(load_profile(profile).bands, 1.0, "X-ray", type)
        assert list_flags(measure_quality(ankle, blurred, body), "Resolution and Blur", band) == []


def spots_band(severity: float) -> QualityBand | None:
    return band_at(load_profile(ESTIMATED).bands, severity, "Histopathology", "dark_spots")


@pytest.mark.parametrize(
    ("quality", "flags"),
    [
        ({"clipped": 0.05, "psnr_body": 25, "ssim_body": 0.8}, []),
        ({"clipped": 0.61, "psnr_body": 25, "ssim_body": 0.8}, ["over-degraded: 61% of the body clipped, at most 10%"]),
        ({"clipped": 0, "psnr_body": 9, "ssim_body": 0.8}, ["over-degraded: PSNR 9 in the body, at least 10"]),
        ({"clipped": 0, "psnr_body": None, "ssim_body": 0.8}, ["under-degraded: PSNR inf in the body, at most 40"]),
        ({"clipped": 0, "psnr_body": 25, "ssim_body": 0.995}, ["under-degraded: SSIM 0.995 in the body, at most 0.99"]),
    ],
)
def test_what_is_out_of_its_band_is_flagged_but_for_motion(quality, flags):
    band = band_at(BANDS, 1.0, None)
    assert list_flags(quality, "Intensity", band) == flags
    assert list_flags(quality, "Motion", band) == []
    assert list_flags(quality, "Intensity", None) == []


@pytest.mark.parametrize(
    ("bands", "message"),
    [
        ({"L1": BANDS["L1"]}, "expected L1 and L2"),
        (BANDS | {"L3": {}}, "expected L1 and L2"),
        (BANDS | {"L2": {"clipped": 0.1}}, "L2: expected clipped, psnr and ssim"),
        (BANDS | {"L2": BANDS["L2"] | {"psnr": [40, 10]}}, "L2.psnr: expected numbers, the lower first"),
        (BANDS | {"CT": {"L1": {"ssim": 0.5}}}, "CT.L1.ssim: expected the lowest and highest value"),
    ],
)
def test_a_mistake_in_the_bands_of_a_table_is_named(bands, message):
    assert band_problem(BANDS) is None
    assert message in str(band_problem(bands))


def question(id, **fields):
    return {"id": id, "kind": "choice", "prompt": "?", "options": ["a", "b"], "gold": 0, **fields}


@pytest.fixture
def flat_set(tmp_path):
    """A photograph, and a flat image that no blur can change; a question of each with a blur assigned."""
    folder = tmp_path / "set"
    folder.mkdir()
    Image.fromarray(real.dermoscopy()).save(folder / "skin.png")
    Image.fromarray(np.full((64, 64, 3), 128, np.uint8)).save(folder / "flat.png")
    cases = [
        {
            "id": name,
            "images": [{"path": f"{name}.png", "modality": "Dermoscopy"}],
            "questions": [question("q"), question("d", of="q", degradations=["gaussian_blur@L2"])],
        }
        for name in ("skin", "flat")
    ]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    return folder


def test_flagged_copies_are_left_out_of_a_set_with_a_count_and_its_profile_is_that_of_its_studies(flat_set, tmp_path):
    summary = degrade_files(flat_set, tmp_path / "out", workers=1)
    records = [json.loads(line) for line in (tmp_path / "out" / "degradations.jsonl").read_text().splitlines()]
    flags = {record["source"]: record["flags"] for record in records}
    assert flags["skin.png"] == []
    assert any(flag.startswith("under-degraded: PSNR inf") for flag in flags["flat.png"])
    assert {record["profile"] for record in records} == {ESTIMATED}
    assert (summary.flagged, summary.left_out, summary.questions, summary.problems) == (1, 1, 3, [])
    assert "1 degraded questions left out" in summary.sentence()
    assert f"severity profile {ESTIMATED}" in summary.sentence()
    again = degrade_files(flat_set, tmp_path / "out", workers=1)
    assert (again.made, again.kept, again.left_out) == (0, 2, 1)


def test_the_profile_that_the_manifest_of_a_set_names_is_used(flat_set):
    assert profile_of_set(CaseSet.open(flat_set)) == ESTIMATED
    (flat_set / "manifest.json").write_text('{"severities": "clinical-1"}', encoding="utf-8")
    assert profile_of_set(CaseSet.open(flat_set)) == CLINICAL
