"""Figure 5 (a): simulated and really degraded images in the feature space of an image encoder.

Overlap in a t-SNE map proves nothing by itself, so a classifier tries to tell the two apart: its cross-validated AUC,
with whole clusters held out, is 0.5 if it cannot and 1 if it always can.
"""

import csv
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

from wardround.benchmarks.engine.section_output import Note, SectionOutput, write_chart
from wardround.benchmarks.medq_deg.figures.degraded_images import DegradedImage, degraded_images
from wardround.benchmarks.medq_deg.figures.encoders import Values, load_encoder
from wardround.benchmarks.medq_deg.figures.scores import RESAMPLES, interval
from wardround.cases.set import CaseSet
from wardround.core.errors import WardroundError
from wardround.core.random import stream
from wardround.core.text import safe_row
from wardround.degrade.severities import ESTIMATED, load_profile
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

FOLDS = 5
MIN_CLUSTERS = 2 * FOLDS


def fig5a(cases: CaseSet, folder: Path, encoder: str | None, note: Note) -> SectionOutput:
    """The t-SNE map, its points as CSV, and the AUC of real against simulated by modality."""
    images = list(degraded_images(cases, load_profile(ESTIMATED)))
    kinds = {image.is_real for image in images}
    if kinds != {True, False}:
        present = "really degraded" if kinds == {True} else "simulated" if kinds else "no degraded"
        raise WardroundError(
            f"{cases.file}: a map needs images with simulated degradations and really degraded ones (real@mild, "
            f"real@severe); there are {present} images only"
        )
    features = _standardize(load_encoder(encoder)([degraded.image for degraded in images]))
    folder.mkdir(parents=True, exist_ok=True)
    positions = _project(features)
    files = [_write_points(folder, images, positions), *write_chart(_map(images, positions), folder, "map", note)]
    return [_auc_table(images, features, encoder)], files


def separability(images: list[DegradedImage], features: Values) -> Cell:
    """The AUC of a logistic regression, real against simulated, on held-out clusters."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedGroupKFold

    real = np.array([image.is_real for image in images])
    clusters = np.array([image.cluster for image in images])
    cluster_counts = {bool(kind): len(set(clusters[real == kind])) for kind in (True, False)}
    if min(cluster_counts.values()) < MIN_CLUSTERS:
        return Cell(text="too few cases", n=len(images), clusters=sum(cluster_counts.values()))
    score = np.zeros(len(images))
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0)
    for train, test in folds.split(features, real, clusters):
        model = LogisticRegression(max_iter=1000).fit(features[train], real[train])
        score[test] = model.decision_function(features[test])
    rows_by_cluster = [np.flatnonzero(clusters == name) for name in sorted(set(clusters))]
    count, random, aucs = len(rows_by_cluster), stream(0, "resamples of the map"), []
    for _ in range(RESAMPLES):
        resampled = np.concatenate([rows_by_cluster[index] for index in random.integers(0, count, count)])
        is_mixed = 0 < real[resampled].sum() < len(resampled)
        aucs.append(roc_auc_score(real[resampled], score[resampled]) if is_mixed else np.nan)
    low, high = interval(np.array(aucs))
    return Cell(float(roc_auc_score(real, score)), low, high, n=len(images), clusters=count)


def _standardize(features: Values) -> Values:
    scale = features.std(axis=0)
    return np.asarray((features - features.mean(axis=0)) / np.where(scale > 1e-9, scale, 1.0))


def _project(features: Values) -> Values:
    try:
        from sklearn.manifold import TSNE
    except ImportError:
        raise WardroundError('a map needs scikit-learn: pip install "wardround[maps]"') from None
    if len(features) < 4:
        raise WardroundError(f"a map needs four or more images; there are {len(features)}")
    perplexity = min(30.0, (len(features) - 1) / 3)
    return np.asarray(TSNE(perplexity=perplexity, init="pca", random_state=0).fit_transform(features), dtype=np.float64)


def _auc_table(images: list[DegradedImage], features: Values, encoder: str | None) -> Table:
    groups: dict[str, list[int]] = {"all": list(range(len(images)))}
    for modality in sorted({image.modality for image in images}):
        groups[modality] = [index for index, image in enumerate(images) if image.modality == modality]
    rows = []
    for name, indices in groups.items():
        group_images = [images[index] for index in indices]
        real = sum(image.is_real for image in group_images)
        is_mixed = 0 < real < len(group_images)
        auc = separability(group_images, features[indices]) if is_mixed else Cell(text="one kind only")
        rows.append(TableRow((name,), [Cell(len(group_images) - real), Cell(real), auc]))
    columns = [
        Column("Simulated", unit="count"),
        Column("Real", unit="count"),
        Column("AUC", unit="fraction", decimals=3),
    ]
    notes = [
        f"Encoder: {encoder or 'simple features of grey levels, colours, edges and frequencies (not BiomedCLIP)'}.",
        "AUC 0.5: a linear classifier on the encoder's features cannot tell them apart; 1: it always can. Whole "
        "clusters are held out; brackets are 95% intervals over clusters.",
    ]
    return Table("Telling simulated from real degradation", ("Modality",), columns, rows, notes)


def _write_points(folder: Path, images: list[DegradedImage], positions: Values) -> Path:
    path = folder / "map.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["x", "y", "modality", "degradation", "cluster"])
        for image, (x, y) in zip(images, positions, strict=True):
            writer.writerow(safe_row([f"{x:.4f}", f"{y:.4f}", image.modality, image.degradation, image.cluster]))
    return path


def _map(images: list[DegradedImage], positions: Values) -> alt.Chart:
    points: list[dict[str, Any]] = [
        {"x": float(x), "y": float(y), "modality": image.modality, "image": "real" if image.is_real else "simulated"}
        for image, (x, y) in zip(images, positions, strict=True)
    ]
    axis = alt.Axis(labels=False, ticks=False, grid=False)
    chart: alt.Chart = (
        alt.Chart(alt.Data(values=points), title=alt.Title("Degraded images (t-SNE)", anchor="start"))
        .mark_point(size=45, opacity=0.75, strokeWidth=1.5)
        .encode(
            alt.X("x:Q", title=None, axis=axis),
            alt.Y("y:Q", title=None, axis=axis),
            alt.Color("modality:N", title="Modality"),
            alt.Shape("image:N", title="Image", sort=["simulated", "real"]),
        )
        .properties(width=520, height=420)
    )
    return chart
