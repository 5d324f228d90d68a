"""PSNR and SSIM against scikit-image, contrast-to-noise by hand."""

import math

import numpy as np
import pytest
from skimage import data
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

from wardround.core.errors import WardroundError
from wardround.degrade.operations.body import body_mask
from wardround.degrade.quality import contrast_to_noise, measure_quality, psnr, ssim
from wardround.degrade.rendering import LUMA

CAMERA = data.camera()[100:300, 120:390]
SLIDE = data.immunohistochemistry()[:160, :200]


def noisy(image, sigma, key=0):
    most = 255 if image.dtype == np.uint8 else 4095
    return np.clip(image + np.random.default_rng(key).normal(0, sigma, image.shape), 0, most).astype(image.dtype)


def of_skimage(clean, degraded, white):
    return structural_similarity(
        clean, degraded, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=white, full=True
    )


@pytest.mark.parametrize("sigma", [2, 12, 60])
def test_grey_agrees_with_scikit_image(sigma):
    degraded = noisy(CAMERA, sigma)
    assert psnr(CAMERA, degraded) == pytest.approx(peak_signal_noise_ratio(CAMERA, degraded), abs=1e-4)
    assert ssim(CAMERA, degraded) == pytest.approx(of_skimage(CAMERA, degraded, 255)[0], abs=1e-4)


def test_colour_psnr_is_of_all_channels_and_ssim_of_the_luma():
    degraded = noisy(SLIDE, 20)
    assert psnr(SLIDE, degraded) == pytest.approx(peak_signal_noise_ratio(SLIDE, degraded), abs=1e-4)
    expected, _ = of_skimage(SLIDE @ LUMA.astype(float), degraded @ LUMA.astype(float), 255)
    assert ssim(SLIDE, degraded) == pytest.approx(expected, abs=1e-4)


def test_white_is_that_of_the_depth_in_use():
    clean = CAMERA.astype(np.uint16) * 16
    degraded = noisy(clean, 150)
    assert psnr(clean, degraded) == pytest.approx(peak_signal_noise_ratio(clean, degraded, data_range=4095), abs=1e-4)
    assert ssim(clean, degraded) == pytest.approx(of_skimage(clean, degraded, 4095)[0], abs=1e-4)


def test_inside_a_mask_only_the_mask_counts():
    inside = np.zeros(CAMERA.shape, bool)
    inside[3:80, 40:170] = True
    degraded = noisy(CAMERA, 15)
    assert psnr(CAMERA, degraded, inside) == pytest.approx(
        peak_signal_noise_ratio(CAMERA[3:80, 40:170], degraded[3:80, 40:170]), abs=1e-4
    )
    _, everywhere = of_skimage(CAMERA, degraded, 255)
    assert ssim(CAMERA, degraded, inside) == pytest.approx(everywhere[5:80, 40:170].mean(), abs=1e-4)
    outside = np.where(inside, CAMERA, 255 - CAMERA)
    assert psnr(CAMERA, outside, inside) == math.inf
    assert psnr(CAMERA, outside) < 15


def test_alpha_is_left_out():
    alpha = np.random.default_rng(1).integers(0, 256, (*SLIDE.shape[:2], 1), dtype=np.uint8)
    with_alpha = [
        np.concatenate([image, plane], axis=2) for image, plane in ((SLIDE, alpha), (noisy(SLIDE, 9), 255 - alpha))
    ]
    assert psnr(*with_alpha) == psnr(SLIDE, noisy(SLIDE, 9))
    assert ssim(*with_alpha) == ssim(SLIDE, noisy(SLIDE, 9))


@pytest.mark.parametrize("shape", [(1, 1), (3, 40), (11, 11), (1, 1, 3)])
def test_small_images_have_a_quality_too(shape):
    clean = np.full(shape, 100, np.uint8)
    assert ssim(clean, clean) == pytest.approx(1, abs=1e-6)
    assert psnr(clean, clean) == math.inf
    assert psnr(clean, clean + np.uint8(5)) == pytest.approx(20 * math.log10(255 / 5), abs=1e-4)
    luminance = (2 * 100 * 105 + 6.5025) / (100**2 + 105**2 + 6.5025)
    assert ssim(clean, clean + np.uint8(5)) == pytest.approx(luminance, abs=1e-5)


def test_contrast_to_noise_is_the_difference_of_means_over_the_spread_of_the_ring():
    image = np.array([[10, 10, 14, 14, 30, 34, 200]], np.uint8)
    disc, ring = np.array([[0, 0, 0, 0, 1, 1, 1]], bool), np.array([[1, 1, 1, 1, 0, 0, 0]], bool)
    inside = np.array([[1, 1, 1, 1, 1, 1, 0]], bool)
    assert contrast_to_noise(image, disc, ring, inside) == pytest.approx((32 - 12) / 2)
    assert contrast_to_noise(image, disc, ring) == pytest.approx((88 - 12) / 2)
    assert contrast_to_noise(np.repeat(image[..., None], 3, axis=2), disc, ring) == pytest.approx(38, rel=1e-5)
    flat = np.full((1, 7), 9, np.uint8)
    assert contrast_to_noise(flat, disc, ring) == 0
    flat[disc] = 10
    assert contrast_to_noise(flat, disc, ring) == math.inf


def test_a_record_looks_at_the_body_too_and_has_no_infinities():
    rows, columns = np.mgrid[:120, :150]
    body = np.hypot(rows - 60, columns - 75) < 35
    clean = np.where(body, 120 + 20 * np.sin(rows / 3), 0).astype(np.uint8)
    degraded = np.where(body, noisy(clean, 12), clean)
    quality = measure_quality(clean, degraded, body_mask(clean))
    assert quality["psnr"] > quality["psnr_body"] + 3
    assert quality["ssim"] > quality["ssim_body"]
    assert measure_quality(clean, clean, body) == {
        "psnr": None,
        "ssim": 1.0,
        "psnr_body": None,
        "ssim_body": 1.0,
        "clipped": 0.0,
    }


def test_images_that_cannot_be_compared_are_refused():
    for other in (CAMERA[1:], CAMERA.astype(np.uint16), CAMERA.astype(float)):
        with pytest.raises(WardroundError, match="one shape"):
            psnr(CAMERA, other)
