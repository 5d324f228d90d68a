"""A case set is never written into the folder that it is made of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from wardround.building.review.review import review
from wardround.building.sources.dicom.build import build_dicom
from wardround.building.sources.eurorad.build import build_eurorad
from wardround.building.sources.medq_deg.build import build_medq_deg
from wardround.building.sources.phenopackets.build import build_phenopackets
from wardround.building.sources.pmc.build import build_pmc
from wardround.core.errors import BadInput

BUILDS: dict[str, Callable[[Path, Path], object]] = {
    "dicom": lambda source, out: build_dicom(source, source / "histories.csv", out),
    "eurorad": build_eurorad,
    "medq-deg": lambda source, out: build_medq_deg([source], out),
    "phenopackets": build_phenopackets,
    "pmc": build_pmc,
    "review": lambda source, out: review(source, [], out),
}


@pytest.mark.parametrize("inside", ["", "new", "deep/new"])
@pytest.mark.parametrize("name", BUILDS)
def test_a_folder_inside_the_source_is_refused(tmp_path, name, inside):
    source = tmp_path / "source"
    source.mkdir()
    (source / "page.html").write_text("<p>")
    (source / "packet.json").write_text("{}")
    (source / "report.md").write_text("# A case report")
    (source / "histories.csv").write_text("study,history,diagnosis\n1,pain,gout\n")
    (source / "cases.jsonl").write_text('{"id": "a", "questions": []}\n')
    with pytest.raises(BadInput, match="lies inside the source"):
        BUILDS[name](source, source / inside)
    assert not (source / "new").exists()
