"""A profile defines how verdicts are given, for one embedding model and one token encoder. Its content is its version.

It has the thesis's thresholds, one for each of the five metrics, and the weights of the features from which the
probability of *self-generated* is computed: σ(bias + Σ weight · (value - center) / scale), over features with a value.
"""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from monitor.assess.embed.weights import Build
from monitor.assess.score.features import FEATURES, FEATURES_VERSION
from monitor.core.errors import WrongSettings
from monitor.core.model import Metrics, Scores
from monitor.core.yaml.problems import problems_of, written

LONGEST_NAME = 100
SHIPPED = resources.files("monitor.assess.classify") / "profiles"
EARLIER = SHIPPED / "earlier"


class MetricRule(BaseModel):
    """How the study's rule compares one metric: which reading, against which threshold.

    `best` is the higher of the two readings: the joined one suits an answer that draws on several documents, the
    maximum one an answer that relies on a single sentence.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    threshold: float = Field(ge=-1, le=1)
    reading: Literal["joined", "maximum", "best"] = "joined"


class MetricRules(BaseModel):
    """One rule for each of the five metrics."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sdq: MetricRule
    sdrd: MetricRule
    sda: MetricRule
    qrd: MetricRule
    qa: MetricRule


class FeatureWeight(BaseModel):
    """How a feature moves the log-odds of *self-generated*: by `weight` for each `scale` that it is above `center`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    weight: float = Field(allow_inf_nan=False)
    center: float = Field(allow_inf_nan=False)
    scale: float = Field(gt=0, allow_inf_nan=False)


class Groundedness(BaseModel):
    """The weights of the features, and the probability from which on the verdict is self-generated."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bias: float = Field(allow_inf_nan=False)
    threshold: float = Field(gt=0, lt=1)
    features: Mapping[str, FeatureWeight]

    @field_validator("features")
    @classmethod
    def _known(cls, features: Mapping[str, FeatureWeight]) -> Mapping[str, FeatureWeight]:
        if unknown := sorted(set(features) - set(FEATURES)):
            raise ValueError(f"unknown feature: {', '.join(unknown)}; choose from {', '.join(FEATURES)}")
        return features

    def contributions(self, row: Mapping[str, float | None]) -> dict[str, float]:
        """What each feature with a value adds to the log-odds of *self-generated*."""
        return {
            name: weight.weight * (value - weight.center) / weight.scale
            for name, weight in self.features.items()
            if (value := row.get(name)) is not None
        }

    def probability(self, row: Mapping[str, float | None]) -> float:
        """The probability of *self-generated*, for an answer that does not refuse."""
        return sigmoid(self.bias + math.fsum(self.contributions(row).values()))


class Calibration(BaseModel):
    """The origin of a calibrated profile, and its results on labels that it had not seen.

    `intervals` are 95 % intervals by bootstrap over the sources; `importance` is how much the AUC falls without a
    feature.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    data_hash: str
    objective: str
    rows: int
    self_generated: int
    refusals: int
    groups: int
    figures: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    importance: Mapping[str, float]


class Profile(BaseModel):
    """The definition under which every verdict is given.

    `refusal_precision` is the share of answers worded as a full refusal that people call a refusal, `refusal_missed`
    the share among all other answers. `refusal_closeness` is the cosine with an example of a refusal from which on a
    short answer of unclear wording is read as a refusal; None leaves its vector out. A refusal is an over-refusal if
    the support of the question's words is at least `question_held`, and correct if it is below `question_not_held`.
    `detector_model` is the detector whose score has a weight, if any.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    embedding_model: str = Field(min_length=1)
    token_model: str = Field(min_length=1)
    features_version: int
    calibrated: bool
    note: str
    refusal_precision: float = Field(gt=0.5, lt=1)
    refusal_missed: float = Field(gt=0, lt=0.5)
    refusal_closeness: float | None = Field(None, gt=0, le=1)
    question_held: float
    question_not_held: float
    detector_model: str | None = None
    metrics: MetricRules
    groundedness: Groundedness
    calibration: Calibration | None = None

    @field_validator("question_not_held")
    @classmethod
    def _no_more_than_held(cls, value: float, info: ValidationInfo) -> float:
        if value > info.data.get("question_held", value):
            raise ValueError("must not be above question_held")
        return value

    @cached_property
    def hash(self) -> str:
        """The first 16 hex digits of the SHA-256 of the content without the note."""
        content = json.dumps(self.model_dump(exclude={"note"}), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    def compared(self, scores: Scores) -> Metrics:
        """The reading of each metric that this profile compares."""
        return compared(self.metrics, scores)

    @cached_property
    def thresholds(self) -> tuple[tuple[str, float], ...]:
        """Each metric with its threshold, in the order of design.md §4."""
        return tuple((name, rule.threshold) for name, rule in self.metrics)


def sigmoid(x: float) -> float:
    """1 / (1 + e^-x), without overflow."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _best(scores: Scores, name: str) -> float | None:
    joined, maximum = getattr(scores.joined, name), getattr(scores.maximum, name)
    return None if joined is None else max(joined, maximum)


_READ: Mapping[str, Callable[[Scores, str], float | None]] = {
    "joined": lambda scores, name: getattr(scores.joined, name),
    "maximum": lambda scores, name: getattr(scores.maximum, name),
    "best": _best,
}


def compared(rules: MetricRules, scores: Scores) -> Metrics:
    """The reading of each metric that the rules choose."""
    return Metrics(**{name: _READ[rule.reading](scores, name) for name, rule in rules})


def shipped_profiles() -> list[str]:
    """The names of the profiles that come with the program, one for each pair of models."""
    return _names(SHIPPED)


def earlier_profiles() -> list[str]:
    """The names of those that earlier releases shipped. They are used only where they are asked for by name."""
    return _names(EARLIER)


def _names(folder: Traversable) -> list[str]:
    return sorted(path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml"))


def load_profile(
    chosen: str | None, embedding_model: str, token_model: str, *, detector_model: str | None = None
) -> Profile:
    """The profile called `chosen`, or in the file at that path; None chooses the shipped profile for the models in use.

    Raises:
        WrongSettings: there is no such profile, it does not parse, or it was made for other models or another version
            of the features than those in use.
    """
    if chosen is None:
        chosen = _shipped_for(embedding_model, token_model)
    profile = read_profile(chosen)
    _check(profile, chosen, embedding_model, token_model, detector_model)
    return profile


def read_profile(chosen: str) -> Profile:
    """The profile of that name or path, whatever models it was made for.

    Raises:
        WrongSettings: there is no such profile, or it does not parse.
    """
    for folder in (SHIPPED, EARLIER):
        if chosen in _names(folder):
            return _parse((folder / f"{chosen}.toml").read_text(encoding="utf-8"), chosen)
    try:
        text = Path(chosen).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        known = ", ".join([*shipped_profiles(), *earlier_profiles()])
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise WrongSettings(f"profile {chosen!r} is neither one of {known} nor a readable file: {why}") from None
    return _parse(text, chosen)


def build_of(chosen: str | None) -> Build:
    """The build of the embedded model that a profile, by name or path, was made for; without one, that which ships.

    Raises:
        WrongSettings: there is no such profile, or it does not parse.
    """
    return "fp32" if chosen is not None and "/fp32" in read_profile(chosen).token_model else "int8"


def _shipped_for(embedding_model: str, token_model: str) -> str:
    """The name of the shipped profile for both models, else of one for the embedding model, which `_check` refuses."""
    names = shipped_profiles()
    shipped = {name: read_profile(name) for name in names}
    matching = [name for name in names if shipped[name].embedding_model == embedding_model]
    if not matching:
        raise WrongSettings(
            f"no shipped profile is for the embedding model {embedding_model!r}: write one and set MONITOR_PROFILE to "
            f"its path, or use the embedding model of one of {', '.join(names)}"
        )
    return next((name for name in matching if shipped[name].token_model == token_model), matching[0])


def _check(profile: Profile, chosen: str, embedding_model: str, token_model: str, detector_model: str | None) -> None:
    start = f"profile {chosen!r} was made for"
    if profile.embedding_model != embedding_model:
        raise WrongSettings(
            f"{start} the embedding model {profile.embedding_model!r}, but {embedding_model!r} is in use: "
            "set MONITOR_PROFILE or MONITOR_EMBEDDING__PROVIDER so that they match"
        )
    if profile.token_model != token_model:
        raise WrongSettings(
            f"{start} the token model {profile.token_model!r}, but {token_model!r} is in use: "
            "set MONITOR_PROFILE or MONITOR_EMBEDDING__BUILD so that they match"
        )
    if profile.features_version != FEATURES_VERSION:
        raise WrongSettings(
            f"{start} version {profile.features_version} of the features, but this release has version "
            f"{FEATURES_VERSION}: calibrate it again"
        )
    if "detector" in profile.groundedness.features and profile.detector_model != detector_model:
        raise WrongSettings(
            f"{start} the detector {profile.detector_model!r}, but {detector_model!r} is in use: "
            "check MONITOR_DETECTOR__PATH"
        )


def _parse(text: str, origin: str) -> Profile:
    try:
        return Profile.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise WrongSettings(f"profile {origin}: {error}") from None
    except ValidationError as error:
        lines = [f"  {written(path)}: {problem}" for path, problem in problems_of(error, Profile)]
        raise WrongSettings(f"profile {origin}:\n" + "\n".join(lines)) from None
