"""Models of the API routes of probes, and how stored runs become them, with personal data masked."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from pydantic import Field

from monitor.privacy.masking import redact
from monitor.probe.compare import Compared, Outcome
from monitor.probe.figures import RunFigures
from monitor.probe.result import ItemResult, ItemState, ProbeRun, RunState, Turn
from monitor.store.probe.golden import GoldenListing
from monitor.web.base.api_model import ApiResponse, masked, masked_throughout, rounded


class Figure(ApiResponse):
    """A mean, or a share, over `count` items with its 95 % interval; null where there are too few items."""

    mean: float | None
    lower: float | None
    upper: float | None
    count: int


class Figures(ApiResponse):
    """The figures of a run; answers that are not sure stay out of the means."""

    correctness: Figure = Field(description="of the first answers, from 1 to 5")
    wscore: Figure = Field(description="weighted over the turns, from 0 to 5")
    lscore: Figure = Field(description="turns to the best answer")
    mscore: Figure = Field(description="of the best answers, from 0 to 5")
    unsure: Figure = Field(description="share of the judged items that are not sure")
    states: dict[ItemState, int]

    @classmethod
    def of(cls, found: RunFigures) -> Figures:
        return cls.model_validate(found.to_json())


class Run(ApiResponse):
    """A run of a probe; personal data in its names is masked."""

    number: int
    probe: str
    app: str
    environment: str
    chatbot: str = Field(description="the version of the chatbot; empty if unknown")
    golden: str = Field(description="the golden set")
    golden_version: int
    golden_hash: str
    items: int = Field(description="of the golden set")
    target: str
    judge: str = Field(description="the model that grades")
    prompts_hash: str
    repeats: int
    turns: int = Field(description="the most of a conversation")
    state: RunState
    began_at: datetime
    ended_at: datetime | None
    error: str | None
    candidate: bool = Field(description="whether this version was not deployed; the run counts in no alert or report")


class Summary(ApiResponse):
    """A run with its figures."""

    run: Run
    figures: Figures


class ProbeList(ApiResponse):
    """The newest run of each probe that is done."""

    items: list[Summary]


class RunList(ApiResponse):
    """Runs, newest first; `next` is the `before` of the next page."""

    items: list[Summary]
    next: int | None


class Difference(ApiResponse):
    """The mean of this run less that of the run before, over the questions of both, with its interval."""

    pairs: int
    mean: float | None
    lower: float | None
    upper: float | None
    outcome: Outcome


class Moved(ApiResponse):
    """An item whose correctness differs; an answer that is not sure counts as 0."""

    item: str
    before: float
    after: float
    by: float


class Comparison(ApiResponse):
    """This run against the run before; `unpaired` items were judged in one of them only."""

    confidence: float
    unpaired: int
    differences: dict[str, Difference]
    moved: list[Moved] = Field(description="the item that fell most first")


class ProbeTurn(ApiResponse):
    """A question to the chatbot, its answer and the judge's grade; a score of 0 is not sure."""

    question: str
    answer: str
    documents: list[str]
    composed: str | None = Field(description="the text that was graded in place of the answer")
    scores: list[int]
    feedback: str
    reason: str | None = Field(description="why the judge gave no grade")
    failure: str | None = Field(description="why the chatbot gave no answer")
    latency_ms: float | None
    leaks: list[str] = Field(description="what the leak guard kept out")


class ProbeItem(ApiResponse):
    """A golden item with the conversation about it; personal data is masked, in the id and the tags, too."""

    place: int = Field(description="in the golden set, from 1")
    id: str
    question: str
    reference: str
    tags: dict[str, str]
    source: str | None
    state: ItemState
    correctness: float | None
    wscore: float | None
    lscore: int | None
    mscore: float | None
    spread: int
    seconds: float
    turns: list[ProbeTurn]


class RunDetail(ApiResponse):
    """A run with a page of its items, and the earlier run that it is compared with."""

    run: Run
    figures: Figures
    before: int | None
    comparison: Comparison | None
    items: list[ProbeItem] = Field(description="those without an answer first, then not sure ones, then by score")
    total: int = Field(description="items that the filters find")
    next: int | None = Field(description="`start` of the next page")


class GoldenSummary(ApiResponse):
    """The newest version of a golden set; personal data in its name is masked."""

    name: str
    version: int
    hash: str
    items: int
    made_by: str
    made_at: datetime


class GoldenList(ApiResponse):
    """The golden sets, by name."""

    items: list[GoldenSummary]


def run_model(run: ProbeRun) -> Run:
    """The run with every name and text masked, as on the pages."""
    names = ("probe", "app", "environment", "chatbot", "golden", "target", "judge", "error")
    return Run(**asdict(run) | {name: masked(getattr(run, name)) for name in names})


def comparison_model(compared: Compared) -> Comparison:
    """The comparison with the ids of items masked."""
    found = Comparison.model_validate(compared.to_json())
    return found.model_copy(
        update={"moved": [one.model_copy(update={"item": redact(one.item)}) for one in found.moved]}
    )


def golden_model(listing: GoldenListing) -> GoldenSummary:
    """The golden set with its name masked."""
    return GoldenSummary(**asdict(listing) | {"name": redact(listing.name)})


def item_model(place: int, result: ItemResult) -> ProbeItem:
    """The result of an item, every text masked; `place` is from 0."""
    item = result.item
    return ProbeItem(
        place=place + 1,
        id=redact(item.id),
        question=redact(item.question),
        reference=redact(item.reference),
        tags=masked_throughout(item.tags),
        source=None if item.source is None else masked(str(item.source)),
        state=result.state,
        correctness=rounded(result.correctness),
        wscore=rounded(result.wscore),
        lscore=result.lscore,
        mscore=rounded(result.mscore),
        spread=result.spread,
        seconds=rounded(result.seconds) or 0.0,
        turns=[_turn(turn) for turn in result.turns],
    )


def _turn(turn: Turn) -> ProbeTurn:
    grade = turn.grade
    return ProbeTurn(
        question=redact(turn.question),
        answer=redact(turn.answer),
        documents=[redact(document) for document in turn.documents],
        composed=masked(turn.composed),
        scores=[] if grade is None else list(grade.scores),
        feedback="" if grade is None else redact(grade.feedback),
        reason=None if grade is None else masked(grade.reason),
        failure=masked(turn.failure),
        latency_ms=rounded(turn.latency_ms),
        leaks=[redact(leak) for leak in turn.leaks],
    )
