"""Figures 9 to 11: every applicable degradation, at L0, L1 and L2, on one image of each modality of a case set."""

import io
from pathlib import Path

import numpy as np
from PIL import Image as Picture

from wardround.benchmarks.engine.section_output import Note, SectionOutput
from wardround.cases.images import recipe_for
from wardround.cases.set import CaseSet
from wardround.core.case import Image
from wardround.core.errors import BadInput, WardroundError
from wardround.degrade.modalities import MODALITIES, parse_modality
from wardround.degrade.recipe import add_degradations, render_degraded
from wardround.degrade.severities import ESTIMATED, LEVELS, Profile, load_profile
from wardround.degrade.sheet import SheetRow, contact_sheet
from wardround.degrade.types import TYPES, fits
from wardround.reporting.tables.table import Cell, Column, Table, TableRow


def fig9(cases: CaseSet, folder: Path, encoder: str | None, note: Note) -> SectionOutput:
    """A contact sheet for each of the seven modalities that the set has."""
    profile, images_by_modality = load_profile(ESTIMATED), first_images(cases)
    if not images_by_modality:
        raise WardroundError(f"{cases.file}: has no image of the modalities {', '.join(MODALITIES)}")
    folder.mkdir(parents=True, exist_ok=True)
    rows, files = [], []
    for modality in [name for name in MODALITIES if name in images_by_modality]:
        case, image = images_by_modality[modality]
        sheet_rows = _sheet_rows(cases.image_path(image), image, profile)
        files.append(folder / f"{modality.lower()}.png")
        contact_sheet(sheet_rows, list(LEVELS)).save(files[-1])
        rows.append(TableRow((modality,), [Cell(text=case), Cell(len(sheet_rows)), Cell(text=files[-1].name)]))
    columns = [Column("Case", unit="text"), Column("Types", unit="count"), Column("Sheet", unit="text")]
    return [Table("Sheets of degraded examples", ("Modality",), columns, rows)], files


def first_images(cases: CaseSet) -> dict[str, tuple[str, Image]]:
    """The first image of each modality that can be shown, with its case."""
    images_by_modality: dict[str, tuple[str, Image]] = {}
    for case in cases:
        for image in case.images:
            modality = parse_modality(image.modality)
            if modality is None or modality in images_by_modality or image.degradations:
                continue
            try:
                render_degraded(cases.image_path(image), image.frame, recipe_for(image))
            except BadInput:
                continue  # `cases validate` reports it
            images_by_modality[modality] = case.id, image
    return images_by_modality


def _sheet_rows(path: Path, image: Image, profile: Profile) -> list[SheetRow]:
    rows: list[SheetRow] = []
    for type in [name for name in TYPES if fits(name, image.modality)]:
        recipes = [add_degradations(recipe_for(image), image, [(type, level)], profile) for level in LEVELS.values()]
        encoded = [render_degraded(path, image.frame, recipe).data for recipe in recipes]
        rows.append((type.replace("_", " "), [np.asarray(Picture.open(io.BytesIO(data))) for data in encoded]))
    return rows
