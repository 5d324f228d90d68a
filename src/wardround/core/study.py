"""Study: the file that names cases x conditions x candidates x trials."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

import tomli_w
from pydantic import Field, field_validator, model_validator

from wardround.core.ask import Identity, Sampling
from wardround.core.canonical import blake
from wardround.core.condition import Condition, check_value, cross_axes
from wardround.core.errors import BadInput, WardroundError, require_path
from wardround.core.secrets import is_variable_name
from wardround.core.store.location import PostgresAddress, StoreLocation, read_location
from wardround.core.study_tables.endpoint import Endpoint
from wardround.core.study_tables.literature import Literature
from wardround.core.toml_table import StrictTable, parse_table, read_toml

CERTIFICATE_KEYS = ("ca_bundle", "client_cert", "client_key")
# how a candidate is reached, paid and shown: no part of what it is asked
KEYS_OF_COST_AND_PACE = (
    "concurrency",
    "timeout",
    "attempts",
    "price_in",
    "price_out",
    "tokens_per_image",
    "gpus",
    "ray",
    "group",
    "token_command",
    "cache_prompts",
    "batch",
    "price_batch",
    "price_cached",
    "price_cache_write",
    "requests_per_minute",
    "tokens_per_minute",
)
# of a mark; `graded` is a rubric answer with a verdict on every criterion
OUTCOMES = ("right", "wrong", "unparsed", "refused", "unscored", "graded")
ADDED_LATER: dict[str, Any] = {
    "rubric": "criterion",
    "tools": "calls",
    "command": None,
    "errors": False,
    "synonyms": None,
    "same_as": [],
    "base_urls": [],
    "corpus": None,
}
DEFAULT_ADDRESSES = {
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com/v1beta",
}
VLLM_ADDRESS = "http://127.0.0.1:8000/v1"
SAMPLING_KEYS = ("temperature", "top_p", "top_k", "max_tokens", "stop")


class SamplingSettings(StrictTable):
    """Sampling values; those that are not set are not sent."""

    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    top_k: int | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    stop: list[str] | None = None

    @property
    def explicit_sampling(self) -> dict[str, Any]:
        return {name: value for name in SAMPLING_KEYS if (value := getattr(self, name)) is not None}


class CandidateSettings(SamplingSettings):
    """A candidate as the study names it."""

    name: str = Field(min_length=1)
    provider: str = Field(min_length=1)
    base_url: str | None = None
    base_urls: list[str] = []  # several servers of the same model; base_url is then the first of them
    command: list[str] | None = Field(default=None, min_length=1)  # of an outside agent
    model: str | None = None
    revision: str | None = None
    api_key_env: str | None = None
    token_command: list[str] | None = Field(default=None, min_length=1)  # prints a short-lived token
    ca_bundle: str | None = None  # file of the authorities to trust instead of the system's
    client_cert: str | None = None  # file of the certificate to show, and of its key
    client_key: str | None = None
    headers: dict[str, str] = {}
    extra_body: dict[str, Any] = {}
    concurrency: int = Field(default=16, ge=1)
    timeout: float = Field(default=120.0, gt=0)
    attempts: int = Field(default=12, ge=1)
    sees: bool = True
    context: int | None = Field(default=None, ge=1)
    tokens_per_image: int | None = Field(default=None, ge=0)  # replaces our rule in estimates
    batch: bool | Literal["file"] = False  # whether it is asked by its provider's batches, or by files for vLLM
    price_batch: float = Field(default=0.5, ge=0)  # of an answer in a batch, as a share of the price of one alone
    cache_prompts: bool = False  # whether the server is asked to keep what the questions of a case share
    price_in: float = Field(default=0.0, ge=0)
    price_out: float = Field(default=0.0, ge=0)
    price_cached: float | None = Field(default=None, ge=0)  # of input from a prompt cache; None: that of other input
    price_cache_write: float | None = Field(default=None, ge=0)  # of input that is written to it
    requests_per_minute: float | None = Field(default=None, gt=0)  # of all candidates with the same key and host
    tokens_per_minute: float | None = Field(default=None, gt=0)
    gpus: int | None = Field(default=None, ge=1)  # that serve it, for GPU hours; `transformers`: its worker processes
    ray: str | None = Field(default=None, min_length=1)  # `transformers`: address of the cluster of its workers
    cutoff: str | None = None
    group: str | None = Field(
        default=None, min_length=1
    )  # heading that it stands under in tables; changes nothing else
    send_seed: bool = False
    fixed_sampling: bool = False
    corpus: str | None = Field(default=None, min_length=1)  # what an `external` agent searches, in its own words
    tools: Literal["calls", "text"] = "calls"  # how it searches: by tool calls or by lines of text
    same_as: list[str] = []  # addresses at which the same model was before: answers from there count

    @property
    def address(self) -> str | None:
        """Where its answers come from: host and path, without a query."""
        return None if self.base_url is None else plain_address(self.base_url)

    @model_validator(mode="before")
    @classmethod
    def _set_default_address(cls, values: object) -> object:
        if not isinstance(values, dict) or values.get("base_url") is not None:
            return values
        addresses = values.get("base_urls")
        first = addresses[0] if isinstance(addresses, list) and addresses else None
        address = first or DEFAULT_ADDRESSES.get(str(values.get("provider")))
        if values.get("batch") == "file" and address is None:
            address = VLLM_ADDRESS  # of what batch files leave unanswered
        return values if address is None else {**values, "base_url": address}

    @model_validator(mode="after")
    def _check_addresses(self) -> Self:
        servers = {url.rstrip("/") for url in self.base_urls}
        if self.base_urls and (self.base_url != self.base_urls[0] or len(servers) < len(self.base_urls)):
            raise ValueError("base_urls: expected different addresses, and no base_url of another server beside them")
        return self

    @field_validator("api_key_env")
    @classmethod
    def _names_a_variable(cls, value: str | None) -> str | None:
        if value and not is_variable_name(value):  # it is never repeated: it may be the key itself
            raise ValueError("is not the name of an environment variable; put the key into a variable and name it here")
        return value

    def with_files_in(self, folder: Path) -> Self:
        """The settings, with the files of certificates relative to a folder."""
        files = {name: value for name in CERTIFICATE_KEYS if (value := getattr(self, name)) is not None}
        return self.model_copy(update={name: str(folder / file) for name, file in files.items()}) if files else self

    @property
    def identity(self) -> Identity:
        return Identity(self.provider, self.model, self.revision, self.extra_body)

    def sampling(self, max_tokens: int) -> Sampling:
        """Its own sampling outside of a study; by default temperature 0 and a short reply."""
        return _make_sampling({"temperature": 0.0, "max_tokens": max_tokens, **self.explicit_sampling})


class JudgeSettings(CandidateSettings):
    """The judge of open answers and of rubric criteria: a model, or the rule `lexical`, which judges no criteria."""

    name: str = "judge"
    errors: bool = False  # whether it also names the error class of wrong answers
    synonyms: str | None = None  # table of names for the rule `lexical`
    rubric: Literal["criterion", "answer"] = "criterion"  # one call for each criterion, or one for all of an answer

    @property
    def is_rule(self) -> bool:
        return self.provider == "lexical"

    @property
    def synonym_file(self) -> str | None:
        """The table of the lexical rule, as `synonyms` or, as before, in extra_body."""
        return self.synonyms if self.synonyms is not None else self.extra_body.get("synonyms")


class ReaderSettings(CandidateSettings):
    """The model that reads choice answers which the parser could not read."""

    name: str = "reader"


class Budget(StrictTable):
    """The limit that is reached first stops the run cleanly."""

    requests: int | None = Field(default=None, ge=0)
    tokens: int | None = Field(default=None, ge=0)
    money: float | None = Field(default=None, ge=0)


class Family(StrictTable):
    """One family of paired comparisons, fixed before the run."""

    measure: str
    between: str
    reference: str | None = None
    where: dict[str, str] = {}  # axes at which another value than the reference condition's is compared


class Study(StrictTable):
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    cases: str = Field(min_length=1)
    questions: list[str] = ["all"]
    trials: int = Field(default=1, ge=1)
    seed: int = 0
    offline: bool = False
    refusals: Literal["wrong", "left out"] = "wrong"  # what a question counts as that a server or model refused
    severities: str = Field(default="clinical-1", min_length=1)  # a profile of the severity table, or FILE.toml:NAME
    image_size: Literal["limited", "native"] = "limited"  # whether large images are shrunk before they are sent
    prompts: str | None = Field(default=None, min_length=1)  # folder of prompt files that are used before ours
    answers: str | None = None  # the address of an answer store on PostgreSQL
    parser: str = "strict"  # of choices; how answers are read can be changed later by `wardround mark`
    sampling: SamplingSettings = SamplingSettings()
    candidates: list[CandidateSettings] = Field(min_length=1)
    conditions: dict[str, list[str]] = {}
    reference: dict[str, str] = {}  # axes whose reference is not their first value
    literature: Literature | None = None
    judge: JudgeSettings | None = None
    reader: ReaderSettings | None = None
    budget: Budget = Budget()
    comparisons: dict[str, Family] = {}
    acceptance: dict[str, Endpoint] = {}

    @field_validator("questions", mode="before")
    @classmethod
    def _as_list(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @field_validator("answers")
    @classmethod
    def _check_store(cls, value: str | None) -> str | None:
        try:
            is_address = value is None or isinstance(read_location(value), PostgresAddress)
        except WardroundError as error:
            raise ValueError(str(error).removeprefix("answers: ")) from None
        if not is_address:
            raise ValueError("expected postgresql://USER@HOST:PORT/DATABASE; name a file by --answers PATH")
        return value

    @property
    def store(self) -> StoreLocation | None:
        """The answer store that the study names, if it does."""
        return None if self.answers is None else read_location(self.answers)

    @field_validator("conditions", mode="before")
    @classmethod
    def _axes(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        axes: dict[str, list[str]] = {}
        for axis, setting in value.items():
            values = setting if isinstance(setting, list) else [setting]
            if not values:
                raise ValueError(f"{axis} = []: an axis needs at least one value")
            try:
                axes[axis] = [check_value(axis, item) for item in values]
            except WardroundError as error:
                raise ValueError(str(error)) from None
            if len(set(axes[axis])) != len(values):
                raise ValueError(f"{axis}: a value is listed twice")
        return axes

    @model_validator(mode="after")
    def _check_consistency(self) -> Study:
        names = [candidate.name for candidate in self.candidates]
        identities = [blake(candidate.identity.named) for candidate in self.candidates]
        for index, (name, identity) in enumerate(zip(names, identities, strict=True)):
            if name in names[:index]:
                raise ValueError(f"two candidates are named {name!r}")
            if identity in identities[:index]:
                other = names[identities.index(identity)]
                raise ValueError(
                    f"candidates {other!r} and {name!r} would share their answers (same provider, model, "
                    "revision and extra_body); give one of them another `revision`"
                )
        for role in ("judge", "reader"):
            if (model := getattr(self, role)) is not None and model.batch:
                raise ValueError(f"[{role}] batch: only candidates are asked by batches; leave it out")
        self._check_values("reference", self.reference)
        for name, family in self.comparisons.items():
            self._check_values(f"comparisons.{name}.where", family.where)
        for name, endpoint in self.acceptance.items():
            self._check_values(f"acceptance.{name}.where", endpoint.where)
        if len(primary := [name for name, endpoint in self.acceptance.items() if endpoint.primary]) > 1:
            raise ValueError(f"acceptance: {' and '.join(primary)} are primary; expected one at most")
        self._check_literature()
        return self

    def _check_values(self, key: str, values: dict[str, str]) -> None:
        """Raises an error unless the study has these values of these axes."""
        for axis, value in values.items():
            if value not in self.conditions.get(axis, ()):
                declared = f"expected one of {', '.join(self.conditions[axis])}" if axis in self.conditions else ""
                raise ValueError(f"{key}.{axis} = {value!r}: {declared or f'the study has no axis {axis!r}'}")

    def _check_literature(self) -> None:
        for value in self.conditions.get("evidence", []):
            if value == "none":
                continue
            if self.literature is None:
                raise ValueError(f"evidence = {value!r} needs [literature] with an `index`")
            if value.startswith("rag@") and value.removeprefix("rag@") not in self.literature.searches:
                raise ValueError(
                    f"evidence = {value!r}: there is no [literature.searches.{value.removeprefix('rag@')}]"
                )
        by_judge = self.literature is not None and self.literature.support == "judge"
        if by_judge and (self.judge is None or self.judge.is_rule):
            raise ValueError('[literature] support = "judge" needs a [judge] that is a model')

    @cached_property
    def all_conditions(self) -> list[Condition]:
        return cross_axes(self.conditions)

    @property
    def varied_axes(self) -> list[str]:
        """The axes with more than one value, which slices name."""
        return [axis for axis, values in self.conditions.items() if len(values) > 1]

    @property
    def reference_condition(self) -> dict[str, str]:
        """Where scores are taken: of each varied axis the first value, unless `reference` names another."""
        return {axis: self.reference.get(axis, self.conditions[axis][0]) for axis in self.varied_axes}

    @property
    def conditions_from_reference(self) -> list[Condition]:
        """All conditions, the reference condition first."""
        reference = self.reference_condition.items()
        return sorted(self.all_conditions, key=lambda condition: not reference <= condition.values.items())

    @property
    def scored_outcomes(self) -> tuple[str, ...]:
        """The outcomes that are in the denominator of a score."""
        left_out = ("unscored", "graded", *(() if self.refusals == "wrong" else ("refused",)))
        return tuple(outcome for outcome in OUTCOMES if outcome not in left_out)

    @property
    def hash(self) -> str:
        """The hash that a run folder is bound to: all but budget, parser, pace, prices, certificates and groups."""
        content = self.model_dump(exclude={"answers", "budget", "parser"})
        if self.refusals == "wrong":
            del content["refusals"]
        if self.image_size == "limited":
            del content["image_size"]
        if self.prompts is None:
            del content["prompts"]
        if not self.reference:
            del content["reference"]
        if not self.acceptance:
            del content["acceptance"]
        for family in content["comparisons"].values():
            if not family["where"]:
                del family["where"]
        if self.literature is None:
            del content["literature"]
        else:
            content["literature"] = self.literature.to_content()
        if self.reader is None:
            del content["reader"]
        for candidate in [*content["candidates"], *filter(None, (content["judge"], content.get("reader")))]:
            for key in (*KEYS_OF_COST_AND_PACE, *CERTIFICATE_KEYS):
                candidate.pop(key)
            # keys that were added later are left out at their defaults: older studies keep their hash
            for key, default in ADDED_LATER.items():
                if candidate.get(key, ...) == default:
                    del candidate[key]
        return blake(content).hex()

    def to_toml(self) -> str:
        """The text of a study file that says the same."""
        return tomli_w.dumps(self.model_dump(mode="json", exclude_defaults=True))

    def sampling_for(self, candidate: CandidateSettings, condition: Condition) -> Sampling:
        """The study's sampling takes precedence over the candidate's own, unless that is fixed."""
        own, of_study = candidate.explicit_sampling, self.sampling.explicit_sampling
        merged = {**of_study, **own} if candidate.fixed_sampling else {**own, **of_study}
        return _make_sampling(merged | {"reasoning": {"as-is": None, "on": True, "off": False}[condition.reasoning]})


def _make_sampling(values: dict[str, Any]) -> Sampling:
    stop = values.get("stop")
    return Sampling(**values | {"stop": None if stop is None else tuple(stop)})


def plain_address(url: str) -> str:
    """Host and path of a URL: no scheme, user name, query or trailing slash."""
    parts = urlsplit(url if "//" in url else f"//{url}")
    return f"{parts.netloc.rpartition('@')[2].lower()}{parts.path.rstrip('/')}"


def load_study(path: Path | str) -> Study:
    """Reads a study file. An error names the file and the key."""
    file = require_path(path, "a study file")
    return parse_study(read_toml(file, "study"), file)


def load_judge(path: Path) -> JudgeSettings:
    """Reads the [judge] of a TOML file, of a study or alone."""
    table = read_toml(path, "judge").get("judge")
    if not isinstance(table, dict):
        raise BadInput(path, "has no table [judge]")
    return parse_table(JudgeSettings, table, path, "judge")


def parse_study(table: dict[str, Any], path: Path) -> Study:
    """A study from its parsed table; error messages name `path`."""
    return parse_table(Study, table, path)
