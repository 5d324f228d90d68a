"""Whose wording a run's prompts have: wardround's own, or files of a folder that the study names."""

from collections.abc import Mapping
from typing import Any

from wardround.asking.prompts import OWN, PAPER, SHARED, Prompts, hash_prompt, own_folder
from wardround.core.canonical import blake
from wardround.core.errors import WardroundError
from wardround.reporting.numbers import join_words

UNKNOWN = ""  # the source of a prompt whose text is not ours any more, in runs of earlier versions
SAME = "judge/same"  # its hash is in manifests even if the judge compared no pair
# prompts that follow the structure of one that a paper prints
AFTER_A_PAPER = ("medq-deg/", "clinbench/", "judge/error")


def wording_note(manifest: Mapping[str, Any]) -> str:
    """Whose words the candidates and the judge were asked in; empty if the run says nothing of its prompts."""
    hashes, sources = prompts_of_run(manifest)
    if (manifest.get("judge") or {}).get("pairs") == 0:
        hashes.pop(SAME, None)
    parts = []
    for source in dict.fromkeys(sources[name] for name in hashes):
        names = [name for name in hashes if sources[name] == source]
        if source == OWN:
            files = list(dict.fromkeys(map(_own_file, names)))
            after = [name for name in files if name.startswith(AFTER_A_PAPER)]
            other = [name for name in files if name not in after]
            parts += [f"wardround's own, after the paper's structure ({join_words(after)})"] if after else []
            parts += [f"wardround's own ({join_words(other)})"] if other else []
        else:
            short = blake([hashes[name] for name in names]).hex()[:8]
            folder = f"files of {source}" if source else "another than wardround's own now"
            parts.append(f"{folder} ({join_words(names)}; hash {short})")
    return f"Wording: {'; '.join(parts)}." if parts else ""


def prompts_of_run(manifest: Mapping[str, Any], *, with_judge: bool = True) -> tuple[dict[str, str], dict[str, str]]:
    """The hash and the source of each prompt of a run, by name; those of its judge come last."""
    entries = [manifest, *([manifest.get("judge") or {}] if with_judge else [])]
    hashes = {name: value for entry in entries for name, value in (entry.get("prompts") or {}).items()}
    known = {name: value for entry in entries for name, value in (entry.get("prompt_sources") or {}).items()}
    return hashes, {name: known.get(name) or _guess_source(name, hashes[name]) for name in hashes}


def _own_file(name: str) -> str:
    """The name of the file that a prompt of ours is in: prompts share those of `paper` where they have none."""
    kind = name.rsplit("/", 1)[-1]
    has_file = (own_folder() / f"{name}.txt").is_file()
    return f"{PAPER}/{kind}" if kind in SHARED and not has_file else name


def _guess_source(name: str, hashed: str) -> str:
    """The source of a prompt of which only the hash was kept."""
    try:
        return OWN if hash_prompt(Prompts().read(*name.rsplit("/", 1))) == hashed else UNKNOWN
    except WardroundError:
        return UNKNOWN
