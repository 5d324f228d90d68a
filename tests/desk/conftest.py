"""A desk with a review that one student and one attending have; files that need another make their own."""

from __future__ import annotations

import pytest
from desk_site import SCRIPT, DeskSite, case, write_set


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> DeskSite:
    site = DeskSite(tmp_path_factory.mktemp("desk"))
    scan = [{"path": "images/1.png", "modality": "CT"}]
    cases = [case(number, images=scan, history=f"{SCRIPT} {number}") for number in range(4)]
    write_set(site.root / "set", cases)
    return site


@pytest.fixture(scope="module")
def task(site):
    """Given to one student and one attending only."""
    site.student, site.other = site.add_person("Stu", "student"), site.add_person("Sue", "student")
    site.physician, site.stranger = site.add_person("Phil", "attending"), site.add_person("Pia", "radiologist")
    who = [f"person:{site.student.person.id}", f"person:{site.physician.person.id}"]
    return site.make_task("review", "set", who, share="0.25")
