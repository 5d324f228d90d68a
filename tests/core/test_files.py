"""Files and folders appear whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from wardround.core.files import new_folder, replacement, write_file


def test_a_file_is_written_with_plain_line_ends_and_leaves_no_draft(tmp_path):
    write_file(tmp_path / "a.txt", "é\n")
    write_file(tmp_path / "a.txt", "ö\n", durable=True)
    assert (tmp_path / "a.txt").read_bytes() == "ö\n".encode()
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_failed_write_leaves_the_old_file(tmp_path):
    write_file(tmp_path / "a.txt", b"old")
    with pytest.raises(UnicodeEncodeError), replacement(tmp_path / "a.txt") as draft:
        draft.write_text("new \ud800", encoding="utf-8")
    assert (tmp_path / "a.txt").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_private_file_is_never_readable_by_others(tmp_path):
    with replacement(tmp_path / "secret", private=True) as draft:
        assert stat.S_IMODE(draft.stat().st_mode) == 0o600
        draft.write_bytes(b"x")
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


def test_a_folder_replaces_an_empty_one_and_is_not_made_if_something_fails(tmp_path):
    (tmp_path / "set").mkdir()
    with new_folder(tmp_path / "set") as draft:
        (draft / "a").touch()
    with pytest.raises(ValueError, match="half way"), new_folder(tmp_path / "other"):
        raise ValueError("half way")
    assert os.listdir(tmp_path) == ["set"]
    assert os.listdir(tmp_path / "set") == ["a"]


def test_drafts_of_processes_that_ended_are_removed_and_those_of_others_are_not(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (tmp_path / f".a.{ended.pid}").touch()
    (tmp_path / f".a.{os.getppid()}").touch()
    write_file(tmp_path / "a", b"x", durable=True)
    assert sorted(os.listdir(tmp_path)) == [f".a.{os.getppid()}", "a"]
