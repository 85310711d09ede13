"""The overview as people see it, over a real PostgreSQL."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from urllib.parse import parse_qsl

import pytest

from monitor.alert.evaluation.memory import Round, RuleMemory
from monitor.alert.state import Transition
from monitor.core.diagnosis import Diagnosis
from monitor.core.message import Position, Progress
from monitor.core.model import Unscored, Verdict
from monitor.store.alert.alerts import PostgresAlertStore
from monitor.store.interaction.overview import KEPT, SETTLED, OverviewStore
from monitor.store.interaction.rollup import MOST_VALUES, LabelCap
from monitor.store.ledger.progress import ReadingStore
from tests.factories.alert.alerts import an_alert
from tests.factories.answers import NOON, a_batch, an_assessment, an_interaction, at
from tests.factories.assess.diagnoses import a_diagnosis

HOUR = timedelta(hours=1)


@pytest.fixture
def diagnosed(writer):
    """Of each app: in the last day three answers missed and one healthy, the day before one of each; one of neither."""
    writer.write(
        a_batch(
            *(
                an_assessment(
                    id=f"{app}-{day}-{n}",
                    app=app,
                    occurred_at=at(-70 * n - 10 - day * 1440),
                    diagnosis=None if diagnosis is None else a_diagnosis(diagnosis),
                )
                for app in ("shop", "<b>bank")
                for day, diagnoses in enumerate(
                    [("retrieval_missed", "healthy", *["retrieval_missed"] * 2, None), ("retrieval_missed", "healthy")]
                )
                for n, diagnosis in enumerate(diagnoses)
            ),
            an_assessment(id="of the release before", app="other"),
        )
    )


def test_a_source_without_a_reader_has_no_lag_that_grows(site, engine):
    for topic, minute in (("live", -1), ("left", -9)):
        ReadingStore(engine).note("monitor", [Progress(topic=topic, partition=0, through=at(-9), behind=0)], at(minute))
    text = site.by_token("viewer").get("/").text
    live, left = (text[text.index(f">{topic}</th>") :].split("</tr>")[0] for topic in ("live", "left"))
    assert "9m" in live
    assert "not read since" in left
    assert "11:51" in left
    assert "9m" not in left


@pytest.mark.usefixtures("diagnosed")
def test_diagnoses_are_counted_by_app_against_the_span_before(engine, site):
    store = OverviewStore(engine)
    for app in (None, "shop"):
        found = store.diagnoses(NOON - 24 * HOUR, NOON, now=NOON, app=app)
        names = ["shop"] if app else ["<b>bank", "shop"]
        assert found == {name: {"retrieval_missed": 3, "healthy": 1} for name in names}
    shown = site.by_token("viewer").get("/api/v1/overview").json()["diagnoses"]
    none = dict.fromkeys(Diagnosis, 0)
    assert shown == [
        {
            "app": app,
            "now": {**none, "retrieval_missed": 3, "healthy": 1},
            "before": {**none, "retrieval_missed": 1, "healthy": 1},
        }
        for app in ("<b>bank", "shop")
    ]
    page = site.by_token("viewer").get("/?app=shop").text.partition("<h2>Diagnoses</h2>")[2].partition("<h2>")[0]
    assert "/interactions?span=24h&amp;app=shop&amp;diagnosis=retrieval_missed" in page
    assert page.index("75.0\u00a0%") < page.index("50.0\u00a0%") < page.index("25.0\u00a0%")
    assert "&lt;b&gt;bank" in site.by_token("viewer").get("/").text


@pytest.mark.usefixtures("stored")
def test_without_diagnosed_answers_nothing_is_said_of_diagnoses(site):
    assert "<h2>Diagnoses</h2>" not in site.by_token("viewer").get("/").text
    assert site.by_token("viewer").get("/api/v1/overview").json()["diagnoses"] == []


@pytest.fixture
def stored(writer):
    verdicts = [Verdict.GROUNDED] * 6 + [Verdict.REFUSAL] * 3 + [Verdict.SELF_GENERATED]
    writer.write(
        a_batch(
            *(
                an_assessment(
                    id=f"{app}-{day}-{n}",
                    app=app,
                    model="large",
                    verdict=verdict,
                    occurred_at=at(-10 - n - day * 1440),
                    position=Position(topic="answers", partition=0, offset=day * 100 + n + len(app) * 1000),
                )
                for app in ("shop", "bank & co")
                for day in (0, 1)
                for n, verdict in enumerate(verdicts)
            )
        )
    )


@pytest.mark.usefixtures("stored")
def test_rates_are_shown_with_their_intervals_and_lead_to_the_answers(site):
    text = site.by_token("viewer").get("/").text
    assert text.count("<h1>") == 1
    assert "40.0\u00a0%" in text  # negative
    assert "30.0\u00a0%" in text
    assert "/interactions?span=24h&amp;app=bank+%26+co&amp;model=large&amp;verdict=refusal" in text
    assert text.count("<svg") == 4  # two charts, each for two widths
    assert " to now)" in text  # the last bin ends later, which is nobody's question
    assert "no answer" not in text.lower()


def test_the_remainder_of_many_names_is_no_link(site, writer):
    writer._labels = LabelCap({**MOST_VALUES, "app": 1, "model": 1, "environment": 1})
    some = {"model": "large", "environment": "live", "diagnosis": a_diagnosis("healthy"), "latency_ms": 900.0}
    beyond = {**some, "app": "bank", "model": "small", "environment": "test", "occurred_at": at(-2)}
    failed = an_interaction(id="u", app="bank", environment="test", occurred_at=at(-3), unscored=Unscored.CALL_FAILED)
    writer.write(a_batch(an_assessment(id="q-1", app="shop", occurred_at=at(-1), **some)))
    writer.write(
        a_batch(
            an_assessment(id="q-2", **beyond),
            an_assessment(id="q-3", **{**some, "model": None, "app": "shop", "occurred_at": at(-4)}),
            unscored=(failed,),
        )
    )
    client = site.by_token("viewer")
    text = client.get("/").text
    asked = [dict(parse_qsl(unescape(found))) for found in re.findall(r'href="/interactions\?([^"]+)"', text)]
    assert {"span": "24h", "app": "shop", "model": "large", "verdict": "refusal"} in asked
    assert "other" not in {value for query in asked for value in query.values()}
    for rest, tables in (("apps", 3), ("models", 1), ("environments", 1)):
        assert text.count(f'<span class="quiet">other {rest}</span>') == tables, rest
    assert "50\u00a0% of the turns of other apps" in text
    for query in asked:
        assert client.get("/interactions", params=query).status_code == 200
    # answers without a model cannot be listed beside those with one
    assert {"span": "24h", "app": "shop", "verdict": "refusal"} not in asked


@pytest.mark.usefixtures("stored")
def test_one_app_and_another_span_may_be_chosen(site):
    text = site.by_token("viewer").get("/?span=28d&app=shop").text
    assert "<option selected>shop</option>" in text
    assert "20" in text
    assert "bank" not in text.partition("By app and model")[2]
    assert site.by_token("viewer").get("/?span=forever").status_code == 200


def test_with_nothing_stored_it_says_how_to_begin(site):
    text = site.by_token("viewer").get("/").text
    assert "Nothing is stored yet" in text
    assert "monitor replay" in text
    assert "<svg" not in text


@pytest.mark.usefixtures("stored")
def test_an_app_without_answers_is_said_so(site):
    text = site.by_token("viewer").get("/?app=%3Cb%3Enobody").text
    assert "No answer was assessed in the last 24 hours for &lt;b&gt;nobody" in text


@pytest.mark.usefixtures("stored")
def test_an_alert_that_fires_stands_on_top(site, engine):
    its = an_alert(rule="too many refusals", fingerprint="f" * 32, labels={"app": "<b>shop"})
    change = Transition(previous=None, alert=its, at=NOON)
    PostgresAlertStore(engine).save(
        Round(rule=its.rule, rule_digest=its.rule_digest, at=NOON, memory=RuleMemory(), transitions=(change,))
    )
    text = site.by_token("viewer").get("/").text
    assert text.index(f"/alerts/{'f' * 32}") < text.index("Verdicts over time")
    assert "too many refusals" in text
    assert "&lt;b&gt;shop" in text


@pytest.mark.usefixtures("stored")
def test_cells_are_the_rollup_in_bins(engine, rows):
    store = OverviewStore(engine)
    start, end = NOON - 48 * HOUR, NOON + HOUR
    for bin_ in (HOUR, 6 * HOUR, timedelta(days=1), timedelta(minutes=5)):
        aligned = start if bin_ < timedelta(days=1) else start - 12 * HOUR
        cells = store.cells(aligned, end + bin_, bin_, now=NOON)
        assert sum(c.grounded + c.refusal + c.self_generated for c in cells) == 40
        assert all((c.at - aligned) % bin_ == timedelta() for c in cells)
    assert {c.app for c in store.cells(start, end, HOUR, now=NOON, app="shop")} == {"shop"}
    assert rows("SELECT sum(total) FROM verdict_hour")[0][0] == 40


@pytest.mark.usefixtures("stored")
def test_what_has_settled_is_read_again_after_a_while(engine, writer):
    store = OverviewStore(engine)

    def counted(now):
        cells = store.cells(NOON - 48 * HOUR, NOON + HOUR, HOUR, now=now)
        return sum(c.grounded + c.refusal + c.self_generated for c in cells)

    assert counted(NOON) == 40
    writer.write(a_batch(an_assessment(id="new"), an_assessment(id="late", occurred_at=NOON - SETTLED - 3 * HOUR)))
    assert counted(NOON) == 41
    assert counted(NOON + KEPT) == 42


def test_topics_are_counted_now_and_before_and_lead_to_their_answers(site, writer):
    def some(topic, number, verdict, minute):
        return [
            an_assessment(
                id=f"{topic}-{verdict}-{minute}-{n}",
                verdict=verdict,
                tags={"topic": topic} if topic else {},
                occurred_at=at(minute - n),
                position=None,
            )
            for n in range(number)
        ]

    writer.write(
        a_batch(
            *some("refunds & co", 6, Verdict.REFUSAL, -10),
            *some("refunds & co", 4, Verdict.GROUNDED, -30),
            *some("refunds & co", 5, Verdict.GROUNDED, -24 * 60 - 10),
            *some("delivery", 7, Verdict.GROUNDED, -10),
            *some("", 3, Verdict.GROUNDED, -10),
        )
    )
    text = site.by_token("viewer").get("/").text
    table = text.partition("By topic")[2].partition("</table>")[0]
    assert table.index("refunds &amp; co") < table.index("delivery") < table.index("no topic")
    assert "/interactions?span=24h&amp;app=&amp;topic=refunds+%26+co&amp;verdict=negative" in table
    assert "60.0\u00a0%" in table
    assert "▲ 60.0 pp" in table


@pytest.mark.usefixtures("stored")
def test_without_topics_there_is_no_table_of_them(site):
    assert "By topic" not in site.by_token("viewer").get("/").text


def test_with_many_apps_it_says_what_it_leaves_out_and_every_app_can_be_named(site, writer):
    writer.write(
        a_batch(
            *(
                an_assessment(id="q", app=f"app-{n:03}", occurred_at=at(-10), latency_ms=900.0, diagnosis=a_diagnosis())
                for n in range(101)
            )
        )
    )
    text = site.by_token("viewer").get("/").text
    assert text.count("Of 101 rows, the first 60 are shown") == 3  # by app, diagnoses, latency
    assert text.count("app=app-059") >= 3
    assert "app=app-060" not in text
    assert '<input id="app" name="app" value=""' in text
    assert '<input id="app" name="app" value="app-100"' in site.by_token("viewer").get("/?app=app-100").text
    counted = site.by_token("viewer").get("/api/v1/overview").json()
    assert [len(counted[name]) for name in ("groups", "usage", "diagnoses")] == [60, 60, 60]
    assert counted["now"]["answers"] == 101


@pytest.mark.usefixtures("stored")
def test_with_few_apps_nothing_is_left_out(site):
    text = site.by_token("viewer").get("/").text
    assert "are shown" not in text
    assert '<select id="app"' in text
