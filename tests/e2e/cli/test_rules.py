"""Rules before they hold: checked, tried on what is stored, and on simulated weeks."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from tests.rig.installation import REFUSAL

HASH = {"EMBEDDING__PROVIDER": "hash"}
RULES = """\
rules:
  - name: refusals-of-any-app-that-the-bot-is-asked-by
    by: []
    signal: {rate: refusal}
    above: 0.5
    window: 10m
    min_samples: 5
    lateness: 0s
    for: 5m
  - {name: reading-behind, signal: lag, above: 300, severity: critical, receivers: [slack, email]}
"""


@pytest.fixture
def rules(tmp_path):
    (tmp_path / "rules.yaml").write_text(RULES)
    return "rules.yaml"


def test_the_shipped_rules_are_in_order_and_none_is_cut_on_a_narrow_terminal(monitor):
    names = [rule["name"] for rule in monitor.json("rules", "check")]
    assert len(names) > 5
    for columns in (60, 80):
        table = monitor.run("rules", "check", columns=columns).stdout
        assert all(re.search(rf"^ {name} ", table, re.MULTILINE) for name in names)
        assert "…" not in table
        assert max(map(len, table.splitlines())) <= columns


def test_a_wrong_rules_file_is_two_with_the_line_of_each_error(monitor, tmp_path):
    (tmp_path / "wrong.yaml").write_text(
        "rules:\n  - name: fine\n    signal: {rate: negative}\n    above: 3\n    colour: red\n"
        "  - name: fine\n    signal: {rate: negative}\n    above: 0.3\n    window: 90s\n    receivers: [pigeon]\n"
    )
    ended = monitor.run("rules", "check", "wrong.yaml")
    assert ended.returncode == 2
    found = re.findall(r"wrong\.yaml:(\d+):(\d+): (\S+):", ended.stderr)
    assert found == [
        ("5", "5", "rules[0].colour"),
        ("6", "11", "rules[1].name"),
        ("9", "13", "rules[1].window"),
        ("10", "17", "rules[1].receivers[0]"),
    ]
    (tmp_path / "broken.yaml").write_text("rules:\n  - name: [\n")
    broken = monitor.run("rules", "check", "broken.yaml")
    assert broken.returncode == 2
    assert re.search(r"broken\.yaml:\d+:\d+: ", broken.stderr)
    assert monitor.run("rules", "check", "nowhere.yaml").returncode == 2


def test_an_incident_of_yesterday_is_found_where_it_was(monitor, event, rules):
    now = datetime.now(UTC)
    start = (now - timedelta(hours=26)).replace(second=0, microsecond=0)
    begins, ends = 60, 100  # minutes after the start

    def line(minute, number):
        at = start + timedelta(minutes=minute, seconds=10 * number)
        over = {"answer": REFUSAL} if begins <= minute < ends else {}
        return event(f"{minute}-{number}", occurred_at=at.isoformat(), **over)

    lines = "".join(line(minute, number) for minute in range(200) for number in range(2))
    assert monitor.run("replay", "-", stdin=lines.encode(), **HASH).returncode == 0
    rehearsed = monitor.json("rules", "check", rules, "--against", "2d")
    refusals, lag = rehearsed
    assert refusals["counted"] == 400
    (episode,) = refusals["episodes"]
    fired, resolved = (datetime.fromisoformat(episode[name]) - start for name in ("fired_at", "resolved_at"))
    # six of ten minutes are bad for the first time a minute after the sixth, and so for `for` of five minutes more
    assert fired == timedelta(minutes=begins + 6 + 5)
    # and five of ten for the first time when five good minutes have passed
    assert resolved == timedelta(minutes=ends + 5)
    assert episode["worst"] == 1.0
    assert (lag["episodes"], lag["counted"]) == ([], 0)
    assert "history" in lag["why_not"]
    told = monitor.run("rules", "check", rules, "--against", "2d", columns=80).stdout
    assert f"{start + timedelta(minutes=begins + 11):%Y-%m-%d %H:%M}" in told
    assert f"{start + timedelta(minutes=ends + 5):%Y-%m-%d %H:%M}" in told
    assert "400 counted" in told
    assert "34m" in told  # of firing, in all
    assert "…" not in told


@pytest.mark.parametrize(
    ("length", "message"),
    [("0d", "must be at least a minute"), ("30s", "must be at least a minute"), ("soon", "'soon' is not a duration")],
)
def test_history_of_no_length_is_wrong_use(monitor, rules, length, message):
    ended = monitor.run("rules", "check", rules, "--against", length)
    assert ended.returncode == 2
    assert ended.stderr.startswith("monitor: --against")
    assert message in ended.stderr


SIMULATED = """\
rules:
  - {name: twofold, signal: {rate: negative}, method: sequential, target: 0.06}
  - {name: restless, signal: {rate: negative}, above: 0.05, min_samples: 1}
  - {name: ranks, signal: {ranks: refusal}}
  - {name: labels, signal: {true_rate: refusal}, above: 0.5}
  - {name: reading-behind, signal: lag, above: 300}
"""


def test_rules_are_played_simulated_weeks(monitor, tmp_path):
    (tmp_path / "rules.yaml").write_text(SIMULATED)
    listed = monitor.run("alerts", "simulate")
    assert listed.returncode == 0
    assert {line.split()[0] for line in listed.stdout.splitlines()} >= {"quiet", "doubled", "fourfold", "topics"}
    play = ("alerts", "simulate", "rules.yaml", "--weeks", "1", "--scenario")
    quiet = {rule["name"]: rule for rule in monitor.json(*play, "quiet")}
    assert (quiet["twofold"]["false_pages"], quiet["twofold"]["delay_seconds"]) == (0, [])
    assert quiet["restless"]["false_pages"] > 10
    assert quiet["reading-behind"]["why_not"] == "lag is not simulated"
    fourfold = {rule["name"]: rule for rule in monitor.json(*play, "fourfold")}
    (delay,) = fourfold["twofold"]["delay_seconds"]
    assert 0 < delay < timedelta(hours=6).total_seconds()
    assert quiet["ranks"]["false_pages"] == quiet["labels"]["false_pages"] == 0
    assert fourfold["ranks"]["delay_seconds"][0] < timedelta(hours=6).total_seconds()
    assert fourfold["labels"]["delay_seconds"] == [None]  # a week with half a day at 16 % is not half bad
    table = monitor.run(*play, "fourfold", columns=80).stdout
    assert "1 of 1" in table
    assert "…" not in table
    unknown = monitor.run(*play, "flood")
    assert unknown.returncode == 2
    assert "known: quiet" in unknown.stderr


def test_the_doctor_says_which_rules_and_receivers_there_are(monitor, rules):
    monitor.run("migrate")
    findings = {f["check"]: f for f in monitor.json("doctor", code=1, RULES=rules)}
    assert not findings["alert rules"]["good"]  # its receivers are not configured here
    assert "rules.yaml:10" in findings["alert rules"]["detail"]
    assert "receiver 'slack' is not configured" in findings["alert rules"]["detail"]
    findings = {f["check"]: f for f in monitor.json("doctor")}
    assert findings["alert rules"]["good"]
    assert "negative-rate" in findings["alert rules"]["detail"]


def test_a_file_becomes_a_version_and_goes_back_to_a_file(monitor, tmp_path):
    text = "rules:\n  - {name: pager, signal: {rate: negative}, above: 0.3}\n"
    (tmp_path / "mine.yaml").write_text(text)
    assert monitor.run("rules", "versions").stdout == "in force: the rules that ship\n"
    saved = monitor.run("rules", "save", "mine.yaml", "--why", "as in the repository", "--by", "ada")
    assert (saved.returncode, saved.stdout) == (0, "saved as version 1\n"), saved.stderr
    listed = monitor.run("rules", "versions").stdout
    assert "1 (in force)" in listed
    assert "as in the repository" in listed
    assert [rule["name"] for rule in monitor.json("rules", "check")] == ["pager"]
    shown = monitor.run("rules", "show").stdout
    assert "by ada: as in the repository" in shown
    assert "+  - {name: pager" in shown
    assert monitor.run("rules", "export", "-o", "again.yaml").returncode == 0
    assert (tmp_path / "again.yaml").read_text() == text
    (tmp_path / "mine.yaml").write_text(text.replace("0.3", "0.4"))
    late = monitor.run("rules", "save", "mine.yaml", "--why", "louder", "--based-on", "0")
    assert late.returncode == 1
    assert "the newest is now version 1" in late.stderr
    (tmp_path / "mine.yaml").write_text(text.replace("}\n", ", receivers: [slack]}\n").replace("negative}", "refusal}"))
    checked = monitor.run("rules", "check", "mine.yaml")
    assert checked.returncode == 0
    assert "not configured here: slack; `monitor run` and `rules save` refuse" in checked.stderr
    assert monitor.run("rules", "save", "mine.yaml", "--why", "x").returncode == 2


def test_a_rule_that_selects_a_probe_that_is_not_there_is_told(monitor, tmp_path):
    probe = "{name: support, app: shop, golden: refunds, target: {command: [bot]}}"
    (tmp_path / "probes.yaml").write_text(f"probes:\n  - {probe}\n")
    rules = "rules:\n" + "".join(
        f"  - {{name: {name}, signal: {{probe: correctness}}, selector: {{probe: {name}}}}}\n"
        for name in ("support", "suport")
    )
    (tmp_path / "rules.yaml").write_text(rules)
    checked = monitor.run("rules", "check", "rules.yaml", PROBES="probes.yaml")
    assert checked.returncode == 0
    assert checked.stderr == "suport: probes.yaml has no probe 'suport'; it has: support\n"
    (tmp_path / "probes.yaml").write_text("probes: 3\n")
    checked = monitor.run("rules", "check", "rules.yaml", PROBES="probes.yaml")
    assert checked.returncode == 0
    assert "the probes that rules select are not checked: probes.yaml:1:9: " in checked.stderr
    assert monitor.run("rules", "check", PROBES="probes.yaml").stderr == ""  # no rule selects one
