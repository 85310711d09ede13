from __future__ import annotations

import pytest

from monitor.core.errors import WrongSettings
from monitor.probe.targets.secrets import header_value, with_secrets


def test_files_and_variables_take_their_places(tmp_path, monkeypatch):
    (tmp_path / "key").write_text("s3cret\n", encoding="utf-8")
    monkeypatch.setenv("BOT_KEY", "${env:OTHER}")
    text = f"Bearer ${{file:{tmp_path}/key}} ${{env:BOT_KEY}} $x ${{other:y}}"
    assert with_secrets(text, of="header A") == "Bearer s3cret ${env:OTHER} $x ${other:y}"


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("BOT_KEY", raising=False)
    (tmp_path / "bytes").write_bytes(b"\xff\xfes3cret")
    for text, said in (
        ("${env:BOT_KEY}", "header A: the environment has no BOT_KEY"),
        (f"${{file:{tmp_path}/none}}", "none: No such file"),
        (f"${{file:{tmp_path}}}", "Is a directory"),
        (f"${{file:{tmp_path}/bytes}}", "it is not UTF-8"),
    ):
        with pytest.raises(WrongSettings, match=said) as caught:
            with_secrets(text, of="header A")
        assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("value", ["s3cret\nB: c", "s3cret\r\nX: y", "s3cr\u00e9t"])
def test_a_secret_that_cannot_be_in_a_header_is_refused_and_not_quoted(monkeypatch, value):
    monkeypatch.setenv("BOT_KEY", value)
    with pytest.raises(WrongSettings, match=r"^p\.yaml:3:4: .* not allowed in a header$") as caught:
        header_value("${env:BOT_KEY}", of="p.yaml:3:4")
    assert value not in str(caught.value)
