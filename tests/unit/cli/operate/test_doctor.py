"""How `monitor doctor` prints what it finds, and what it checks after a fault."""

from __future__ import annotations

from rich.console import Console

from monitor.app.doctor import examine
from monitor.app.doctor.examine import Finding
from monitor.app.wiring.application import Application
from monitor.cli.operate.doctor import _print_findings
from monitor.core.settings.load import Settings


def test_findings_wrap_at_spaces_and_never_cut_what_may_be_copied(capsys):
    key = "/var/lib/" + "-".join(["monitor"] * 10)
    findings = [
        Finding(check="audit", good=True, detail=f"the first use creates a key in {key}"),
        Finding(check="alert rules", good=False, detail="[red] is\nno rule", mended_by="correct the file"),
        Finding(check="probes", good=True, detail="\x1bfew", mended_by="`monitor probe list`"),
    ]
    _print_findings(Console(width=40, soft_wrap=True), findings)
    assert capsys.readouterr().out.splitlines() == [
        "ok     audit        the first use",
        "                    creates a key in",
        f"                    {key}",
        "fails  alert rules  [red] is",
        "                    no rule",
        "                    → correct the file",
        "warns  probes       \N{REPLACEMENT CHARACTER}few",
        "                    → `monitor probe",
        "                    list`",
    ]


def test_rules_wait_for_receivers_that_cannot_be_made(monkeypatch, tmp_path):
    """They name receivers; the file of rules is not at fault."""
    checks = [check for check in examine._CHECKS if check.name in {"receivers", "alert rules"}]
    monkeypatch.setattr(examine, "_CHECKS", checks)
    with Application(Settings(slack={"bot_token": "xoxb-1"}, rules=tmp_path / "rules.yaml")) as application:
        receivers, rules = examine.examine(application)
    assert "Slack needs both" in receivers.detail
    assert rules == Finding(check="alert rules", good=False, detail="not checked", mended_by="mend the receivers first")


def test_a_database_that_does_not_start_is_told_once(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    checks = [check for check in examine._CHECKS if check.name in {"database", "migrations", "alert rules"}]
    monkeypatch.setattr(examine, "_CHECKS", checks)
    with Application(Settings(state_dir=tmp_path / "file" / "state")) as application:
        database, *others = examine.examine(application)
    assert "MONITOR_STATE_DIR" in database.detail
    assert {(one.detail, one.mended_by) for one in others} == {("not checked", "mend the database first")}
