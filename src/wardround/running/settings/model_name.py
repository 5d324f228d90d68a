"""The model's reported name. An alias is no proof of another model, so that another name is `unknown`."""

import re
from collections.abc import Collection

from wardround.running.settings.verdict import SettingVerdict, Verdict

SETTING = "model"
VERSION = re.compile(r"(?:[-@:._](?:v?\d[\w.]*|latest|preview|exp|fp\d+|bf16|\d{4}-\d\d-\d\d))*")


def model_verdict(asked: str | None, reported: Collection[str]) -> SettingVerdict:
    """`honoured` if the server names the model that was asked for, perhaps with a version."""

    def result(verdict: Verdict, why: str) -> SettingVerdict:
        return SettingVerdict(SETTING, asked or "the server's own", verdict, why, is_decisive=False)

    names = ", ".join(sorted(reported))
    if asked is None or not reported:
        return result("unknown", f"the server names {names}" if names else "the server names no model")
    if all(is_same_model(asked, name) for name in reported):
        return result("honoured", f"the server names {names}")
    return result("unknown", f"the server names {names}, which may be an alias")


def is_same_model(asked: str, reported: str) -> bool:
    """Whether names differ only in a path before them, in case, or in a version after them."""
    own, other = (name.lower().rstrip("/").rpartition("/")[2] for name in (asked, reported))
    short, long = sorted((own, other), key=len)
    return long.startswith(short) and VERSION.fullmatch(long[len(short) :]) is not None
