"""The filters of a list of interactions with their conditions in SQL, and what a page of the list holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from sqlalchemy import (
    ARRAY,
    Boolean,
    ColumnElement,
    Engine,
    Text,
    and_,
    any_,
    exists,
    false,
    literal,
    literal_column,
    not_,
    or_,
    select,
    tuple_,
)
from sqlalchemy.dialects.postgresql import JSONB

from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Reason, Unscored, Verdict
from monitor.store.database import retriable
from monitor.store.interaction.listing.search import Terms
from monitor.store.tables.interactions import SUSPICIOUS, assessment, interaction
from monitor.store.tables.review import review

_ROUNDING = 1e-6  # more than a REAL differs from the number that people type
_a, _i, _r = assessment.c, interaction.c, review.c


class Labelled(StrEnum):
    """How an interaction is labelled."""

    NO = "no"
    YES = "yes"
    WRONG = "wrong"  # the newest label of some person is another verdict


class RefusalCorrectness(StrEnum):
    """Whether a refusal was right."""

    CORRECT = "correct"
    OVER = "over"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRange:
    """Values of one metric (`sdq`, `sdrd`, `sda`, `qrd`, `qa`), both bounds included; None is open."""

    metric: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactValues:
    """Answers with each of these values. An erased answer has none of them any more.

    `tag` is a name and a value. `tag_digests` are its keyed digests, as `monitor.privacy.tag_digest` makes them, which
    also find answers whose tag was redacted before it was stored.
    """

    conversation: str | None = None
    trace: str | None = None
    tag: tuple[str, str] | None = None
    tag_digests: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(value is not None for value in (self.conversation, self.trace, self.tag))

    @property
    def values(self) -> tuple[str, ...]:
        """The values that are sought."""
        found = (self.conversation, self.trace, self.tag and self.tag[1])
        return tuple(value for value in found if value is not None)

    @property
    def fields(self) -> tuple[str, ...]:
        """What is sought by, without the values: `conversation`, `trace`, `tag NAME`."""
        names = ("conversation" * (self.conversation is not None), "trace" * (self.trace is not None))
        return tuple(name for name in (*names, f"tag {self.tag[0]}" if self.tag else "") if name)

    def conditions(self) -> list[ColumnElement[bool]]:
        """The conditions on interactions in SQL, each of which an index answers."""
        found: list[ColumnElement[bool]] = []
        if self.conversation is not None:
            found.append(_i.conversation_id == self.conversation)
        if self.trace is not None:
            found.append(_i.trace_id == self.trace)
        if self.tag is not None:
            name, value = self.tag
            plain = _i.tags.op("@>", is_comparison=True)(literal({name: value}, JSONB))
            digests = literal(list(self.tag_digests), ARRAY(Text))
            by_digest = and_(_i.tag_digests.is_not(None), _i.tag_digests.op("&&", is_comparison=True)(digests))
            found.append(or_(plain, by_digest if self.tag_digests else false()))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Interactions of [since, until) that match every filter that is set; for `words` see `terms`."""

    since: datetime
    until: datetime
    app: str | None = None
    environment: str | None = None
    model: str | None = None
    topic: str | None = None
    verdicts: frozenset[Verdict] = frozenset()  # none: all
    reason: Reason | None = None
    diagnoses: frozenset[Diagnosis] = frozenset()  # none: all, and answers without one
    refusal: RefusalCorrectness | None = None
    metric: MetricRange | None = None
    labelled: Labelled | None = None
    suspicious: bool = False  # only answers to look at first: see `SUSPICIOUS`
    unscored: frozenset[Unscored] = frozenset()  # turns without scores for these reasons, instead of answers
    words: str | None = None
    exact: ExactValues = field(default_factory=ExactValues)

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """The filters that are set and by which the rollups count."""
        names = ("app", "environment", "model", "topic")
        return tuple((name, value) for name in names if (value := getattr(self, name)) is not None)


USED = ("latency_ms", "input_tokens", "output_tokens", "cost")  # what a listed answer used


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePosition:
    """Where a page begins: after this row, in the order of the list."""

    occurred_at: datetime
    app: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedInteraction:
    """One row. Texts are unmasked: mask them before they are shown."""

    app: str
    id: str
    occurred_at: datetime
    environment: str
    model: str | None
    topic: str | None
    conversation_id: str | None
    question: str
    answer: str
    verdict: Verdict
    rule_verdict: Verdict
    reasons: tuple[Reason, ...]
    refusal_kind: str
    refusal_correct: bool | None
    p_grounded: float
    p_refusal: float
    p_self_generated: float
    uncalibrated: bool
    sdq: float | None
    sdrd: float | None
    sda: float | None
    qrd: float | None
    qa: float | None
    profile_name: str
    profile_hash: str
    rank: float | None
    reference: str | None
    latency_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    diagnosis: Diagnosis | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionPage:
    """A page, newest first. `older` and `newer` are where the next pages begin, None where there is none.

    `reached` is set where the search stopped before the end of the span: `older` (or `newer`) goes on from there.
    """

    rows: tuple[ListedInteraction, ...]
    older: PagePosition | None
    newer: PagePosition | None
    reached: datetime | None = None


def interaction_conditions(filters: Filters, searched: Terms) -> list[ColumnElement[bool]]:
    """The conditions on interactions."""
    found = [*searched.conditions(interaction.c.question, interaction.c.answer), *filters.exact.conditions()]
    if filters.environment is not None:
        found.append(_i.environment == filters.environment)
    if filters.model is not None:
        found.append(_i.model == filters.model)
    if filters.topic is not None:
        found.append(_i.tags["topic"].astext == filters.topic)
    return found


def assessment_conditions(filters: Filters) -> list[ColumnElement[bool]]:
    """The conditions on live assessments; the covering index answers all but those on diagnosis, rank and labels."""
    found: list[ColumnElement[bool]] = []
    if filters.verdicts:
        found.append(_a.verdict.in_(sorted(filters.verdicts)))
    if filters.reason is not None:
        found.append(literal(filters.reason.value) == any_(_a.reasons))
    if filters.diagnoses:
        found.append(_a.diagnosis.in_(sorted(filters.diagnoses)))
    if filters.refusal is not None:
        found.append(_a.refusal_correct.is_(filters.refusal is RefusalCorrectness.CORRECT))
    if (wanted := filters.metric) is not None:
        column = _a[wanted.metric]
        found += [column >= wanted.low - _ROUNDING] if wanted.low is not None else []
        found += [column <= wanted.high + _ROUNDING] if wanted.high is not None else []
    if filters.suspicious:
        found.append(literal_column(SUSPICIOUS, Boolean))
    if filters.labelled is not None:
        found.append(_labelled(filters))
    return found


def _labelled(filters: Filters) -> ColumnElement[bool]:
    """The condition on labels."""
    of_interaction = and_(_r.app == _a.app, _r.interaction_id == _a.id)
    if filters.labelled is Labelled.NO:
        return not_(exists().where(of_interaction))
    within = select(_r.app, _r.interaction_id, _r.occurred_at).where(
        _r.occurred_at >= filters.since, _r.occurred_at < filters.until
    )
    labelled = tuple_(_a.app, _a.id, _a.occurred_at).in_(within)
    if filters.labelled is Labelled.YES:
        return labelled
    later = review.alias("later")
    same = and_(
        later.c.app == _r.app, later.c.interaction_id == _r.interaction_id, later.c.labelled_by == _r.labelled_by
    )
    newest = not_(exists().where(same, later.c.id > _r.id))
    return and_(labelled, exists().where(of_interaction, _r.label != _a.verdict, newest))


def answers_with(
    engine: Engine, exact: ExactValues, *, app: str | None, start: datetime, end: datetime
) -> list[tuple[str, str]]:
    """App and id of the interactions of [start, end) with these values, oldest first; may raise `Retriable`."""
    query = select(_i.app, _i.id).where(*exact.conditions(), _i.occurred_at >= start, _i.occurred_at < end)
    if app is not None:
        query = query.where(_i.app == app)
    with retriable(), engine.connect() as connection:
        return [(row.app, row.id) for row in connection.execute(query.order_by(_i.occurred_at, _i.app, _i.id))]


def parsed_tag(text: str) -> tuple[str, str]:
    """The name and the value of NAME=VALUE.

    Raises:
        ValueError: it has another form.
    """
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise ValueError(f"{text} must be NAME=VALUE")
    return name, value
