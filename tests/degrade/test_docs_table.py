"""docs/degradations.md lists every type, its category, its modality and its parameters."""

import re
from pathlib import Path

from wardround.degrade.types import TAXONOMY

PAGE = (Path(__file__).parents[2] / "docs" / "degradations.md").read_text()
ROWS = {
    row[0]: row[1:] for row in (re.split(r" *\| *", line.strip("| ")) for line in PAGE.splitlines()) if len(row) == 4
}


def test_the_table_of_the_docs_lists_every_type_with_its_parameters():
    assert [name for name in ROWS if name in TAXONOMY] == list(TAXONOMY)
    for name, type in TAXONOMY.items():
        category, modality, parameters = ROWS[name]
        assert category == type.category
        assert modality == (type.modality or "all")
        for parameter in "|".join(type.parameters).replace("?", "").split("|"):
            assert f"`{parameter}`" in parameters, (name, parameter)
