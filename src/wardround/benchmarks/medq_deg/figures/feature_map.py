"""Figure 5 (a): simulated and really degraded images as an image encoder sees them.

Overlap in a t-SNE map proves nothing by itself, so a classifier is asked to tell the two apart: the cross-validated
AUC, with whole clusters held out, is 0.5 where it cannot and 1 where it always can.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

from wardround.benchmarks.medq_deg.figures.degraded_images import DegradedImage, degraded_images
from wardround.benchmarks.medq_deg.figures.encoders import Values, encoder_named
from wardround.benchmarks.medq_deg.figures.scores import RESAMPLES, interval
from wardround.cases.set import CaseSet
from wardround.core.errors import WardroundError
from wardround.core.random import stream
from wardround.degrade.severities import ESTIMATED, profile_named
from wardround.reporting.figures.table_figure import write_figure
from wardround.reporting.tables.table import Cell, Column, Row, Table

FOLDS = 5
FEWEST_CLUSTERS = 2 * FOLDS


def fig5a(
    cases: CaseSet, folder: Path, encoder: str | None, note: Callable[[str], None]
) -> tuple[list[Table], list[Path]]:
    """The t-SNE map, its points as CSV, and the AUC of telling the two apart, by modality."""
    images = list(degraded_images(cases, profile_named(ESTIMATED)))
    kinds = {image.is_real for image in images}
    if kinds != {True, False}:
        there = "really degraded" if kinds == {True} else "simulated" if kinds else "no degraded"
        raise WardroundError(
            f"{cases.file}: a map needs images with simulated degradations and really degraded ones (real@mild, "
            f"real@severe); there are {there} images only"
        )
    seen = _standard(encoder_named(encoder)([each.image for each in images]))
    folder.mkdir(parents=True, exist_ok=True)
    places = _placed(seen)
    files = [_points(folder, images, places)]
    try:
        files += write_figure(_map(images, places), folder, "map")
    except WardroundError as error:
        note(str(error))
    return [_told(images, seen, encoder)], files


def apart(images: list[DegradedImage], seen: Values) -> Cell:
    """How well a logistic regression tells real from simulated on clusters that it has not seen: AUC."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedGroupKFold

    real = np.array([each.is_real for each in images])
    clusters = np.array([each.cluster for each in images])
    held = {bool(kind): len(set(clusters[real == kind])) for kind in (True, False)}
    if min(held.values()) < FEWEST_CLUSTERS:
        return Cell(said="too few cases", n=len(images), clusters=sum(held.values()))
    score = np.zeros(len(images))
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0)
    for taught, asked in folds.split(seen, real, clusters):
        model = LogisticRegression(max_iter=1000).fit(seen[taught], real[taught])
        score[asked] = model.decision_function(seen[asked])
    rows = {name: np.flatnonzero(clusters == name) for name in sorted(set(clusters))}
    names, random, drawn = list(rows), stream(0, "resamples of the map"), []
    for _ in range(RESAMPLES):
        again = np.concatenate([rows[names[place]] for place in random.integers(0, len(names), len(names))])
        mixed = 0 < real[again].sum() < len(again)
        drawn.append(roc_auc_score(real[again], score[again]) if mixed else np.nan)
    low, high = interval(np.array(drawn))
    return Cell(float(roc_auc_score(real, score)), low, high, n=len(images), clusters=len(names))


def _standard(seen: Values) -> Values:
    scale = seen.std(axis=0)
    return (seen - seen.mean(axis=0)) / np.where(scale > 1e-9, scale, 1.0)


def _placed(seen: Values) -> Values:
    try:
        from sklearn.manifold import TSNE
    except ImportError:
        raise WardroundError('a map needs scikit-learn: pip install "wardround[maps]"') from None
    if len(seen) < 4:
        raise WardroundError(f"a map needs four or more images; there are {len(seen)}")
    perplexity = min(30.0, (len(seen) - 1) / 3)
    return np.asarray(TSNE(perplexity=perplexity, init="pca", random_state=0).fit_transform(seen), dtype=np.float64)


def _told(images: list[DegradedImage], seen: Values, encoder: str | None) -> Table:
    groups: dict[str, list[int]] = {"all": list(range(len(images)))}
    for modality in sorted({each.modality for each in images}):
        groups[modality] = [place for place, each in enumerate(images) if each.modality == modality]
    rows = []
    for name, places in groups.items():
        own = [images[place] for place in places]
        real = sum(each.is_real for each in own)
        auc = apart(own, seen[places]) if 0 < real < len(own) else Cell(said="one kind only")
        rows.append(Row((name,), [Cell(len(own) - real), Cell(real), auc]))
    columns = [
        Column("Simulated", unit="count"),
        Column("Real", unit="count"),
        Column("AUC", unit="fraction", decimals=3),
    ]
    notes = [
        f"Encoder: {encoder or 'simple features of grey levels, colours, edges and frequencies (not BiomedCLIP)'}.",
        "AUC 0.5: an encoder with a linear classifier cannot tell them apart; 1: it always can. Clusters are held out "
        "whole; brackets are 95% intervals over clusters.",
    ]
    return Table("Telling simulated from real degradation", ("Modality",), columns, rows, notes)


def _points(folder: Path, images: list[DegradedImage], places: Values) -> Path:
    lines = ["x,y,modality,degradation,cluster"]
    for each, (x, y) in zip(images, places, strict=True):
        lines.append(",".join([f"{x:.4f}", f"{y:.4f}", *map(_quoted, (each.modality, each.degradation, each.cluster))]))
    file = folder / "map.csv"
    file.write_text("\n".join([*lines, ""]), encoding="utf-8", newline="\n")
    return file


def _quoted(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"' if set(text) & set(',"\n') else text


def _map(images: list[DegradedImage], places: Values) -> alt.Chart:
    told: list[dict[str, Any]] = [
        {"x": float(x), "y": float(y), "modality": each.modality, "image": "real" if each.is_real else "simulated"}
        for each, (x, y) in zip(images, places, strict=True)
    ]
    axis = alt.Axis(labels=False, ticks=False, grid=False)
    return (
        alt.Chart(alt.Data(values=told), title=alt.Title("Degraded images (t-SNE)", anchor="start"))
        .mark_point(size=45, opacity=0.75, strokeWidth=1.5)
        .encode(
            alt.X("x:Q", title=None, axis=axis),
            alt.Y("y:Q", title=None, axis=axis),
            alt.Color("modality:N", title="Modality"),
            alt.Shape("image:N", title="Image", sort=["simulated", "real"]),
        )
        .properties(width=520, height=420)
    )
