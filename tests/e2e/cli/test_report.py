"""The weekly report by the command line, on schedule, and in a browser that loads nothing else."""

from __future__ import annotations

import json
import re
import shlex
from datetime import UTC, datetime, timedelta

import pytest

from monitor.report.weekly.week import last_week, week_of
from tests.rig.installation import REFUSAL
from tests.rig.waiting import until

HOSTILE = "<img src=x onerror=alert(1)> | [x](http://evil.example) @here"


@pytest.fixture
def week():
    return last_week(datetime.now(UTC))


@pytest.fixture
def filled(monitor, event, week):
    """Forty answers of the last week, some of the week before, and one of another app."""
    monitor.settings["EMBEDDING__PROVIDER"] = "hash"

    def lines():
        for n in range(50):
            at = week.start + timedelta(hours=3 * n - 30)
            over = {"answer": REFUSAL} if n % 3 else {"question": f"{HOSTILE} {n}?"}
            yield event(f"q-{n}", occurred_at=at.isoformat(), tags={"topic": HOSTILE}, **over)
        yield event("q-0", app="shop", occurred_at=week.start.isoformat())

    assert monitor.run("replay", "-", "--strict", stdin="".join(lines()).encode()).returncode == 0
    return monitor


def test_a_report_is_written_in_each_form_and_stays_what_it_was(filled, tmp_path, week, event):
    for name in ("week.html", "week.md", "week.json"):
        ended = filled.run("report", "weekly", "--app", "support-bot", "--output", name)
        assert ended.returncode == 0, ended.stderr
        assert f"support-bot, {week.name}; stored at" in ended.stderr
    found = json.loads((tmp_path / "week.json").read_text(encoding="utf-8"))
    assert found["verdicts"]["answers"] == 40
    assert found["verdicts"]["answers_before"] == 10
    assert found["diagnoses"]["diagnosed"] == found["lacking"]["answers_read"] == 40
    assert found["lacking"]["by_meaning"]
    page = (tmp_path / "week.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "onerror=alert(1)&gt;" in page
    assert "<img" not in page
    assert "Retriever or generator" in page
    assert "Weekly report: support-bot" in (tmp_path / "week.md").read_text(encoding="utf-8")

    late = event("late", occurred_at=week.start.isoformat())
    assert filled.run("replay", "-", stdin=late.encode()).returncode == 0
    as_stored = filled.run("report", "weekly", "--app", "support-bot", "--week", week.name, "--format", "json")
    assert json.loads(as_stored.stdout) == found
    again = filled.run("report", "weekly", "--app", "support-bot", "--again")
    assert "differs from the one before in:" in again.stderr
    assert "verdicts" in again.stderr
    assert "Weekly report" in again.stdout
    same = filled.json("report", "weekly", "--app", "support-bot", "--again")
    assert (same[0]["differs"], same[0]["content"]["verdicts"]["answers"]) == ([], 41)
    (listed,) = filled.json("report", "list")
    assert (listed["app"], listed["week"], listed["digest"]) == ("support-bot", week.name, same[0]["digest"])
    assert "support-bot" in filled.run("report", "list").stdout


def test_a_new_installation_has_a_report_of_the_week_that_has_begun(monitor, event, tmp_path):
    monitor.settings["EMBEDDING__PROVIDER"] = "hash"
    nothing = monitor.run("report", "weekly")
    assert nothing.returncode == 2
    assert "`monitor replay FILE` stores some" in nothing.stderr
    now = datetime.now(UTC)
    this = week_of(now.date())
    at = max(this.start, now - timedelta(minutes=2)).isoformat()
    assert monitor.run("replay", "-", stdin=event("first", occurred_at=at).encode()).returncode == 0
    for arguments in (["--app", "support-bot", "--output", "week.html"], []):
        ended = monitor.run("report", "weekly", *arguments)
        assert ended.returncode == 0, ended.stderr
        assert f"support-bot, {this.name}; not stored, because the week is not over" in ended.stderr
    assert (tmp_path / "week.html").exists()
    (command,) = re.findall(r"\((monitor review plan .*?) draws from the last seven days\)", ended.stdout)
    drawn = monitor.run(*shlex.split(command)[1:])
    assert drawn.returncode == 0, drawn.stderr
    assert "plan 1: 1 of 1 answers of support-bot" in drawn.stdout
    other = monitor.run("report", "weekly", "--app", "support-bot", "--week", this.before.name)
    assert other.returncode == 2
    assert "`monitor explain --app support-bot` lists its newest ones" in other.stderr


def test_several_apps_go_into_a_folder(filled, tmp_path, week):
    refused = filled.run("report", "weekly", "--output", "both.html")
    assert refused.returncode == 2
    assert "shop, support-bot" in refused.stderr
    (tmp_path / "reports").mkdir()
    assert filled.run("report", "weekly", "--output", "reports", "--format", "md").returncode == 0
    assert filled.run("report", "weekly", "--app", "shop", "--output", "notes.txt").returncode == 0
    assert (tmp_path / "notes.txt").read_text().startswith("# Weekly report")
    names = sorted(path.name for path in (tmp_path / "reports").iterdir())
    assert names == [f"shop-{week.name}.md", f"support-bot-{week.name}.md"]


def test_the_report_of_one_app_goes_into_a_new_folder_too(filled, tmp_path, week):
    into = ("report", "weekly", "--app", "shop", "--output")
    assert filled.run(*into, "new/reports/").returncode == 0
    assert [path.name for path in (tmp_path / "new" / "reports").iterdir()] == [f"shop-{week.name}.html"]
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    refused = filled.run(*into, "file/reports")
    assert refused.returncode == 2
    assert "cannot make the folder file/reports: Not a directory" in refused.stderr


def test_a_wrong_use_says_what_is_wrong(filled):
    for arguments, said in (
        (["--week", "2026-99"], "write it as 2026-W46"),
        (["--week", "2999-W01"], "has not begun"),
        (["--app", "nobody"], "'nobody' has no answers"),
        (["--format", "pdf"], "html, md, json"),
        (["--app", "shop", "--send"], "Slack is not set up"),
    ):
        ended = filled.run("report", "weekly", *arguments)
        assert ended.returncode == 2, arguments
        assert said in ended.stderr
        assert "Traceback" not in ended.stderr


def test_a_wrong_week_is_wrong_use_even_without_a_database(monitor):
    away = "postgresql://127.0.0.1:1/nothing"
    assert monitor.run("report", "weekly", "--week", "2026-W60", DATABASE_URL=away).returncode == 2
    assert monitor.run("report", "weekly", DATABASE_URL=away).returncode == 3


def test_a_running_monitor_writes_what_is_due(filled, log, rows, week):
    log.touch()
    running = filled.start("run", log, REPORT__HOUR="0", REPORT__APPS="support-bot")
    until("the report is stored", lambda: rows("SELECT app, period_start FROM report"))
    assert rows("SELECT kind, app, period_start FROM report") == [("weekly", "support-bot", week.start)]
    assert running.terminate() == 0
    assert "Traceback" not in running.err
    assert f"wrote the report of support-bot for {week.name}" in running.err

    ended = filled.run("run", log, REPORT__SLACK="true")
    assert ended.returncode == 2
    assert "MONITOR_REPORT__SLACK needs" in ended.stderr
