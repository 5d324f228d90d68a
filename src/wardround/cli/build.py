"""`wardround build`: one command per kind of source, and one that applies the verdicts of people to a case set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import orjson
import typer

from wardround.cli.output import Json, note, print_result, table_text
from wardround.cli.shared_options import ListOptionCommand, Ray, Since, Until
from wardround.core.store.location import StoreLocation, read_location

if TYPE_CHECKING:
    from wardround.building.distractors.from_source import OptionChoice
    from wardround.building.pipeline.about import About
    from wardround.core.names import Synonyms
    from wardround.reporting.tables.table import Table

app = typer.Typer(no_args_is_help=True, help="Build case sets, and apply verdicts of people to them.")

Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder to create; it must be absent or empty.")]
AboutFile = Annotated[
    Path | None,
    typer.Option(metavar="TOML", help="Licence, url, creator, datePublished etc. for manifest and Croissant."),
]
Models = Annotated[
    Path | None,
    typer.Option(metavar="TOML", help="Models by role: writer, standardiser; pmc: proposer, extractor, reviewer."),
]
Answers = Annotated[
    Any,
    typer.Option(
        metavar="STORE",
        parser=read_location,
        help="Store of the models' answers: a file or postgresql://... (default: answers.sqlite next to DIR).",
    ),
]
SynonymFile = Annotated[Path | None, typer.Option(metavar="CSV", help="Synonyms: columns name and same_as.")]
OptionSource = Annotated[
    str, typer.Option("--options", metavar="source|balanced", help="The report's own diagnoses, or a balanced choice.")
]
OptionCount = Annotated[int, typer.Option("--options", min=2, max=26, help="Options per choice question.")]
Seed = Annotated[int, typer.Option(help="Seed of options, their positions and the split.")]


@app.command("starter")
def starter(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the set.")] = Path("starter-cases"),
    as_json: Json = False,
) -> None:
    """Build the starter set: invented cases with public images, to try wardround on."""
    from wardround.building.sources.starter.build import build_starter
    from wardround.cases.set import CaseSet

    cases = CaseSet.open(build_starter(out))
    questions = cases.question_count
    print_result(
        {"cases": len(cases), "questions": questions, "out": str(out)},
        as_json,
        f"{len(cases)} cases with {questions} questions in {out}",
    )


@app.command("medq-deg", cls=ListOptionCommand)
def medq_deg(
    sources: Annotated[list[Path], typer.Argument(metavar="SOURCE...", help="Pools of questions about clean images.")],
    out: Out,
    layout: Annotated[
        list[str] | None,
        typer.Option("--from", metavar="LAYOUT", help="Layout of the sources: once, or once per source."),
    ] = None,
    about: AboutFile = None,
    seed: Annotated[int, typer.Option(help="Seed of the degradations.")] = 0,
    levels: Annotated[list[str] | None, typer.Option(metavar="LEVEL...", help="Severities (default: L1 L2).")] = None,
    per_case: Annotated[int, typer.Option(min=1, help="Degradations per question.")] = 3,
    modalities: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Modalities a source lacks: columns modality, and image or case.")
    ] = None,
    modality_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="Field of the source that has the modality.")
    ] = None,
    models: Annotated[
        Path | None,
        typer.Option(
            metavar="TOML", help="Models by role: modality and skill, which are chosen where a source tells none."
        ),
    ] = None,
    answers: Answers = None,
    ray: Ray = None,
    as_json: Json = False,
) -> None:
    """Build a MedQ-Deg set: remove duplicates, assign fitting degradations, attach the skill hierarchy."""
    from wardround.building.sources.medq_deg.build import build_medq_deg
    from wardround.building.sources.medq_deg.skills import describe_unplaced, describe_without_skill
    from wardround.degrade.ray_cluster import join_cluster

    with join_cluster(ray):
        built = build_medq_deg(
            sources,
            out,
            layouts=layout or ["wardround"],
            seed=seed,
            levels=levels or ["L1", "L2"],
            per_case=per_case,
            modalities=modalities,
            modality_column=modality_column,
            note=note,
            **_model_settings(out, models, answers, about),
        )
    for line in (describe_unplaced(built.unplaced), describe_without_skill(built.labels)):
        if line:
            note(line)
    if not as_json:
        print(table_text(built.labels.table()))
    _print_set(built.to_dict(), built.funnel, out, as_json)


@app.command()
def phenopackets(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="JSON file, JSONL with one phenopacket per line (both also .gz), or a folder of them."
        ),
    ],
    out: Out,
    count: OptionCount = 6,
    difficulty: Annotated[
        float, typer.Option(min=0, max=1, help="Distractors: 0 random diseases, 1 those that share most features.")
    ] = 1.0,
    limit: Annotated[int | None, typer.Option(min=1, help="Maximum number of cases, drawn at random.")] = None,
    synonyms: SynonymFile = None,
    broader: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Broader classes of diseases: columns name and broader.")
    ] = None,
    about: AboutFile = None,
    seed: Annotated[int, typer.Option(help="Seed of wordings, distractors and option positions.")] = 0,
    as_json: Json = False,
) -> None:
    """Build rare-disease cases from GA4GH phenopackets: history, one choice and one open question."""
    from wardround.building.sources.phenopackets.build import build_phenopackets

    built = build_phenopackets(
        source,
        out,
        count=count,
        difficulty=difficulty,
        limit=limit,
        synonyms=synonyms,
        broader=broader,
        about=_read_about(about),
        seed=seed,
        note=note,
    )
    _print_set(built.to_dict(), built.table(), out, as_json)


@app.command()
def dicom(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of DICOM files, in any order and nesting.")],
    histories: Annotated[
        Path, typer.Option(metavar="CSV", help="Columns history, diagnosis, and one of study, accession, patient.")
    ],
    out: Out,
    count: OptionCount = 6,
    per_series: Annotated[int, typer.Option(min=1, help="Images per series, from the middle.")] = 1,
    max_images: Annotated[int, typer.Option("--most-images", min=1, help="Maximum images per case.")] = 8,
    strict_text: Annotated[
        bool, typer.Option("--strict-text", help="Hold a case for review if its text reveals persons or dates.")
    ] = False,
    ocr: Annotated[bool, typer.Option(help="Read text in the pixels; needs the extra dicom.")] = True,
    private: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for the secret and the re-identification table (default: FOLDER.private)."
        ),
    ] = None,
    synonyms: SynonymFile = None,
    about: AboutFile = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Build de-identified cases from DICOM studies and a table of histories and diagnoses."""
    from wardround.building.sources.dicom.build import build_dicom

    built = build_dicom(
        folder,
        histories,
        out,
        count=count,
        per_series=per_series,
        max_images=max_images,
        strict_text=strict_text,
        ocr=ocr,
        private_folder=private,
        synonyms=_read_synonyms(synonyms),
        about=_read_about(about),
        seed=seed,
        note=note,
    )
    _print_set(built.to_dict(), built.table(), out, as_json)


@app.command()
def table(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="CSV, TSV, JSONL, Parquet or Excel: one row an image or a study.")
    ],
    table_map: Annotated[Path, typer.Option("--map", metavar="TOML", help="Which column holds what.")],
    out: Out,
    count: OptionCount = 6,
    hold_named: Annotated[
        bool,
        typer.Option("--hold-named", help="Hold a case whose history names the diagnosis instead of removing that."),
    ] = False,
    ocr: Annotated[bool, typer.Option(help="Read text in the pixels; needs the extra dicom.")] = True,
    private: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for the secret and the re-identification table (default: TABLE.private)."
        ),
    ] = None,
    synonyms: SynonymFile = None,
    about: AboutFile = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Build choice questions from a table of studies with diagnoses, and audit them. Exit code 1 if it finds errors."""
    from wardround.building.audit.audit import audit
    from wardround.building.sources.study_table.build import build_table

    names = _read_synonyms(synonyms)
    built = build_table(
        table,
        table_map,
        out,
        count=count,
        hold_named=hold_named,
        ocr=ocr,
        private_folder=private,
        synonyms=names,
        about=_read_about(about),
        seed=seed,
        note=note,
    )
    result = audit(out, out / "audit", synonyms=names, seed=seed, note=note)
    text = f"{table_text(built.table())}\n{result}\n{out / 'audit' / 'audit.html'}\n{out}"
    print_result(built.to_dict() | {"audit": result.to_dict()}, as_json, text)
    if result.errors:
        raise typer.Exit(1)


@app.command()
def ophthalmic(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="CSV: image, modality, disease, further labels; or see --layout.")
    ],
    out: Out,
    schema: Annotated[
        Path | None, typer.Option(metavar="TOML", help="Your own diseases, anatomy, lesions, grades and management.")
    ] = None,
    matrix: Annotated[
        Path | None, typer.Option(metavar="TOML", help="Your own matrix of what each modality shows of a disease.")
    ] = None,
    templates: Annotated[Path | None, typer.Option(metavar="TOML", help="Your own wordings of questions.")] = None,
    all_lesions: Annotated[
        bool, typer.Option("--all-lesions", help="The table lists every visible lesion of an image.")
    ] = False,
    within_days: Annotated[int, typer.Option(min=0, help="Days between the images of one visit, at most.")] = 7,
    layout: Annotated[
        str | None, typer.Option(metavar="NAME", help="TABLE is the folder of this public set (idrid, fives, ...).")
    ] = None,
    grades: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Levels and importance set at the desk (grades.jsonl).")
    ] = None,
    models: Annotated[Path | None, typer.Option(metavar="TOML", help="Models by role: writer and reviewer.")] = None,
    answers: Answers = None,
    about: AboutFile = None,
    seed: Annotated[int, typer.Option(help="Seed of wordings, options, their positions and the split.")] = 0,
    as_json: Json = False,
) -> None:
    """Build X-PCR chains from labelled eye images: quality, region, lesion, diagnosis, grade, management."""
    from wardround.building.sources.ophthalmic.build import build_ophthalmic

    built = build_ophthalmic(
        table,
        out,
        schema=schema,
        matrix=matrix,
        templates=templates,
        all_lesions=all_lesions,
        within_days=within_days,
        grades=grades,
        layout=layout,
        seed=seed,
        note=note,
        **_model_settings(out, models, answers, about),
    )
    _print_set(built.to_dict(), built.table(), out, as_json)


@app.command(cls=ListOptionCommand)
def review(
    cases: Annotated[Path, typer.Argument(metavar="SET", help="Case set as built.")],
    verdicts: Annotated[list[Path] | None, typer.Option(metavar="FILE...", help="All verdicts so far (JSONL).")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the resulting set; SET is not changed.")
    ] = None,
    to_read: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File for the items still to be read (JSONL).")
    ] = None,
    share: Annotated[float, typer.Option(min=0, max=1, help="Share of items that a physician also reads.")] = 0.2,
    check: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="A physician checks N random cases only.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of what is drawn; keep it for all rounds.")] = 0,
    as_json: Json = False,
) -> None:
    """Apply verdicts on the items of a case set: kappa, arbitration, edits, and a new set."""
    from wardround.building.review.review import review

    result = review(cases, verdicts or [], out, share=share, seed=seed, check=check, note=note)
    if to_read is not None:
        to_read.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in result.to_read()))
    if result.without_case:
        note(f"{result.without_case:,} accepted items belong to records that are not cases yet: build the set again")
    _print_set(result.to_dict() | {"out": str(out) if out else None}, result.table(), out, as_json)


@app.command()
def eurorad(
    pages: Annotated[Path, typer.Argument(metavar="PAGES", help="Saved case page, or a folder of them.")],
    out: Out,
    models: Models = None,
    answers: Answers = None,
    synonyms: SynonymFile = None,
    dev: Annotated[
        int | None, typer.Option(min=0, help="Cases of the dev split (default: 30, at most a tenth).")
    ] = None,
    options: OptionSource = "source",
    since: Since = None,
    until: Until = None,
    about: AboutFile = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Build CURE cases from saved Eurorad pages: history, images, redacted findings, four or five options."""
    from wardround.building.sources.eurorad.build import build_eurorad
    from wardround.cases.published_range import PublishedRange

    settings = _model_settings(out, models, answers, about) | {"synonyms": _read_synonyms(synonyms)}
    settings |= {"options": _option_choice(options), "published": PublishedRange.parse(since, until)}
    built = build_eurorad(pages, out, dev=dev, seed=seed, note=note, **settings)
    _print_set(built.to_dict(), built.table(), out, as_json)


@app.command(cls=ListOptionCommand)
def pmc(
    articles: Annotated[
        Path,
        typer.Argument(
            metavar="ARTICLES", help="JATS XML, package (.tar.gz), text, Markdown or MinerU's JSON; or a folder."
        ),
    ],
    out: Out,
    skip: Annotated[
        list[str] | None,
        typer.Option(metavar="STEP...", help="Steps to skip: specialty, rare, image-quality, rephrase, translate."),
    ] = None,
    rare: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Catalogue of rare diseases: one name per line, or a CSV column `name`."),
    ] = None,
    options: OptionSource = "source",
    poor_images: Annotated[
        str,
        typer.Option(metavar="reject|drop", help="What becomes of a case with a poor image: rejected, or without it."),
    ] = "reject",
    since: Since = None,
    until: Until = None,
    models: Models = None,
    answers: Answers = None,
    synonyms: SynonymFile = None,
    about: AboutFile = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Build ClinBench cases from published case reports: a stem in two tellings, at least six options."""
    from wardround.building.sources.pmc.build import build_pmc
    from wardround.building.sources.pmc.labels import read_catalogue
    from wardround.cases.published_range import PublishedRange

    if poor_images not in ("reject", "drop"):
        raise typer.BadParameter(f"{poor_images!r} is not one of reject, drop", param_hint="--poor-images")
    catalogue = read_catalogue(rare) if rare else None
    settings = _model_settings(out, models, answers, about) | {"synonyms": _read_synonyms(synonyms)}
    settings |= {"options": _option_choice(options), "published": PublishedRange.parse(since, until)}
    settings |= {"poor_images": poor_images}
    built = build_pmc(articles, out, skip=skip or (), rare=catalogue, seed=seed, note=note, **settings)
    _print_set(built.to_dict(), built.table(), out, as_json)


def _option_choice(text: str) -> OptionChoice:
    from typing import get_args

    from wardround.building.distractors.from_source import OptionChoice

    choices = get_args(OptionChoice)
    if text not in choices:
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(choices)}", param_hint="--options")
    return cast("OptionChoice", text)


def _model_settings(
    out: Path, models: Path | None, answers: StoreLocation | None, about: Path | None
) -> dict[str, Any]:
    from wardround.building.pipeline.models import load_models

    return {
        "models": load_models(models) if models else {},
        "answers": answers or out.parent / "answers.sqlite",
        "about": _read_about(about),
    }


def _read_about(file: Path | None) -> About | None:
    from wardround.building.pipeline.about import read_about

    return read_about(file) if file else None


def _read_synonyms(file: Path | None) -> Synonyms:
    from wardround.core.names import Synonyms, read_synonyms

    return Synonyms(read_synonyms(file) if file else ())


def _print_set(result: dict[str, Any], table: Table, out: Path | None, as_json: bool) -> None:
    """Prints what became of the items of each step, and the folder of the set."""
    print_result(result, as_json, f"{table_text(table)}\n{out}" if out else table_text(table))
