"""The files of a repository on the Hugging Face Hub, fetched by `huggingface_hub` into its cache.

Tokens (HF_TOKEN), the cache (HF_HOME, HF_HUB_CACHE), the address (HF_ENDPOINT) and HF_HUB_OFFLINE are the library's.
Of the case readers only this file imports it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wardround.cases.hub.hub_name import HubName
from wardround.core.errors import WardroundError

CARD = "README.md"
WORKERS = 4  # files that are fetched at once


@dataclass(frozen=True)
class Snapshot:
    """The files of one commit of a repository, and the licence that its card states."""

    folder: Path
    commit: str
    licence: str | None


def download(name: HubName, files: Sequence[str], *, offline: bool = False) -> Snapshot:
    """Fetches the files that match the patterns, and the card. `offline`: from the cache alone."""
    try:
        import huggingface_hub as hub
        from huggingface_hub import constants, errors
    except ModuleNotFoundError:
        raise WardroundError("data sets of the Hub need huggingface_hub: pip install 'wardround[hub]'") from None
    verbosity = hub.logging.get_verbosity()
    hub.logging.set_verbosity(logging.ERROR)  # each retry would be two lines; what came of them is told below
    try:
        folder = hub.snapshot_download(
            name.repo,
            repo_type="dataset",
            revision=name.revision,
            allow_patterns=[*files, CARD],
            local_files_only=offline,
            max_workers=WORKERS,
        )
    except errors.GatedRepoError:
        page = f"https://huggingface.co/datasets/{name.repo}"
        raise _refused(name, f"is gated: accept its conditions at {page}, then set HF_TOKEN to your token") from None
    except errors.RepositoryNotFoundError:
        raise _refused(name, "there is no such data set, or it is private: check the name, or set HF_TOKEN") from None
    except errors.RevisionNotFoundError:
        message = f"has no revision {name.revision!r}; expected a branch, a tag or a commit"
        raise _refused(name, message) from None
    except errors.LocalEntryNotFoundError as error:
        raise _refused(name, _not_cached(error, offline or constants.HF_HUB_OFFLINE)) from None
    except errors.HFValidationError as error:
        raise _refused(name, f"is not a name of the Hub: {_first_line(error)}") from None
    except errors.HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else "no status"
        raise _refused(name, f"the Hub answered HTTP {status}; try again later") from None
    except Exception as error:  # the library passes on whatever its HTTP client and its file locks raise
        raise _refused(name, f"the download broke off ({_first_line(error)}); run it again: it goes on") from None
    finally:
        hub.logging.set_verbosity(verbosity)
    card = Path(folder) / CARD
    return Snapshot(Path(folder), Path(folder).name, _licence(card) if card.is_file() else None)


def _refused(name: HubName, why: str) -> WardroundError:
    return WardroundError(f"{name}: {why}")


def _not_cached(error: Exception, is_offline: bool) -> str:
    if is_offline:
        return "is not in the cache of huggingface_hub; fetch it once without offline and HF_HUB_OFFLINE"
    return f"cannot be fetched and is not in the cache ({_first_line(error.__cause__ or error)}); check the connection"


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def _licence(card: Path) -> str | None:
    """The licence in the metadata of a card; its name or address if the identifier is `other`."""
    from huggingface_hub.repocard import metadata_load

    try:
        metadata: dict[str, Any] = metadata_load(card) or {}
    except Exception:  # YAML that a person wrote
        return None
    named = metadata.get("license")
    licences = [str(licence) for licence in (named if isinstance(named, list) else [named]) if licence]
    if licences == ["other"]:
        licences = [str(metadata[key]) for key in ("license_name", "license_link") if metadata.get(key)] or licences
    return ", ".join(licences) or None
