"""The pages of rules: those in force with their YAML, and the saved versions, to read, compare and download."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from fastapi.responses import HTMLResponse

from monitor.alert.rule import Rule, RuleSet
from monitor.alert.rules.file import read_rules
from monitor.alert.rules.version import SHIPPED, RulesVersion, name_of
from monitor.alert.rules.words import fires_when
from monitor.app.rules import difference
from monitor.app.wiring.application import Application
from monitor.web.alert import rules_view
from monitor.web.alert.configured_rules import LoadedRules
from monitor.web.alert.view import rule_text
from monitor.web.base.access import Identity, Permission
from monitor.web.base.guard import Needs
from monitor.web.base.page import page
from monitor.web.base.parameters import MAX_ID

router = APIRouter()
PAGE = 20  # versions
NOTICES = {"saved": "Saved. The next evaluation takes these rules up."}
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
Editor = Annotated[Identity, Depends(Needs(Permission.CONFIGURE))]
Number = Annotated[int, Path(ge=1, le=MAX_ID)]


@router.get("/alerts/rules")
def rules(
    request: Request, who: Viewer, before: Annotated[int | None, Query(ge=1, le=MAX_ID)] = None, notice: str = ""
) -> HTMLResponse:
    """Shows which rules are in force, where they come from, and the saved versions."""
    application: Application = request.app.state.application
    loaded: LoadedRules = request.app.state.rules.load()
    versions = application.alerting.rules_versions.list(below=before, most=PAGE + 1)
    in_force = application.alerting.rules_versions.get(loaded.version) if loaded.version else None
    return page(
        request,
        "alert/rules.html",
        who,
        message=NOTICES.get(notice),
        loaded=loaded,
        in_force=in_force,
        file=application.settings.rules,
        rules=_with_text(loaded.rules) if loaded.rules else [],
        taken_up=rules_view.taken_up(application, loaded),
        versions=versions[:PAGE],
        name_of=name_of,
        older=versions[PAGE - 1].version if len(versions) > PAGE else None,
    )


@router.get("/alerts/rules/versions/{number}")
def version(
    request: Request,
    who: Viewer,
    number: Number,
    against: Annotated[int | None, Query(ge=0, le=MAX_ID)] = None,
) -> HTMLResponse:
    """Shows a version: its text, and how it differs from another one, by default from the one that it is based on."""
    application: Application = request.app.state.application
    shown = _version(application, number)
    other = shown.based_on if against is None else against
    loaded: LoadedRules = request.app.state.rules.load()
    return page(
        request,
        "alert/rules_version.html",
        who,
        shown=shown,
        other=other,
        difference=list(rules_view.difference_lines(difference(text_of(application, other), shown.source))),
        known=[SHIPPED, *reversed(application.alerting.rules_versions.numbers())],
        in_force=loaded.version == number,
        file=application.settings.rules,
        name_of=name_of,
    )


@router.get("/alerts/rules/versions/{number}/rules.yaml")
def download(request: Request, _: Editor, number: Number) -> Response:
    """Sends the text of a version as a file."""
    shown = _version(request.app.state.application, number)
    return as_file(shown.source, f"rules-version-{number}.yaml")


def as_file(text: str, name: str) -> Response:
    """The text of rules as a download."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, headers=headers, media_type="application/yaml")


def text_of(application: Application, number: int) -> str:
    """The text of a version, or of the rules that ship.

    Raises:
        HTTPException: there is no such version.
    """
    return read_rules(None) if number == SHIPPED else _version(application, number).source


def _with_text(rules: RuleSet) -> list[tuple[Rule, str, str | None]]:
    """Each rule, when it fires, and its lines in the text."""
    return [(rule, fires_when(rule), rule_text(rules.source, rule.name)) for rule in rules.rules]


def _version(application: Application, number: int) -> RulesVersion:
    found = application.alerting.rules_versions.get(number)
    if found is None:
        raise HTTPException(404, f"There is no version {number} of the rules.")
    return found
