"""How `monitor doctor` prints what it finds."""

from __future__ import annotations

from rich.console import Console

from monitor.app.doctor.examine import Finding
from monitor.cli.operate.doctor import _print_findings


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
