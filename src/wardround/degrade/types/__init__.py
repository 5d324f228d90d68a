"""The 18 types: the category of each, the modality it belongs to, and the version of what it draws.

Each has a file of its own here, with one function of the type's name: `(image, severity, rng) -> image`.
Two of them have a variant. Plug-ins add types of their own (degrade/custom.py); TYPES stays the 18.
"""

from typing import NamedTuple

from wardround.core.errors import WardroundError
from wardround.degrade.custom import custom_degradation, custom_names
from wardround.degrade.modalities import parse_modality


class DegradationType(NamedTuple):
    """One type: MedQ-Deg's category, its modality (None: general), and the parameters of its severity.

    `one|other`: a row of the severity table has one of them; `one?`: it may be left out. Raise the version when what is
    drawn changes.
    """

    category: str
    modality: str | None
    parameters: tuple[str, ...]
    version: int = 1


TAXONOMY = {
    "limited_angle": DegradationType("Artifacts", "CT", ("degrees", "level", "added?", "added_of_window?"), 3),
    "sparse_view": DegradationType("Artifacts", "CT", ("added|added_of_window|views",), 4),
    "low_dose": DegradationType("Noise", "CT", ("noise|noise_of_window|photons",), 4),
    "bias_field": DegradationType("Artifacts", "MRI", ("ratio|coefficient",), 2),
    "undersampling": DegradationType("Artifacts", "MRI", ("kept", "centre", "pattern"), 3),
    "ghosting": DegradationType("Artifacts", "MRI", ("fewest", "most", "intensity"), 3),
    "blood_cell": DegradationType("Artifacts", "Histopathology", ("cells|cover", "radius"), 2),
    "dark_spots": DegradationType("Artifacts", "Histopathology", ("spots", "radius", "depth")),
    "bubble": DegradationType("Resolution and Blur", "Histopathology", ("bubbles", "radius", "blur", "rim"), 3),
    "object_rotation": DegradationType("Motion", None, ("least", "most"), 3),
    "object_movement": DegradationType("Motion", None, ("least", "most"), 3),
    "adjust_brightness": DegradationType("Intensity", None, ("shift", "direction", "lost?"), 3),
    "exposure": DegradationType("Intensity", None, ("gamma", "offset", "direction", "lost?"), 3),
    "reduce_contrast": DegradationType("Intensity", None, ("factor",)),
    "gaussian_noise": DegradationType("Noise", None, ("sigma",), 3),
    "low_resolution": DegradationType("Resolution and Blur", None, ("factor", "method"), 2),
    "motion_blur": DegradationType("Resolution and Blur", None, ("length",), 3),
    "gaussian_blur": DegradationType("Resolution and Blur", None, ("sigma",), 3),
}
TYPES = tuple(TAXONOMY)
WITHOUT_CHANCE = ("reduce_contrast", "low_resolution", "gaussian_blur")  # they draw no random numbers
VARIANTS = {  # in degrade/variants, drawn only if they are named: the 18 are as the paper describes them
    "sparse_view_streaks": DegradationType("Artifacts", "CT", ("views", "added?", "added_of_window?"), 3),
    "low_dose_normal": DegradationType("Noise", "CT", ("noise|noise_of_window|photons",), 3),
}
BUILT_IN = TAXONOMY | VARIANTS
CATEGORIES = {name: type.category for name, type in BUILT_IN.items()}
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


def parse_type(text: str) -> str:
    """The built-in or plug-in type that a usual spelling means; an unknown one is refused."""
    name = text.strip().lower().replace("-", "_").replace(" ", "_")
    name = ALIASES.get(name, name)
    if name not in BUILT_IN and custom_degradation(name) is None:
        types = ", ".join((*BUILT_IN, *custom_names()))
        raise WardroundError(f"there is no degradation {text!r}; the types are {types}")
    return name


def check_plugin_names() -> None:
    """A plug-in cannot replace a built-in type."""
    for name in custom_names():
        if name in BUILT_IN or name in ALIASES:
            raise WardroundError(f"plug-in degradation {name!r} has the name of a built-in type; choose another")


def degradation_type(name: str) -> DegradationType:
    """The record of a built-in or plug-in type."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    custom = custom_degradation(parse_type(name))
    assert custom is not None
    return DegradationType(custom.category, parse_modality(custom.modality), tuple(custom.parameters), custom.version)


def category_of(name: str) -> str | None:
    """The category of a type; None if there is no such type, or its plug-in is not loaded."""
    if name in CATEGORIES:
        return CATEGORIES[name]
    custom = custom_degradation(name)
    return custom.category if custom else None


def table_position(name: str) -> tuple[int, str]:
    """A sort key: the 18 types in the order of the table and their variants, then those of plug-ins by name."""
    return (list(BUILT_IN).index(name), "") if name in BUILT_IN else (len(BUILT_IN), name)


def fits(type: str, modality: str | None) -> bool:
    """Whether an image of this modality can have this degradation: general types fit all, also the unnamed."""
    needed = degradation_type(type).modality
    return needed is None or parse_modality(modality) == needed
