"""`monitor probe list`, `show` and `compare` on stored runs, in a terminal of 80 columns."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from monitor.cli.app import app as command_line
from monitor.core.errors import WrongSettings
from monitor.probe.result import RunState
from monitor.store.probe.golden import GoldenSets
from monitor.store.probe.runs import ProbeRuns
from tests.factories.probe.runs import AT, item, result, run

ITEMS = [item(n) for n in range(12)]


@pytest.fixture
def stored(engine):
    """Stores a run that is done, with a result of each item for each score."""
    sets, runs = GoldenSets(engine), ProbeRuns(engine)
    made = sets.save("support", ITEMS, by="ada", now=AT)

    def store(*scores, state=RunState.DONE, **changes):
        begun = run(golden_hash=made.hash, **changes)
        number = runs.begin(begun, mark=f"{len(runs.runs()):032x}").number
        for place, score in enumerate(scores):
            runs.save(number, place, result(ITEMS[place], *score))
        runs.end(number, state, now=AT, error=None if state is RunState.DONE else "1 of 3 questions were asked: why")
        return number

    return store


@pytest.fixture
def monitor(database, monkeypatch):
    monkeypatch.setenv("MONITOR_DATABASE_URL", database)

    def ran(*words):
        return CliRunner().invoke(command_line, ["probe", *map(str, words)], env={"COLUMNS": "80"})

    return ran


def why(ended):
    assert isinstance(ended.exception, WrongSettings), ended.output
    return str(ended.exception)


def test_before_any_run_the_next_step_is_named(monitor):
    assert monitor("list").stdout == "no probe has run yet: monitor probe run NAME\n"
    assert monitor("list", "--probe", "nix").stdout == "no probe has run yet: monitor probe run NAME\n"


def test_a_probe_or_an_app_without_runs_is_told_with_those_that_have_some(monitor, stored):
    stored((5,))
    stored((5,), probe="other", app="shop 2")
    there = "there are runs of other about shop 2, support about shop\n"
    for words, of in (
        (("--probe", "nix"), "of the probe 'nix'"),
        (("--app", "nix"), "about the app 'nix'"),
        (("--probe", "support", "--app", "shop 2"), "of the probe 'support' about the app 'shop 2'"),
    ):
        assert monitor("list", *words).stdout == f"no run {of} is stored; {there}"
        assert json.loads(monitor("list", *words, "--json").stdout) == []


def test_a_version_that_is_not_found_is_told_with_what_was_asked(monitor, stored):
    stored((5,), chatbot="v1")
    stored((5,), chatbot="v2", probe="other")
    assert why(monitor("compare", "v1", "v2", "--probe", "nix")) == (
        "--probe: no run of the probe 'nix' is stored; there are runs of other about shop, support about shop"
    )
    assert why(monitor("compare", "v1", "v2", "--probe", "other")) == (
        "there is no run or version v1 of the probe 'other': monitor probe list"
    )
    assert "v1 and v2 have no runs of the same probe" in why(monitor("compare", "v1", "v2"))


def test_runs_of_different_probes_are_compared_by_number_and_it_is_said(monitor, stored):
    stored((5,))
    stored((5,), probe="other", environment="staging")
    assert (
        "the runs are of different probes: support about shop in production, then other about shop in staging"
        in monitor("compare", 1, 2).stdout
    )
    assert "different probes" not in monitor("compare", 1, 1).stdout


@pytest.mark.parametrize("turns", [1, 20])
def test_the_list_fits_a_terminal(monitor, stored, turns):
    stored((4, 5), turns=turns, probe="support-refunds", chatbot="2026.11.3-g0a1b2c3d4", candidate=True)
    stored((4,), state=RunState.STOPPED, candidate=True)
    heading, *lines = monitor("list").stdout.splitlines()
    assert heading.split()[-1] == ("asked" if turns == 1 else "wscore")
    assert all(len(line) <= 80 for line in lines)
    assert "…" not in "".join(lines)
    figures = [line.split()[5:] for line in lines if line.split()[0] in {"1", "2"}]
    assert figures == [
        ["stopped", "4.00", "0.0%", "1" if turns == 1 else "-"],
        ["candidate", "4.00", "0.0%", "1" if turns == 1 else "5.00"],
    ]


def test_a_run_that_is_shown_does_not_lead_to_itself(monitor, stored):
    stored((4,), (5,))
    shown = monitor("show", 1).stdout
    assert "monitor probe show" not in shown
    assert shown.count("q0") == 1
    assert "q0 graded correctness 4\n" in shown
    assert "wscore" not in shown
    stored((4, 5), turns=3)
    assert "q0 graded correctness 4, wscore 5, turns 2, best 5\n" in monitor("show", 2).stdout


def test_a_mean_without_spread_is_no_interval(monitor, stored):
    stored(*[(5,)] * 12)
    stored(*[(3,)] * 12)
    (row,) = [line.split() for line in monitor("show", 1).stdout.splitlines() if line.startswith("correctness,")]
    assert row[-3:] == ["5.00", "5.00", "12"]
    assert "correctness, 1 to 5: -2.00 over 12 questions: worse\n" in monitor("compare", 1, 2).stdout


def test_a_run_that_measured_nothing_has_no_table(monitor, stored):
    stored(state=RunState.STOPPED)
    shown = monitor("show", 1).stdout
    assert "95 % interval" not in shown
    assert shown.endswith("stopped: 1 of 3 questions were asked: why\n")
    stored((5,))
    stored()
    assert "against run" not in monitor("show", 3).stdout
