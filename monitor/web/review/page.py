"""The review queue: shows one answer after another to label, without its verdict, and the agreement so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from monitor.app.review.labels import MAX_NOTE_CHARS, Wish, label, live_row
from monitor.app.wiring.application import Application
from monitor.core.model import Verdict
from monitor.review.agreement import ENOUGH
from monitor.review.draw import Offer
from monitor.review.presentation import DRAWN_WORDS, remarks
from monitor.review.rates.estimate import rate
from monitor.review.rates.presentation import period_words, progress
from monitor.store.audit_queue import Act, Kind, record_act
from monitor.web.base.access import Identity, Permission
from monitor.web.base.disclosure import PageMasker
from monitor.web.base.guard import Needs
from monitor.web.base.page import page
from monitor.web.review.candidates import MAX_SKIPPED, CandidateCache, CandidateQuery, skip_key
from monitor.web.review.standing import WEEKS, Standing

router = APIRouter()
SPANS: Mapping[str, tuple[str, timedelta]] = {
    "24h": ("24 hours", timedelta(days=1)),
    "7d": ("7 days", timedelta(days=7)),
    "28d": ("28 days", timedelta(days=28)),
}
NOTICES = {
    "labelled": "Your label is stored. Here is the next answer.",
    "same": "You have already stored this label. Here is the next answer.",
}
MEANINGS = {
    Verdict.GROUNDED: "the documents support what it says",
    Verdict.REFUSAL: "it says that it cannot or will not answer",
    Verdict.SELF_GENERATED: "it states something important that no document says",
}
_SKIP_KEY_CHARS = 8
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
Labeller = Annotated[Identity, Depends(Needs(Permission.LABEL))]
Unmasker = Annotated[Identity, Depends(Needs(Permission.UNMASK))]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFilter:
    """What a person labels: which app and span, whether second opinions only, and the answers they have skipped."""

    app: str | None
    span: str
    second: bool
    skipped: tuple[str, ...]

    @classmethod
    def read(cls, app: str, span: str, second: str, skip: str) -> QueueFilter:
        """Reads the fields of an address or a form; an unknown span falls back to the default."""
        skipped = tuple(part for part in skip.split(",") if len(part) == _SKIP_KEY_CHARS and part.isalnum())
        return cls(
            app=app or None, span=span if span in SPANS else "7d", second=bool(second), skipped=skipped[-MAX_SKIPPED:]
        )

    @property
    def query(self) -> CandidateQuery:
        return CandidateQuery(self.app, SPANS[self.span][1], self.second)

    def path(self, *, skip: str | None = None, notice: str | None = None) -> str:
        """The address of this queue, without the answer `skip`."""
        skipped = (*self.skipped, *([skip] if skip else []))[-MAX_SKIPPED:]
        query = {
            "app": self.app,
            "span": self.span,
            "second": "1" if self.second else None,
            "skip": ",".join(skipped),
            "notice": notice,
        }
        return f"/review?{urlencode({name: value for name, value in query.items() if value}, errors='replace')}"


Text = Annotated[str, Query(max_length=1_000)]
Field = Annotated[str, Form(max_length=1_000)]


@router.get("/review")
def review(
    request: Request,
    who: Viewer,
    *,
    app: Text = "",
    span: Text = "7d",
    second: Text = "",
    skip: Text = "",
    notice: Text = "",
) -> HTMLResponse:
    """Shows the next answer to people who may label, and the agreement to everybody."""
    application: Application = request.app.state.application
    queue, now = QueueFilter.read(app, span, second, skip), application.now()
    standing = request.app.state.standing.of(queue.app, now)
    offer, row = _next(request, queue, who, now, standing.lacking.lacks) if who.may(Permission.LABEL) else (None, None)
    return _page(request, who, queue, offer, row, standing=standing, message=NOTICES.get(notice), clear=False)


@router.post("/review")
def add_label(
    request: Request,
    who: Labeller,
    *,
    of_app: Annotated[str, Form(max_length=10_000)],
    of_id: Annotated[str, Form(max_length=10_000)],
    verdict: Annotated[Verdict, Form()],
    note: Annotated[str, Form(max_length=MAX_NOTE_CHARS)] = "",
    app: Field = "",
    span: Field = "7d",
    second: Field = "",
    skip: Field = "",
) -> Response:
    """Stores the label, and redirects to the next answer."""
    application: Application = request.app.state.application
    wish = Wish(
        name=f"{of_app}/{of_id}", spellings=((of_app, of_id),), label=verdict, by=who.name, note=note.strip() or None
    )
    done = label(application.reviews, [wish], now=application.now())
    return RedirectResponse(
        QueueFilter.read(app, span, second, skip).path(notice="labelled" if done.stored else "same"), 303
    )


@router.get("/review/clear", dependencies=[Depends(Needs(Permission.VIEW))])
def clear_again() -> Response:
    """Where an answer in clear is loaded again: leads to the queue."""
    return RedirectResponse("/review", 303)


@router.post("/review/clear")
def clear(
    request: Request,
    who: Unmasker,
    *,
    of_app: Annotated[str, Form(max_length=10_000)],
    of_id: Annotated[str, Form(max_length=10_000)],
    app: Field = "",
    span: Field = "7d",
    second: Field = "",
    skip: Field = "",
) -> HTMLResponse:
    """Shows the answer in clear, after the look is queued for the audit trail; the next one if it was labelled."""
    application: Application = request.app.state.application
    queue, now = QueueFilter.read(app, span, second, skip), application.now()
    standing = request.app.state.standing.of(queue.app, now)
    offer, row = _next(request, queue, who, now, standing.lacking.lacks)
    same_answer = offer is not None and (offer.candidate.app, offer.candidate.id) == (of_app, of_id)
    if same_answer:
        look = Act(kind=Kind.LOOK, by=who.name, at=now, app=of_app, subject=of_id, body={"at": "review"})
        record_act(application.engine, look)
    return _page(request, who, queue, offer, row, standing=standing, message=None, clear=same_answer)


def _next(
    request: Request, queue: QueueFilter, who: Identity, now: datetime, lacks: Verdict | None
) -> tuple[Offer | None, Mapping[str, Any] | None]:
    """The next offer with its interaction; records that it was offered."""
    application: Application = request.app.state.application
    candidates: CandidateCache = request.app.state.candidates
    skipped = list(queue.skipped)
    while len(skipped) <= 2 * MAX_SKIPPED:
        offer = candidates.next_offer(queue.query, by=who.name, skipped=skipped, now=now, lacks=lacks)
        if offer is None:
            break
        row = live_row(application.queries, offer)
        if row is not None:
            application.reviews.save_offer(offer, to=who.name, now=now)
            return offer, row
        skipped.append(skip_key(offer.candidate.app, offer.candidate.id))  # erased since the draw
    return None, None


def _page(
    request: Request,
    who: Identity,
    queue: QueueFilter,
    offer: Offer | None,
    row: Mapping[str, Any] | None,
    *,
    standing: Standing,
    message: str | None,
    clear: bool,
) -> HTMLResponse:
    application: Application = request.app.state.application
    report = standing.report
    shown: Sequence[str] = ("app", "id", "occurred_at", "question", "answer", "reference_answer", "retrieved_documents")
    return page(
        request,
        "review/review.html",
        who,
        message=message,
        queue=queue,
        spans=SPANS,
        offer=offer,
        row=None if row is None else {name: row[name] for name in shown},  # without the verdict
        drawn_words=DRAWN_WORDS[offer.drawn] if offer else "",
        skip=queue.path(skip=skip_key(offer.candidate.app, offer.candidate.id)) if offer else "",
        meanings=MEANINGS,
        clear=clear,
        shown=PageMasker(clear=clear),
        max_note=MAX_NOTE_CHARS,
        plans=[
            (plan, period_words(plan), progress(plan, rate(plan, labels, "self_generated")))
            for plan, labels in application.plans.open(queue.app, application.now())
        ],
        shortage=standing.lacking.words,
        report=report,
        remarks=list(remarks(report.together, report.left_out)),
        enough=ENOUGH,
        weeks=WEEKS,
    )
