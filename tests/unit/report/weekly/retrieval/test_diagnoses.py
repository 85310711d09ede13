"""Diagnoses and questions that nothing retrieved answers: in the content, as sections, and as something to do."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from monitor.core.diagnosis import Diagnosis
from monitor.core.figures.verdict_counts import Verdicts
from monitor.report.weekly.actions import actions
from monitor.report.weekly.content import content
from monitor.report.weekly.document import sections
from monitor.report.weekly.facts import Diagnosed, Lacking
from monitor.report.weekly.html import page
from monitor.report.weekly.markdown import markdown
from monitor.report.weekly.retrieval.sections import listed, retrieval_sections
from monitor.report.weekly.slack import slack_message
from monitor.report.weekly.summary import headline
from monitor.web.interaction.filters import parse_query
from tests.factories.report.weekly_facts import WEEK, a_group, facts_named, no_facts

MISSED, HEALTHY, INVENTED = Diagnosis.RETRIEVAL_MISSED, Diagnosis.HEALTHY, Diagnosis.GENERATOR_INVENTED
SOME = {WEEK.monday: Verdicts(grounded=900, refusal=50, self_generated=50)}
DIAGNOSED = Diagnosed(
    this={MISSED: 120, INVENTED: 30, HEALTHY: 850},
    before={MISSED: 40, INVENTED: 30, HEALTHY: 930},
    days=7,
    days_before=7,
)
GROUP = a_group("Can I pay by invoice?", missed=84, refusals=50, self_generated=30, questions=31)
LACKING = Lacking(answers=1_000, of=2_000, missed=120, questions=60, read=60, groups=(GROUP, a_group("Rare?", q=0.5)))


def no_link(_app, _id):
    return None


def link(_app, id_):
    return f"https://monitor.example/interactions/{len(id_)}"


def reported(**over):
    return content(no_facts(**{"days": SOME, "diagnosed": DIAGNOSED, "lacking": LACKING, **over}))


def test_diagnoses_have_one_verdict_of_their_change():
    found = reported()["diagnoses"]
    assert (found["diagnosed"], found["before"]) == (1_000, 1_000)
    assert {name: rate["this"]["count"] for name, rate in found["rates"].items()} == {
        "retrieval_missed": 120,
        "retrieval_noisy": 0,
        "retrieval_redundant": 0,
        "generator_ignored": 0,
        "generator_invented": 30,
        "healthy": 850,
    }
    said = {name: rate["change"]["verdict"] for name, rate in found["rates"].items()}
    assert said["retrieval_missed"] == said["healthy"] == "worse"  # fewer healthy ones are worse
    assert said["generator_invented"] == "no clear change"


@pytest.mark.parametrize(("days", "days_before"), [(7, 2), (2, 7)])
def test_a_week_in_which_diagnoses_began_is_not_compared(days, days_before):
    found = reported(diagnosed=replace(DIAGNOSED, days=days, days_before=days_before))
    assert {rate["change"] for rate in found["diagnoses"]["rates"].values()} == {None}
    said = f"only {days_before} of the days before and {days} of this week have diagnoses"
    assert said in markdown(found, no_link)


def test_rows_of_earlier_releases_say_nothing():
    found = reported(diagnosed=Diagnosed(), lacking=Lacking())
    assert (found["diagnoses"], found["lacking"]) == (None, None)
    assert [section.title for section in retrieval_sections(found, no_link)] == ["Documents"]
    assert "diagnos" not in page(found, no_link) + markdown(found, no_link) + str(slack_message(found))


def test_a_report_of_an_earlier_release_is_still_shown():
    earlier = {name: value for name, value in reported().items() if name not in {"diagnoses", "lacking"}}
    earlier["findings"] = {**earlier["findings"], "items": []}
    assert "Retriever or generator" not in [section.title for section in sections(earlier, no_link)]
    assert "Nothing calls for action" in page(earlier, no_link)
    assert headline(earlier)
    assert slack_message(earlier).blocks


def test_a_week_whose_answers_have_no_diagnosis_any_more_says_so():
    found = reported(diagnosed=replace(DIAGNOSED, this={}, days=0), lacking=Lacking())
    assert "0 of 1,000 answers have a diagnosis" in markdown(found, no_link)
    assert "diagnosed" not in " ".join(headline(found))


def test_questions_that_stand_out_are_something_to_do():
    (todo,) = actions(reported())
    assert todo.text == (
        "Knowledge base: 8.4 % of the questions are like “Can I pay by invoice?”, and no retrieved document seems to "
        "answer them: 80 of 84 answers were refused or made up. Read a few answers; if the knowledge base lacks it, "
        "write a document."
    )
    assert todo.sure == "Very sure (q < 0.001); about 160 more bad answers this week."  # half of the week was read
    assert todo.path == ("/interactions?app=support-bot&since=2026-11-09&until=2026-11-16&diagnosis=retrieval_missed")


@pytest.mark.parametrize(
    "over",
    [
        {"q": 0.02},
        {"q": None},
        {"missed": 9},
        {"days": 2},
        {"alike_missed": 4},
        {"refusals": 20, "self_generated": 21},
    ],
)
def test_questions_that_may_be_chance_an_outage_or_answered_call_for_nothing(over):
    group = replace(GROUP, **over)
    found = reported(lacking=replace(LACKING, groups=(group,)))
    assert actions(found) == []
    assert found["lacking"]["groups"][0]["question"] == "Can I pay by invoice?"


def test_the_head_names_groups_that_are_no_chance():
    other = replace(LACKING, groups=(a_group("Rare?", q=0.5), GROUP, a_group("Too?")))
    assert (
        "Nothing retrieved answers: “Can I pay by invoice?” and the like (84 answers) and 1 other group of questions."
        in (headline(reported(lacking=other)))
    )
    rare = reported(lacking=replace(LACKING, groups=(a_group("Rare?", q=0.5), a_group("Untested?", q=None))))
    assert "Nothing retrieved answers" not in " ".join(headline(rare))


def test_a_small_share_of_all_answers_calls_for_nothing():
    assert actions(reported(lacking=replace(LACKING, answers=8_500, of=8_500))) == []


def test_page_markdown_slack_and_json_tell_the_same():
    found = reported()
    largest = found["lacking"]["groups"][0]
    assert largest == {
        "id": "Can I pay by invoice?",
        "question": "Can I pay by invoice?",
        "missed": largest["missed"],
        "questions": 31,
        "refusal": 50,
        "self_generated": 30,
        "days": 5,
        "alike": 9,
        "alike_missed": 8,
        "q": 1e-6,
    }
    cells = ("84", "50", "30", "31", "8 of 9", "8.4 % (6.8 to 10.3)", "q &lt; 0.001")
    html = page(found, link, "https://monitor.example")
    row = html[html.index(">Can I pay by invoice?</a></th>") :].partition("</tr>")[0]
    assert [cell in row for cell in cells] == [True] * len(cells)
    row = next(line for line in markdown(found, link).splitlines() if line.startswith("| [Can I pay by invoice?]"))
    assert [cell.replace("&lt;", "\\<") in row for cell in cells] == [True] * len(cells)
    head = " ".join(headline(found))
    assert (
        "Retrieval missed what was asked in 12.0 % (clearly worse: +8.0 points) of the diagnosed answers; "
        "the generator failed in 3.0 %."
    ) in head
    assert "Nothing retrieved answers: “Can I pay by invoice?” and the like (84 answers)." in head
    said = str(slack_message(found).blocks)
    assert "12.0 % (clearly worse: +8.0 points) of the diagnosed answers" in said
    assert "Can I pay by invoice?” and the like (84 answers)" in said


def test_tables_lead_to_the_answers():
    found = reported()
    html = page(found, link, "https://monitor.example")
    wanted = (
        "https://monitor.example/interactions?app=support-bot&amp;since=2026-11-09&amp;until=2026-11-16&amp;diagnosis="
    )
    assert f'<a href="{wanted}generator_invented"' in html
    assert f"{wanted}generator_ignored" not in html  # there is none
    assert 'href="https://monitor.example/interactions/21"' in html
    linked = markdown(found, link, "https://monitor.example")
    assert f"](<{wanted.replace('&amp;', '&')}healthy>)" in linked
    assert "](<" not in markdown(found, no_link)
    path = listed(found, INVENTED)
    query = parse_query([(name, value) for name, (value,) in parse_qs(urlsplit(path).query).items()], WEEK.end)
    assert query.faults == ()
    assert (query.filters.app, query.filters.diagnoses) == ("support-bot", {INVENTED})
    assert (query.filters.since, query.filters.until) == (WEEK.start, WEEK.end)


def test_what_was_not_read_or_not_grouped_is_said():
    groups = tuple(a_group(f"{n}?") for n in range(13))
    cut = replace(LACKING, questions=70, by_meaning=False, groups=groups)
    said = markdown(reported(lacking=cut), no_link)
    for piece in (
        "1,000 of 2,000 answers were read",
        "The 60 questions asked most often were grouped",
        "word for word only: the embedding model was out of reach",
        "3 more groups not shown",
    ):
        assert piece in said
    assert len(reported(lacking=cut)["lacking"]["groups"]) == 10


def test_what_is_not_shown_is_said_below_the_table():
    groups = tuple(a_group(f"{n}?") for n in range(13))
    found = reported(lacking=replace(LACKING, groups=groups))
    for said in (markdown(found, no_link), page(found, no_link)):
        assert said.index("Missed most often") < said.index("9?") < said.index("3 more groups not shown")


def test_columns_that_tell_nothing_are_left_out():
    def headings(*groups):
        found = retrieval_sections(reported(lacking=replace(LACKING, groups=groups)), no_link)
        return [found[1].tables[0].headings[place] for place in (1, -1)], len(found[1].tables[0].headings)

    assert headings(GROUP, a_group("Rare?", q=1.0)) == (["Missed", "q"], 8)
    assert headings(a_group("Rare?", q=1.0), a_group("New?", q=0.999)) == (["Missed", "Share"], 7)
    assert headings(a_group("Rare?", q=None, alike=1, alike_missed=1)) == (["Missed", "Share"], 6)


def test_a_week_without_such_questions_says_so():
    said = markdown(reported(lacking=replace(LACKING, missed=0, questions=0, read=0, groups=())), no_link)
    assert "The documents answer the question in each of the 1,000 answers read." in said


def test_questions_are_masked_and_an_erased_one_is_no_word():
    typical = replace(GROUP.typical, shown="Mail ann@example.com\nabout it " + "x" * 500)
    found = reported(lacking=replace(LACKING, groups=(replace(GROUP, typical=typical),)))
    question = found["lacking"]["groups"][0]["question"]
    assert question.startswith("Mail [e-mail] about it xx")
    assert len(question) == 200
    assert found["findings"]["items"][0]["question"] == question
    gone = reported()
    gone["lacking"]["groups"][0]["question"] = gone["findings"]["items"][0]["question"] = ""
    assert "8.4 % of the questions are alike, and no retrieved document" in actions(gone)[0].text
    assert "(erased)" in page(gone, no_link)
    assert "Nothing retrieved answers" not in " ".join(headline(gone))


def test_something_of_everything_is_in_each_form():
    found = content(facts_named("tame"))
    for text in (page(found, link), markdown(found, link)):
        assert "Retriever or generator" in text
        assert "Questions that nothing retrieved answers" in text
        assert "“tame”" in text
