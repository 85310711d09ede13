"""Interaction: what was asked and answered, what carries each sentence, why the verdict, and what people say of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Form, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from monitor.app.review import MAX_NOTE_CHARS, Wish, label
from monitor.app.wiring.application import Application
from monitor.assess.explain import start_probability
from monitor.assess.judge.judgement_text import judgement_text
from monitor.core.assessment_json import storable
from monitor.core.errors import WrongSettings
from monitor.core.model import Verdict
from monitor.store.interaction.context import InteractionContext
from monitor.store.review.labels import newest_labels
from monitor.web.base.access import Identity, Permission
from monitor.web.base.disclosure import record_look
from monitor.web.base.guard import Needs
from monitor.web.base.page import interaction_path, page
from monitor.web.interaction import view as reading

router = APIRouter()
NOTICES = {
    "labelled": "Your label is stored.",
    "unchanged": "You had said just that already.",
}
_PREFIX = "/interactions/"
_FIELDS = ("question", "answer", "documents", "support", "evidence", "judgements", "tags", "conversation", "labels")
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]


@router.get("/interactions/{app}/{id:path}")
def interaction(request: Request, who: Viewer, app: str, id: str, said: str = "") -> HTMLResponse:  # noqa: A002
    """The page, personal data masked."""
    return _page(request, who, *_named(request, app, id), clear=False, said=NOTICES.get(said))


@router.post("/interactions/{app}/{id:path}/clear")
def in_clear(
    request: Request,
    who: Annotated[Identity, Depends(Needs(Permission.UNMASK))],
    app: str,
    id: str,  # noqa: A002  its name in the path
) -> HTMLResponse:
    """The same in clear, once the look at it is queued for the audit trail."""
    application: Application = request.app.state.application
    app, id_ = _named(request, app, id, "/clear")
    if not application.queries.with_assessments(id_, app):
        raise _unknown(application, app, id_)
    record_look(request, who, app=app, subject=id_, fields=_FIELDS)
    return _page(request, who, app, id_, clear=True, said=None)


@router.post("/interactions/{app}/{id:path}/label")
def label_it(
    request: Request,
    *,
    who: Annotated[Identity, Depends(Needs(Permission.LABEL))],
    app: str,
    id: str,  # noqa: A002
    verdict: Annotated[Verdict, Form()],
    note: Annotated[str, Form(max_length=MAX_NOTE_CHARS)] = "",
) -> RedirectResponse:
    """Stores what they say of it, and goes back to the page."""
    application: Application = request.app.state.application
    app, id_ = _named(request, app, id, "/label")
    wish = Wish(name=f"{app}/{id_}", spellings=((app, id_),), label=verdict, by=who.name, note=note.strip() or None)
    try:
        stored = label(application, [wish]).stored
    except WrongSettings:
        raise _unknown(application, app, id_) from None
    return RedirectResponse(f"{interaction_path(app, id_)}?notice={'labelled' if stored else 'unchanged'}#labels", 303)


def _page(request: Request, who: Identity, app: str, id_: str, *, clear: bool, said: str | None) -> HTMLResponse:
    application: Application = request.app.state.application
    rows = application.queries.with_assessments(id_, app)
    if not rows:
        raise _unknown(application, app, id_)
    row = rows[0]
    profiles = {its["profile_hash"]: application.queries.profile(its["profile_hash"]) for its in rows}
    profile = profiles[row["profile_hash"]]
    beside = InteractionContext(application.engine)
    sentences = reading.shown_sentences(row, clear=clear)
    conversation = row["conversation_id"]
    return page(
        request,
        "interaction/interaction.html",
        who,
        clear=clear,
        said=said,
        row=row,
        others=rows[1:],
        path=interaction_path(app, id_),
        shown=reading.mask(clear=clear),
        hidden=reading.mask(clear=False),  # for the other turns: the look is at this one alone
        sentences=sentences,
        opened=reading.first_wrong(sentences),
        documents=reading.shown_documents(row, clear=clear),
        support=reading.shown_support(row, clear=clear),
        origins=reading.ORIGINS,
        why=reading.why(row),
        metrics=reading.metrics(row, profile),
        moves=reading.moves(row, profile),
        start=None if profile is None else start_probability(profile),
        threshold=None if profile is None else profile.groundedness.threshold,
        judgements=_latest(application, app, id_),
        told=judgement_text,
        turns=beside.conversation(app, conversation) if conversation else (),
        leaves=beside.leaves(app, id_),
        labels=newest_labels(application.engine, app, id_),
        most_note=MAX_NOTE_CHARS,
    )


def _latest(application: Application, app: str, id_: str) -> list[Mapping[str, Any]]:
    """The latest judgement of each metric, by name."""
    latest = {its["metric"]: its for its in reversed(application.queries.judgements(app, id_))}
    return [latest[name] for name in sorted(latest)]


def _named(request: Request, app: str, id_: str, suffix: str = "") -> tuple[str, str]:
    """App and id as the address writes them, where a slash within one is %2F; else as the router has cut them."""
    raw: str = request.scope["raw_path"].decode("latin-1")
    own = [storable(unquote(part)) for part in raw.removeprefix(_PREFIX).removesuffix(suffix).split("/")]
    return (own[0], own[1]) if len(own) == 2 else (storable(app), storable(id_))  # noqa: PLR2004


def _unknown(application: Application, app: str, id_: str) -> HTTPException:
    if any(its["app"] == app for its in application.queries.unassessed(id_)):
        said = (
            "This interaction is stored and waits for its assessment; look again in a moment, or at `monitor pending`."
        )
    else:
        said = "There is no such interaction: it was never read, or retention has deleted it."
    return HTTPException(404, said)
