"""What a report says to do, in each form."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from monitor.core.figures.verdict_counts import Verdicts
from monitor.report.findings.cells import Slice
from monitor.report.findings.levels import Level
from monitor.report.findings.outages import Outage
from monitor.report.findings.trends import Rise
from monitor.report.weekly.actions import actions, calm, least_wrong
from monitor.report.weekly.content import content
from monitor.report.weekly.facts import Finding, Findings, Refusals
from monitor.report.weekly.html import page
from monitor.report.weekly.markdown import markdown
from monitor.report.weekly.slack import slack_message
from monitor.web.interaction.filters import parse_query
from tests.factories.report.weekly_facts import WEEK, facts_named, no_facts

HOSTILE = '<b>"](http://evil.example) & <!here>'
WEEKS = ((40, 400), (60, 400), (80, 400), (120, 400))
OUTAGE = Outage(
    slice=Slice("topic", "billing"),
    signal="retrieval_off_question",
    start=560,
    end=569,
    matching=19,
    total=25,
    matching_outside=0,
    total_outside=900,
    p=0.0,
    nats=90.0,
)
RISE = Rise(slice=Slice("model", "mini"), signal="self_generated", steady=True, p=1e-8, t=8.0, weeks=WEEKS)
LEVEL = Level(
    slice=Slice("prompt_version", "v2"),
    signal="refusal",
    p=1e-6,
    t=7.0,
    matching=40,
    total=200,
    matching_peers=50,
    total_peers=2_000,
)
SOME = {WEEK.monday: Verdicts(grounded=900, refusal=50, self_generated=50)}


def no_link(_app: str, _id: str) -> None:
    return None


def reported(*abouts, q=1e-6, lasting=timedelta(hours=9), **over):
    start = WEEK.start + timedelta(days=2, hours=8, minutes=3)
    items = tuple(
        Finding(about=about, q=q, start=start, end=start + lasting, negative=24)
        if isinstance(about, Outage)
        else Finding(about=about, q=q)
        for about in abouts
    )
    return content(no_facts(**{"days": SOME, "findings": Findings(tests=99, items=items), **over}))


def test_each_finding_is_one_sentence_and_the_costliest_comes_first():
    found = actions(reported(OUTAGE, RISE, LEVEL))
    drift, outage, level = (action.text for action in found)
    assert (
        drift
        == "Model mini invents more answers each week: 10.0 % → 15.0 % → 20.0 % → 30.0 % of its answers over 4 weeks."
    )
    assert outage == (
        "Topic billing: retrieval went wrong for about 9 hours, from Wednesday 2026-11-11 08:03 UTC to 17:03 UTC: "
        "the documents of 19 of 25 answers were off their question (0.0 % at other times), 24 were bad."
    )
    assert level == (
        "Prompt version v2 refuses more than its peers in these 4 weeks: 20.0 % of its answers against 2.5 %."
    )
    assert found[0].sure == "Very sure (q < 0.001); about 80 more bad answers this week."


@pytest.mark.parametrize(
    ("lasting", "said"),
    [(timedelta(minutes=4), "4 minutes"), (timedelta(minutes=1), "1 minute"), (timedelta(minutes=100), "2 hours")],
)
def test_a_short_outage_is_told_in_minutes(lasting, said):
    (action,) = actions(reported(OUTAGE, lasting=lasting))
    assert f"for about {said}, from Wednesday" in action.text


def test_a_rise_of_this_week_alone_is_said_so():
    (found,) = actions(reported(replace(RISE, steady=False, slice=Slice("app", "")), q=0.03))
    assert found.text == "The app as a whole has invented more answers this week: 30.0 % of its answers, 15.0 % before."
    assert found.sure.startswith("Sure (q = 0.03)")
    (found,) = actions(reported(replace(RISE, steady=False, signal="refusal")))
    assert found.text == "Model mini has refused more this week: 30.0 % of its answers, 15.0 % before."


def test_a_steady_rise_that_does_not_hold_each_week_is_not_said_to():
    weeks = (WEEKS[0], WEEKS[2], WEEKS[1], WEEKS[3])
    made_up, refused = (replace(RISE, signal=signal, weeks=weeks) for signal in ("self_generated", "refusal"))
    assert [found.text for found in actions(reported(made_up, refused))] == [
        f"Model mini {more}: 10.0 % → 20.0 % → 15.0 % → 30.0 % of its answers over 4 weeks."
        for more in ("invents more and more answers", "refuses more and more")
    ]


def test_wrong_refusals_are_a_lower_bound_with_what_cannot_be_told():
    refusals = Refusals(correct=16, over=21, unknown=13, answered=4_000)
    risen = replace(RISE, signal="refusal")
    (found,) = actions(reported(risen, refusals=refusals, refusals_before=Refusals(unknown=9, answered=4_000)))
    assert found.text == (
        "Refusals: at least 11 of 50 refusals (9 in the week before) are wrong, probably about 25: the documents match "
        "the question as well as those of answered questions do; 13 cannot be told."
    )


@pytest.mark.parametrize(
    "refusals", [Refusals(correct=40, over=8, unknown=2, answered=900), Refusals(over=30, correct=20)]
)
def test_refusals_that_may_all_be_right_and_those_of_the_profile_call_for_nothing(refusals):
    assert actions(reported(refusals=refusals)) == []


@pytest.mark.parametrize(
    ("told", "of", "least"), [(21, 50, 11), (3, 10, 0), (10, 10, 9), (0, 9, 0), (30_000, 100_000, 17_457)]
)
def test_the_least_number_of_wrong_refusals(told, of, least):
    # P(X ≥ 10), X binomial (39, .15), is .053; P(X ≥ 11) of 40 is .024
    assert least_wrong(told, of) == pytest.approx(least, abs=1 if of < 100 else 200)


def test_a_quiet_week_calls_for_nothing_and_says_what_was_looked_at():
    found = reported()
    assert actions(found) == []
    assert str(calm(found)).startswith("Nothing calls for action: 99 comparisons of the app")
    for text in (page(found, no_link), markdown(found, no_link), str(slack_message(found).blocks)):
        assert "Nothing calls for action" in text


@pytest.mark.parametrize(("running", "until"), [(True, "still firing."), (False, "still firing when the week ended.")])
def test_an_alert_that_still_fires_comes_first(running, until):
    known = facts_named("x").episodes[0]
    over = replace(known, episode="o", rule="over", resolved_at=known.fired_at + timedelta(minutes=9))
    firing = replace(known, episode="f/1", rule="negative-shift", acknowledged_by=None, acknowledged_at=None)
    found = reported(OUTAGE, episodes=(over, firing), running=running)
    alert, outage = actions(found)
    assert alert.text == f"Alert negative-shift (topic x): firing since Monday 2026-11-09 05:00 UTC, {until}"
    assert (alert.sure, alert.path) == ("Nobody has acknowledged it.", "/alerts/episodes/f%2F1")
    assert outage.text.startswith("Topic billing")
    quiet = reported(episodes=(firing,))
    assert calm(quiet) is None
    for text in (page(quiet, no_link), markdown(quiet, no_link, "https://monitor.example")):
        assert "Look at this alert" in text
    assert "1. Alert negative-shift" in str(slack_message(quiet).blocks)


def test_of_many_alerts_that_still_fire_the_newest_are_named():
    known = facts_named("x").episodes[0]
    many = tuple(replace(known, episode=f"{n}", rule=f"r{n}", fired_at=known.fired_at + timedelta(n)) for n in range(5))
    found = actions(reported(episodes=many))
    assert [action.text.split()[1] for action in found] == ["r2", "r3", "r4"]
    assert found[0].sure == "Acknowledged by x. 2 other alerts fired before it and went on."


def test_a_report_of_an_earlier_release_has_no_findings():
    earlier = {name: value for name, value in reported().items() if name != "findings"}
    assert (actions(earlier), calm(earlier)) == ([], None)
    assert "## This week" not in markdown(earlier, no_link)
    assert 'id="this-week"' not in page(earlier, no_link)


def test_every_form_leads_with_what_to_do():
    found = reported(OUTAGE, RISE)
    for text in (page(found, no_link), markdown(found, no_link)):
        assert 0 < text.index("invents more answers each week") < text.index("flagged as negative")
    sections = [block["text"]["text"] for block in slack_message(found).blocks if block["type"] == "section"]
    assert sections[0].startswith("1. Model mini invents more answers each week")
    assert "Model mini invents more answers" in slack_message(found).text


@pytest.mark.parametrize("base", ["", "https://monitor.example"])
def test_the_path_leads_to_the_answers(base):
    found = reported(replace(OUTAGE, slice=Slice("topic", HOSTILE)), app="shop & co")
    (action,) = actions(found)
    query = parse_query([(name, value) for name, (value,) in parse_qs(urlsplit(action.path).query).items()], WEEK.end)
    assert query.faults == ()
    assert (query.filters.app, query.filters.topic) == ("shop & co", HOSTILE)
    assert query.filters.reason == "retrieval_off_question"
    assert query.filters.until - query.filters.since == timedelta(hours=9)
    text = page(found, no_link, base)
    assert f'href="{base}/interactions?app=shop+%26+co&amp;' in text
    assert "<b>" not in text.replace("<b>None", "")
    assert "](http://evil.example)" not in markdown(found, no_link, base)


def test_a_file_without_an_address_shows_paths_that_lead_nowhere_as_text():
    found = content(facts_named("x"))
    assert 'href="/' in page(found, no_link, "")
    text = page(found, no_link, None)
    assert 'href="/' not in text
    assert "Look at this alert on the dashboard: <code>/alerts/episodes/e</code>" in text
    assert "Look at this alert on the dashboard: `/alerts/episodes/e`" in markdown(found, no_link)
