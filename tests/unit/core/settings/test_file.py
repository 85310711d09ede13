from __future__ import annotations

import os
from pathlib import Path

import pytest

from monitor.app.doctor.parts import check_settings
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import load_settings

SECRET = "made-up-token-0123456789"


@pytest.fixture(autouse=True)
def _only_its_own_settings(tmp_path, monkeypatch):
    for name in list(os.environ):
        if name.upper().startswith("MONITOR_"):
            monkeypatch.delenv(name)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Writes the file that MONITOR_CONFIG names."""

    def write(text):
        path = tmp_path / "etc" / "quillmere.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o640)
        monkeypatch.setenv("MONITOR_CONFIG", str(path))
        return path

    return write


def test_a_named_file_is_read_in_place_of_the_one_in_the_working_directory(config):
    Path("monitor.toml").write_text('profile = "here"\n[ingest]\nbatch_ms = 3\n', encoding="utf-8")
    assert (load_settings().profile, load_settings().ingest.batch_ms) == ("here", 3)
    config('profile = "there"\n')
    assert (load_settings().profile, load_settings().ingest.batch_ms) == ("there", 250)


def test_an_empty_name_is_none(monkeypatch):
    Path("monitor.toml").write_text('profile = "here"\n', encoding="utf-8")
    monkeypatch.setenv("MONITOR_CONFIG", "")
    assert load_settings().profile == "here"


def test_the_environment_takes_precedence_and_the_name_of_the_file_is_no_setting(config, monkeypatch, caplog):
    config('profile = "file"\n[slack]\nchannel = "#file"\n')
    monkeypatch.setenv("MONITOR_SLACK__CHANNEL", "#environment")
    settings = load_settings()
    assert (settings.profile, settings.slack.channel) == ("file", "#environment")
    assert not caplog.records


def test_relative_paths_begin_at_the_folder_of_the_file(config, tmp_path):
    config(
        """
        state_dir = "state"
        rules = "rules.yaml"
        prices = "/opt/prices.yaml"
        profile = "ours.toml"
        probes = ""
        [redaction]
        previous_key_files = ["old", "/older"]
        [lookup.by_app.shop]
        path = "shop.jsonl"
        """
    )
    settings, folder = load_settings(), tmp_path / "etc"
    assert (settings.state_dir, settings.rules) == (folder / "state", folder / "rules.yaml")
    assert (settings.prices, settings.probes) == (Path("/opt/prices.yaml"), None)
    assert settings.profile == str(folder / "ours.toml")
    assert settings.redaction.previous_key_files == (folder / "old", Path("/older"))
    assert settings.lookup.by_app["shop"].path == folder / "shop.jsonl"


def test_a_list_of_paths_may_be_one_text(config, tmp_path):
    config('[redaction]\nprevious_key_files = "old, older"\n')
    assert load_settings().redaction.previous_key_files == (tmp_path / "etc" / "old", tmp_path / "etc" / "older")


def test_the_name_of_a_profile_is_no_path(config):
    config('profile = "minilm"\n')
    assert load_settings().profile == "minilm"


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ('rules = "x"\nprofil = "x"\n', 2, "profil: unknown key; did you mean profile?"),
        ('# slack\n[slack]\n\nbot_tokn = "x"\n', 4, "slack.bot_tokn: unknown key; did you mean bot_token?"),
        ('[kafak]\ntopics = ["a"]\n', 1, "kafak: unknown key; did you mean kafka?"),
        ('[kafka]\ntopics = [\n  "a",\n  "b",\n]\ngroup = "x"\n', 6, "kafka.group: unknown key"),
        ('[kafka]\ntopics = [\n["a"],\n]\n[ingest]\nbatch_ms = 0\n', 6, "ingest.batch_ms: must be more than 0"),
        ('slack = {channel = "x", bot_tokn = "x"}\n', 1, "slack.bot_tokn: unknown key; did you mean bot_token?"),
        ('slack.channel = "x"\nslack.bot_tokn = "x"\n', 2, "slack.bot_tokn: unknown key; did you mean bot_token?"),
        ('[kafka.by_topic."rag.a"]\napp = "x"\ndialekt = "x"\n', 3, "kafka.by_topic.rag.a.dialekt: unknown key"),
        ('[lookup]\nquery = """\nprofil = 1\n"""\n[email]\nport = 0\n', 6, "email.port: must be more than 0"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(config, text, line, told):
    path = config(text)
    with pytest.raises(WrongSettings) as refused:
        load_settings()
    assert f"{path}:{line}: {told}" in str(refused.value)


@pytest.mark.parametrize(
    ("content", "told"),
    [(None, "No such file"), (b"profile = \n", "Invalid value (at line 1"), (b"profile = '\xff'\n", "is not UTF-8")],
)
def test_a_file_that_cannot_be_read_is_refused(config, content, told):
    path = config("")
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(WrongSettings, match=rf"quillmere\.toml.*{told}".replace("(", r"\(")):
        load_settings()


def test_a_folder_is_no_settings_file(tmp_path, monkeypatch):
    monkeypatch.setenv("MONITOR_CONFIG", str(tmp_path))
    with pytest.raises(WrongSettings, match="Is a directory"):
        load_settings()


def test_secrets_that_every_user_can_read_are_told_and_not_shown(config, caplog):
    path = config(f'[slack]\nbot_token = "{SECRET}"\nchannel = "C1"\n')
    assert load_settings().slack.bot_token.get_secret_value() == SECRET
    assert not caplog.records
    path.chmod(0o644)
    load_settings()
    assert f"can read slack.bot_token in {path}: chmod 640 {path}" in caplog.text
    assert SECRET not in caplog.text


def test_a_file_without_secrets_may_be_read_by_everybody(config, caplog):
    config('[slack]\nchannel = "C1"\n').chmod(0o644)
    load_settings()
    assert not caplog.records


def test_the_doctor_says_which_file_was_read(config):
    assert check_settings(None).endswith("no settings file")
    path = config(f'[llm]\napi_key = "{SECRET}"\n')
    assert str(path) in check_settings(None)
    path.chmod(0o644)
    warned = check_settings(None)
    assert "llm.api_key" in warned.detail
    assert warned.mended_by.startswith(f"chmod 640 {path}")
