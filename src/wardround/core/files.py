"""Files and folders that appear whole or not at all: written beside their place, then moved there."""

import os
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from wardround.core.errors import BadInput


def write_file(path: Path, content: str | bytes, *, durable: bool = False) -> None:
    """Writes a file; whoever reads it meanwhile sees the old one. Text is UTF-8 with `\\n` line ends."""
    with replacement(path, durable=durable) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def replacement(path: Path, *, durable: bool = False, private: bool = False) -> Iterator[Path]:
    """The path to write a file's new content to; it takes the file's place if nothing was raised.

    `durable`: on disk before the old file goes; what killed processes left is removed. `private`: only the user may
    read it, from its first byte on.
    """
    if path.is_dir():
        raise BadInput(path, "is a folder; expected the name of a file to write")
    draft = _draft_of(path)
    if durable:
        _remove_abandoned_drafts(path)
    draft.unlink(missing_ok=True)
    try:
        if private:
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield draft
        if durable:
            with draft.open("r+b") as file:
                os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """An empty folder that becomes `path`, which may not be there or is empty, if nothing was raised."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned_drafts(path)
    draft = _draft_of(path)
    draft.mkdir()
    try:
        yield draft
        if path.exists():
            path.rmdir()
        draft.replace(path)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def replacement_folder(path: Path, own: Collection[str]) -> Iterator[Path]:
    """An empty folder that takes the place of the folder `path` if nothing was raised; until then the old one stays.

    `own` are the names that belong to the new folder. All else in the old one, such as .git, is moved over. A process
    that is killed between the two renames leaves the old folder as `.NAME.previous`; the next call puts it back.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    previous = path.with_name(f".{path.name}.previous")
    _remove_abandoned_drafts(path)
    restore_folder(path, own)
    draft = _draft_of(path)
    draft.mkdir()
    try:
        yield draft
        if path.exists():
            path.replace(previous)
        try:
            draft.replace(path)
        except BaseException:
            previous.replace(path)
            raise
        restore_folder(path, own)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def restore_folder(path: Path, own: Collection[str]) -> None:
    """Ends a replacement that was interrupted: the old folder comes back, or what is not of the new one moves over."""
    previous = path.with_name(f".{path.name}.previous")
    if not previous.is_dir():
        return
    if not path.exists():
        previous.replace(path)
        return
    for entry in previous.iterdir():
        if entry.name not in own and not (path / entry.name).exists():
            entry.replace(path / entry.name)
    shutil.rmtree(previous)


def refuse_inside(out: Path, sources: Iterable[Path]) -> None:
    """Refuses to write a folder into one that is read: a later build would read its own result as a source."""
    for source in (source for source in sources if source.is_dir()):
        if out.resolve().is_relative_to(source.resolve()):
            raise BadInput(out, f"lies inside the source {source}; name a folder outside it by --out")


def _draft_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}")


def _remove_abandoned_drafts(path: Path) -> None:
    """Removes what killed processes left. In a container this process often has the number of an earlier one."""
    for draft in path.parent.glob(f".{path.name}.*"):
        number = draft.suffix[1:]
        if number.isdigit() and (int(number) == os.getpid() or not _is_running(int(number))):
            shutil.rmtree(draft) if draft.is_dir() else draft.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True
