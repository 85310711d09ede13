"""`monitor tokens …` on a real store: a token signs in, is listed without its secret, and is revoked."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from typer.testing import CliRunner

from monitor.app.wiring.application import utc_now
from monitor.cli.app import app
from monitor.core.errors import WrongSettings
from monitor.store.tokens import Access, Session
from tests.factories.answers import at


@pytest.fixture
def run(database, monkeypatch):
    monkeypatch.setenv("MONITOR_DATABASE_URL", database)

    def run(*arguments):
        ended = CliRunner().invoke(app, ["tokens", *arguments])
        if ended.exception is not None and not isinstance(ended.exception, SystemExit):
            raise ended.exception
        return ended

    return run


@pytest.fixture
def access(engine):
    return Access(engine)


def test_the_secret_alone_is_on_standard_output(run, access):
    ended = run("create", "ada", "--role", "operator", "--expires", "90d", "--by", "grace")
    secret = ended.stdout.strip()
    assert secret.startswith("mon_")
    assert secret not in ended.stderr
    assert "ada, operator, expires" in ended.stderr
    token = access.holder(secret, utc_now())
    assert (token.name, token.role, token.created_by) == ("ada", "operator", "grace")
    assert token.expires_at - token.created_at == timedelta(days=90)


def test_a_viewer_that_never_expires_is_the_default(run, access):
    token = access.holder(run("create", "ada").stdout.strip(), utc_now())
    assert (token.role, token.expires_at) == ("viewer", None)


def test_as_json_it_is_one_object(run):
    made = json.loads(run("create", "ada", "--json").stdout)
    assert made["token"].startswith("mon_")
    assert made["state"] == "holds"
    assert made["name"] == "ada"


def test_the_list_says_who_may_what_and_holds_no_secret(run, rows):
    assert "this machine only" in run("list").stdout
    secret = run("create", "ada", "--role", "admin").stdout.strip()
    (listed,) = json.loads(run("list", "--json").stdout)
    assert (listed["name"], listed["role"], listed["state"]) == ("ada", "admin", "holds")
    assert "ada" in run("list").stdout
    text = run("list", "--json").stdout + run("list").stdout + str(rows("SELECT * FROM api_token"))
    assert secret not in text
    assert secret.removeprefix("mon_") not in text


@pytest.mark.parametrize("by", ["id", "name"])
def test_a_revoked_token_opens_nothing_and_ends_its_sessions(run, access, by):
    made = json.loads(run("create", "ada", "--json").stdout)
    session = access.begin_session(
        Session(subject="token:ada", role="viewer"), now=utc_now(), length=timedelta(hours=1), token_id=made["id"]
    )
    assert "is revoked" in run("revoke", made[by]).stdout
    assert access.holder(made["token"], utc_now()) is None
    assert access.session(session, utc_now()) is None
    with pytest.raises(WrongSettings, match="no valid token"):
        run("revoke", made[by])


def test_a_name_is_free_again_once_its_token_was_revoked(run):
    run("create", "ada")
    with pytest.raises(WrongSettings, match="already"):
        run("create", "ada")
    run("revoke", "ada")
    run("create", "ada")
    assert [its["state"] for its in json.loads(run("list", "--json").stdout)] == ["holds", "revoked"]


def test_somebody_of_an_organisation_is_signed_out(run, access):
    session = access.begin_session(
        Session(subject="oidc:ada@example.org", role="viewer"), now=utc_now(), length=timedelta(hours=1)
    )
    access.begin_session(Session(subject="oidc:gone", role="admin"), now=at(-9), length=timedelta(minutes=1))
    listed = run("list").stdout
    assert "oidc:ada@example.org  viewer" in listed
    assert "oidc:gone" not in listed
    assert "signed out" in run("revoke", "oidc:ada@example.org").stdout
    assert "signed in" not in run("list").stdout
    assert access.session(session, utc_now()) is None
    with pytest.raises(WrongSettings, match="not signed in"):
        run("revoke", "oidc:ada@example.org")


@pytest.mark.parametrize(
    "arguments",
    [
        ("ada", "--role", "king"),
        ("", "--role", "viewer"),
        ("a\nb",),
        ("x" * 101,),
        ("ada", "--expires", "soon"),
        ("ada", "--expires", "0s"),
        ("ada", "--expires", "20y"),
    ],
)
def test_wrong_wishes_are_refused_and_nothing_is_made(run, rows, arguments):
    with pytest.raises(WrongSettings):
        run("create", *arguments)
    assert rows("SELECT count(*) FROM api_token") == [(0,)]


def test_making_and_revoking_are_in_the_audit_trail(run, rows):
    run("create", "ada", "--by", "grace")
    run("revoke", "ada", "--by", "grace")
    acts = rows(
        "SELECT body ->> 'done', body ->> 'by', body ->> 'name' FROM audit_queue WHERE kind = 'token' ORDER BY seq"
    )
    assert acts == [("made", "grace", "ada"), ("revoked", "grace", "ada")]


def test_the_first_token_says_that_the_dashboard_is_shut_and_who_is_left_out(run):
    first = run("create", "colleague").stderr
    assert "everybody has to sign in" in first
    assert "no admin has a valid token; create one: monitor tokens create NAME --role admin" in first
    assert "never expires" in first
    second = run("create", "ada", "--role", "admin").stderr
    assert "everybody has to sign in" not in second
    assert "no admin has" not in second
    assert "no admin has" not in run("create", "grace").stderr
    run("revoke", "ada")
    assert "no admin has a valid token" in run("create", "alan", "--json").stderr


def test_a_first_token_of_an_admin_leaves_nobody_out(run):
    made = run("create", "ada", "--role", "admin").stderr
    assert "everybody has to sign in" in made
    assert "no admin has" not in made


def test_a_token_that_may_only_send_is_bound_to_an_app(run, access):
    ended = run("create", "bot", "--role", "collect", "--app", "support-bot")
    assert "bot, collect for support-bot, never expires" in ended.stderr
    assert access.holder(ended.stdout.strip(), utc_now()).app == "support-bot"
    assert "support-bot" in run("list").stdout
    with pytest.raises(WrongSettings, match="--app goes with --role collect"):
        run("create", "ada", "--app", "support-bot")
    with pytest.raises(WrongSettings, match="1 to 128 printable characters"):
        run("create", "bot2", "--role", "collect", "--app", "x" * 129)
