"""SettingVerdict: whether one setting of a study took effect at a candidate's server, and what shows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Verdict = Literal["honoured", "ignored", "refused", "unknown"]
MANIFEST_KEY = "settings_taken"  # of a candidate's entry in the manifest


@dataclass(frozen=True)
class SettingVerdict:
    """`honoured`: its effect was seen. `ignored`: what an honest server practically never does was seen.
    `refused`: the API does not take it, and it is not sent. `unknown`: the evidence is too weak for either.
    """

    setting: str  # such as `temperature`, `reasoning = on`, `image order`
    asked: str  # the value that the study asks for
    verdict: Verdict
    evidence: str
    is_decisive: bool = True  # whether figures made without it are not those that the study asks for

    @property
    def is_missing(self) -> bool:
        """Whether every table must say that the setting had no effect."""
        return self.is_decisive and self.verdict in ("ignored", "refused")

    @property
    def stops_run(self) -> bool:
        return self.is_decisive and self.verdict == "ignored"

    @property
    def label(self) -> str:
        """What tables print after a candidate's name."""
        return f"{self.setting} {self.verdict}"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> SettingVerdict:
        return cls(**record)


def verdicts_of(entry: Mapping[str, Any]) -> list[SettingVerdict]:
    """The verdicts in a candidate's entry of the manifest; none in runs of earlier versions."""
    return [SettingVerdict.from_dict(record) for record in entry.get(MANIFEST_KEY) or ()]


def merge_verdicts(earlier: Iterable[SettingVerdict], later: Iterable[SettingVerdict]) -> list[SettingVerdict]:
    """One verdict per setting: the later one, unless it is `unknown` and the earlier one is not."""
    merged = {verdict.setting: verdict for verdict in earlier}
    for verdict in later:
        if verdict.verdict != "unknown" or verdict.setting not in merged:
            merged[verdict.setting] = verdict
    return list(merged.values())
