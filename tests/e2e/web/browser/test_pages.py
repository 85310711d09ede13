"""Every page at two sizes, light and dark: it renders, is accessible, and requests nothing from other hosts."""

from __future__ import annotations

import re
from collections.abc import Callable

import psycopg
import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.rig.web.browser import DESKTOP, PHONE, Visit
from tests.rig.web.browser_stock import APP, HOSTILE, INTERACTIONS

PAGES = {
    "overview": "/",
    "interactions": "/interactions?verdict=refusal&span=7d&words=documents",
    "interaction": "/interactions/{app}/demo-00160",
    "interaction-chunks": "/interactions/{app}/diagnosed",
    "alerts": "/alerts",
    "alert": "/alerts/{fingerprint}",
    "rules": "/alerts/rules",
    "rules-edit": "/alerts/rules/edit",
    "review": "/review",
    "probes": "/probes",
    "probe": "/probes/{probe}",
    "reports": "/reports",
    "report": "/reports/weekly/{app}/{week}",
    "profiles": "/profiles",
    "profile": "/profiles/{profile}",
    "dead-letters": "/dead-letters",
    "dead-letter": "/dead-letters/{letter}",
    "audit": "/audit",
    "api": "/api",
}
SERIOUS = {"serious", "critical"}


def test_there_is_a_lot_to_show(site):
    with psycopg.connect(site.database) as connection:
        ((interactions,),) = connection.execute("SELECT count(*) FROM interaction").fetchall()
        ((assessments,),) = connection.execute("SELECT count(*) FROM assessment WHERE live").fetchall()
    assert interactions == assessments >= INTERACTIONS * 0.99


@pytest.mark.parametrize("name", PAGES)
def test_page(name, visit: Callable[..., Visit], places):
    path = PAGES[name].format(**places)
    for size, scheme in ((DESKTOP, "light"), (PHONE, "dark")):
        its = visit(size, color_scheme=scheme)
        answer = its.goto(path)
        assert answer.status == 200
        assert its.page.locator("h1").count() == 1
        assert its.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, f"too wide for {size}"
        its.keep(f"{name}-{'phone' if size == PHONE else 'desktop'}-{scheme}")
        # what the phone shows differs by its layout and its colours; the elements are those that were looked at before
        options = None if scheme == "light" else {"runOnly": ["color-contrast", "target-size"]}
        faults = Axe().run(its.page, options=options).response["violations"]
        assert [(f["id"], [n["html"] for n in f["nodes"]]) for f in faults if f["impact"] in SERIOUS] == []


@pytest.mark.parametrize("name", [name for name in PAGES if name not in {"report", "api"}])
def test_page_without_script(name, visit, places):
    its = visit(java_script_enabled=False)
    assert its.goto(PAGES[name].format(**places)).status == 200
    assert its.page.locator("main h1").is_visible()


@pytest.mark.parametrize(
    "path",
    [
        "/interactions?span=1h",
        "/dead-letters",
        "/alerts/{fingerprint}",
        "/",
        "/review",
        "/probes",
        "/probes/{probe}",
        f"/interactions/{APP}/diagnosed",
        *(f"/interactions/{APP}/hostile%2F{number}%3F%3Cb%3E%26%23" for number in range(len(HOSTILE))),
    ],
)
def test_what_a_chatbot_says_is_text(path, visit, places):
    its = visit()
    assert its.goto(path.format(**places)).status == 200
    its.page.wait_for_load_state("networkidle")
    for element in its.page.locator("details").all():
        element.evaluate("its => { its.open = true }")
    assert its.page.evaluate("window.ran") is None
    assert its.page.locator("main").is_visible()
    assert its.page.locator("main :is(script, iframe, base, link, style, object, embed)").count() == 0
    assert its.page.locator("main [href^='javascript:'], main [href^='http:']").count() == 0
    handlers = (
        "[...document.querySelectorAll('*')].flatMap(e => [...e.attributes]).filter(a => /^on/.test(a.name)).length"
    )
    assert its.page.evaluate(handlers) == 0


def test_noise_is_folded_and_a_repetition_leads_to_what_it_repeats(visit, places):
    its = visit(PHONE)
    its.goto("/interactions/{app}/diagnosed".format(**places))
    its.page.locator(".headline a[href='#retrieved']").click()
    assert its.page.locator(".diagnosis").is_visible()
    assert its.page.locator("#c-2").is_visible()
    folded = its.page.locator("#c-304")
    assert not folded.is_visible()
    assert its.page.locator(".chunk:visible").count() < 20
    its.page.locator("details.folded", has=folded).locator("summary").last.click()
    assert folded.is_visible()
    repetition = its.page.locator("#c-4 a[href='#c-2']")
    its.page.locator("#d-2 > summary").click()
    repetition.click()
    assert its.page.locator("#c-2").evaluate("its => its.matches(':target')")


# --- at three in the morning, on a phone, with the keyboard ---


def tab_to(its: Visit, selector: str) -> None:
    """Presses Tab until the selected element has the focus."""
    for _ in range(150):
        its.page.keyboard.press("Tab")
        if its.page.evaluate("s => document.activeElement.matches(s)", selector):
            return
    raise AssertionError(f"no key leads to {selector}")


def test_from_slack_to_the_acknowledgement(visit, site, places):
    its = visit(PHONE)
    its.goto(f"/alerts/{places['fingerprint']}")
    assert "negative-rate" in its.page.locator("h1").inner_text()
    its.keep("on-call-1-alert")

    tab_to(its, "main a[href^='/interactions/']")
    its.page.keyboard.press("Enter")
    its.page.wait_for_url("**/interactions/**")
    tab_to(its, "[data-sentence]")
    passage = its.page.locator("[data-passage]:visible")
    if passage.count() == 0:  # the first sentence that is not carried is open from the beginning
        its.page.keyboard.press("Enter")
    passage.first.wait_for()
    assert passage.first.inner_text().strip()
    its.keep("on-call-2-answer")

    its.page.go_back()
    its.page.wait_for_url("**/alerts/**")
    tab_to(its, "form[action$='/acknowledge'] [name=comment]")
    its.page.keyboard.type("looking at it")
    its.page.keyboard.press("Enter")
    its.page.locator("main").get_by_text("local (looking at it)").first.wait_for()
    its.keep("on-call-3-acknowledged")
    with psycopg.connect(site.database) as connection:
        query = "SELECT acknowledged_by FROM alert WHERE fingerprint = %s"
        assert connection.execute(query, [places["fingerprint"]]).fetchone() == ("local (looking at it)",)
        # other tests look at the alert as it was
        connection.execute("UPDATE alert SET acknowledged_by = NULL, acknowledged_at = NULL")


def test_a_page_whose_work_has_ended_is_not_refreshed_as_often_as_before(visit):
    its, asked = visit(), []

    def answered(route):
        answer = route.fetch()
        text = answer.text()
        if "x-refresh" in route.request.headers:
            asked.append(route.request.url)
        else:
            text = text.replace('<main id="main"', '<main id="main" data-refresh="1"')
        route.fulfill(response=answer, body=text)

    its.page.clock.install()
    its.page.route("**/reports", answered)
    its.goto("/reports")
    its.page.clock.run_for(1_000)
    its.page.locator("main:not([data-refresh='1'])").wait_for()
    its.page.clock.run_for(10_000)
    assert len(asked) == 1


def test_a_page_that_cannot_be_refreshed_says_so_on_top(visit):
    its = visit(PHONE)
    its.goto("/alerts")
    first = its.page.locator("main > :first-child")
    its.page.route("**/alerts", lambda route: route.abort())
    its.page.evaluate("refresh()")
    assert re.fullmatch(
        r"This page is as it was at [-\d]+ [:\d]+ UTC: the server does not answer\.", first.inner_text()
    )
    its.page.unroute("**/alerts")
    its.page.evaluate("refresh()")
    assert first.inner_text() == "Alerts"
    its.page.context.clear_cookies()
    its.page.evaluate("refresh()")
    assert first.inner_text().endswith("UTC: sign in again.")
    its.errors.clear()  # the browser's word of the answer that did not come


def test_a_page_that_comes_into_sight_is_refreshed_at_once(visit):
    its = visit(PHONE)
    its.goto("/alerts")
    its.page.evaluate("clearInterval(timer)")  # as on a phone that was locked
    with its.page.expect_request(lambda request: "x-refresh" in request.headers):
        its.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def test_what_a_form_has_done_is_said_once(visit):
    its = visit()
    its.goto("/alerts?notice=silenced#active")
    said = its.page.get_by_text("Silenced: alerts that match send no notifications.")
    assert said.count() == 1
    assert its.page.url.endswith("/alerts#active")
    its.page.evaluate("refresh()")
    assert said.count() == 0


@pytest.mark.parametrize(
    ("path", "folded", "open_"),
    [("/alerts", "#new-silence", True), ("/interactions?reason=missing_fact", "#more-filters", False)],
)
def test_a_refresh_leaves_open_what_is_open_and_shut_what_is_shut(visit, path, folded, open_):
    its = visit()
    its.goto(path)
    part = its.page.locator(folded)
    assert part.evaluate("its => its.open") is not open_
    part.evaluate("its => { its.open = !its.open; }")
    its.page.evaluate("refresh()")
    assert part.evaluate("its => its.open") is open_


def test_a_page_whose_session_has_ended_says_so(visit):
    its = visit()
    its.goto("/audit")
    its.page.context.clear_cookies()
    its.page.evaluate("refresh()")
    assert its.page.locator("#refreshed").inner_text() == "not refreshed: sign in again"
