"""Who gets in, how they stay signed in, and that a foreign page cannot use their session."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from monitor.app.metrics.health import Health, Readiness, lives
from monitor.core.errors import Retriable
from monitor.store.tokens import Session
from monitor.web.base.guard import MAX_SIGN_INS
from tests.factories.answers import a_batch, an_assessment
from tests.integration.web.conftest import HERE

SAFE = "https://monitor.example.org"
ACT = "/signout"  # an unsafe request that anybody may make who is signed in


def session_of(client):
    return next(cookie for cookie in client.cookies.jar if "monitor" in cookie.name)


def test_a_token_in_the_form_becomes_a_session_and_is_in_no_cookie(site):
    client, secret = site.anonymous(), site.token("viewer", "ada")
    answer = client.post("/signin", data={"token": f" {secret} ", "next": "/alerts"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/alerts")
    assert secret not in answer.headers["set-cookie"]
    assert "token:ada, viewer" in client.get("/").text


def test_the_session_s_cookie_is_out_of_reach_of_scripts_and_of_other_sites(site, make_site):
    client = site.anonymous()
    plain = client.post("/signin", data={"token": site.token("viewer")}).headers["set-cookie"]
    for flag in ("monitor_session=", "HttpOnly", "SameSite=lax", "Path=/", "Max-Age=43200"):
        assert flag in plain
    assert "Domain" not in plain
    https = make_site(guard={"only_tokens": True, "public": SAFE})
    cookie = https.anonymous(at=SAFE).post("/signin", data={"token": https.token("viewer")}).headers["set-cookie"]
    assert cookie.startswith("__Host-monitor=")
    assert "; Secure" in cookie


@pytest.mark.parametrize("how", ["expired", "revoked"])
def test_a_token_that_does_not_hold_opens_nothing(site, moving, how):
    secret = site.token("admin", "ada", expires_at=moving() + timedelta(days=1))
    by_token, browser = site.anonymous(authorization=f"Bearer {secret}"), site.anonymous()
    assert browser.post("/signin", data={"token": secret}).status_code == 303
    assert by_token.get("/api/v1/ledger").status_code == 200
    assert browser.get("/").status_code == 200
    if how == "expired":
        moving.pass_by(timedelta(days=1))
    else:
        site.access.revoke(site.access.tokens()[0].id, by="tests", now=moving())
    answer = by_token.get("/api/v1/ledger")
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert browser.get("/").headers["location"] == "/signin?next=%2F"
    assert site.anonymous().post("/signin", data={"token": secret}).status_code == 403


def test_a_session_ends_by_itself_when_its_time_is_over(site, moving):
    client, _ = site.signed_in("viewer")
    moving.pass_by(timedelta(hours=12) - timedelta(seconds=1))
    assert client.get("/").status_code == 200
    moving.pass_by(timedelta(seconds=1))
    assert client.get("/").status_code == 303


def test_signing_out_ends_the_session_itself_and_not_only_the_cookie(site):
    client, csrf = site.signed_in("viewer")
    kept = session_of(client).value
    answer = client.post("/signout", data={"csrf": csrf})
    assert (answer.status_code, answer.headers["location"]) == (303, "/signin")
    assert client.get("/").status_code == 303
    assert site.anonymous(cookie=f"monitor_session={kept}").get("/").status_code == 303


def test_signing_in_anew_ends_the_session_before(site):
    client, _ = site.signed_in("admin")
    kept = session_of(client).value
    client.post("/signin", data={"token": site.token("viewer")})
    assert site.anonymous(cookie=f"monitor_session={kept}").get("/").status_code == 303
    assert "viewer" in client.get("/").text


def test_people_of_an_organisation_can_be_signed_out(site, moving):
    secret = site.access.begin_session(
        Session(subject="oidc:ada@example.org", role="admin"), now=moving(), length=timedelta(hours=1)
    )
    client = site.anonymous(cookie=f"monitor_session={secret}")
    assert client.get("/").status_code == 200
    assert site.access.end_sessions("oidc:ada@example.org", by="tests", now=moving()) == 1
    assert client.get("/").status_code == 303


def test_tries_to_sign_in_are_limited_by_address_and_the_limit_passes(site, moving):
    client = site.anonymous()
    wrong = {"token": "mon_wrong"}
    assert [client.post("/signin", data=wrong).status_code for _ in range(MAX_SIGN_INS)] == [403] * MAX_SIGN_INS
    answer = client.post("/signin", data={"token": site.token("viewer")})
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "60")
    moving.pass_by(timedelta(minutes=1))
    assert client.post("/signin", data={"token": site.token("viewer")}).status_code == 303
    assert [client.post("/signin", data=wrong).status_code for _ in range(MAX_SIGN_INS)] == [403] * MAX_SIGN_INS


@pytest.mark.parametrize(
    "after",
    [
        *("https://elsewhere.example.org", "//elsewhere.example.org", "/\\elsewhere.example.org", "elsewhere"),
        *("/\t/elsewhere.example.org", "javascript:alert(1)", "", "\n/", "/\r\nset-cookie: a=b"),
    ],
)
def test_next_never_leads_off_the_site(site, after):
    answer = site.anonymous().post("/signin", data={"token": site.token("viewer"), "next": after})
    assert answer.headers["location"] == "/"
    assert (
        f'name="next" value="{after}"' not in site.anonymous().get("/signin", params={"next": after}).text or not after
    )


def test_who_has_to_sign_in_gets_where_they_wanted_to(site):
    """The address keeps its escapes: a decoded slash in an id would be another path."""
    client = site.anonymous()
    wanted = "/interactions/shop/a%2Fb?clear=no&x=1"
    answer = client.get(wanted)
    assert answer.status_code == 303
    answer = client.post(
        "/signin", data={"token": site.token("viewer"), "next": answer.next_request.url.params["next"]}
    )
    assert answer.headers["location"] == wanted


def test_after_an_unsafe_request_one_comes_back_to_the_overview(site):
    assert site.anonymous().post("/signout").headers["location"] == "/signin?next=%2F"


@pytest.mark.parametrize(
    ("page", "after"),
    [
        (f"{HERE}/alerts/{'f' * 32}?x=1", f"/alerts/{'f' * 32}?x=1"),
        ("http://elsewhere.example.org/alerts", "/"),
        (f"{HERE}//elsewhere.example.org/", "/"),
        ("http://[", "/"),
        (HERE, "/"),
    ],
)
def test_whose_session_ended_while_a_page_was_open_comes_back_to_that_page(site, page, after):
    client = site.anonymous(referer=page)
    there = urlsplit(client.post(f"/alerts/{'f' * 32}/acknowledge").headers["location"])
    answer = client.post("/signin", data={"token": site.token("viewer"), "next": parse_qs(there.query)["next"]})
    assert answer.headers["location"] == after


# What another site's page can make a browser send


def test_a_form_without_what_only_our_pages_know_does_nothing(site):
    client, csrf = site.signed_in("admin")
    _, of_another = site.signed_in("admin")
    assert csrf != of_another
    for data in ({}, {"csrf": ""}, {"csrf": "0" * 64}, {"csrf": of_another}, {"csrf": csrf[:-1]}, {"csrf": "ü"}):
        assert client.post(ACT, data=data).status_code == 403
    assert client.post(ACT, json={"csrf": csrf}).status_code == 403
    assert client.get("/").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://elsewhere.example.org"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": "http://["},  # no URL at all
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_page_of_another_site_does_nothing_even_if_it_knew(site, headers):
    client, csrf = site.signed_in("admin")
    assert client.post(ACT, data={"csrf": csrf}, headers=headers).status_code == 403
    assert client.post(ACT, headers={**headers, "x-csrf-token": csrf}).status_code == 403
    assert client.get("/").status_code == 200


@pytest.mark.parametrize("headers", [{"origin": "http://127.0.0.1:8080"}, {"sec-fetch-site": "same-origin"}, {}])
def test_our_own_page_does(site, headers):
    client, csrf = site.signed_in("admin")
    assert client.post(ACT, headers={**headers, "x-csrf-token": csrf}).status_code == 303


def test_nobody_is_signed_in_as_somebody_else_by_a_page_of_another_site(site):
    data = {"token": site.token("viewer")}
    for headers in ({"origin": "https://elsewhere.example.org"}, {"sec-fetch-site": "cross-site"}):
        assert site.anonymous(**headers).post("/signin", data=data).status_code == 403


def test_a_proxy_that_names_itself_as_the_host_does_not_break_forms(make_site):
    site = make_site(guard={"only_tokens": True, "public": SAFE})
    client = site.anonymous(at="https://127.0.0.1:8080", origin=SAFE)  # https, or the client would not send its cookie
    assert client.post("/signin", data={"token": site.token("viewer")}).status_code == 303


def test_forms_of_one_replica_are_taken_by_another(make_site, site):
    client, csrf = site.signed_in("admin")
    other = make_site(guard={"only_tokens": True}).anonymous()
    other.cookies = client.cookies
    assert other.post(ACT, data={"csrf": csrf}).status_code == 303


def test_a_token_needs_no_such_thing_since_no_browser_sends_it_by_itself(site):
    client = site.by_token("operator")
    body = {"matchers": [{"label": "app", "operator": "=", "value": "shop"}], "seconds": 60}
    assert client.post("/api/v1/silences", json=body).status_code == 201


def test_a_look_in_clear_is_not_set_off_by_a_link(site, writer, rows):
    writer.write(a_batch(an_assessment()))
    client, csrf = site.signed_in("admin")
    path = "/api/v1/interactions/support-bot/q-1?clear=true"
    assert client.get(path).status_code == 403
    assert rows("SELECT count(*) FROM audit_queue WHERE kind = 'look'") == [(0,)]
    assert client.get(path, headers={"x-csrf-token": csrf}).status_code == 200
    assert rows("SELECT count(*) FROM audit_queue WHERE kind = 'look'") == [(1,)]


# Open to this machine's user


@pytest.fixture
def open_site(make_site):
    return make_site()


def by_link(site, client, secret=None):
    return client.get("/signin/link", params={"secret": site.guard.link.secret if secret is None else secret})


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost:8080", "[::1]:8080", "LOCALHOST"])
def test_without_tokens_this_machine_s_user_is_in(open_site, host):
    client = open_site.anonymous(at=f"http://{host}")
    assert by_link(open_site, client).headers["location"] == "/"
    assert "local, admin" in client.get("/").text


def test_without_the_link_nobody_is_in(open_site):
    client = open_site.anonymous()
    assert client.get("/").headers["location"] == "/signin?next=%2F"
    assert "monitor serve" in client.get("/signin").text
    assert client.get("/api/v1/ledger").status_code == 401
    for secret in ("", "guessed", open_site.guard.link.secret[:-1], "ü"):
        assert by_link(open_site, client, secret).status_code == 403
    assert client.get("/api/v1/ledger").status_code == 401


def test_the_link_works_once(open_site):
    first, second = open_site.anonymous(), open_site.anonymous()
    assert by_link(open_site, first).status_code == 303
    assert by_link(open_site, second).status_code == 403
    assert second.get("/").status_code == 303
    assert by_link(open_site, first).headers["location"] == "/"  # reloading it does no harm


def test_of_many_that_use_the_link_at_once_one_is_in(open_site):
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: by_link(open_site, open_site.anonymous()).status_code, range(8)))
    assert sorted(answers) == [303] + [403] * 7


def test_the_link_still_works_after_the_database_was_away(open_site, monkeypatch):
    def gone(*_, **__):
        raise Retriable("gone")

    with monkeypatch.context() as away:
        away.setattr(type(open_site.access), "begin_session", gone)
        assert by_link(open_site, open_site.anonymous()).status_code == 503
    assert by_link(open_site, open_site.anonymous()).status_code == 303


def test_guesses_of_the_link_are_limited(open_site):
    client = open_site.anonymous()
    assert [by_link(open_site, client, "guessed").status_code for _ in range(MAX_SIGN_INS)] == [403] * MAX_SIGN_INS
    assert by_link(open_site, client).status_code == 429


def test_metrics_need_a_session_while_there_is_no_token_too(open_site):
    assert open_site.anonymous().get("/metrics").status_code == 303
    assert open_site.anonymous(authorization="Bearer mon_wrong").get("/metrics").status_code == 401
    browser = open_site.anonymous()
    by_link(open_site, browser)
    assert browser.get("/metrics").status_code == 200


@pytest.mark.parametrize(
    "host", ["rebound.example.org:8080", "127.0.0.1.example.org", "192.168.0.7:8080", "127.0.0.2", "localhost.", "[::"]
)
def test_a_name_that_was_made_to_lead_here_opens_nothing(open_site, host):
    """DNS rebinding: the page of another site sends requests under its own host name."""
    for path in ("/", "/api/v1/ledger", "/metrics"):
        answer = open_site.anonymous(host=host).get(path)
        assert answer.status_code == 403
        assert "monitor tokens create" in answer.text


@pytest.mark.parametrize("name", ["x-forwarded-for", "forwarded", "x-real-ip", "x-forwarded-host", "via"])
def test_what_came_through_a_proxy_is_not_from_this_machine(open_site, name):
    assert open_site.anonymous(**{name: "for=192.0.2.7"}).get("/").status_code == 403


def test_a_page_of_another_site_does_nothing_to_an_open_dashboard(open_site):
    client = open_site.anonymous()
    by_link(open_site, client)
    body = {"matchers": [{"label": "app", "operator": "=", "value": "shop"}], "seconds": 60}
    for headers in ({}, {"origin": "https://elsewhere.example.org"}, {"x-csrf-token": "0" * 64}):
        assert client.post("/api/v1/silences", json=body, headers=headers).status_code == 403


def test_once_there_was_a_token_it_stays_shut(open_site, moving):
    client = open_site.anonymous()
    by_link(open_site, client)
    assert client.get("/").status_code == 200
    open_site.token("viewer", expires_at=moving() + timedelta(days=1))
    assert client.get("/").status_code == 303
    assert by_link(open_site, open_site.anonymous()).status_code == 403
    moving.pass_by(timedelta(days=2))
    assert client.get("/").status_code == 303


# Answers


def test_every_answer_says_what_a_browser_may_do_with_it(site, monkeypatch):
    client, _ = site.signed_in("admin")
    paths = ["/", "/signin", "/healthz", "/nothing-here", "/static/monitor.css", "/api/v1/ledger", "/api/v1/nothing"]
    answers = [client.get(path) for path in paths]
    monkeypatch.setattr(site.application.queries, "unassessed", lambda *_: 1 / 0)
    answers.append(client.get("/api/v1/interactions/a/b"))
    assert answers[-1].status_code == 500
    for answer in answers:
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] in {"no-store", "no-cache"}
        assert "server" not in answer.headers
        assert "Traceback" not in answer.text
        assert "ZeroDivision" not in answer.text
    assert client.get("/static/monitor.css").headers["cache-control"] == "no-cache"


def test_over_https_browsers_are_told_to_stay_there(make_site):
    site = make_site(guard={"only_tokens": True, "public": SAFE})
    assert "max-age" in site.anonymous(at=SAFE).get("/signin").headers["strict-transport-security"]


@pytest.mark.parametrize("path", ["/", "/api/v1/ledger", "/healthz", "/readyz", "/signin", "/metrics"])
def test_head_is_answered_as_get_is_without_the_body(site, path):
    client = site.by_token("viewer")
    head, get = client.head(path), client.get(path)
    assert (head.status_code, head.content) == (get.status_code, b"")
    assert head.headers["content-type"] == get.headers["content-type"]
    assert site.anonymous().head(path).status_code == site.anonymous().get(path).status_code


def test_options_says_nothing_to_other_origins(site):
    answer = site.anonymous(origin="https://elsewhere.example.org").options("/api/v1/ledger")
    assert answer.status_code == 405
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_body_beyond_a_mebibyte_is_not_read(site):
    client = site.by_token("operator")
    assert client.post("/api/v1/labels", content=b" " * (2**20 + 1)).status_code == 413
    assert client.post("/api/v1/labels", content=iter([b" " * 2**16] * 17)).status_code == 413
    assert site.anonymous().post("/signin", data={"token": "x" * 2**20}).status_code == 413


# What others ask of the process


def test_metrics_are_for_whoever_may_view(site):
    answer = site.by_token("viewer").get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    assert "\nmonitor_up 1.0\n" in answer.text
    for path, of_the_installation in (("/metrics/process", False), ("/metrics/installation", True)):
        page = site.by_token("viewer").get(path).text
        assert ("monitor_up" in page, "monitor_build_info" in page) == (of_the_installation, not of_the_installation)
        assert site.anonymous().get(path).status_code == 303
    assert site.anonymous(authorization="Bearer mon_wrong").get("/metrics").status_code == 401
    assert site.anonymous().get("/metrics").status_code == 303


def test_health_and_readiness_are_for_everybody(site):
    assert site.anonymous().get("/healthz").text == "ok\n"
    assert site.anonymous().get("/readyz").text == "ready\n"


def test_readiness_says_so_when_the_database_is_away(site):
    def ask():
        raise Retriable("gone")

    site.app.state.health = Health(alive=lives, ready=Readiness(ask).check)
    answer = site.anonymous().get("/readyz")
    assert (answer.status_code, answer.text) == (503, "the database does not answer\n")  # as beside the metrics
    assert site.anonymous().get("/healthz").text == "ok\n"


def test_a_database_that_goes_away_is_a_sentence(site, monkeypatch):
    client = site.by_token("viewer")

    def gone(*_):
        raise Retriable("database: connection to server at 10.0.0.7 failed: secret details")

    monkeypatch.setattr(type(site.access), "holder", gone)
    answer = client.get("/api/v1/ledger")
    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
    assert answer.headers["retry-after"] == "5"
    assert "10.0.0.7" not in answer.text


@pytest.mark.parametrize(
    "path",
    [
        *("/?app=%00", "/alerts/%00", "/alerts/episodes/%00", "/reports?app=%00", "/reports/weekly/%00/2026-W10"),
        *("/profiles/%00", "/dead-letters?problem=%00", "/review?app=%00", "/interactions/a/%00"),
    ],
)
def test_what_postgres_cannot_hold_is_no_defect(site, path):
    answer = site.by_token("admin").get(path)
    assert answer.status_code == 400
    assert "U+0000" in answer.text


def test_what_postgres_cannot_hold_is_refused_in_forms_too(site):
    client, csrf = site.signed_in("operator")
    form = {"csrf": csrf, "matchers": "app=shop", "length": "1h", "comment": "a\0b"}
    assert client.post("/alerts/silences", data=form).status_code == 400
