"""A desk with a review that one student and one attending have; files that need another make their own."""

from __future__ import annotations

import pytest
from desk_room import SCRIPT, Room, case, write_set


@pytest.fixture(scope="module")
def room(tmp_path_factory) -> Room:
    room = Room(tmp_path_factory.mktemp("desk"))
    scan = [{"path": "images/1.png", "modality": "CT"}]
    cases = [case(number, images=scan, history=f"{SCRIPT} {number}") for number in range(4)]
    write_set(room.root / "set", cases)
    return room


@pytest.fixture(scope="module")
def task(room):
    """Given to one student and one attending only."""
    room.student, room.other = room.enter("Stu", "student"), room.enter("Sue", "student")
    room.physician, room.stranger = room.enter("Phil", "attending"), room.enter("Pia", "radiologist")
    who = [f"person:{room.student.person.id}", f"person:{room.physician.person.id}"]
    return room.make("review", "set", who, share="0.25")
