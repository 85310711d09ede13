"""Reports and profiles as people see them, over a real PostgreSQL."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from sqlalchemy import event

from monitor.core.diagnosis import ChunkDiagnosis, Diagnosis
from monitor.core.model import Verdict
from monitor.report.weekly.slack import slack_message
from monitor.report.weekly.week import week_named
from monitor.review.label import Drawn, Label, Standing
from monitor.store.report.reports import Reports, headlines
from monitor.store.review.labels import Reviews
from monitor.web.report.page import JOB
from tests.factories.answers import NOON, PROBABLE, a_batch, an_assessment, at

LAST_WEEK = NOON - timedelta(days=7)  # 2025-W46
APP = "shop/<eu>"
WEEK_46 = week_named("2025-W46")
PATH = "/reports/weekly/shop%2F%3Ceu%3E/2025-W46"


@pytest.fixture
def answered(writer):
    """Answers of last week, a third of each verdict."""
    verdicts = list(Verdict)
    writer.write(
        a_batch(
            *(
                an_assessment(
                    id=f"q-{n}",
                    app=APP,
                    occurred_at=LAST_WEEK + timedelta(minutes=n),
                    verdict=verdicts[n % 3],
                    answer="<script>alert(1)</script>",
                )
                for n in range(90)
            )
        )
    )


def made(site):
    client, csrf = site.signed_in("operator")
    assert client.post("/reports/make", data={"csrf": csrf}).headers["location"] == "/reports?notice=begun"
    jobs = site.app.state.jobs
    jobs.wait(JOB)
    assert not jobs.latest(JOB).failed, jobs.latest(JOB).status
    return client


@pytest.mark.usefixtures("answered")
def test_last_week_s_report_is_written_when_somebody_asks(site, rows):
    assert "No reports are stored" in site.by_token("viewer").get("/reports").text
    client = made(site)
    assert rows("SELECT app, period_start::date::text FROM report") == [(APP, "2025-11-10")]
    text = client.get("/reports").text
    assert "1 report of 2025-W46 is stored" in text
    assert f'href="{PATH}"' in text
    assert "66.7\u00a0%" in text
    assert "shop/&lt;eu&gt;" in text
    assert client.get("/reports?app=other").text.count("2025-W46</a>") == 0


def test_without_answers_of_last_week_the_page_says_where_this_week_s_report_is(site):
    text = made(site).get("/reports").text
    assert "no app has answers in 2025-W46 or the week before" in text
    assert "`monitor report weekly` shows the week that has begun" in text


def test_a_viewer_has_none_written(site):
    client, csrf = site.signed_in("viewer")
    assert "Write last week" not in client.get("/reports").text
    assert client.post("/reports/make", data={"csrf": csrf}).status_code == 403


@pytest.mark.usefixtures("answered")
def test_a_report_is_shown_in_a_frame_that_may_do_nothing(site):
    client = made(site)
    text = client.get(PATH).text
    assert f'<iframe class="report" src="{PATH}.html"' in text
    assert 'sandbox="' in text
    assert "it was changed after it was written" not in text
    frame = client.get(f"{PATH}.html")
    policy = frame.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "sandbox" in policy
    assert "allow-scripts" not in policy
    assert "allow-same-origin" not in policy
    assert "<script" not in frame.text
    assert "shop/&lt;eu&gt;" in frame.text


@pytest.mark.usefixtures("answered")
def test_downloads_have_a_name_and_the_same_bytes_each_time(site):
    client = made(site)
    for form, kind in (("md", "text/markdown"), ("json", "application/json"), ("html?download", "text/html")):
        first, second = client.get(f"{PATH}.{form}"), client.get(f"{PATH}.{form}")
        assert first.status_code == 200
        assert first.headers["content-type"].startswith(kind)
        assert first.headers["content-disposition"].startswith(
            "attachment; filename*=UTF-8''weekly-shop%2F%3Ceu%3E-2025"
        )
        assert first.content == second.content
    assert json.loads(client.get(f"{PATH}.json").content)["app"] == APP


@pytest.mark.usefixtures("answered")
def test_a_report_that_somebody_changed_says_so(site, rows):
    client = made(site)
    rows("UPDATE report SET content = jsonb_set(content, '{verdicts,answers}', '1')")
    assert "it was changed after it was written" in client.get(PATH).text


ASKED = "Can I pay by <b>invoice</b>?"


@pytest.fixture
def lacking(writer):
    """Two hundred answers of last week, two of a kind on each question; those on invoices were missed and refused."""

    def answer(n):
        missed = n % 10 == 0
        wording = f"{ASKED} It is for customer {'abcdefghij'[n // 20]}" if missed else f"Subject{n // 2} thing{n // 2}"
        found = Diagnosis.RETRIEVAL_MISSED if missed else Diagnosis.HEALTHY
        return an_assessment(
            id=f"q-{n}",
            app=APP,
            occurred_at=LAST_WEEK + timedelta(hours=n % 60),
            question=wording,
            verdict=Verdict.REFUSAL if missed else Verdict.GROUNDED,
            diagnosis=ChunkDiagnosis(diagnosis=found, threshold=0.5),
        )

    writer.write(a_batch(*(answer(n) for n in range(200))))


@pytest.mark.usefixtures("lacking")
def test_what_the_knowledge_base_lacks_is_the_same_in_page_download_and_api(site):
    client = made(site)
    report = site.by_token("viewer").get("/api/v1" + PATH).json()
    assert report == json.loads(client.get(f"{PATH}.json").content)
    group = report["lacking"]["groups"][0]
    assert (group["missed"]["count"], group["questions"], group["refusal"], group["days"]) == (20, 10, 20, 3)
    (finding,) = report["findings"]["items"]
    assert (finding["kind"], finding["question"], finding["this"]["share"]) == ("lacking", group["question"], 0.1)
    said = "10.0 % of the questions are like “"
    page, markdown = client.get(f"{PATH}.html").text, client.get(f"{PATH}.md").text
    sent = str(slack_message(report).blocks)
    for text in (page, markdown, sent):
        assert said in text
        assert "20 of 20 answers were refused or made up. Read a few answers; if the" in text
        assert "missed what was asked in 10.0 % of the diagnosed answers" in text
    assert "Can I pay by &lt;b&gt;invoice&lt;/b&gt;?" in page
    assert "<b>invoice" not in page
    assert "Can I pay by \\<b\\>invoice" in markdown
    listed = finding_path(page)
    assert "diagnosis=retrieval_missed" in listed
    assert client.get(listed).status_code == 200


def finding_path(page):
    """The link of the first thing to do."""
    return page.partition('class="actions"')[2].partition('href="')[2].partition('"')[0].replace("&amp;", "&")


@pytest.mark.parametrize("week", ["2025-W45", "2025-W60", "2025-W46.html"])
def test_a_week_without_a_report(site, week):
    assert site.by_token("viewer").get(f"/reports/weekly/shop/{week}").status_code == 404


def test_pages_of_reports_follow_one_another(site, rows):
    verdict = {"this": {"share": 0.1, "lower": 0.05, "upper": 0.2}, "change": None}
    rates = dict.fromkeys(("negative", "grounded", "refusal", "self_generated"), verdict)
    content = json.dumps({"verdicts": {"answers": 10, "rates": rates}})
    rows(
        "INSERT INTO report (kind, app, period_start, period_end, made_at, digest, content) "
        "SELECT 'weekly', 'app ' || a, timestamptz '2025-11-10Z' - w * interval '7 days', now(), now(), '', %s::jsonb "
        "FROM generate_series(1, 7) a, generate_series(0, 9) w",
        content,
    )
    client, path, seen = site.by_token("viewer"), "/reports", []
    while path:
        text = client.get(path).text
        found = [line.split('"')[0] for line in text.split('href="/reports/weekly/')[1:]]
        seen, older = seen + found, text.split('rel="next"')
        path = older[0].rsplit('href="', 1)[1].split('"')[0].replace("&amp;", "&") if len(older) > 1 else None
    assert len(seen) == len(set(seen)) == 70


@pytest.mark.parametrize(("weekday", "due"), [("monday", "2025-11-24 06:00"), ("wednesday", "2025-11-26 06:00")])
def test_the_list_says_that_the_week_is_not_over_and_when_its_report_is_due(make_site, weekday, due):
    text = make_site(guard={"only_tokens": True}, REPORT__WEEKDAY=weekday).by_token("viewer").get("/reports").text
    said = re.sub(r"<[^>]*>", "", text)
    assert f"2025-W47 is not over, so it has no report yet: monitor run writes it when it is due, {due}." in said
    assert "monitor report weekly --week 2025-W47 shows how the week stands" in said
    assert 'href="/?span=7d&amp;app="' in text


def test_where_no_report_is_written_by_itself_none_is_promised(make_site):
    text = make_site(guard={"only_tokens": True}, REPORT__WEEKLY="false").by_token("viewer").get("/reports").text
    assert "2025-W47 is not over, so it has no report yet. The" in text


def test_the_list_reads_only_the_reports_that_it_shows(engine, rows):
    """Without reading the long contents of all others, of which Postgres makes the headline before it sorts."""
    read = []

    @event.listens_for(engine, "before_cursor_execute")
    def explained(_connection, cursor, statement, parameters, *_):
        if "FROM report" in statement:
            cursor.execute("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + statement, parameters)
            ((plan,),) = cursor.fetchall()[0]
            read.append(plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"])

    for first, last in ((1, 200), (201, 800)):
        rows(
            """
            INSERT INTO report (kind, app, period_start, period_end, made_at, digest, content)
            SELECT 'weekly', 'app ' || a, timestamptz '2025-11-10Z', now(), now(), '', jsonb_build_object('verdicts',
                '{"answers": 1}'::jsonb, 'long', (SELECT jsonb_agg(md5(a || ' ' || n)) FROM generate_series(1, 500) n))
            FROM generate_series(%s::int, %s::int) a
            """,
            first,
            last,
        )
        rows("ANALYZE report")
        assert len(headlines(engine)) == 31
    few, many = read
    assert many <= few + 50


# profiles


def labelled(engine, number, *, drawn=Drawn.RANDOM):
    """Labels every second answer as negative; every tenth verdict is wrong."""
    labels = [
        Label(
            standing=Standing(
                app="shop",
                id=f"p-{n}",
                occurred_at=at(-n),
                verdict=Verdict.GROUNDED,
                rule_verdict=Verdict.GROUNDED,
                probabilities=PROBABLE[Verdict.GROUNDED],
                profile_hash="0123456789abcdef",
                drawn=drawn,
            ),
            label=Verdict.SELF_GENERATED if n % 2 else Verdict.GROUNDED,
            by="ada",
        )
        for n in range(number)
    ]
    Reviews(engine).keep(labels, NOON)


def assessed(writer, number):
    def verdict(n):
        return Verdict.SELF_GENERATED if (n % 2 == 1) is not (n % 10 == 0) else Verdict.GROUNDED

    writer.write(
        a_batch(
            *(an_assessment(id=f"p-{n}", app="shop", occurred_at=at(-n), verdict=verdict(n)) for n in range(number))
        )
    )


@pytest.fixture
def used(site):
    """Stores the profile in use, under which the factories' assessments are made."""
    profile = site.application.assessing.profile
    site.application.queries.save_profile(profile, NOON)
    return profile


def test_profiles_say_what_they_judged_and_whether_they_are_calibrated(site, used, writer, rows):
    assessed(writer, 12)
    rows("UPDATE assessment SET profile_hash = %s", used.hash)
    text = site.by_token("viewer").get("/profiles").text
    assert used.hash in text
    assert "! uncalibrated" in text
    assert 'class="number">12' in text
    assert "sample of" not in text


def test_a_profile_shows_its_thresholds_weights_and_too_few_labels(site, used, writer, engine, rows):
    assessed(writer, 12)
    labelled(engine, 12)
    rows("UPDATE assessment SET profile_hash = %s", used.hash)
    text = site.by_token("viewer").get(f"/profiles/{used.hash}").text
    assert "has assessed the answers of 12 of" in text
    assert "It needs 30 labels, with at least 10 negative" in text
    for name in used.groundedness.features:
        assert f"<code>{name}</code>" in text
    assert f"{used.metrics.sda.threshold:.3f}" in text
    assert "<svg" not in text


def test_enough_labels_give_charts_with_their_numbers(site, used, writer, engine, rows):
    assessed(writer, 40)
    labelled(engine, 40)
    rows("UPDATE assessment SET profile_hash = %s", used.hash)
    text = site.by_token("viewer").get(f"/profiles/{used.hash}").text
    assert "40 labelled answers, 20 of them negative" in text
    assert "They were drawn at random" in text
    assert text.count("<svg") == 2
    assert "90.0\u00a0%" in text  # the verdict is wrong on 4 of 40
    assert "n = 40" in text


def test_labels_that_were_picked_are_said_to_flatter_nobody(site, used, writer, engine, rows):
    assessed(writer, 40)
    labelled(engine, 40, drawn=Drawn.MARGIN)
    rows("UPDATE assessment SET profile_hash = %s", used.hash)
    assert "Only 0 of the 40 were drawn at random" in site.by_token("viewer").get(f"/profiles/{used.hash}").text


def test_two_profiles_on_the_same_answers(site, used, writer, rows):
    assessed(writer, 20)
    rows("UPDATE assessment SET profile_hash = %s", used.hash)
    rows(
        "INSERT INTO profile SELECT 'other', 'other', embedding_model, definition || '{\"name\": \"other\"}', "
        "stored_at FROM profile"
    )
    rows(
        "INSERT INTO assessment (app, id, profile_hash, occurred_at, profile_name, embedding_model, verdict, "
        "rule_verdict, reasons, refusal_kind, p_grounded, p_refusal, p_self_generated, uncalibrated, features, "
        "support, live) "
        "SELECT app, id, 'other', occurred_at, 'other', embedding_model, 'refusal', rule_verdict, reasons, "
        "refusal_kind, 0, 1, 0, true, features, support, false FROM assessment WHERE id < 'p-15'"
    )
    client = site.by_token("viewer")
    both = rows("SELECT count(*) FROM assessment WHERE profile_hash = 'other'")[0][0]
    text = client.get("/profiles/compare", params={"first": used.hash, "second": "other"}).text
    assert "<strong>0.0\u00a0%</strong> of" in text
    assert f"{both} answers up to" in text
    assert text.count('href="/interactions/shop/p-') == both
    none = client.get(
        "/profiles/compare", params={"first": used.hash, "second": "other", "until": "2020-01-01T00:00"}
    ).text
    assert "was assessed under both profiles" in none
    assert "up to: " in client.get("/profiles/compare?first=a&second=b&until=soon").text


def test_a_profile_of_another_release_s_form_says_so(site, rows):
    rows("INSERT INTO profile VALUES ('old', 'old <b>', 'm', '{}', now())")
    client = site.by_token("viewer")
    assert "another release" in client.get("/profiles").text
    assert "Another release has written the definition" in client.get("/profiles/old").text
    assert client.get("/profiles/none").status_code == 404


@pytest.mark.parametrize(("negatives", "verdict"), [(33, "no clear change"), (60, "worse"), (12, "better")])
def test_every_page_and_message_says_the_same_of_a_change(site, writer, engine, negatives, verdict):
    """The list, the report in each form, Slack, the overview and the API; 30 of 90 were negative before."""
    weekend = {"before": NOON - timedelta(days=14), "now": LAST_WEEK}  # within both weeks, and both spans of 7 days
    writer.write(
        a_batch(
            *(
                an_assessment(
                    id=f"{when}-{n}",
                    app="shop",
                    occurred_at=start + n % 3 * timedelta(days=1) + timedelta(minutes=n),
                    verdict=Verdict.SELF_GENERATED if n < some else Verdict.GROUNDED,
                )
                for (when, start), some in zip(weekend.items(), (30, negatives), strict=True)
                for n in range(90)
            )
        )
    )
    client = made(site)
    api, listed = site.by_token("viewer"), client.get("/reports").text
    said = {"worse": "clearly worse", "better": "clearly better"}.get(verdict, verdict)
    stored = Reports(engine).get("shop", WEEK_46.start).content
    change = stored["verdicts"]["rates"]["negative"]["change"]
    assert (change["verdict"], change["clear"]) == (verdict, verdict != "no clear change")
    assert ("▲ worse" in listed, "▼ better" in listed) == (verdict == "worse", verdict == "better")
    assert ("no clear change" in listed) is (verdict == "no clear change")
    assert said in client.get("/reports/weekly/shop/2025-W46.html").text
    assert said in client.get("/reports/weekly/shop/2025-W46.md").text
    assert said in json.dumps(slack_message(stored).blocks)
    assert api.get("/api/v1/reports").json()["items"][0]["change"] == verdict
    assert api.get("/api/v1/overview?span=7d").json()["change"]["negative"] == verdict
    tile = client.get("/?span=7d").text.partition("flagged as negative")[2].partition("</li>")[0]
    assert (">worse<" in tile, ">better<" in tile) == (verdict == "worse", verdict == "better")
