"""A run as offline runs of Weights & Biases, one for each candidate, which `wandb sync` uploads when you want it."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

from wardround.core.errors import WardroundError
from wardround.core.files import new_folder
from wardround.exporting.destination import require_new_folder
from wardround.exporting.shared_manifest import write_shared_files
from wardround.exporting.trackers.figures import figures_of, settings_of
from wardround.reporting.run_files import RunFiles, read_run


def export_run(folder: Path, out: Path) -> list[Path]:
    """Writes OUT/wandb/offline-run-*: settings as config, figures as summary; manifest, tables and report as files."""
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")  # an export sends nothing; read at the import
    try:
        import wandb
    except ImportError:
        raise WardroundError("runs of W&B need its package: pip install 'wardround[wandb]'") from None
    require_new_folder(out)
    run = read_run(folder)
    with new_folder(out) as draft:
        for candidate in run.candidates:
            _write(wandb, run, candidate, draft)
        names = sorted(path.name for path in (draft / "wandb").iterdir())
    return [out / "wandb" / name for name in names]


def _write(wandb: Any, run: RunFiles, candidate: str, draft: Path) -> None:
    """Writes one offline run, and removes the package's logs, which name folders of this machine."""
    tracked = wandb.init(
        project=re.sub(r"[/\\#?%:]", "-", run.name)[:128],  # as W&B allows them
        group=run.name,
        name=candidate,
        config=settings_of(run, candidate),
        reinit="create_new",
        settings=wandb.Settings(
            mode="offline",
            root_dir=str(draft),
            silent=True,
            console="off",
            disable_git=True,
            disable_code=True,
            disable_job_creation=True,
            x_disable_meta=True,
            x_disable_stats=True,
            x_disable_machine_info=True,
            x_save_requirements=False,
        ),
    )
    files = Path(tracked.dir)
    for name in write_shared_files(run, files):
        tracked.save(str(files / name), base_path=str(files), policy="end")
    tracked.summary.update(figures_of(run, candidate))
    tracked.finish(exit_code=0 if run.is_complete else 1)
    for name in ("logs", "tmp"):
        shutil.rmtree(files.parent / name, ignore_errors=True)
    for link in [path for path in (draft / "wandb").iterdir() if path.is_symlink()]:
        link.unlink()
