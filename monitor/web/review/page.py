"""Review queue: one answer after the other to label, without what the program thinks of it; and how far both agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from monitor.app.review import MAX_NOTE_CHARS, Wish, agreement_report, label, live_row
from monitor.app.wiring.application import Application
from monitor.core.model import Verdict
from monitor.review.agreement import ENOUGH
from monitor.review.draw import Offer
from monitor.review.presentation import DRAWN_WORDS, remarks
from monitor.store.audit_queue import Act, Kind, keep_act
from monitor.web.base.access import Identity, Permission
from monitor.web.base.guard import Needs
from monitor.web.base.page import page
from monitor.web.review.candidates import MAX_SKIPPED, CandidateCache, CandidateQuery, skip_key

router = APIRouter()
SPANS: Mapping[str, tuple[str, timedelta]] = {
    "24h": ("24 hours", timedelta(days=1)), "7d": ("7 days", timedelta(days=7)), "28d": ("28 days", timedelta(days=28)),
}  # fmt: skip
WEEKS = 8
NOTICES = {"labelled": "Labelled; here is the next one.", "same": "You had said so before; here is the next one."}
MEANINGS = {
    Verdict.GROUNDED: "it says what the documents say",
    Verdict.REFUSAL: "it says that it does not know, or will not say",
    Verdict.SELF_GENERATED: "it states something of weight that no document holds",
}
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
Labeller = Annotated[Identity, Depends(Needs(Permission.LABEL))]
Unmasker = Annotated[Identity, Depends(Needs(Permission.UNMASK))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """What somebody labels: of which app and time, whether second opinions only, and what they have skipped."""

    app: str | None
    span: str
    second: bool
    skipped: tuple[str, ...]

    @classmethod
    def read(cls, app: str, span: str, second: str, skip: str) -> Sitting:
        """From the address or a form; what is not known falls back to what is usual."""
        skipped = tuple(part for part in skip.split(",") if len(part) == 8 and part.isalnum())  # noqa: PLR2004
        return cls(
            app=app or None, span=span if span in SPANS else "7d", second=bool(second), skipped=skipped[-MAX_SKIPPED:]
        )

    @property
    def query(self) -> CandidateQuery:
        return CandidateQuery(self.app, SPANS[self.span][1], self.second)

    def path(self, *, skip: str | None = None, said: str | None = None) -> str:
        """The page of this sitting, after `skip` too."""
        skipped = (*self.skipped, *([skip] if skip else []))[-MAX_SKIPPED:]
        query = {
            "app": self.app, "span": self.span, "second": "1" if self.second else None,
            "skip": ",".join(skipped), "said": said,
        }  # fmt: skip
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
    said: Text = "",
) -> HTMLResponse:
    """The next one, for who may label; the agreement, for everybody."""
    application: Application = request.app.state.application
    sitting, now = Sitting.read(app, span, second, skip), application.now()
    offer, row = _next(request, sitting, who, now) if who.may(Permission.LABEL) else (None, None)
    return _page(request, who, sitting, offer, row, said=NOTICES.get(said), clear=False)


@router.post("/review")
def say(
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
    """Stores the label, and goes on to the next one."""
    application: Application = request.app.state.application
    wish = Wish(
        name=f"{of_app}/{of_id}", spellings=((of_app, of_id),), label=verdict, by=who.name, note=note.strip() or None
    )
    done = label(application, [wish])
    return RedirectResponse(
        Sitting.read(app, span, second, skip).path(notice="labelled" if done.stored else "same"), 303
    )


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
    """The same page in clear, once the trail has it; of another answer where that one was labelled meanwhile."""
    application: Application = request.app.state.application
    sitting, now = Sitting.read(app, span, second, skip), application.now()
    offer, row = _next(request, sitting, who, now)
    meant = offer is not None and (offer.candidate.app, offer.candidate.id) == (of_app, of_id)
    if meant:
        look = Act(kind=Kind.LOOK, by=who.name, at=now, app=of_app, subject=of_id, body={"at": "review"})
        keep_act(application.engine, look)
    return _page(request, who, sitting, offer, row, said=None, clear=meant)


def _next(
    request: Request, sitting: Sitting, who: Identity, now: datetime
) -> tuple[Offer | None, Mapping[str, Any] | None]:
    """The next offer with its interaction; it is remembered that it was made."""
    application: Application = request.app.state.application
    candidates: CandidateCache = request.app.state.candidates
    skipped = list(sitting.skipped)
    while len(skipped) <= 2 * MAX_SKIPPED:
        offer = candidates.next_offer(sitting.query, by=who.name, skipped=skipped, now=now)
        if offer is None:
            break
        row = live_row(application, offer)
        if row is not None:
            application.reviews.keep_offer(offer, to=who.name, now=now)
            return offer, row
        skipped.append(skip_key(offer.candidate.app, offer.candidate.id))  # erased since the draw
    return None, None


def _page(
    request: Request,
    who: Identity,
    sitting: Sitting,
    offer: Offer | None,
    row: Mapping[str, Any] | None,
    *,
    said: str | None,
    clear: bool,
) -> HTMLResponse:
    application: Application = request.app.state.application
    report = agreement_report(application, app=sitting.app, weeks=WEEKS)
    shown: Sequence[str] = ("app", "id", "occurred_at", "question", "answer", "reference_answer", "retrieved_documents")
    return page(
        request,
        "review/review.html",
        who,
        said=said,
        sitting=sitting,
        spans=SPANS,
        offer=offer,
        row=None if row is None else {name: row[name] for name in shown},  # nothing of what the program thinks
        why=DRAWN_WORDS[offer.drawn] if offer else "",
        skip=sitting.path(skip=skip_key(offer.candidate.app, offer.candidate.id)) if offer else "",
        meanings=MEANINGS,
        clear=clear,
        most_note=MAX_NOTE_CHARS,
        report=report,
        remarks=list(remarks(report.together, report.left_out)),
        enough=ENOUGH,
        weeks=WEEKS,
    )
