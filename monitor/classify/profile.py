"""A profile: an embedding model with a threshold and a weight for each metric, versioned by its content's hash."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from monitor.errors import WrongSettings
from monitor.model import Metrics, Scores

SHIPPED = resources.files("monitor.classify") / "profiles"


class MetricRule(BaseModel):
    """How one metric is compared: which reading, against which threshold, and how much a distance from it weighs.

    `best` is the higher of the two readings: joined serves an answer that draws on several documents, the maximum one
    that rests on a single sentence.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    threshold: float = Field(ge=-1, le=1)
    weight: float = Field(1.0, gt=0, allow_inf_nan=False)
    reading: Literal["joined", "maximum", "best"] = "joined"


class MetricRules(BaseModel):
    """One rule for each of the five."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sdq: MetricRule
    sdrd: MetricRule
    sda: MetricRule
    qrd: MetricRule
    qa: MetricRule


class Profile(BaseModel):
    """The definition that every verdict is given under.

    `steepness` turns the distance of the worst primary metric from its threshold into a probability;
    `refusal_precision` is the share of answers worded as a full refusal that people call one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, max_length=100)
    embedding_model: str = Field(min_length=1)
    calibrated: bool
    note: str
    steepness: float = Field(gt=0, allow_inf_nan=False)
    refusal_precision: float = Field(gt=0.5, lt=1)
    metrics: MetricRules

    @cached_property
    def hash(self) -> str:
        """The first 16 hex digits of the SHA-256 of the content; the note is no part of it."""
        content = json.dumps(self.model_dump(exclude={"note"}), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    def compared(self, scores: Scores) -> Metrics:
        """The reading of each metric that this profile compares."""
        return Metrics(**{name: _READ[reading](scores, name) for name, reading in self._readings})

    @cached_property
    def _readings(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, rule.reading) for name, rule in self.metrics)

    @cached_property
    def thresholds(self) -> tuple[tuple[str, float], ...]:
        """Each metric with its threshold, in the order of design.md §4."""
        return tuple((name, rule.threshold) for name, rule in self.metrics)


def _best(scores: Scores, name: str) -> float | None:
    joined, maximum = getattr(scores.joined, name), getattr(scores.maximum, name)
    return None if joined is None else max(joined, maximum)


_READ: Mapping[str, Callable[[Scores, str], float | None]] = {
    "joined": lambda scores, name: getattr(scores.joined, name),
    "maximum": lambda scores, name: getattr(scores.maximum, name),
    "best": _best,
}


def shipped_profiles() -> list[str]:
    """Names of the profiles that come with the program."""
    return sorted(path.name.removesuffix(".toml") for path in SHIPPED.iterdir() if path.name.endswith(".toml"))


def load_profile(chosen: str | None, embedding_model: str) -> Profile:
    """The profile called `chosen`, or in the file of that path; None takes the shipped one of the embedding model.

    Raises:
        WrongSettings: there is none, it does not parse, or it was made for another embedding model.
    """
    if chosen is None:
        for name in shipped_profiles():
            profile = _parse((SHIPPED / f"{name}.toml").read_text(encoding="utf-8"), name)
            if profile.embedding_model == embedding_model:
                return profile
        raise WrongSettings(
            f"no shipped profile is for the embedding model {embedding_model!r}: write one and set MONITOR_PROFILE to "
            f"its path, or use the embedder of one of {', '.join(shipped_profiles())}"
        )
    if chosen in shipped_profiles():
        text = (SHIPPED / f"{chosen}.toml").read_text(encoding="utf-8")
    else:
        try:
            text = Path(chosen).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            known = ", ".join(shipped_profiles())
            raise WrongSettings(f"profile {chosen!r} is neither one of {known} nor a file: {error}") from None
    profile = _parse(text, chosen)
    if profile.embedding_model != embedding_model:
        raise WrongSettings(
            f"profile {chosen!r} was made for {profile.embedding_model!r} and means nothing for {embedding_model!r}"
        )
    return profile


def _parse(text: str, origin: str) -> Profile:
    try:
        return Profile.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise WrongSettings(f"profile {origin}: {error}") from None
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_input=False)]
        raise WrongSettings(f"profile {origin}:\n" + "\n".join(lines)) from None
