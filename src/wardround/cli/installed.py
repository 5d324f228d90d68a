"""`wardround plugins` and `wardround licences`: what is installed."""

import re
from collections import defaultdict
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from wardround.cli.output import Json, print_result
from wardround.core.errors import WardroundError

CORE = "core"
NOT_STATED = "not stated"
MAX_LICENCE_LENGTH = 60  # a longer License field is the text of the licence, not its name
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)\s*(?:\[(?P<extras>[^]]*)\])?[^;]*(?:;(?P<marker>.*))?")
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")


def plugins(as_json: Json = False) -> None:
    """List the installed plug-ins and those of --plugins, by group, with name and origin."""
    from wardround.plugins import GROUPS, extensions

    installed = [plugin for group in GROUPS for plugin in extensions(group).values()]
    records = [{"group": plugin.group, "name": plugin.name, "origin": plugin.origin} for plugin in installed]
    widths = {key: max((len(record[key]) for record in records), default=0) for key in ("group", "name")}
    lines = [
        f"{record['group']:<{widths['group']}}  {record['name']:<{widths['name']}}  {record['origin']}"
        for record in records
    ]
    print_result({"plugins": records}, as_json, "\n".join(lines) or "no plug-ins")


def licences(as_json: Json = False) -> None:
    """List the licences of wardround's installed dependencies, indirect ones included."""
    try:
        extras_by_name = _dependencies(distribution("wardround"))
    except PackageNotFoundError:
        raise WardroundError("wardround is not installed as a package; run `pip install .` first") from None
    records = []
    for name, extras in sorted(extras_by_name.items()):
        package = distribution(name)
        records.append(
            {
                "name": package.name,
                "version": package.version,
                "licence": licence_of(package),
                "required_by": sorted(extras, key=lambda extra: (extra != CORE, extra)),
            }
        )
    lines = [
        f"{record['name']} {record['version']}: {record['licence']} ({', '.join(record['required_by'])})"
        for record in records
    ]
    print_result({"licences": records}, as_json, "\n".join(lines))


def licence_of(package: Distribution) -> str:
    """The licence by License-Expression, classifiers or a short License field, in this order."""
    metadata = package.metadata
    if "License-Expression" in metadata:
        return metadata["License-Expression"]
    classifiers = [text for text in metadata.get_all("Classifier") or [] if text.startswith("License ::")]
    if names := [name for text in classifiers if (name := text.split(" :: ")[-1]) != "OSI Approved"]:
        return ", ".join(names)
    field = metadata["License"].strip() if "License" in metadata else ""
    return field if 0 < len(field) <= MAX_LICENCE_LENGTH and "\n" not in field else NOT_STATED


def _dependencies(root: Distribution) -> dict[str, set[str]]:
    """Normalised names of the installed dependencies, each with the extras of `root` that lead to it, or `core`."""
    extras_by_name: dict[str, set[str]] = defaultdict(set)
    pending = [(name, extras, condition or CORE) for name, extras, condition in _requirements(root)]
    while pending:
        name, extras, wanted_by = pending.pop()
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        key = _normalise(name)
        if key == _normalise(root.name) or wanted_by in extras_by_name[key]:
            continue
        extras_by_name[key].add(wanted_by)
        pending += [
            (child, child_extras, wanted_by)
            for child, child_extras, condition in _requirements(package)
            if not condition or condition in extras
        ]
    return {name: extras for name, extras in extras_by_name.items() if extras}


def _requirements(package: Distribution) -> Iterator[tuple[str, frozenset[str], str | None]]:
    """Name and requested extras of each requirement, and the extra of `package` that it belongs to."""
    for requirement in package.requires or []:
        match = _REQUIREMENT.match(requirement)
        if match is not None:
            extras = frozenset(extra.strip() for extra in (match["extras"] or "").split(",") if extra.strip())
            condition = _EXTRA.search(match["marker"] or "")
            yield match["name"], extras, condition[1] if condition else None


def _normalise(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
