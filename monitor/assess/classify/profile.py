"""A profile: what a verdict is given by, made for one embedding model and one token encoder, versioned by its content.

It has the thesis's thresholds, one for each of the five metrics, and a weight for each feature that the probability of
*self-generated* is computed from: σ(bias + Σ weight · (value - center) / scale), a feature without a value left out.
"""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from monitor.assess.score.features import FEATURES, FEATURES_VERSION
from monitor.core.errors import WrongSettings
from monitor.core.model import Metrics, Scores

LONGEST_NAME = 100
SHIPPED = resources.files("monitor.assess.classify") / "profiles"


class MetricRule(BaseModel):
    """How the thesis's rule compares one metric: which reading, against which threshold.

    `best` is the higher of the two readings: joined serves an answer that draws on several documents, the maximum one
    that rests on a single sentence.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    threshold: float = Field(ge=-1, le=1)
    reading: Literal["joined", "maximum", "best"] = "joined"


class MetricRules(BaseModel):
    """One rule for each of the five."""

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
    """Self-generated or grounded: the weights, and from which probability on the verdict is self-generated."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bias: float = Field(allow_inf_nan=False)
    threshold: float = Field(gt=0, lt=1)
    features: Mapping[str, FeatureWeight]

    @field_validator("features")
    @classmethod
    def _known(cls, features: Mapping[str, FeatureWeight]) -> Mapping[str, FeatureWeight]:
        if unknown := sorted(set(features) - set(FEATURES)):
            raise ValueError(f"no such feature: {', '.join(unknown)}; there are {', '.join(FEATURES)}")
        return features

    def contributions(self, row: Mapping[str, float | None]) -> dict[str, float]:
        """What each feature that has a value adds to the log-odds of *self-generated*."""
        return {
            name: weight.weight * (value - weight.center) / weight.scale
            for name, weight in self.features.items()
            if (value := row.get(name)) is not None
        }

    def probability(self, row: Mapping[str, float | None]) -> float:
        """Of *self-generated*, for an answer that does not refuse."""
        return sigmoid(self.bias + math.fsum(self.contributions(row).values()))


class Calibration(BaseModel):
    """Where a calibrated profile comes from, and what it reached when judged on labels that it had not seen.

    `intervals` are of 95 %, by bootstrap over the sources; `importance` is how much the AUC falls without a feature.
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
    """The definition that every verdict is given under.

    `refusal_precision` is the share of answers worded as a full refusal that people call one, `refusal_missed` that of
    the others. `refusal_closeness` is the cosine to an example of a refusal from which on a short answer whose wording
    leaves it open is read as one; None: its vector is not asked. A refusal is an over-refusal when the documents hold
    the question's words at `question_held` or better, and correct below `question_not_held`. `detector_model` is the
    model whose score has a weight, if one has.
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
            raise ValueError("is above question_held")
        return value

    @cached_property
    def hash(self) -> str:
        """The first 16 hex digits of the SHA-256 of the content; the note is no part of it."""
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
    """The reading of each metric that the rules compare."""
    return Metrics(**{name: _READ[rule.reading](scores, name) for name, rule in rules})


def shipped_profiles() -> list[str]:
    """Names of the profiles that come with the program."""
    return sorted(path.name.removesuffix(".toml") for path in SHIPPED.iterdir() if path.name.endswith(".toml"))


def load_profile(
    chosen: str | None, embedding_model: str, token_model: str, *, detector_model: str | None = None
) -> Profile:
    """The profile called `chosen`, or in the file of that path; None takes the shipped one of the models in use.

    Raises:
        WrongSettings: there is none, it does not parse, or it was made for other models or another version of the
            features than those in use.
    """
    if chosen is None:
        chosen = _shipped_for(embedding_model, token_model)
    profile = read_profile(chosen)
    _check(profile, chosen, embedding_model, token_model, detector_model)
    return profile


def read_profile(chosen: str) -> Profile:
    """The profile of that name or path, whatever models it was made for.

    Raises:
        WrongSettings: there is none, or it does not parse.
    """
    if chosen in shipped_profiles():
        return _parse((SHIPPED / f"{chosen}.toml").read_text(encoding="utf-8"), chosen)
    try:
        text = Path(chosen).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        known = ", ".join(shipped_profiles())
        raise WrongSettings(f"profile {chosen!r} is neither one of {known} nor a file: {error}") from None
    return _parse(text, chosen)


def _shipped_for(embedding_model: str, token_model: str) -> str:
    """Name of the shipped profile for both models; else of one for the embedding model, which is refused by name."""
    names = shipped_profiles()
    made = {name: read_profile(name) for name in names}
    fitting = [name for name in names if made[name].embedding_model == embedding_model]
    if not fitting:
        raise WrongSettings(
            f"no shipped profile is for the embedding model {embedding_model!r}: write one and set MONITOR_PROFILE to "
            f"its path, or use the embedder of one of {', '.join(names)}"
        )
    return next((name for name in fitting if made[name].token_model == token_model), fitting[0])


def _check(profile: Profile, chosen: str, embedding_model: str, token_model: str, detector_model: str | None) -> None:
    made = f"profile {chosen!r} was made for"
    if profile.embedding_model != embedding_model:
        raise WrongSettings(f"{made} {profile.embedding_model!r} and means nothing for {embedding_model!r}")
    if profile.token_model != token_model:
        raise WrongSettings(f"{made} tokens of {profile.token_model!r} and means nothing for {token_model!r}")
    if profile.features_version != FEATURES_VERSION:
        raise WrongSettings(
            f"{made} version {profile.features_version} of the features, this release has {FEATURES_VERSION}: "
            "calibrate anew"
        )
    if "detector" in profile.groundedness.features and profile.detector_model != detector_model:
        raise WrongSettings(
            f"{made} the detector {profile.detector_model!r}, and the one in use is {detector_model!r}: "
            "see MONITOR_DETECTOR__PATH"
        )


def _parse(text: str, origin: str) -> Profile:
    try:
        return Profile.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise WrongSettings(f"profile {origin}: {error}") from None
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_input=False)]
        raise WrongSettings(f"profile {origin}:\n" + "\n".join(lines)) from None
