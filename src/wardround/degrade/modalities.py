"""The seven modalities of MedQ-Deg and their usual spellings."""

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


def parse_modality(text: str | None) -> str | None:
    """The one of the seven modalities that a usual spelling means; None if it is none of them."""
    plain = " ".join((text or "").lower().replace("_", " ").split())
    return next((modality for modality, spellings in SPELLINGS.items() if plain in spellings), None)
