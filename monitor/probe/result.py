"""What a run of a probe finds: its turns, the result of each golden item, and the run itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from monitor.assess.judge.correctness.grade import Grade
from monitor.assess.llm.exchange import Spend
from monitor.probe.golden import GoldenItem


class ItemState(StrEnum):
    """What became of a golden item in a run."""

    GRADED = "graded"
    UNSURE = "unsure"  # no answer of it is more than not sure: it stays out of averages
    FAILED = "failed"  # the chatbot gave no answer
    UNGRADED = "ungraded"  # the judge gave no grade


class RunState(StrEnum):
    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"  # by a signal or a crash: some items were not asked
    FAILED = "failed"  # an error ended it, such as a refused key or a spent budget: some items were not asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One question to the chatbot, its answer, and what was made of it.

    `composed` is the tentative answer from the whole conversation (T2), or at its end the one in the reference's grain
    (T6), if it is another text than `answer`. `leaks` are the words that the leak guard kept out of both.
    """

    question: str
    answer: str
    documents: tuple[str, ...] = ()
    composed: str | None = None
    grade: Grade | None = None
    failure: str | None = None
    latency_ms: float | None = None
    leaks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """The scores of one item of a stored run, without its texts: what comparisons and alerts work on."""

    item: str
    state: ItemState
    correctness: float | None
    wscore: float | None
    lscore: int | None
    mscore: float | None

    @property
    def is_judged(self) -> bool:
        return self.state in {ItemState.GRADED, ItemState.UNSURE}

    @property
    def is_unsure(self) -> bool:
        """Whether the first answer says that it is not sure, whatever came of the conversation."""
        return self.is_judged and not self.correctness


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResult:
    """The conversation about one item. Scores are None where nothing was graded; formulas in `conversation/scores.py`.

    `correctness` is the score of the first answer, so that runs with and without further turns can be compared; None
    too where that answer is not sure.
    """

    item: GoldenItem
    state: ItemState
    turns: tuple[Turn, ...]
    correctness: float | None = None  # 1 to 5
    wscore: float | None = None  # 0 to 5
    lscore: int | None = None  # turns
    mscore: float | None = None  # 0 to 5
    spread: int = 0
    spend: Spend = field(default_factory=Spend)
    seconds: float = 0.0
    version: str | None = None  # of the chatbot, as it tells it

    @property
    def scored(self) -> Scored:
        """The scores without the texts: what comparisons and figures work on."""
        return Scored(
            item=self.item.id,
            state=self.state,
            correctness=self.correctness,
            wscore=self.wscore,
            lscore=self.lscore,
            mscore=self.mscore,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRun:
    """One run of a probe. `number` counts up from 1; `chatbot` is the version of the chatbot, '' if unknown.

    A `candidate` is a version that is not deployed: its runs can be compared, and count in no alert, chart or report.
    """

    number: int
    probe: str
    app: str
    environment: str
    chatbot: str
    golden: str
    golden_version: int
    golden_hash: str
    items: int  # of the golden set
    target: str
    judge: str  # model
    prompts_hash: str
    repeats: int
    turns: int  # the most of a conversation
    state: RunState
    began_at: datetime
    ended_at: datetime | None = None
    error: str | None = None
    candidate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRun:
    """A run that is done, with the scores of its items."""

    run: ProbeRun
    scores: Sequence[Scored]
