"""Every page on a phone of 390 × 844: what matters first, legible, and wide enough for a finger."""

from __future__ import annotations

import pytest

from tests.e2e.web.browser.test_pages import PAGES
from tests.rig.waiting import until
from tests.rig.web.browser import PHONE

FINGER = 44  # pixels, WCAG 2.5.5
LEGIBLE = 11  # pixels of the words of a chart, as displayed
# Links within a sentence and boxes beside a label are exempt; what is out of sight is not tapped.
MEASURE = """() => {
    const box = e => e.getBoundingClientRect();
    const inSentence = e => e.matches('a:not(.button)') && e.closest('p, li, caption, figcaption, dd, div.notice')
        && [...e.parentElement.childNodes].some(n => n.nodeType === 3 && n.textContent.trim().length > 3);
    const seen = e => e.offsetParent !== null && box(e).width > 1 && getComputedStyle(e).position !== 'absolute';
    const targets = [...document.querySelectorAll('a, button, select, textarea, summary, label.shows, .choices label,'
        + 'input:not([type=hidden], [type=checkbox], [type=radio])')].filter(e => seen(e) && !inSentence(e));
    const words = [...document.querySelectorAll('svg text')].filter(e => box(e).width > 0);
    const scale = svg => box(svg).width / svg.viewBox.baseVal.width;
    return {
        over: document.documentElement.scrollWidth - innerWidth,
        small: targets.filter(e => Math.round(box(e).height) < 44 || Math.round(box(e).width) < 44)
            .map(e => e.outerHTML.slice(0, 120)),
        words: words.map(e => parseFloat(getComputedStyle(e).fontSize) * scale(e.ownerSVGElement)),
    };
}"""
TOP = "e => e.getBoundingClientRect().top + scrollY"


@pytest.fixture
def phone(visit):
    return visit(PHONE, has_touch=True)


def test_every_page_can_be_read_and_tapped(phone, places):
    for name, path in PAGES.items():
        phone.goto(path.format(**places))
        measured = phone.page.evaluate(MEASURE)
        assert measured["over"] <= 0, name
        assert measured["small"] == [], name
        assert min(measured["words"], default=LEGIBLE) >= LEGIBLE - 0.1, name
        assert bool(measured["words"]) == (name in {"overview", "alert", "probes"}), name
        phone.keep(f"phone-{name}")


@pytest.mark.parametrize("path", ["/nothing-here", "/interactions/{app}/nobody", "/?span=28d&app={app}"])
def test_what_is_beside_the_usual_pages_can_be_tapped_too(phone, places, path):
    phone.goto(path.format(**places))
    measured = phone.page.evaluate(MEASURE)
    assert (measured["over"] <= 0, measured["small"]) == (True, [])
    phone.errors.clear()  # a browser takes a page that is not there for an error


def test_the_report_is_drawn_for_the_phone(phone, places):
    phone.goto(PAGES["report"].format(**places))
    frame = phone.page.frames[-1]
    frame.wait_for_load_state()
    until("the report is laid out for the phone", lambda: frame.evaluate(MEASURE)["over"] <= 0)  # after it is loaded
    assert min(frame.evaluate(MEASURE)["words"]) >= LEGIBLE - 0.1


def test_an_alert_says_first_what_changed_and_leads_to_answers(phone, places):
    phone.goto(f"/alerts/{places['fingerprint']}")
    cause, what = phone.page.locator(".cause"), phone.page.get_by_role("heading", name="What changed")
    assert cause.evaluate(TOP) < PHONE[1] / 2
    assert cause.evaluate(TOP) < what.evaluate(TOP) < phone.page.locator(".respond, .notice").first.evaluate(TOP)
    phone.page.get_by_role("link", name="All answers that it is about").click()
    phone.page.wait_for_url("**/interactions?**")
    assert phone.page.locator(".listing tbody tr").first.evaluate(TOP) < PHONE[1]
    assert not phone.page.get_by_label("Words in the question").is_visible()
    phone.keep("phone-answers-of-an-alert")
    phone.page.get_by_text("Filters (").tap()
    assert phone.page.get_by_label("Words in the question").is_visible()


def test_a_list_says_how_many_match_and_the_review_bar_covers_nothing(phone):
    def counted():
        phone.goto("/interactions?span=28d&verdict=grounded")
        caption = phone.page.locator("caption").inner_text()
        return "More than 10\u202f000 answers" in caption and "50 on this page" in caption

    until("the answers are counted in the time that a page has for it", counted)  # busy cores may need a second look
    phone.goto("/review")
    covered = "e => e.getBoundingClientRect().top < document.querySelector('article').getBoundingClientRect().bottom"
    assert not phone.page.locator(".label-form").evaluate(covered)
