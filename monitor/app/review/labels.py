"""`monitor review`: offers answers to label, stores labels, exports labelled interactions."""

from __future__ import annotations

import getpass
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TextIO

from monitor.core.assessment_json import encode, storable
from monitor.core.errors import WrongSettings
from monitor.core.model import Verdict
from monitor.core.text.interaction_name import spellings
from monitor.review.agreement import Pair, Week, between_people, first_day, summary, week_of, weekly
from monitor.review.draw import Offer, draw, second_opinions
from monitor.review.export import labelled_json
from monitor.review.label import Drawn, Label, consensus
from monitor.store.interaction.assessments import AssessmentQueries
from monitor.store.review.labels import Reviews
from monitor.store.review.plans import Plans

MOST_NAMED = 10  # mistakes in one call
MAX_PERSON_CHARS = 200
MAX_NOTE_CHARS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A label for the stored interaction among `spellings` (app and id); `name` is how the person wrote it."""

    name: str
    spellings: tuple[tuple[str, str], ...]
    label: Verdict
    by: str
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """The number of labels stored, of labels that changed nothing, and of those for interactions drawn at random."""

    stored: int
    unchanged: int
    at_random: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Agreement by week, of all weeks `together`, and between people; `left_out` were not drawn at random."""

    weeks: Sequence[Week]
    together: Week
    pairs: Sequence[Pair]
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """The number of labelled interactions, of those with disputed labels, and of those no longer stored."""

    labelled: int
    disputed: int
    gone: int


def login_name() -> str:
    """The name of the operating system's account.

    Raises:
        WrongSettings: the account has no name.
    """
    try:
        return person(getpass.getuser())
    except (KeyError, OSError):
        raise WrongSettings("this account has no name: add --by NAME") from None


def person(name: str) -> str:
    """The name in its stored form.

    Raises:
        WrongSettings: the name is empty or too long.
    """
    name = storable(name.strip())
    if not 0 < len(name) <= MAX_PERSON_CHARS:
        raise WrongSettings(f"--by: must be a name of 1 to {MAX_PERSON_CHARS} characters")
    return name


def named(name: str, label: Verdict, *, by: str, note: str | None) -> Wish:
    """The wish for `APP/ID`; both may contain slashes, so there may be several spellings.

    Raises:
        WrongSettings: there is no slash with text on both sides.
    """
    found = tuple(spellings(storable(name)))
    if not found:
        raise WrongSettings(f"{name!r}: write the interaction as APP/ID")
    return Wish(name=name, spellings=found, label=label, by=by, note=note)


def offers(
    reviews: Reviews,
    plans: Plans,
    *,
    app: str | None,
    span: timedelta,
    count: int,
    by: str,
    random_only: bool,
    second_opinion: bool,
    now: datetime,
    lacks: Verdict | None = None,
) -> list[Offer]:
    """The answers to label next: of open plans, then of the last `span`; an offer is stored by `save_offer` only.

    `lacks` is the class of which calibration lacks labels.
    """
    planned = [] if random_only or second_opinion else plans.offers(app, by=by, count=count, now=now)
    if len(planned) >= count:
        return planned
    candidates = reviews.candidates(now - span, now, app=app, labelled_only=second_opinion)
    if second_opinion:
        return second_opinions(candidates, count, by=by)
    taken = {(offer.candidate.app, offer.candidate.id) for offer in planned}
    rest = [candidate for candidate in candidates if (candidate.app, candidate.id) not in taken]
    return planned + draw(rest, count - len(planned), random_only=random_only, lacks=lacks)


def label(reviews: Reviews, wishes: Sequence[Wish], *, now: datetime) -> Labelled:
    """Stores the labels in one transaction, each with the assessment that was live when it was given.

    Raises:
        WrongSettings: an interaction is not stored, not assessed yet or ambiguous, or a note is too long; nothing was
            stored.
    """
    standing = reviews.standing([spelling for wish in wishes for spelling in wish.spellings])
    labels, faults = list[Label](), list[str]()
    for wish in wishes:
        found = [spelling for spelling in wish.spellings if spelling in standing]
        stood = standing[found[0]] if len(found) == 1 else None
        if wish.note is not None and len(wish.note) > MAX_NOTE_CHARS:
            faults.append(f"{wish.name}: the note has over {MAX_NOTE_CHARS:,} characters")
        elif stood is not None:
            note = storable(wish.note) if wish.note else None
            labels.append(Label(standing=stood, label=wish.label, by=wish.by, note=note))
        elif not found:
            faults.append(f"{wish.name}: no such interaction is stored")
        elif len(found) > 1:
            faults.append(f"{wish.name}: is ambiguous; give app and id in a line of --file")
        else:
            faults.append(f"{wish.name}: is stored but not assessed yet; `monitor explain` says why")
    refuse(faults)
    stored = reviews.keep(labels, now)
    at_random = sum(given.standing.drawn is Drawn.RANDOM for given in labels)
    return Labelled(stored=stored, unchanged=len(labels) - stored, at_random=at_random)


def export(reviews: Reviews, out: TextIO, *, app: str | None, span: timedelta | None, now: datetime) -> Exported:
    """Writes every labelled interaction (of the app, in the span) as a JSON line.

    Disputed labels: the majority counts, of a tie the newest label. Interactions that are no longer stored have no
    texts and are left out.
    """
    since = None if span is None else now - span
    decided = consensus(reviews.opinions(app=app, since=since))
    gone = 0
    interactions = reviews.interactions([opinion.newest for opinion in decided])
    for opinion, (_, interaction) in zip(decided, interactions, strict=True):
        if interaction is None:
            gone += 1
        else:
            out.write(encode(labelled_json(interaction, opinion)) + "\n")
    return Exported(labelled=len(decided), disputed=sum(opinion.disputed for opinion in decided), gone=gone)


def agreement_report(reviews: Reviews, *, app: str | None, weeks: int, now: datetime) -> Report:
    """The agreement of verdicts and people on answers (of the app) in the last `weeks` ISO weeks."""
    since = first_day(weeks, now)
    opinions = reviews.opinions(app=app, since=since)
    decided = consensus(opinions)
    at_random = [opinion for opinion in decided if opinion.newest.drawn is Drawn.RANDOM]
    unlabelled = Counter(map(week_of, reviews.unlabelled(app=app, since=since)))
    return Report(
        weeks=weekly(at_random, unlabelled),
        together=summary("all", at_random, unlabelled.total()),
        pairs=between_people(opinions),
        left_out=len(decided) - len(at_random),
    )


def live_row(queries: AssessmentQueries, offer: Offer) -> Mapping[str, Any] | None:
    """The row of the live assessment, as for `monitor explain`; None if it was removed meanwhile."""
    rows = queries.with_assessments(offer.candidate.id, offer.candidate.app)
    return next((row for row in rows if row["live"]), None)


def refuse(faults: Sequence[str]) -> None:
    """Raises `WrongSettings` that names the first faults, if there are any."""
    if faults:
        more = [f"and {len(faults) - MOST_NAMED} more"] if len(faults) > MOST_NAMED else []
        raise WrongSettings("nothing was labelled:\n  " + "\n  ".join([*faults[:MOST_NAMED], *more]))
