"""Endpoint: one criterion of acceptance, fixed before the run."""

from typing import Literal, Self

from pydantic import Field, model_validator

from wardround.core.toml_table import StrictTable

LIMITS = {"at_least": "higher", "at_most": "lower"}  # keys of a threshold, and what is better
PEOPLE = "people"  # `against`: the study's candidate that is people


class Endpoint(StrictTable):
    """A figure of every candidate, tested against a candidate, people or a number."""

    measure: str
    test: Literal["superiority", "non-inferiority", "equivalence"] = "superiority"
    against: str | float | None = None
    threshold: float | None = None  # `against` as a number
    margin: float = Field(default=0.0, ge=0, lt=1)
    where: dict[str, str] = {}  # axes at which another value than the reference condition's is tested
    groups: list[str] = []  # keys of cases or questions; every group of them must pass too
    better: Literal["higher", "lower"] | None = None  # by default lower for errors, higher for the rest
    primary: bool = False

    @model_validator(mode="before")
    @classmethod
    def _read_limits(cls, values: object) -> object:
        """`at_least = x` and `at_most = x` are a threshold with the side that is better."""
        if not isinstance(values, dict):
            return values
        limits = [key for key in LIMITS if key in values]
        if len(limits) > 1 or (limits and {"threshold", "better", "against"} & values.keys()):
            raise ValueError("expected one of `at_least`, `at_most`, `threshold` and `against`")
        values = dict(values)
        for key in limits:
            values |= {"threshold": values.pop(key), "better": LIMITS[key]}
        return values

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        if (self.against is None) == (self.threshold is None):
            raise ValueError("expected one of `against` (a candidate, people or a number) and `threshold` (a number)")
        if self.test != "superiority" and not self.margin:
            raise ValueError(f'test = "{self.test}" needs a `margin` above 0')
        return self

    @property
    def reference(self) -> str | float:
        """What it is tested against: a name or a number."""
        reference = self.threshold if self.against is None else self.against
        assert reference is not None
        return reference
