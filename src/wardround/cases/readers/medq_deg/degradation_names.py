"""MedQ-Deg's degradations: our names for those of the released files and of the project site."""

TYPES = (
    *("limited_angle", "sparse_view", "low_dose"),
    *("bias_field", "undersampling", "ghosting"),
    *("blood_cell", "dark_spots", "bubble"),
    *("object_rotation", "object_movement"),
    *("adjust_brightness", "exposure", "reduce_contrast", "gaussian_noise"),
    *("low_resolution", "motion_blur", "gaussian_blur"),
)
OTHER_NAMES = {
    "rotation": "object_rotation",
    "random_motion": "object_movement",
    "downsample": "low_resolution",
    "xray_motion_blur": "motion_blur",
    "real_world": "real",
}
REAL = "real"
NO_VALUE = ("", "nan", "none", "null")
CLEAN = ("l0", "0", "clean", "good", "original")
LEVELS = {"l1": "L1", "1": "L1", "mild": "L1", "l2": "L2", "2": "L2", "severe": "L2"}
REAL_LEVELS = {"l1": "mild", "1": "mild", "mild": "mild", "l2": "severe", "2": "severe", "severe": "severe"}


def degradation(type: str, severity: str) -> str | None:
    """`sparse_view@L1`, `real@mild`, or None for a clean image. ValueError if it is unknown."""
    level = _normalize(severity).removesuffix(".0")
    name = _normalize(type).removesuffix("_artifact")
    name = OTHER_NAMES.get(name, name)
    if level in CLEAN or (level in NO_VALUE and name in (*NO_VALUE, *CLEAN)):
        return None
    if name not in TYPES and name != REAL:
        raise ValueError(f"degradation_type {type!r} is not one of the 18, nor {REAL}")
    levels = REAL_LEVELS if name == REAL else LEVELS
    if level not in levels:
        raise ValueError(f"degradation_severity {severity!r} is neither L0, L1 nor L2 (really degraded: mild, severe)")
    return f"{name}@{levels[level]}"


def _normalize(text: str) -> str:
    return text.strip().lower().replace("-", "_").replace(" ", "_")
