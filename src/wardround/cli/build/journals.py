"""`wardround build eurorad` and `wardround build pmc`: cases of what journals published."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wardround.cli.build.about import About, told_about
from wardround.cli.lists import TakesLists
from wardround.cli.output import Json, finish, note

if TYPE_CHECKING:
    from wardround.building.pipeline.export import Built

Out = Annotated[Path, typer.Option(metavar="DIR", help="The folder to make. It must not hold anything yet.")]
Models = Annotated[
    Path | None, typer.Option(metavar="TOML", help="Models by role: writer, and for pmc extractor and reviewer.")
]
Answers = Annotated[
    Path | None,
    typer.Option(metavar="STORE", help="Where models' answers are kept (default: answers.sqlite beside DIR)."),
]
Synonyms = Annotated[
    Path | None, typer.Option(metavar="CSV", help="Names that mean the same: columns name and same_as.")
]
Seed = Annotated[int, typer.Option(help="Draws options, places and the split.")]


def eurorad(
    pages: Annotated[Path, typer.Argument(metavar="PAGES", help="A saved case page, or a folder of them.")],
    out: Out,
    models: Models = None,
    answers: Answers = None,
    synonyms: Synonyms = None,
    dev: Annotated[
        int | None, typer.Option(min=0, help="Cases set aside for development (default: 30, at most a tenth).")
    ] = None,
    about: About = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Make CURE cases of saved Eurorad pages: history, images, findings that do not tell, four or five options."""
    from wardround.building.sources.eurorad import build_eurorad

    built = build_eurorad(pages, out, dev=dev, seed=seed, note=note, **_given(out, models, answers, synonyms, about))
    finish_build(built, as_json)


def pmc(
    articles: Annotated[
        Path, typer.Argument(metavar="ARTICLES", help="JATS XML, a package (.tar.gz), text or Markdown; or a folder.")
    ],
    out: Out,
    skip: Annotated[
        list[str] | None,
        typer.Option(metavar="STEP...", help="Leaves out specialty, rare, image-quality, rephrase or translate."),
    ] = None,
    rare: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A catalogue of rare diseases: one name a line, or a CSV's `name`."),
    ] = None,
    models: Models = None,
    answers: Answers = None,
    synonyms: Synonyms = None,
    about: About = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Make ClinBench cases of published case reports: a stem in two tellings, six options or more."""
    from wardround.building.sources.pmc import build_pmc
    from wardround.building.sources.pmc.labels import read_catalogue

    catalogue = read_catalogue(rare) if rare else None
    given = _given(out, models, answers, synonyms, about)
    finish_build(build_pmc(articles, out, skip=skip or (), rare=catalogue, seed=seed, note=note, **given), as_json)


def add_to(app: typer.Typer) -> None:
    """Makes both commands of `wardround build`."""
    app.command()(eurorad)
    app.command(cls=TakesLists)(pmc)


def _given(
    out: Path, models: Path | None, answers: Path | None, synonyms: Path | None, about: Path | None
) -> dict[str, Any]:
    from wardround.building.pipeline.models import load_models
    from wardround.marking.judges.lexical_judge import Synonyms, read_synonyms

    return {
        "models": load_models(models) if models else {},
        "answers": answers or out.parent / "answers.sqlite",
        "about": told_about(about),
        "synonyms": Synonyms(read_synonyms(synonyms) if synonyms else ()),
    }


def finish_build(built: Built, as_json: bool) -> None:
    """Prints the funnel and where the set is."""
    from wardround.reporting.tables.terminal import as_text

    text = as_text(built.table(), shutil.get_terminal_size((120, 40)).columns)
    finish(built.told(), as_json, f"{text}\n{built.folder}")
