"""`monitor deadletters retry` and `purge`: sends dead letters through the flow again, or deletes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Event

from monitor.app.wiring.application import Application
from monitor.core.errors import WrongSettings
from monitor.core.message import DeadLetter
from monitor.core.model import Assessment, Interaction
from monitor.core.retry import Interrupted, Retry
from monitor.core.trace import Collected
from monitor.ingest.decode import Decoded
from monitor.ingest.mapping import EventMap
from monitor.store.deadletters.dead_letters import DeadLetters, LetterFilter, StoredLetter, purge, settle

PATIENCE = 300.0  # seconds of waiting for a database or provider before giving up


@dataclass(frozen=True, slots=True, kw_only=True)
class Retried:
    """Counts of letters: asked = assessed + duplicate + unscored + collected + dead + elsewhere.

    `collected` ones hold spans or several turns, which are stored by themselves. `elsewhere`: another process took them
    meanwhile, or the acknowledgement of our own commit was lost.
    """

    asked: int = 0
    assessed: int = 0
    duplicate: int = 0
    collected: int = 0
    unscored: int = 0
    dead: int = 0

    @property
    def elsewhere(self) -> int:
        """Letters whose outcome this process does not know."""
        return self.asked - self.assessed - self.duplicate - self.unscored - self.collected - self.dead

    @property
    def outcomes(self) -> Sequence[str]:
        """`3 assessed`, `0 duplicate`, …: what became of the letters, in words; `elsewhere` is left out."""
        sometimes = {"unscored": self.unscored, "collected": self.collected}
        counts = {
            "assessed": self.assessed,
            "duplicate": self.duplicate,
            **{name: count for name, count in sometimes.items() if count},
            "still dead": self.dead,
        }
        return [f"{count} {name}" for name, count in counts.items()]

    @property
    def vain(self) -> bool:
        """Whether letters are still dead and none was settled."""
        return self.dead > 0 and not (self.assessed or self.duplicate or self.unscored or self.collected)


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """The number of deleted letters, and of those among them that no retry had settled."""

    total: int
    open: int


def retry(
    application: Application,
    wanted: LetterFilter,
    *,
    app: str | None,
    dialect: str | None,
    event_map: EventMap | None = None,
    stop: Event,
) -> Retried:
    """Decodes and assesses the open letters among `wanted` under the current settings, and stores the outcome.

    Each batch is one transaction. `stop` ends the retry after the batch in flight; newer letters are left alone.

    Raises:
        WrongSettings: an id is not a dead letter, or the dialect is unknown; nothing was tried.
        OutOfReach, Fatal: a service stayed down or refused; committed batches stay.
    """
    decode = application.decoder(app=app, dialect=dialect, event_map=event_map).decode_batch
    application.prepare()
    store, letters = application.store, DeadLetters(application.engine)
    check_known(letters, wanted)
    assess = application.assessing.assess_with(application.settings.sidecar.patience)
    again, wanted, counts = Retry(stop=stop, patience=PATIENCE), replace(wanted, open=True), Counter[str]()
    last = again(lambda: letters.count(wanted)).last

    def one_page(ids: Sequence[int]) -> None:
        tried = again(lambda: letters.open_letters(ids))
        decoded = decode(letter.message for letter in tried)
        turns = again(lambda: application.probing.probed_turns.told(decoded.interactions))
        scored = [it for it in turns if it.unscored is None]
        assessments = iter(again(lambda: assess(scored)) if scored else ())
        results = [next(assessments) if it.unscored is None else it for it in turns]
        alive, dead, held = _matched(tried, results, decoded)
        counts.update(again(lambda: settle(store, alive, dead, application.now(), held=held)))
        counts["asked"] += len(ids)

    with suppress(Interrupted):  # between two tries; nothing of that page was stored
        for ids in _pages(application, again, wanted, last):
            one_page(ids)
    return Retried(**counts)


def purge_all(application: Application, wanted: LetterFilter, *, last: int, stop: Event) -> Purged:
    """Deletes those of `wanted` with an id up to `last`, page by page; each page is committed.

    Raises:
        OutOfReach, Fatal: the database stayed down or refused.
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
    """Checks that all ids exist.

    Raises:
        WrongSettings: some do not; the message names them.
    """
    missing = sorted(set(wanted.ids or ()) - letters.known(wanted.ids or ()))
    if missing:
        raise WrongSettings(f"no dead letter {', '.join(map(str, missing))}; `monitor deadletters list` shows the ids")


def _pages(application: Application, again: Retry, wanted: LetterFilter, last: int) -> Iterator[list[int]]:
    """Pages of ids up to `last`, oldest first, until `stop`."""
    ingest, letters, after = application.settings.ingest, DeadLetters(application.engine), 0

    def page() -> list[int]:
        return letters.page(
            wanted,
            after=after,
            last=last,
            most=ingest.batch_events,
            most_bytes=ingest.batch_bytes,
        )

    while not again.stop.is_set() and (ids := again(page)):
        yield ids
        after = ids[-1]


def _matched(
    tried: Sequence[StoredLetter], results: Sequence[Assessment | Interaction], decoded: Decoded
) -> tuple[
    list[tuple[StoredLetter, Assessment | Interaction]],
    list[tuple[StoredLetter, DeadLetter]],
    list[tuple[StoredLetter, Collected]],
]:
    """Each letter with its outcome; `results` are those of the interactions, in the order of the messages."""
    why = {id(dead.message): dead for dead in decoded.dead_letters}
    holds = {one.position: one for one in decoded.collected}
    dead = [(letter, why[id(letter.message)]) for letter in tried if id(letter.message) in why]
    others = [letter for letter in tried if id(letter.message) not in why]
    held = [(letter, holds[letter.message.position]) for letter in others if letter.message.position in holds]
    alive = [letter for letter in others if letter.message.position not in holds]
    return list(zip(alive, results, strict=True)), dead, held
