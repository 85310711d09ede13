"""A report as a page, as Markdown and in Slack: whatever the texts are, they stay texts."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from html.parser import HTMLParser

import pytest

from monitor.core.figures.verdict_counts import Verdicts
from monitor.core.model import Verdict
from monitor.report.weekly.content import content
from monitor.report.weekly.document import sections
from monitor.report.weekly.html import page
from monitor.report.weekly.markdown import escape, markdown
from monitor.report.weekly.slack import slack_message
from monitor.report.weekly.summary import headline, warnings
from monitor.review.rates.estimate import CLASSES, rate
from monitor.review.rates.period import Period, PeriodRates
from tests.factories.report.weekly_facts import facts_named, no_facts
from tests.factories.review.plans import at_random, said
from tests.servers.slack.blocks import MAX_TOTAL, PING, mrkdwn, problems, texts, units

G, S = Verdict.GROUNDED, Verdict.SELF_GENERATED
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></style><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "[click](javascript:alert(1)) ![x](http://evil.example/x.png) <http://evil.example>",
    "| a | b |\n# heading\n- item\n```",
    "https://evil.example/?q=1 www.evil.example @here @channel <!here> <@U1> *bold* _it_ ~s~ `c`",
    "\x1b[2J\u202egnp.exe\u0000",
    "x" * 4_000,
    "🙂" * 2_000,
]
OURS = re.compile(
    r"(?<!\\)\[((?:\\.|[^\\\]])*)\]\(<https://monitor\.example/interactions/\d+>\)|`/interactions\?[\w%+.:~=&-]+`|`/alerts/episodes/e`"
)
LISTED = r"/interactions\?app=[\w%+.:~-]*&since=[\d-]+&until=[\d-]+&diagnosis=[a-z_]+"


def no_link(_app: str, _id: str) -> None:
    return None


def link(_app: str, id_: str) -> str:
    return f"https://monitor.example/interactions/{len(id_)}"


class Seen(HTMLParser):
    """Elements with their attributes, and the text that shows."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def seen(html: str) -> Seen:
    parser = Seen()
    parser.feed(html)
    return parser


@pytest.fixture(scope="module")
def tame() -> Seen:
    return seen(page(content(facts_named("tame")), link))


@pytest.mark.parametrize("text", HOSTILE)
def test_a_page_has_the_same_elements_whatever_the_texts_are(text, tame):
    found = seen(page(content(facts_named(text)), link))
    assert [tag for tag, _ in found.elements] == [tag for tag, _ in tame.elements]
    names = [sorted(attributes) for _, attributes in found.elements]
    assert names == [sorted(attributes) for _, attributes in tame.elements]
    links = [attributes["href"] for tag, attributes in found.elements if tag == "a"]
    assert all(
        re.fullmatch(r"#[\w-]+|https://monitor\.example/interactions/\d+|/probes/\d+|/alerts/episodes/e|" + LISTED, url)
        for url in links
    )


def test_a_template_in_a_text_is_text():
    assert "{{ 7 * 7 }}" in seen(page(content(facts_named("{{ 7 * 7 }}")), link)).text


def test_a_page_needs_nothing_beside_it_and_runs_nothing(tame):
    tags = {tag for tag, _ in tame.elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "base", "form"}
    assert not [name for _, attributes in tame.elements for name in attributes if name.startswith("on")]
    policy = next(a["content"] for tag, a in tame.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"


def test_a_page_can_be_heard(tame):
    assert ("html", {"lang": "en"}) in tame.elements
    tags = [tag for tag, _ in tame.elements]
    assert tags.count("h1") == 1
    assert tags.count("caption") == tags.count("table")
    anchors = {attributes["id"] for tag, attributes in tame.elements if tag == "h2"}
    assert {a["href"] for tag, a in tame.elements if tag == "a" and a["href"].startswith("#")} == {
        f"#{n}" for n in anchors
    }
    assert len([a for tag, a in tame.elements if tag == "figure" and a["aria-label"]]) == 2
    assert all("scope" in attributes for tag, attributes in tame.elements if tag == "th")


def test_the_same_content_gives_the_same_bytes():
    found = content(facts_named("a"))
    again = json.loads(json.dumps({name: found[name] for name in sorted(found)}))
    assert page(found, link) == page(again, link)
    assert markdown(found, link) == markdown(again, link)
    assert slack_message(found) == slack_message(again)


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_has_the_same_lines_whatever_the_texts_are(text):
    found = markdown(content(facts_named(text)), link)
    tame = markdown(content(facts_named("tame")), link)
    assert [line[:2] for line in found.splitlines()] == [line[:2] for line in tame.splitlines()]
    cells = [len(re.findall(r"(?<!\\)\|", line)) for line in found.splitlines()]
    assert cells == [len(re.findall(r"(?<!\\)\|", line)) for line in tame.splitlines()]
    bare = OURS.sub(r"\1", found)
    assert not re.search(r"(?<!\\)[<`\[]|(?i:https?:|www\.)|@(?!\u2060)", bare.replace("</", "\\</"))


def test_markdown_shows_texts_letter_by_letter():
    assert escape("a_b *c* [d](e) `f` <g> | ~h~ #i !j &k \\") == (
        "a\\_b \\*c\\* \\[d\\](e) \\`f\\` \\<g\\> \\| \\~h\\~ \\#i \\!j \\&k \\\\"
    )
    assert escape("12.3 % (4.5 to 6.7), p = 0.01") == "12.3 % (4.5 to 6.7), p = 0.01"


@pytest.mark.parametrize("text", HOSTILE)
def test_slack_takes_the_message_and_nobody_is_pinged(text):
    message = slack_message(content(facts_named(text)))
    assert problems(message.content) == []
    assert list(mrkdwn(message.blocks)) == []
    shown = [*texts(message.blocks), message.text]
    assert not [one for one in shown if PING.search(one)]
    assert not re.search(r"[<>`*_~]|@(?!\u2060)|#(?!\u2060)", message.text)
    assert sum(map(units, shown)) < MAX_TOTAL


def test_each_section_says_so_where_there_is_nothing():
    found = content(no_facts())
    assert headline(found) == ["No answers were assessed in this week."]
    for section in sections(found, no_link):
        assert section.notes, section.title
        assert section.cards == section.charts == ()
    assert page(found, no_link)
    assert markdown(found, no_link)
    assert problems(slack_message(found).content) == []


def test_the_head_says_what_matters():
    found = content(facts_named("refunds"))
    said = " ".join([*headline(found), *warnings(found)])
    for piece in (
        "60 answers, 83.3 % (72.0 to 90.7) of them flagged as negative; clearly worse: +66.7 points",
        "66.7 % are flagged as self-generated, 16.7 % as refusals; for 3 it cannot be told whether they were right",
        "The true rates are not known: no answers drawn for this week are labelled (monitor review plan --app refunds",
        "Worse: refunds +66.7 points",
        "1 document behind self-generated answers: refunds",
        "1 alert fired; 1 of 1 acknowledged after 4m (median)",
        "60 answers were assessed under a profile that is not calibrated",
        "3 answers of the week wait",
        "The ledger does not balance",
    ):
        assert piece in said, piece


def test_an_answer_is_linked_only_where_the_installation_has_an_address():
    found = content(facts_named("a"))
    assert re.search(r'<a href="[^"]+" target="_blank" rel="noopener noreferrer">Open this answer', page(found, link))
    assert "Open this answer" not in page(found, no_link)
    assert "Open this answer" not in markdown(found, no_link)


def with_labels(*given):
    plan, labels = at_random(20), said(*given)
    rates = {name: rate(plan, labels, name) for name in CLASSES}
    period = Period(since=plan.since, until=plan.since + timedelta(days=7))
    known = PeriodRates(app="refunds", period=period, counts=Verdicts(), plan=plan, rates=rates)
    return content(facts_named("refunds", rates=known))


def test_the_first_sentence_is_the_rate_that_labels_tell():
    first = headline(with_labels(S, S, *[G] * 18))[0]
    assert first == "10.0 % of the answers are self-generated (1.2 to 31.7), by 20 of 20 labels drawn for it."
    assert headline(with_labels(S))[0].startswith(
        "100.0 % of the answers are self-generated (2.5 to 100.0), by 1 of 20"
    )
    assert headline(with_labels())[0].startswith("The true rates are not known")


def test_a_report_of_an_earlier_release_says_that_true_rates_are_not_known():
    found = content(facts_named("refunds"))
    del found["true_rates"]
    assert headline(found)[0].startswith("The true rates are not known")


def test_a_week_that_is_not_over_says_so_in_every_form():
    said = "The week is not over: these are its figures so far."
    running, over = (content(facts_named("refunds", running=running)) for running in (True, False))
    forms = (lambda its: page(its, link), lambda its: markdown(its, link), lambda its: str(slack_message(its).blocks))
    for form in forms:
        assert said in form(running)
        assert said not in form(over)
