"""API routes of the alert rules: those in force, the saved versions, checks with their back-test, and saving."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, HTTPException, Path, Request
from pydantic import AfterValidator, BeforeValidator, Field

from monitor.alert.rules.file import WrongRules
from monitor.alert.rules.version import RulesVersion, digest_of
from monitor.app.backtest import Rehearsed
from monitor.app.wiring.application import Application
from monitor.core.assessment_json import storable
from monitor.core.errors import WrongSettings
from monitor.privacy.masking import redact
from monitor.store.alert.rules_versions import LONGEST_REASON, MOST_CHARACTERS, NotNewest
from monitor.web.alert import rules_view
from monitor.web.alert.configured_rules import LoadedRules
from monitor.web.alert.rules_checks import DAYS, RulesBusy, RulesCheck, RulesChecks
from monitor.web.alert.rules_edit_page import read_only
from monitor.web.base.access import Identity, Permission
from monitor.web.base.api_model import ApiRequest, ApiResponse
from monitor.web.base.guard import Needs
from monitor.web.base.parameters import MAX_LARGE, Id, LargeLimit, integral
from monitor.web.base.problem import CONFLICT, NOT_FOUND, TOO_LARGE, problems

router = APIRouter(tags=["rules"])
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
Editor = Annotated[Identity, Depends(Needs(Permission.CONFIGURE))]
Number = Annotated[int, Field(ge=0, le=2**31 - 1), BeforeValidator(integral)]
Written = Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS), AfterValidator(storable)]
Reason = Annotated[str, Field(min_length=1, max_length=LONGEST_REASON), AfterValidator(storable)]


class RulesNow(ApiResponse):
    """The rules in force. Personal data in the text is masked for roles that may not save rules."""

    origin: str = Field(description="a version, the rules that ship, or the name of the file in force")
    version: int | None = Field(description="0: the rules that ship; null while a file is in force")
    newest: int = Field(description="the newest saved version; base a change on it")
    digest: str | None = Field(description="SHA-256 of the text, in hex")
    source: str | None = Field(description="the YAML; null while the file is wrong")
    problem: str | None = Field(description="why the file, or a newer version, cannot be used")
    evaluated_since: datetime | None = Field(description="when `monitor run` took these rules up; null: not yet")


class SavedRules(ApiResponse):
    """A saved version, without its text."""

    version: int
    based_on: int
    saved_at: datetime
    saved_by: str
    why: str
    digest: str
    authentic: bool = Field(description="false: not what was saved, and not used")


class SavedRulesText(SavedRules):
    """A saved version. Personal data in the text is masked for roles that may not save rules."""

    source: str


class SavedRulesList(ApiResponse):
    """Versions, the newest first."""

    items: list[SavedRules]


class NewCheck(ApiRequest):
    """A text of rules to check, and the days of stored answers to try it on."""

    source: Annotated[Written, Field(description="YAML of a rules file", json_schema_extra={"format": "rules"})]
    based_on: Number
    days: Annotated[int, Field(ge=1, le=max(DAYS)), BeforeValidator(integral)] = 7


class NewVersion(ApiRequest):
    """Saves the text of a check that has ended."""

    check: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
    why: Reason


class Tried(ApiResponse):
    """How often a rule would have fired; null where it does not exist, or `why_not` says why that is unknown."""

    name: str
    change: Literal["new", "changed", "as before", "removed"]
    fired: int | None
    fired_before: int | None
    why_not: str | None


class Check(ApiResponse):
    """A valid text of rules; `rules` is null until the back-test has ended."""

    check: str
    based_on: int
    against: str
    difference: list[str] = Field(description="as `diff -u` shows it")
    since: datetime
    until: datetime
    state: Literal["running", "done", "failed"]
    rules: list[Tried] | None


@router.get(
    "/rules", response_model=RulesNow, operation_id="getRules", responses=problems(), summary="Get the rules in force"
)
def rules(request: Request, who: Viewer) -> RulesNow:
    """Returns the text of the rules and where it comes from."""
    application: Application = request.app.state.application
    loaded: LoadedRules = request.app.state.rules.load()
    newest = application.alerting.rules_versions.newest()
    source = None if loaded.rules is None else loaded.rules.source
    taken = rules_view.taken_up(application, loaded)
    return RulesNow(
        origin=loaded.origin,
        version=loaded.version,
        newest=0 if newest is None else newest.version,
        digest=None if source is None else digest_of(source),
        source=None if source is None else _shown(source, who),
        problem=None if loaded.problem is None else redact(loaded.problem),
        evaluated_since=taken.since if taken and taken.same else None,
    )


@router.get(
    "/rules/versions",
    response_model=SavedRulesList,
    operation_id="listRulesVersions",
    responses=problems(),
    summary="List the saved versions of the rules",
)
def versions(request: Request, _: Viewer, *, below: Id | None = None, limit: LargeLimit = MAX_LARGE) -> SavedRulesList:
    """Returns who saved each version, when and why; with `below` only versions with a lower number."""
    application: Application = request.app.state.application
    found = application.alerting.rules_versions.list(below=below, most=limit)
    return SavedRulesList(items=[SavedRules(**_facts(each)) for each in found])


@router.get(
    "/rules/versions/{version}",
    response_model=SavedRulesText,
    operation_id="getRulesVersion",
    responses=problems(NOT_FOUND),
    summary="Get a saved version of the rules",
)
def version(request: Request, who: Viewer, version: Id) -> SavedRulesText:
    """Returns a version with its text."""
    application: Application = request.app.state.application
    found = application.alerting.rules_versions.get(version)
    if found is None:
        raise HTTPException(NOT_FOUND, f"there is no version {version} of the rules")
    return SavedRulesText(**_facts(found), source=_shown(found.source, who))


@router.post(
    "/rules/checks",
    response_model=Check,
    status_code=202,
    operation_id="checkRules",
    responses=problems(CONFLICT, TOO_LARGE),
    summary="Check a text of rules",
)
def check(request: Request, who: Editor, wanted: NewCheck) -> Check:
    """Begins a back-test of the text; 422 names each error in it with line and column. Nothing changes."""
    checks: RulesChecks = request.app.state.rules_checks
    try:
        begun = checks.begin(wanted.source, based_on=wanted.based_on, days=wanted.days, by=who.name)
    except WrongRules as error:
        raise HTTPException(422, str(error)) from None
    except RulesBusy as error:
        raise HTTPException(CONFLICT, str(error)) from None
    return _check(begun)


@router.get(
    "/rules/checks/{check}",
    response_model=Check,
    operation_id="getRulesCheck",
    responses=problems(NOT_FOUND),
    summary="Get a check of rules",
)
def checked(request: Request, _: Editor, check: Annotated[str, Path(pattern="^[0-9a-f]{32}$")]) -> Check:
    """Returns the check, with its back-test once that has ended. The process that began it remembers the last ones."""
    checks: RulesChecks = request.app.state.rules_checks
    found = checks.get(check)
    if found is None:
        raise HTTPException(NOT_FOUND, "this check is not remembered: check the text again")
    return _check(found)


@router.post(
    "/rules/versions",
    response_model=SavedRules,
    status_code=201,
    operation_id="saveRules",
    responses=problems(NOT_FOUND, CONFLICT, TOO_LARGE),
    summary="Save checked rules as a new version",
)
def save(request: Request, who: Editor, wanted: NewVersion) -> SavedRules:
    """Saves the text of a check; 409 if somebody saved another version since the one that it is based on."""
    application: Application = request.app.state.application
    checks: RulesChecks = request.app.state.rules_checks
    its = checks.get(wanted.check)
    if its is None:
        raise HTTPException(NOT_FOUND, "this check is not remembered: check the text again")
    if its.tried is None:
        raise HTTPException(CONFLICT, "the back-test has not ended: save the text when it has")
    if application.settings.rules is not None:
        raise HTTPException(CONFLICT, read_only(application))
    try:
        saved = application.alerting.rules_versions.save(
            its.text, based_on=its.based_on, by=who.name, why=wanted.why, now=application.now()
        )
    except NotNewest as error:
        raise HTTPException(CONFLICT, str(error)) from None
    except WrongSettings as error:
        raise HTTPException(422, str(error)) from None
    return SavedRules(**_facts(saved))


def _facts(found: RulesVersion) -> dict[str, object]:
    return {
        **{name: getattr(found, name) for name in ("version", "based_on", "saved_at", "saved_by", "digest")},
        "authentic": found.authentic,
        "why": redact(found.why),
    }


def _shown(source: str, who: Identity) -> str:
    return source if who.may(Permission.CONFIGURE) else redact(source)


def _check(its: RulesCheck) -> Check:
    return Check(
        check=its.id,
        based_on=its.based_on,
        against=its.against,
        difference=list(its.difference),
        since=its.span.start,
        until=its.span.end,
        state="done" if its.tried is not None else "failed" if its.failed else "running",
        rules=None
        if its.tried is None
        else [
            Tried(
                name=each.name,
                change=each.change.value,
                fired=_fired(each.now),
                fired_before=_fired(each.before),
                why_not=each.now.why_not if each.now else None,
            )
            for each in its.tried
        ],
    )


def _fired(rehearsed: Rehearsed | None) -> int | None:
    return None if rehearsed is None or rehearsed.why_not else len(rehearsed.episodes)
