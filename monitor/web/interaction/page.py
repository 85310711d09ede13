"""The page of one interaction: its texts, the passage behind each sentence, the reasons for the verdict, and labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Form, HTTPException, Path, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from monitor.app.review.labels import MAX_NOTE_CHARS, Wish, label
from monitor.app.wiring.application import Application
from monitor.assess.explain import judge_words, revised_by, start_probability
from monitor.assess.judge.judgement_text import judgement_text
from monitor.assess.reference import ranked_in
from monitor.core.assessment_json import storable
from monitor.core.errors import WrongSettings
from monitor.core.model import Unscored, Verdict
from monitor.core.reason_words import UNSCORED_ADVICE, UNSCORED_OF_ONE, UNSCORED_PAGE
from monitor.core.text.trace_link import trace_link
from monitor.store.interaction.context import MOST_TURNS, InteractionContext
from monitor.store.interaction.feedback import feedback_on
from monitor.store.interaction.turns.unscored_list import unscored_turns
from monitor.store.review.newest_labels import newest_labels
from monitor.web.base.access import Identity, Permission
from monitor.web.base.disclosure import INTERACTION_FIELDS, PageMasker, record_look
from monitor.web.base.guard import Needs
from monitor.web.base.page import interaction_path, page
from monitor.web.interaction import view as interaction_view
from monitor.web.interaction.diagnosis.view import diagnosis_view

router = APIRouter()
NOTICES = {
    "labelled": "Your label is stored.",
    "unchanged": "You have already stored this label.",
}
_PREFIX = "/interactions/"
_APP_AND_ID = 2  # segments of a path
_FORMS = ("/clear", "/label")  # of the page, behind its path
# What is cut and marked before it is shown. Masking takes most of a page's time where the documents are long.
_PARTS: Mapping[str, Callable[..., Any]] = {
    "sentences": interaction_view.sentence_views,
    "documents": interaction_view.document_views,
    "support": interaction_view.support_views,
    "diagnosis": diagnosis_view,
}
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
InteractionId = Annotated[str, Path(alias="id")]


@router.get("/interactions/{app}/{id:path}")
def interaction(
    request: Request, who: Viewer, app: str, id_: Annotated[str, Path(alias="id")], notice: str = ""
) -> Response:
    """Shows the interaction with personal data masked; the address of a form, loaded again, leads back to it."""
    try:
        return _page(request, who, *_app_and_id(request, app, id_), clear=False, message=NOTICES.get(notice))
    except HTTPException:
        raw: bytes = request.scope["raw_path"]
        form = next((form for form in _FORMS if raw.endswith(form.encode())), None)
        if form is None:
            raise
        return RedirectResponse(interaction_path(*_app_and_id(request, app, id_.removesuffix(form), form)), 303)


@router.post("/interactions/{app}/{id:path}/clear")
def in_clear(
    request: Request,
    who: Annotated[Identity, Depends(Needs(Permission.UNMASK))],
    app: str,
    id_: InteractionId,
) -> HTMLResponse:
    """Shows the interaction in clear, after the look is queued for the audit trail."""
    application: Application = request.app.state.application
    app, id_ = _app_and_id(request, app, id_, "/clear")
    if not (application.queries.with_assessments(id_, app) or unscored_turns(application.engine, id_, app)):
        raise _unknown(application, app, id_)
    record_look(request, who, app=app, subject=id_, fields=INTERACTION_FIELDS)
    return _page(request, who, app, id_, clear=True, message=None)


@router.post("/interactions/{app}/{id:path}/label")
def add_label(
    request: Request,
    *,
    who: Annotated[Identity, Depends(Needs(Permission.LABEL))],
    app: str,
    id_: InteractionId,
    verdict: Annotated[Verdict, Form()],
    note: Annotated[str, Form(max_length=MAX_NOTE_CHARS)] = "",
) -> RedirectResponse:
    """Stores the label and redirects to the page."""
    application: Application = request.app.state.application
    app, id_ = _app_and_id(request, app, id_, "/label")
    wish = Wish(name=f"{app}/{id_}", spellings=((app, id_),), label=verdict, by=who.name, note=note.strip() or None)
    try:
        stored = label(application.reviews, [wish], now=application.now()).stored
    except WrongSettings:
        raise _unknown(application, app, id_) from None
    return RedirectResponse(f"{interaction_path(app, id_)}?notice={'labelled' if stored else 'unchanged'}#labels", 303)


def _page(request: Request, who: Identity, app: str, id_: str, *, clear: bool, message: str | None) -> HTMLResponse:
    application: Application = request.app.state.application
    rows = application.queries.with_assessments(id_, app)
    if not rows:
        if turns := unscored_turns(application.engine, id_, app):
            return _unscored(request, who, turns[0], clear=clear, message=message)
        raise _unknown(application, app, id_)
    row = rows[0]
    profile = application.queries.profile(row["profile_hash"])
    context = InteractionContext(application.engine)
    parts = {name: view(row, clear=clear) for name, view in _PARTS.items()}
    # a look in clear is offered only where it would show more
    hides = not clear and any(view(row, clear=True) != parts[name] for name, view in _PARTS.items())
    conversation = row["conversation_id"]
    conversed = context.conversation(app, conversation) if conversation else ()
    return page(
        request,
        "interaction/interaction.html",
        who,
        clear=clear,
        message=message,
        row=row,
        currency=request.app.state.currency,
        others=rows[1:],
        path=interaction_path(app, id_),
        trace_url=trace_link(
            application.settings.trace_url, app=app, id_=id_, trace_id=row["trace_id"], span_id=row["span_id"]
        ),
        shown=PageMasker(clear=clear, hides=hides),
        masked_text=interaction_view.masker(clear=False),  # for other turns: the recorded look is at this one only
        **parts,
        opened=interaction_view.first_bad(parts["sentences"]),
        origins=interaction_view.ORIGINS,
        reasons=interaction_view.reasons(row),
        metrics=interaction_view.metrics(row, profile),
        rank=ranked_in(row),
        moves=interaction_view.strongest_moves(row, profile),
        start=None if profile is None else start_probability(profile),
        threshold=None if profile is None else profile.groundedness.threshold,
        judgements=_latest(application, app, id_),
        judge_words=judge_words(row),
        revised_by=revised_by(row) if row["earlier"] else None,
        judgement_text=judgement_text,
        turns=conversed[:MOST_TURNS],
        more_turns=len(conversed) > MOST_TURNS,
        most_turns=MOST_TURNS,
        leaves=context.leaves(app, id_),
        feedback=feedback_on(application.engine, app, id_),
        labels=newest_labels(application.engine, app, id_),
        most_note=MAX_NOTE_CHARS,
    )


def _unscored(
    request: Request, who: Identity, row: Mapping[str, Any], *, clear: bool, message: str | None
) -> HTMLResponse:
    reason = Unscored(row["unscored"])
    return page(
        request,
        "interaction/unscored.html",
        who,
        clear=clear,
        message=message,
        row=row,
        path=interaction_path(row["app"], row["id"]),
        shown=PageMasker(clear=clear),
        words=UNSCORED_OF_ONE[reason],
        advice=UNSCORED_ADVICE[reason],
        guide=UNSCORED_PAGE,
    )


def _latest(application: Application, app: str, id_: str) -> list[Mapping[str, Any]]:
    """The latest judgement of each metric, by name."""
    newest_first = application.queries.judgements(app, id_)
    latest = {judgement["metric"]: judgement for judgement in reversed(newest_first)}
    return [latest[name] for name in sorted(latest)]


def _app_and_id(request: Request, app: str, id_: str, suffix: str = "") -> tuple[str, str]:
    """App and id from the raw path, where a slash within one is %2F; else as the router has split them."""
    raw: str = request.scope["raw_path"].decode("latin-1")
    segments = [storable(unquote(part)) for part in raw.removeprefix(_PREFIX).removesuffix(suffix).split("/")]
    return (segments[0], segments[1]) if len(segments) == _APP_AND_ID else (storable(app), storable(id_))


def _unknown(application: Application, app: str, id_: str) -> HTTPException:
    if any(waiting["app"] == app for waiting in application.queries.unassessed(id_)):
        message = "This interaction is stored but not assessed yet. Reload in a minute, or run `monitor pending`."
    else:
        message = "There is no such interaction: it was never received, or retention has deleted it."
    return HTTPException(404, message)
