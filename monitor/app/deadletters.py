"""`monitor deadletters retry` and `purge`: open letters through the flow once more, or out of the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Event

from monitor.app.wiring.application import Application
from monitor.core.errors import WrongSettings
from monitor.core.message import DeadLetter
from monitor.core.model import Assessment
from monitor.core.retry import Interrupted, Retry
from monitor.store.deadletters.dead_letters import DeadLetters, LetterFilter, StoredLetter, purge, settle

PATIENCE = 300.0  # seconds of waiting for a database or provider before giving up


@dataclass(frozen=True, slots=True, kw_only=True)
class Retried:
    """asked = assessed + duplicate + dead + elsewhere.

    `elsewhere` were taken by another process meanwhile, or by a commit of this one whose acknowledgement was lost.
    """

    asked: int = 0
    assessed: int = 0
    duplicate: int = 0
    dead: int = 0

    @property
    def elsewhere(self) -> int:
        """Those of which this process cannot say what became."""
        return self.asked - self.assessed - self.duplicate - self.dead

    @property
    def vain(self) -> bool:
        """Whether something is still dead, and nothing was settled."""
        return self.dead > 0 and not self.assessed and not self.duplicate


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """How many were deleted, and how many of these no retry had settled."""

    total: int
    open: int


def retry(
    application: Application, wanted: LetterFilter, *, app: str | None, dialect: str | None, stop: Event
) -> Retried:
    """Decodes and assesses the open letters among `wanted` under the settings of today, and stores what they become.

    Each batch is one transaction. `stop` ends it after the batch in flight; letters that come meanwhile are left alone.

    Raises:
        WrongSettings: one of the ids is no dead letter, or the dialect is none; nothing was tried then.
        OutOfReach, Fatal: a service stayed away or refused; what was committed stays.
    """
    decode = application.decoder(app=app, dialect=dialect).decode_batch
    application.prepare()
    store, letters = application.store, DeadLetters(application.engine)
    check_known(letters, wanted)
    again, wanted, counts = Retry(stop=stop, patience=PATIENCE), replace(wanted, open=True), Counter[str]()
    last = again(lambda: letters.count(wanted)).last

    def one_page(ids: Sequence[int]) -> None:
        tried = again(lambda: letters.open_letters(ids))
        interactions, invalid = decode(letter.message for letter in tried)
        assessments = again(lambda: application.pipeline.assess(interactions)) if interactions else []
        alive, dead = _matched(tried, assessments, invalid)
        counts.update(again(lambda: settle(store, alive, dead, application.now())))
        counts["asked"] += len(ids)

    with suppress(Interrupted):  # between two tries: nothing of that page was stored
        for ids in _pages(application, again, wanted, last):
            one_page(ids)
    return Retried(**counts)


def purge_all(application: Application, wanted: LetterFilter, *, last: int, stop: Event) -> Purged:
    """Deletes those of `wanted` whose id is `last` at most, a page at a time, and what it deletes stays deleted.

    Raises:
        OutOfReach, Fatal: the database stayed away or refused.
    """
    store, again, total, opened = application.store, Retry(stop=stop, patience=PATIENCE), 0, 0

    def one_page(ids: Sequence[int]) -> tuple[int, int]:
        return again(lambda: purge(store, ids))

    with suppress(Interrupted):
        for ids in _pages(application, again, wanted, last):
            deleted, were_open = one_page(ids)
            total, opened = total + deleted, opened + were_open
    return Purged(total=total, open=opened)


def check_known(letters: DeadLetters, wanted: LetterFilter) -> None:
    """Says which of the ids do not exist.

    Raises:
        WrongSettings: there are some.
    """
    missing = sorted(set(wanted.ids or ()) - letters.known(wanted.ids or ()))
    if missing:
        raise WrongSettings(f"no dead letter {', '.join(map(str, missing))}; `monitor deadletters list` has their ids")


def _pages(application: Application, again: Retry, wanted: LetterFilter, last: int) -> Iterator[list[int]]:
    """Ids up to `last`, oldest first, a batch at a time, until `stop`."""
    ingest, letters, after = application.settings.ingest, DeadLetters(application.engine), 0

    def page() -> list[int]:
        return letters.page(
            wanted, after=after, last=last, most=ingest.batch_events, most_bytes=ingest.batch_bytes
        )  # fmt: skip

    while not again.stop.is_set() and (ids := again(page)):
        yield ids
        after = ids[-1]


def _matched(
    tried: Sequence[StoredLetter], assessments: Sequence[Assessment], invalid: Sequence[DeadLetter]
) -> tuple[list[tuple[StoredLetter, Assessment]], list[tuple[StoredLetter, DeadLetter]]]:
    """Each letter with what became of it; `assessments` are in the order of the messages, as `invalid` are."""
    why = {id(dead.message): dead for dead in invalid}
    alive = [letter for letter in tried if id(letter.message) not in why]
    dead = [(letter, why[id(letter.message)]) for letter in tried if id(letter.message) in why]
    return list(zip(alive, assessments, strict=True)), dead
