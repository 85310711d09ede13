"""What the weekly report says of probes."""

from __future__ import annotations

from dataclasses import replace

from monitor.report.weekly.content import content
from monitor.report.weekly.document import sections
from monitor.report.weekly.probes.sections import probe_sections
from monitor.report.weekly.slack import slack_message
from monitor.report.weekly.summary import headline
from tests.factories.report.weekly_facts import a_probe_week, no_facts

WORSE = "The probe shop got worse: correctness −3.00 (−3.00 to −3.00), wscore −3.00 (−3.00 to −3.00)."


def test_a_week_without_probes_is_silent():
    found = content(no_facts())
    assert found["probes"] == []
    assert probe_sections(found) == []
    assert probe_sections({}) == []
    assert "Golden probes" not in {section.title for section in sections(found, lambda *_: None)}
    assert "probe" not in str(slack_message(found).blocks)


def test_a_probe_that_got_worse_heads_the_report():
    found = content(no_facts(probes=(a_probe_week("shop"),)))
    assert WORSE in headline(found)
    assert "The probe shop got worse" in str(slack_message(found).blocks)
    (section,) = probe_sections(found)
    figures, fell = section.tables
    assert [row[:3] for row in figures.rows] == [
        ("Correctness", "2.00 (2.00 to 2.00)", "5.00 (5.00 to 5.00)"),
        ("wscore", "2.00 (2.00 to 2.00)", "5.00 (5.00 to 5.00)"),
        ("Not sure", "0.0 % (0.0 to 24.2)", "0.0 % (0.0 to 24.2)"),
    ]
    assert figures.rows[0][3:] == ("−3.00 (−3.00 to −3.00)", "worse")
    assert figures.rows[2][4] == "no difference shown"
    assert fell.rows[0] == ("shop", "5.0", "2.0")
    assert (len(fell.rows), fell.more) == (5, "7 more questions fell.")


def test_without_a_run_in_the_week_before_nothing_is_compared():
    probe = replace(a_probe_week("shop"), before=None, figures_before=None, compared=None)
    found = content(no_facts(probes=(probe,)))
    (section,) = probe_sections(found)
    assert section.notes[0].endswith("; no run in the week before.")
    (figures,) = section.tables
    assert figures.rows[0][2:] == ("–", "–", "–")
    assert "got worse" not in " ".join(headline(found))


def test_a_probe_of_single_turns_has_no_wscore():
    probe = a_probe_week("shop")
    probe = replace(probe, run=replace(probe.run, turns=1))
    (found,) = content(no_facts(probes=(probe,)))["probes"]
    assert [*found["figures"]] == ["correctness", "unsure"]


def test_a_question_that_is_not_to_be_told_is_named_by_its_item():
    probe = replace(a_probe_week("shop"), questions={})
    found = content(no_facts(probes=(probe,)))
    assert found["probes"][0]["fell"][0]["question"] is None
    assert probe_sections(found)[0].tables[1].rows[0][0] == "0 shop"
