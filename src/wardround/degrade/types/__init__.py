"""The 18 types: the category of each, the modality it belongs to, and the version of what it draws.

Each has a file of its own here, with one function of the type's name: `(image, severity, rng) -> image`.
"""

from __future__ import annotations

from typing import NamedTuple

from wardround.core.errors import WardroundError

MODALITIES = ("CT", "MRI", "X-ray", "Ultrasound", "Dermoscopy", "Histopathology", "Endoscopy")
SPELLINGS = {
    "CT": ("ct", "computed tomography", "ct scan"),
    "MRI": ("mri", "mr", "magnetic resonance imaging", "magnetic resonance"),
    "X-ray": ("x-ray", "xray", "x ray", "cxr", "cr", "dx", "rg", "radiograph", "radiography", "chest x-ray"),
    "Ultrasound": ("ultrasound", "us", "sonography", "ultrasonography", "echocardiography"),
    "Dermoscopy": ("dermoscopy", "derm", "dermatoscopy", "dermoscopic image"),
    "Histopathology": (
        "histopathology",
        "pathology",
        "histology",
        "sm",
        "microscopy images",
        "histopathological image",
    ),
    "Endoscopy": ("endoscopy", "es", "colonoscopy", "gastroscopy", "endoscopic image"),
}


class Type(NamedTuple):
    """What one type is: MedQ-Deg's category, its modality (None: general), and the parameters of its severity.

    `one|other`: a row of the severity table gives one of them. A change of what is drawn is a new version.
    """

    category: str
    modality: str | None
    parameters: tuple[str, ...]
    version: int = 1


TAXONOMY = {
    "limited_angle": Type("Artifacts", "CT", ("degrees", "level")),
    "sparse_view": Type("Artifacts", "CT", ("views",)),
    "low_dose": Type("Noise", "CT", ("noise|photons",)),
    "bias_field": Type("Artifacts", "MRI", ("ratio|coefficient",)),
    "undersampling": Type("Artifacts", "MRI", ("kept", "centre", "pattern")),
    "ghosting": Type("Artifacts", "MRI", ("fewest", "most", "intensity")),
    "blood_cell": Type("Artifacts", "Histopathology", ("cells", "radius")),
    "dark_spots": Type("Artifacts", "Histopathology", ("spots", "radius", "depth")),
    "bubble": Type("Resolution and Blur", "Histopathology", ("bubbles", "radius", "blur", "rim")),
    "object_rotation": Type("Motion", None, ("least", "most")),
    "object_movement": Type("Motion", None, ("least", "most")),
    "adjust_brightness": Type("Intensity", None, ("shift", "direction")),
    "exposure": Type("Intensity", None, ("gamma", "offset", "direction")),
    "reduce_contrast": Type("Intensity", None, ("factor",)),
    "gaussian_noise": Type("Noise", None, ("sigma",)),
    "low_resolution": Type("Resolution and Blur", None, ("factor", "method")),
    "motion_blur": Type("Resolution and Blur", None, ("length",)),
    "gaussian_blur": Type("Resolution and Blur", None, ("sigma",)),
}
TYPES = tuple(TAXONOMY)
CATEGORIES = {name: each.category for name, each in TAXONOMY.items()}
# how the paper's tables, its site and its released files spell them
ALIASES = {
    **{f"{name}_artifact": name for name in TYPES},
    "rotation_artifact": "object_rotation",
    "rotation": "object_rotation",
    "random_motion_artifact": "object_movement",
    "random_motion": "object_movement",
    "downsample_artifact": "low_resolution",
    "downsample": "low_resolution",
    "xray_motion_blur_artifact": "motion_blur",
    "xray_motion_blur": "motion_blur",
}


def type_named(text: str) -> str:
    """The type of this name, or one line that says which there are."""
    name = text.strip().lower().replace("-", "_").replace(" ", "_")
    found = ALIASES.get(name, name)
    if found not in TAXONOMY:
        raise WardroundError(f"there is no degradation {text!r}; the types are {', '.join(TYPES)}")
    return found


def modality_named(text: str | None) -> str | None:
    """The one of the seven modalities that a usual spelling means; None if it is none of them."""
    plain = " ".join((text or "").lower().replace("_", " ").split())
    return next((modality for modality, spellings in SPELLINGS.items() if plain in spellings), None)


def fits(type: str, modality: str | None) -> bool:
    """Whether an image of this modality can have this degradation: general types fit all, also the unnamed."""
    needed = TAXONOMY[type].modality
    return needed is None or modality_named(modality) == needed
