"""A stored answer, with the fields that an explanation uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from monitor.core.model import Probabilities


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """An interaction with its live assessment; `matches` says whether it shows the signal of the alert.

    `documents` are the ids of the retrieved documents. `topic` is the tag of that name, which `tags` lacks. `qrd` is
    measured by `embedding_model`. `diagnosis` is None for answers that an earlier release assessed. `answer` is None
    except for matching answers of the window.
    """

    id: str
    app: str
    environment: str
    occurred_at: datetime
    matches: bool
    verdict: str
    probabilities: Probabilities
    rank: float | None = None  # among the usual answers of the app; None without a reference
    reasons: tuple[str, ...] = ()
    diagnosis: str | None = None
    qrd: float | None = None
    embedding_model: str | None = None
    model: str | None = None
    prompt_version: str | None = None
    topic: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    documents: tuple[str, ...] = ()
    question: str | None = None
    answer: str | None = None
