"""Figures 9 to 11: every degradation that fits, at L0, L1 and L2, on one image of each modality of a case set."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image as Picture

from wardround.cases.images import recipe_for
from wardround.cases.set import CaseSet
from wardround.core.case import Image
from wardround.core.errors import BadInput, WardroundError
from wardround.degrade.recipe import render_degraded, with_degradations
from wardround.degrade.severities import ESTIMATED, LEVELS, Profile, profile_named
from wardround.degrade.sheet import Row as SheetRow
from wardround.degrade.sheet import contact_sheet
from wardround.degrade.types import MODALITIES, TYPES, fits, modality_named
from wardround.reporting.tables.table import Cell, Column, Row, Table


def fig9(
    cases: CaseSet, folder: Path, encoder: str | None, note: Callable[[str], None]
) -> tuple[list[Table], list[Path]]:
    """A contact sheet for each of the seven modalities that the set has an image of."""
    profile, found = profile_named(ESTIMATED), first_images(cases)
    if not found:
        raise WardroundError(f"{cases.file}: no image is of {', '.join(MODALITIES)}")
    folder.mkdir(parents=True, exist_ok=True)
    rows, files = [], []
    for modality in [name for name in MODALITIES if name in found]:
        case, image = found[modality]
        drawn = _drawn(cases.image_path(image), image, profile)
        files.append(folder / f"{modality.lower()}.png")
        contact_sheet(drawn, list(LEVELS)).save(files[-1])
        rows.append(Row((modality,), [Cell(said=case), Cell(len(drawn)), Cell(said=files[-1].name)]))
    columns = [Column("Case", unit="text"), Column("Types", unit="count"), Column("Sheet", unit="text")]
    return [Table("Sheets of degraded examples", ("Modality",), columns, rows)], files


def first_images(cases: CaseSet) -> dict[str, tuple[str, Image]]:
    """The first image of each modality that can be shown, with its case."""
    found: dict[str, tuple[str, Image]] = {}
    for case in cases:
        for image in case.images:
            modality = modality_named(image.modality)
            if modality is None or modality in found or image.degradations:
                continue
            try:
                render_degraded(cases.image_path(image), image.frame, recipe_for(image))
            except BadInput:
                continue  # `cases validate` names it
            found[modality] = case.id, image
    return found


def _drawn(path: Path, image: Image, profile: Profile) -> list[SheetRow]:
    rows: list[SheetRow] = []
    for type in [name for name in TYPES if fits(name, image.modality)]:
        recipes = [with_degradations(recipe_for(image), image, [(type, level)], profile) for level in LEVELS.values()]
        sent = [render_degraded(path, image.frame, recipe).data for recipe in recipes]
        rows.append((type.replace("_", " "), [np.asarray(Picture.open(io.BytesIO(data))) for data in sent]))
    return rows
