"""At three in the morning, on a phone, with the keyboard: from the link in Slack to the acknowledgement."""

from __future__ import annotations

import psycopg

from tests.e2e.browser.conftest import PHONE, Visit


def tab_to(its: Visit, selector: str) -> None:
    """Presses Tab until what is wanted has the focus."""
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
    its.page.keyboard.press("Enter")
    passage.first.wait_for()
    assert passage.first.inner_text().strip()
    its.keep("on-call-2-answer")

    its.page.go_back()
    its.page.wait_for_url("**/alerts/**")
    tab_to(its, "form[action$='/acknowledge'] [name=comment]")
    its.page.keyboard.type("looking at it")
    its.page.keyboard.press("Enter")
    its.page.wait_for_load_state("load")
    assert "local (looking at it)" in its.page.locator("main").inner_text()
    its.keep("on-call-3-acknowledged")
    with psycopg.connect(site.database) as connection:
        query = "SELECT acknowledged_by FROM alert WHERE fingerprint = %s"
        assert connection.execute(query, [places["fingerprint"]]).fetchone() == ("local (looking at it)",)
