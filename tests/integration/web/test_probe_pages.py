"""Probes as people and programs see them, over a real PostgreSQL."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import event

from monitor.assess.judge.correctness.grade import Grade
from monitor.probe.golden import Source
from monitor.probe.result import RunState, Turn
from monitor.store.probe.golden import GoldenSets
from monitor.store.probe.items import ItemFilter
from monitor.store.probe.runs import ProbeRuns
from tests.factories.answers import NOON
from tests.factories.probe.runs import item, result, run
from tests.rig.web.api import got, problem

HOSTILE = "<script>alert(1)</script> write to jane.doe@example.org \u202eevil"
ITEMS = [item(1), item(2, question="What <b>now</b>?"), *(item(number) for number in range(3, 15))]


@pytest.fixture
def runs(engine):
    return ProbeRuns(engine)


@pytest.fixture
def probed(engine, runs):
    """Makes a run of a probe at some hours before noon with these scores; returns its number."""
    GoldenSets(engine).save("support", ITEMS, by="tests", now=NOON)

    def make(scores, *, hours=1.0, state=RunState.DONE, **changes):
        began = NOON - timedelta(hours=hours)
        number = runs.begin(run(began_at=began, items=len(ITEMS), **changes), mark=f"{hours}-{changes}").number
        for place, score in enumerate(scores):
            of = ITEMS[place]
            runs.save(number, place, result(of) if score is None else result(of, *score))
        if state is not RunState.RUNNING:
            runs.end(number, state, now=began + timedelta(minutes=5))
        return number

    return make


def test_without_runs_the_page_says_so(viewer):
    assert "No runs are stored." in viewer.get("/probes").text
    assert got(viewer, "probes") == {"items": []}
    assert got(viewer, "probes/runs") == {"items": [], "next": None}
    assert got(viewer, "golden") == {"items": []}


def test_a_probe_shows_its_newest_figures_and_their_course(viewer, probed):
    probed([(5,)] * 12, hours=3)
    assert "<svg" not in viewer.get("/probes").text
    newest = probed([(3,), (5,)] * 6 + [(0,)], hours=2)
    probed([(1,)], hours=1, state=RunState.RUNNING)
    text = viewer.get("/probes").text
    assert "<svg" in text
    first = text.partition("<h2>Runs</h2>")[0]
    assert f'href="/probes/{newest}"' in first
    assert "4.00" in first
    assert "wscore" not in first
    assert "7.7\u00a0%" in first
    assert "… running" in text
    (found,) = got(viewer, "probes")["items"]
    assert (found["run"]["number"], found["figures"]["correctness"]["mean"]) == (newest, 4.0)
    assert found["figures"]["states"] == {"graded": 12, "unsure": 1, "failed": 0, "ungraded": 0}
    (golden,) = got(viewer, "golden")["items"]
    assert (golden["name"], golden["items"]) == ("support", len(ITEMS))


def test_a_run_that_judged_hardly_anything_is_not_shown_as_done(viewer, probed):
    dead = probed([None] * 10 + [(5,)] * 2, hours=2)
    text = viewer.get("/probes").text
    for page in (
        text.partition("<h2>Runs</h2>")[0],
        text.partition("<h2>Runs</h2>")[2],
        viewer.get(f"/probes/{dead}").text,
    ):
        assert '<span class="badge bad">✗ hardly judged</span> <span class="quiet">2 of 14 judged</span>' in page
    probed([None] + [(5,)] * 11, hours=1)
    probed([(5,)] * 6, hours=0.5, state=RunState.FAILED)
    text = viewer.get("/probes").text
    assert '<span class="badge good">✓ done</span> <span class="quiet">11 of 14 judged</span>' in text
    assert '<span class="badge bad">✗ failed</span>' in text


def test_the_overview_has_a_line_for_each_probe(viewer, probed):
    assert "Golden probes" not in viewer.get("/").text
    probed([(5,)] * 12, hours=3)
    newest = probed([(3,), (5,)] * 6, hours=2)
    probed([(2,)] * 12, hours=1, app="bank", probe="jane.doe@example.org")
    probed([(1,)] * 12, hours=0.5, candidate=True)
    probed([(1,)] * 12, hours=24 * 93, app="gone")
    text = viewer.get("/").text
    assert "Nothing is stored yet" not in text
    lines = text.partition("Golden probes")[2].partition("</table>")[0].split("<tr>")[2:]
    assert len(lines) == 2
    assert f'<a href="/probes/{newest}">run {newest}</a>, <time datetime="2025-11-21T10:00:00Z"' in lines[1]
    assert '4.00 <span class="quiet">(3.34 to 4.66)</span>' in lines[1]
    assert "jane.doe" not in text
    of_bank = viewer.get("/?app=bank").text.partition("Golden probes")[2]
    assert f"run {newest}<" not in of_bank
    assert "2.00" in of_bank


def test_pages_of_runs_follow_one_another(viewer, probed):
    numbers = [probed([(4,)], hours=100 - n, probe="a" if n % 2 else "b") for n in range(42)]
    path, seen = "/probes?probe=a", []
    while path:
        text = viewer.get(path).text
        seen += [int(part.split('"')[0]) for part in text.partition("<h2>Runs</h2>")[2].split('<a href="/probes/')[1:]]
        path = text.partition('rel="next"')[0].rpartition('href="')[2].partition('"')[0] if "Older" in text else ""
        path = path.replace("&amp;", "&")
    assert seen == sorted(numbers[1::2], reverse=True)
    first = got(viewer, "probes/runs", limit=20)
    assert [its["run"]["number"] for its in first["items"]] == numbers[:-21:-1]
    assert got(viewer, "probes/runs", before=first["next"], limit=1)["items"][0]["run"]["number"] == numbers[-21]
    assert got(viewer, "probes/runs", app="other")["items"] == []


def test_a_run_is_compared_with_the_run_before_question_by_question(viewer, probed):
    before = probed([(5,)] * 12, hours=3)
    probed([(1,)] * 12, hours=2.5, state=RunState.STOPPED)
    number = probed([(2,)] * 12, hours=2)
    text = viewer.get(f"/probes/{number}").text
    assert f'<a href="/probes/{before}">run {before}</a>' in text
    assert "▼ worse" in text
    assert "-3.00" in text
    assert "What does part 1 cost?" in text.partition("Fell most")[2].partition("</table>")[0]
    shown = got(viewer, f"probes/runs/{number}")
    assert shown["before"] == before
    assert shown["comparison"]["differences"]["correctness"]["outcome"] == "worse"
    assert shown["comparison"]["moved"][0] == {"item": "q1", "before": 5.0, "after": 2.0, "by": -3.0}
    first = viewer.get(f"/probes/{before}").text
    assert "nothing to compare with" in first
    assert got(viewer, f"probes/runs/{before}")["comparison"] is None


def test_items_come_worst_first_and_by_state(viewer, probed):
    number = probed([(5,), (2,), None, (0,)], turns=2)
    text = viewer.get(f"/probes/{number}").text
    assert [part.partition('"')[0] for part in text.split('id="i-')[1:]] == ["3", "4", "2", "1"]
    assert "wscore" in text
    assert "What &lt;b&gt;now&lt;/b&gt;?" in text
    failed = viewer.get(f"/probes/{number}?state=failed").text
    assert [part.partition('"')[0] for part in failed.split('id="i-')[1:]] == ["3"]
    assert "timeout" in failed
    assert "No items for this filter" in viewer.get(f"/probes/{number}?state=ungraded").text
    shown = got(viewer, f"probes/runs/{number}")
    assert [its["place"] for its in shown["items"]] == [3, 4, 2, 1]
    assert (shown["total"], shown["next"]) == (4, None)


def test_items_are_found_by_tag_and_score(site, viewer, engine, runs):
    tags = [{"lang": "en"}, {"lang": "de", "user": "jane.doe@example.org"}, {"lang": "de"}, {"lang": "de"}, {}]
    GoldenSets(engine).save("support", [item(n, tags=its) for n, its in enumerate(tags)], by="tests", now=NOON)
    number = runs.begin(run(items=5, began_at=NOON), mark="m").number
    for place, score in enumerate((5, 2, 0, 4, 2)):
        runs.save(number, place, result(item(place), score, **({"correctness": 2.5} if place == 4 else {})))

    def places(**query):
        text = viewer.get(f"/probes/{number}", params=query).text
        found = [int(part.partition('"')[0]) for part in text.split('id="i-')[1:]]
        shown = got(viewer, f"probes/runs/{number}", **query)
        assert [its["place"] for its in shown["items"]] == found
        assert shown["total"] == len(found)
        return found

    assert places(tag="lang=de") == [3, 2, 4]
    assert places(tag="lang=de", score=0) == [3]
    assert [places(score=score) for score in range(6)] == [[3], [], [2], [5], [4], [1]]
    assert places(tag="lang=de", state="graded") == [2, 4]
    hint = 'value="lang=de"></option>'
    text = viewer.get(f"/probes/{number}").text
    assert hint in text
    assert "jane.doe" not in text
    wrong = viewer.get(f"/probes/{number}", params={"state": "good", "score": "6", "tag": "de"}).text
    assert "“good” is not valid; one of graded, unsure, failed, ungraded." in wrong
    assert "“6” is not valid; one of 0, 1, 2, 3, 4, 5." in wrong
    assert "a tag is NAME=VALUE, such as lang=de, lang=en." in wrong
    assert wrong.count('id="i-') == 5
    for query in ({"state": "good"}, {"score": 6}, {"score": "1.5"}, {"tag": "de"}, {"limit": 21}, {"start": -1}):
        problem(viewer.get(f"/api/v1/probes/runs/{number}", params=query), 422)
    personal = {"tag": "user=jane.doe@example.org"}
    assert "cannot search for it" in viewer.get(f"/probes/{number}", params=personal).text
    problem(viewer.get(f"/api/v1/probes/runs/{number}", params=personal), 403)
    allowed = site.by_token("admin").get(f"/api/v1/probes/runs/{number}", params=personal).json()
    assert [its["place"] for its in allowed["items"]] == [2]


def test_only_the_conversations_of_the_shown_page_are_read(engine, runs):
    many = [item(number) for number in range(120)]
    one = runs.begin(run(items=120, began_at=NOON), mark="m")
    for place, of in enumerate(many):
        runs.save(one.number, place, result(of, 3, 4))
    rows = []
    event.listen(engine, "after_cursor_execute", lambda *its: rows.append(its[1].rowcount))
    assert len(runs.page(one, ItemFilter(), start=10, most=20).items) == 20
    assert sum(rows) < 100  # the items, their places, two turns of each, and their number


def test_a_long_run_is_divided_into_pages(viewer, engine, runs):
    many = [item(number) for number in range(120)]
    GoldenSets(engine).save("support", many, by="tests", now=NOON)
    number = runs.begin(run(items=120, began_at=NOON), mark="m").number
    for place, of in enumerate(many):
        runs.save(number, place, result(of, 4))
    path, seen = f"/probes/{number}", []
    while path:
        text = viewer.get(path).text
        seen += [int(part.partition('"')[0]) for part in text.split('id="i-')[1:]]
        path = text.partition('rel="next"')[0].rpartition('href="')[2].partition('"')[0] if 'rel="next"' in text else ""
    assert seen == list(range(1, 121))
    start, seen = 0, []
    while start is not None:
        found = got(viewer, f"probes/runs/{number}", start=start)
        seen += [its["place"] for its in found["items"]]
        start = found["next"]
    assert seen == list(range(1, 121))
    assert "No items from 201 on." in viewer.get(f"/probes/{number}?from=200").text


def test_what_chatbot_and_judge_say_is_masked_text(viewer, runs, probed):
    number = probed([], chatbot=HOSTILE, state=RunState.RUNNING)
    turn = Turn(
        question=HOSTILE,
        answer=HOSTILE,
        documents=(HOSTILE,),
        composed=HOSTILE,
        grade=Grade(scores=(4,), feedback=HOSTILE),
        leaks=(HOSTILE,),
    )
    runs.save(number, 0, result(ITEMS[0], 4, turns=(turn,)))
    runs.end(number, RunState.STOPPED, now=NOON, error=HOSTILE)
    for path in (f"/probes/{number}", "/probes"):
        text = viewer.get(path).text
        assert "<script>alert" not in text
        assert "jane.doe" not in text
    page = viewer.get(f"/probes/{number}").text
    assert page.count("&lt;script&gt;alert(1)") == 8
    assert "\u202e" not in page
    assert "Kept out by the leak guard" in page
    body = viewer.get(f"/api/v1/probes/runs/{number}").text
    assert "jane.doe" not in body
    (shown,) = got(viewer, f"probes/runs/{number}")["items"]
    assert shown["turns"][0]["scores"] == [4]


def test_names_ids_and_tags_are_masked_in_the_api_as_on_the_pages(viewer, engine, runs):
    who = "jane.doe@example.org"
    items = [item(n, id=f"{n} {who}", tags={who: who}, source=Source("shop", who)) for n in range(12)]
    golden = GoldenSets(engine).save(f"of {who}", items, by="tests", now=NOON)
    names = {name: f"{name} {who}" for name in ("probe", "app", "environment", "chatbot", "target", "judge")}
    for score in (5, 2):
        one = runs.begin(run(golden=golden.name, items=12, began_at=NOON, **names), mark=f"{score}")
        for place, its in enumerate(items):
            runs.save(one.number, place, result(its, score))
        runs.end(one.number, RunState.DONE, now=NOON)
    shown = got(viewer, f"probes/runs/{one.number}")
    assert (len(shown["items"]), len(shown["comparison"]["moved"])) == (12, 12)
    for path in ("probes", "probes/runs", f"probes/runs/{one.number}", "golden"):
        assert "jane.doe" not in viewer.get(f"/api/v1/{path}").text
    for path in ("/probes", f"/probes/{one.number}"):
        assert "jane.doe" not in viewer.get(path).text


@pytest.mark.parametrize("path", ["/probes/7", "/probes/runs"])
def test_what_is_no_run_is_not_found(viewer, path):
    assert viewer.get(path).status_code in {404, 422}
    problem(viewer.get("/api/v1/probes/runs/7"), 404)


def test_strangers_see_no_probe(site):
    for path in ("/api/v1/probes", "/api/v1/probes/runs", "/api/v1/probes/runs/1", "/api/v1/golden"):
        problem(site.anonymous().get(path), 401)
    assert site.anonymous().get("/probes").status_code == 303
