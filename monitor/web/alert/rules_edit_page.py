"""The pages on which rules are edited: the text, the check with its back-test, and saving what was checked."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from monitor.alert.rules.file import MarkedProblem, WrongRules, read_rules
from monitor.alert.rules.version import SHIPPED, name_of
from monitor.app.rules import difference, normal_text
from monitor.app.wiring.application import Application
from monitor.core.errors import WrongSettings
from monitor.store.alert.rules_versions import LONGEST_REASON, NotNewest
from monitor.web.alert import rules_view
from monitor.web.alert.configured_rules import LoadedRules
from monitor.web.alert.rules_checks import DAYS, JOB, RulesBusy, RulesCheck, RulesChecks
from monitor.web.alert.rules_page import Editor, as_file, text_of
from monitor.web.alert.view import rule_text, with_rule_text
from monitor.web.base.access import Identity
from monitor.web.base.page import page
from monitor.web.base.parameters import MAX_ID

router = APIRouter()
Text = Annotated[str, Form(max_length=500_000)]  # a line end counts twice here; the check has the limit
Based = Annotated[int, Form(ge=0, le=MAX_ID)]
Reason = Annotated[str, Form(max_length=2 * LONGEST_REASON)]


@router.get("/alerts/rules/edit")
def edit(
    request: Request,
    who: Editor,
    version: Annotated[int | None, Query(ge=0, le=MAX_ID)] = None,
    rule: Annotated[str, Query(max_length=1_000)] = "",
) -> HTMLResponse:
    """Offers the rules in force for editing, or one of them, or an earlier version to restore."""
    application: Application = request.app.state.application
    newest = _newest(request)  # before the text: what is saved in between is a conflict, and is not undone
    text = _present(request) if version is None else text_of(application, version)
    piece = rule_text(text, rule) if rule else None
    if rule and piece is None:
        raise HTTPException(404, "There is no rule of this name among the rules in force.")
    notice = f"This is the text of {name_of(version)}. Saved, it becomes a new version." if version is not None else ""
    return _form(request, who, text if piece is None else piece, based_on=newest, rule=rule, notice=notice)


@router.post("/alerts/rules/check")
def check(
    request: Request,
    who: Editor,
    *,
    source: Text,
    based_on: Based,
    days: Annotated[int, Form(ge=1, le=max(DAYS))] = 7,
    rule: Annotated[str, Form(max_length=1_000)] = "",
) -> Response:
    """Checks the text, and begins the back-test. A wrong text comes back with its errors."""
    if rule:
        newest, present = _newest(request), _present(request)
        edited = with_rule_text(present, rule, normal_text(source).rstrip("\n"))
        if edited is None or based_on != newest:
            notice = "The rules have changed since. Below is their present text: copy your rule to it."
            return _form(request, who, present, based_on=newest, own_rule=source, notice=notice, status=409)
        source = edited
    checks: RulesChecks = request.app.state.rules_checks
    if based_on != (newest := _newest(request)):
        return _conflict(request, who, source, NotNewest(newest, based_on), based_on)
    try:
        begun = checks.begin(source, based_on=based_on, days=days, by=who.name)
    except WrongRules as error:
        return _form(request, who, source, based_on=based_on, problems=error.problems, days=days, status=422)
    except WrongSettings as error:
        return _form(request, who, source, based_on=based_on, notice=f"{error}.", days=days, status=422)
    except RulesBusy as error:
        return _form(request, who, source, based_on=based_on, notice=str(error), days=days, status=409)
    return RedirectResponse(f"/alerts/rules/checks/{begun.id}", 303)


@router.get("/alerts/rules/checks/{check_id}")
def checked(request: Request, who: Editor, check_id: str) -> HTMLResponse:
    """Shows a check: the difference, and the back-test as far as it is."""
    return _checked(request, who, _known(request, check_id))


@router.get("/alerts/rules/checks/{check_id}/rules.yaml")
def download(request: Request, _: Editor, check_id: str) -> Response:
    """Sends the checked text as a file."""
    return as_file(_known(request, check_id).text, "rules.yaml")


@router.post("/alerts/rules/versions")
def save(
    request: Request,
    who: Editor,
    *,
    check_id: Annotated[str, Form(max_length=32)],
    source: Text,
    based_on: Based,
    why: Reason = "",
) -> Response:
    """Saves a checked text as a new version."""
    application: Application = request.app.state.application
    checks: RulesChecks = request.app.state.rules_checks
    its = checks.get(check_id)
    if its is None or its.tried is None:
        if based_on != (newest := _newest(request)):
            return _conflict(request, who, source, NotNewest(newest, based_on), based_on)
        notice = "This text has not been checked by this process, or not to the end: check it again, then save it."
        return _form(request, who, source, based_on=based_on, notice=notice, status=409)
    if application.settings.rules is not None:
        return _checked(request, who, its, problem=read_only(application), why=why, status=409)
    try:
        application.alerting.rules_versions.save(
            its.text, based_on=its.based_on, by=who.name, why=why, now=application.now()
        )
    except NotNewest as error:
        return _conflict(request, who, its.text, error, its.based_on)
    except WrongSettings as error:
        return _checked(request, who, its, problem=f"{error}.", why=why, status=422)
    return RedirectResponse("/alerts/rules?notice=saved", 303)


def read_only(application: Application) -> str:
    """Why nothing can be saved while a file is in force."""
    return (
        f"Not saved: these rules come from the file {application.settings.rules}. Edit them there, or start monitor "
        "without MONITOR_RULES, so that the saved versions are in force."
    )


def _form(
    request: Request,
    who: Identity,
    text: str,
    *,
    based_on: int,
    rule: str = "",
    own_rule: str = "",
    notice: str = "",
    problems: Sequence[MarkedProblem] = (),
    changes: Sequence[str] = (),
    days: int = 7,
    status: int = 200,
) -> HTMLResponse:
    application: Application = request.app.state.application
    text = normal_text(text)
    return page(
        request,
        "alert/rules_edit.html",
        who,
        status=status,
        text=text,
        rule=rule,
        own_rule=normal_text(own_rule) if own_rule else "",
        message=notice,
        refused=status >= HTTPStatus.BAD_REQUEST,
        problems=list(rules_view.excerpts(text, problems)),
        changes=list(rules_view.difference_lines(changes)),
        based_on=based_on,
        name_of=name_of,
        file=application.settings.rules,
        days=days,
        spans=DAYS,
        rows=min(max(text.count("\n") + 2, 8), 30),
    )


def _checked(
    request: Request, who: Identity, its: RulesCheck, *, problem: str = "", why: str = "", status: int = 200
) -> HTMLResponse:
    application: Application = request.app.state.application
    return page(
        request,
        "alert/rules_check.html",
        who,
        status=status,
        its=its,
        number=len(its.rules.rules),
        job=request.app.state.jobs.latest(JOB),
        difference=list(rules_view.difference_lines(its.difference)),
        view=rules_view,
        file=application.settings.rules,
        problem=problem,
        why=why,
        longest=LONGEST_REASON,
        name_of=name_of,
    )


def _conflict(request: Request, who: Identity, text: str, error: NotNewest, based_on: int) -> HTMLResponse:
    """The text as it was, and what others have saved since the version that it was edited from."""
    application: Application = request.app.state.application
    versions = application.alerting.rules_versions
    base = read_rules(None) if based_on == SHIPPED or (old := versions.get(based_on)) is None else old.source
    newest = versions.newest()
    changes = difference(base, newest.source) if newest else ()
    said = f"Version {newest.version} by {newest.saved_by} says: {newest.why}" if newest else ""
    notice = f"{str(error)[:1].upper()}{str(error)[1:]}. {said}"
    number = newest.version if newest else SHIPPED
    return _form(request, who, text, based_on=number, notice=notice, changes=changes, status=409)


def _known(request: Request, check_id: str) -> RulesCheck:
    its: RulesCheck | None = request.app.state.rules_checks.get(check_id)
    if its is None:
        raise HTTPException(404, "This check is not remembered any more: go back, and check the text again.")
    return its


def _present(request: Request) -> str:
    """The text of the rules in force; while the file in force is wrong, its text, to be mended."""
    loaded: LoadedRules = request.app.state.rules.load()
    if loaded.rules is not None:
        return loaded.rules.source
    application: Application = request.app.state.application
    return read_rules(application.settings.rules)


def _newest(request: Request) -> int:
    """The number of the newest version, whether or not it is in force."""
    application: Application = request.app.state.application
    newest = application.alerting.rules_versions.newest()
    return SHIPPED if newest is None else newest.version
