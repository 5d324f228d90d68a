"""`wardround licences`: every installed dependency with its licence."""

from __future__ import annotations

import json
from email.message import Message
from importlib.metadata import Distribution, version
from types import SimpleNamespace
from typing import cast

import pytest

from wardround.cli.installed import licence_of
from wardround.cli.main import main


def package(**headers: str | list[str]) -> Distribution:
    """A distribution with these metadata headers."""
    metadata = Message()
    for name, values in headers.items():
        for value in [values] if isinstance(values, str) else values:
            metadata[name.replace("_", "-")] = value
    return cast(Distribution, SimpleNamespace(metadata=metadata))


@pytest.mark.parametrize(
    ("headers", "licence"),
    [
        ({"License_Expression": "MIT", "Classifier": "License :: OSI Approved :: BSD License"}, "MIT"),
        ({"Classifier": ["License :: OSI Approved", "License :: OSI Approved :: BSD License"]}, "BSD License"),
        ({"Classifier": "Topic :: Text", "License": "Apache 2.0"}, "Apache 2.0"),
        ({"License": "Permission is hereby granted, free of charge, " * 3}, "not stated"),
        ({}, "not stated"),
    ],
)
def test_the_licence_comes_from_the_first_field_that_has_it(headers: dict[str, str | list[str]], licence: str) -> None:
    assert licence_of(package(**headers)) == licence


def test_direct_and_indirect_dependencies_are_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["wardround", "licences", "--json"])
    with pytest.raises(SystemExit) as exit:
        main()
    assert exit.value.code == 0
    records = {record["name"].lower(): record for record in json.loads(capsys.readouterr().out)["licences"]}
    assert records["numpy"]["version"] == version("numpy")
    assert "BSD" in records["numpy"]["licence"]
    assert records["numpy"]["required_by"][0] == "core"
    assert records["markupsafe"]["required_by"][0] == "core"  # through Jinja2
    assert records["pytest"]["required_by"] == ["test"]
    assert "wardround" not in records
