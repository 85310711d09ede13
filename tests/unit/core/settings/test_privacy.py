"""Settings of redaction and retention as people write them."""

from __future__ import annotations

import pytest

from monitor.core.errors import WrongSettings
from monitor.core.settings.load import load_settings
from monitor.core.text.personal_data import PersonalData


def test_nothing_is_redacted_and_everything_kept_by_default():
    settings = load_settings()
    assert settings.redaction.kinds == settings.redaction.regions == ()
    assert settings.redaction.patterns == settings.retention.by_app == {}
    assert settings.retention.keep is None


def test_they_are_read_from_the_environment(monkeypatch):
    monkeypatch.setenv("MONITOR_REDACTION__KINDS", "e-mail, iban,national_id")
    monkeypatch.setenv("MONITOR_REDACTION__REGIONS", "de, FR")
    monkeypatch.setenv("MONITOR_REDACTION__PATTERNS", r'{"employee": "EMP-\\d{4}"}')
    monkeypatch.setenv("MONITOR_RETENTION__KEEP", "400d")
    settings = load_settings()
    assert settings.redaction.kinds == (PersonalData.E_MAIL, PersonalData.IBAN, PersonalData.NATIONAL_ID)
    assert settings.redaction.regions == ("DE", "FR")
    assert settings.redaction.patterns == {"employee": r"EMP-\d{4}"}
    assert settings.retention.keep == "400d"


def test_they_are_read_from_the_file(tmp_path):
    (tmp_path / "monitor.toml").write_text(
        '[redaction]\nkinds = ["card"]\n[redaction.patterns]\norder = "[A-Z]{2}-\\\\d+"\n'
        '[retention]\nkeep = "1y"\n[retention.by_verdict]\ngrounded = "30d"\n'
        '[retention.by_app.shop]\nkeep = "forever"\n'
    )
    settings = load_settings()
    assert settings.redaction.patterns == {"order": r"[A-Z]{2}-\d+"}
    assert settings.retention.by_verdict == {"grounded": "30d"}
    assert settings.retention.by_app["shop"].keep == "forever"


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("KINDS", "phone, passport", r"REDACTION__KINDS: \[1\]: must be "),
        ("REGIONS", "DE, XX", "not a country code: XX"),
        ("PATTERNS", '{"employee": "("}', r"REDACTION__PATTERNS: .*employee: '\(' is no regular expression"),
        ("PATTERNS", '{"employee": "a*"}', "employee: 'a\\*' matches an empty text"),
    ],
)
def test_what_is_wrong_is_named(monkeypatch, name, given, said):
    monkeypatch.setenv(f"MONITOR_REDACTION__{name}", given)
    with pytest.raises(WrongSettings, match=said):
        load_settings()
