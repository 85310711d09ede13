from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from monitor.cli.app import app
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import Settings, load_settings

PER_DAY = "MONITOR_LLM__BUDGET__CALLS_PER_DAY"
SECRET = "made-up-token-0123456789"


@pytest.fixture(autouse=True)
def _only_its_own_settings(tmp_path, monkeypatch):
    for name in list(os.environ):
        if name.upper().startswith("MONITOR_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def env(monkeypatch):
    def give(**values):
        for name, value in values.items():
            monkeypatch.setenv(name, str(value))

    return give


@pytest.fixture
def toml(tmp_path):
    return lambda text: (tmp_path / "monitor.toml").write_text(text, encoding="utf-8")


@pytest.fixture
def secret_file(tmp_path):
    path = tmp_path / "secret"
    path.write_text(SECRET + "\n", encoding="utf-8")
    return path


def test_everything_has_a_default():
    settings = load_settings()
    assert settings.embedding.provider == "minilm"
    assert settings.ingest.batch_events == 512
    assert settings.ingest.batch_ms == 250
    assert settings.database_url is None
    assert settings.state_dir.name == "rag-monitor"


def test_the_environment_sets_and_two_underscores_nest(env):
    env(MONITOR_PROFILE="ours.toml", MONITOR_EMBEDDING__PROVIDER="hash", MONITOR_INGEST__BATCH_EVENTS="7")
    env(MONITOR_STATE_DIR="/somewhere", MONITOR_LLM__BASE_URL="http://localhost:1/v1", MONITOR_SLACK__CHANNEL="#alerts")
    settings = load_settings()
    assert settings.profile == "ours.toml"
    assert settings.embedding.provider == "hash"
    assert settings.ingest.batch_events == 7
    assert settings.state_dir == Path("/somewhere")
    assert settings.llm.base_url == "http://localhost:1/v1"
    assert settings.slack.channel == "#alerts"


def test_one_nested_setting_leaves_its_neighbours_at_their_defaults(env):
    env(MONITOR_INGEST__BATCH_EVENTS="7")
    assert load_settings().ingest.batch_ms == 250


def test_the_file_sets_what_the_environment_does_not(env, toml):
    toml('profile = "from-file"\n[ingest]\nbatch_events = 3\nbatch_ms = 4\n[slack]\nchannel = "#file"\n')
    env(MONITOR_INGEST__BATCH_MS="5", MONITOR_SLACK__CHANNEL="#env")
    settings = load_settings()
    assert settings.profile == "from-file"
    assert (settings.ingest.batch_events, settings.ingest.batch_ms) == (3, 5)
    assert settings.slack.channel == "#env"


def test_arguments_stand_before_all(env, toml):
    toml('profile = "from-file"')
    env(MONITOR_PROFILE="from-env")
    assert load_settings().profile == "from-env"
    assert load_settings(profile="given").profile == "given"


def test_a_secret_is_read_from_the_file_that_is_named(env, secret_file):
    env(MONITOR_DATABASE_URL_FILE=secret_file)
    assert load_settings().database_url.get_secret_value() == SECRET


NESTED_SECRETS = "MONITOR_SLACK__BOT_TOKEN_FILE is read as the unknown slack.bot_token_file by the environment's source"


@pytest.mark.parametrize(
    ("name", "section", "field"),
    [
        ("MONITOR_SLACK__BOT_TOKEN_FILE", "slack", "bot_token"),
        ("MONITOR_SLACK__WEBHOOK_URL_FILE", "slack", "webhook_url"),
        ("MONITOR_LLM__API_KEY_FILE", "llm", "api_key"),
        ("MONITOR_EMBEDDING__API_KEY_FILE", "embedding", "api_key"),
    ],
)
def test_a_nested_secret_is_read_from_the_file_that_is_named(env, secret_file, name, section, field):
    env(**{name: secret_file})
    assert getattr(getattr(load_settings(), section), field).get_secret_value() == SECRET


@pytest.mark.parametrize("name", ["key_file", "witness_file"])
def test_a_setting_that_is_a_file_is_no_file_with_a_secret(env, tmp_path, name):
    path = tmp_path / "not there yet"
    env(**{f"MONITOR_AUDIT__{name.upper()}": path})
    assert getattr(load_settings().audit, name) == path


def test_a_secret_file_stands_between_the_environment_and_the_toml_file(env, toml, secret_file):
    toml('database_url = "from-toml"')
    env(MONITOR_DATABASE_URL_FILE=secret_file)
    assert load_settings().database_url.get_secret_value() == SECRET
    env(MONITOR_DATABASE_URL="from-env")
    assert load_settings().database_url.get_secret_value() == "from-env"


def test_a_secret_file_that_cannot_be_read_is_named(env, tmp_path):
    env(MONITOR_DATABASE_URL_FILE=tmp_path / "gone")
    with pytest.raises(WrongSettings, match=r"MONITOR_DATABASE_URL_FILE: cannot read '.*gone'"):
        load_settings()


def test_a_secret_file_that_is_no_text_is_refused_without_its_bytes(env, secret_file):
    secret_file.write_bytes(b"hush\xff")
    env(MONITOR_DATABASE_URL_FILE=secret_file)
    with pytest.raises(WrongSettings) as refused:
        load_settings()
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("MONITOR_SLACK__BOT_TOKN", "x", "is not a setting; did you mean MONITOR_SLACK__BOT_TOKEN?"),
        ("MONITOR_PROBE__MODL", "x", "is not a setting; did you mean MONITOR_PROBE__MODEL?"),
        (
            "MONITOR_LLM__BUDGET__CALLS_PER_DAI",
            "1",
            "is not a setting; did you mean MONITOR_LLM__BUDGET__CALLS_PER_DAY?",
        ),
        ("MONITOR_PROBE__COLOUR", "x", "is not a setting; `monitor settings` lists all settings"),
        ("MONITOR_LLM__BASE_URL", "localhost:1/v1", r"must be an http or https URL of the form ^https?://[^/\s]+"),
        ("MONITOR_INGEST__BATCH_EVENTS", "0", "must be more than 0"),
        ("MONITOR_INGEST__BATCH_EVENTS", "200000", "must be 100,000 or less"),
        ("MONITOR_INGEST__BATCH_EVENTS", "many", "must be a whole number"),
        ("MONITOR_EMBEDDING__PROVIDER", "word2vec", "must be 'minilm', 'openai' or 'hash'"),
        ("MONITOR_EMBEDDING__THREADS", "-1", "must be 0 or more"),
        ("MONITOR_EVALUATION_INTERVAL", "0", "must be more than 0"),
        ("MONITOR_INGEST__APP", "", "must not be empty"),
        ("MONITOR_REPORT__APPS", "['a']", 'must be a list: write a,b or ["a", "b"]'),
        ("MONITOR_EMAIL__RECIPIENTS", "a@b.example, x", "[1]: must be an e-mail address such as ada@monitor.example"),
        (
            "MONITOR_PUBLIC_URL",
            "monitor.example",
            r"must be an http or https URL of the form ^https?://[^/\s<>|\"\\^`{}]+[^\s<>|\"\\^`{}]*$",
        ),
        ("MONITOR_KAFKA__BY_TOPIC", '{"rag": {"dialekt": "ragas"}}', "rag.dialekt: unknown key; did you mean dialect?"),
    ],
)
def test_a_wrong_name_or_value_in_the_environment_is_refused_with_its_name_in_plain_words(env, name, value, said):
    env(**{name: value})
    with pytest.raises(WrongSettings) as refused:
        load_settings()
    assert str(refused.value).splitlines()[1:] == [f"  {name}: {said}"]


def test_a_wrong_name_of_a_secret_file_is_refused_with_its_name(env, secret_file):
    env(MONITOR_SLACK__BOT_TOKN_FILE=secret_file)
    with pytest.raises(
        WrongSettings, match="MONITOR_SLACK__BOT_TOKN_FILE: is not a setting; did you mean MONITOR_SLACK"
    ):
        load_settings()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("MONITOR_PROFIL", "is ignored; did you mean MONITOR_PROFILE?"),
        ("MONITOR_SLAK__CHANNEL", "is ignored; did you mean MONITOR_SLACK__CHANNEL?"),
        ("MONITOR_DATABASEURL", "is ignored; did you mean MONITOR_DATABASE_URL?"),
        (
            "MONITOR_PORT",
            "is ignored; `monitor settings` lists all settings",
        ),  # as Kubernetes sets it for a service that is called monitor
        ("MONITOR_RULES__PATH", "is ignored; `monitor settings` lists all settings"),
    ],
)
def test_an_unknown_name_on_the_first_level_of_the_environment_is_told(env, name, said, caplog):
    """A warning, since another release or another program may know the name."""
    env(**{name: "x"})
    load_settings()
    assert f"{name} is not a setting of monitor and {said}" in caplog.text


def test_names_that_are_meant_for_tests_or_are_settings_raise_no_warning(env, caplog, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("x")
    env(MONITOR_REQUIRE_SERVICES="1", MONITOR_DATA_DIR="x", MONITOR_PROFILE="minilm", MONITOR_SLACK__CHANNEL="C1")
    env(MONITOR_SLACK__BOT_TOKEN_FILE=str(secret), MONITOR_DATABASE_URL_FILE=str(secret))
    load_settings()
    assert not caplog.records


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('profil = "x"', "profil:"),
        ('[slack]\nbot_tokn = "x"', "slack.bot_tokn: unknown key; did you mean bot_token?"),
        ("[ingest]\nbatch_events = -1", "ingest.batch_events:"),
        ("[kafak]\n", "kafak:"),
        ("profile = ", "monitor.toml: Invalid value"),
    ],
)
def test_a_wrong_file_is_refused_with_the_place(toml, text, where):
    toml(text)
    with pytest.raises(WrongSettings) as refused:
        load_settings()
    assert where in str(refused.value)


def test_all_mistakes_are_told_at_once(env, toml):
    toml('profil = "x"')
    env(MONITOR_INGEST__BATCH_MS="0", MONITOR_EMBEDDING__PROVIDER="x")
    with pytest.raises(WrongSettings) as refused:
        load_settings()
    assert all(
        place in str(refused.value)
        for place in ("profil:", "MONITOR_INGEST__BATCH_MS:", "MONITOR_EMBEDDING__PROVIDER:")
    )


def test_secrets_are_never_shown(env):
    names = ("DATABASE_URL", "SLACK__BOT_TOKEN", "SLACK__WEBHOOK_URL", "LLM__API_KEY", "EMBEDDING__API_KEY")
    env(**{f"MONITOR_{name}": SECRET for name in names})
    settings = load_settings()
    for shown in (repr(settings), str(settings), settings.model_dump_json(), str(settings.model_dump())):
        assert SECRET not in shown
    assert settings.slack.bot_token.get_secret_value() == SECRET


def test_a_mistake_beside_a_secret_does_not_show_the_secret(env, toml):
    toml(f'[slack]\nbot_token = ["{SECRET}"]\napi_key = "{SECRET}"\n')
    env(MONITOR_DATABASE_URL=SECRET, MONITOR_LLM__API_KEI=SECRET)
    with pytest.raises(WrongSettings) as refused:
        load_settings()
    assert SECRET not in str(refused.value)
    assert refused.value.__cause__ is None  # pydantic's own error shows the input


def test_a_token_of_digits_stays_a_text(env):
    env(MONITOR_SLACK__BOT_TOKEN="0123")
    assert load_settings().slack.bot_token.get_secret_value() == "0123"


@pytest.mark.parametrize("url", ["https://git.example/blob/main", "https://docs.example/{page}.html"])
def test_the_documentation_is_a_folder_or_a_site(env, url):
    env(MONITOR_DOCS_URL=url)
    assert load_settings().docs_url == url


@pytest.mark.parametrize("url", ["docs/", "https://docs.example/{name}", "https://docs.example/{page}#top"])
def test_an_address_of_the_documentation_without_a_place_for_the_page_is_refused(env, url):
    env(MONITOR_DOCS_URL=url)
    with pytest.raises(WrongSettings, match="MONITOR_DOCS_URL"):
        load_settings()


def test_settings_cannot_be_changed_afterwards():
    settings: Settings = load_settings()
    with pytest.raises(ValueError, match="frozen"):
        settings.profile = "x"
    with pytest.raises(ValueError, match="frozen"):
        settings.ingest.batch_ms = 1


def test_names_outside_the_prefix_mean_nothing(env):
    env(PROFILE="x", SLACK__CHANNEL="x", MONITORING_PROFILE="x")
    settings = load_settings()
    assert (settings.profile, settings.slack.channel) == (None, None)


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("a", ("a",)),
        ("a, b,,c ", ("a", "b", "c")),
        ('["a", "b.c"]', ("a", "b.c")),
        ("", ()),
    ],
)
def test_names_are_parted_by_commas_or_given_as_json(monkeypatch, given, names):
    monkeypatch.setenv("MONITOR_KAFKA__TOPICS", given)
    assert load_settings().kafka.topics == names


def test_lists_of_names_may_be_lists_in_the_file(tmp_path):
    (tmp_path / "monitor.toml").write_text('[kafka]\ntopics = ["a", "b"]\nbootstrap_servers = "x:1, y:2"\n')
    kafka = load_settings().kafka
    assert (kafka.topics, kafka.bootstrap_servers) == (("a", "b"), ("x:1", "y:2"))


def test_a_topic_has_settings_of_its_own(monkeypatch, tmp_path):
    (tmp_path / "monitor.toml").write_text('[kafka.by_topic."rag.sales"]\ndialect = "ragas"\n')
    assert load_settings().kafka.by_topic["rag.sales"].dialect == "ragas"
    monkeypatch.setenv("MONITOR_KAFKA__BY_TOPIC", '{"rag.support": {"app": "support"}}')
    assert load_settings().kafka.by_topic["rag.support"].app == "support"


@pytest.mark.parametrize("given", ["[a", '{"rag": {"dialekt": "ragas"}}'])
def test_what_is_no_list_and_no_topic_is_said(monkeypatch, given):
    name = "MONITOR_KAFKA__TOPICS" if given.startswith("[") else "MONITOR_KAFKA__BY_TOPIC"
    monkeypatch.setenv(name, given)
    with pytest.raises(WrongSettings, match=name):
        load_settings()


def test_kafkas_secrets_come_from_files_and_are_masked(monkeypatch, tmp_path):
    (tmp_path / "secret").write_text("s3cret\n")
    monkeypatch.setenv("MONITOR_KAFKA__SASL_PLAIN_PASSWORD_FILE", str(tmp_path / "secret"))
    settings = load_settings()
    assert settings.kafka.sasl_plain_password.get_secret_value() == "s3cret"
    assert "s3cret" not in settings.model_dump_json() + repr(settings)


def test_settings_that_contradict_each_other_are_called_as_the_environment_has_them(env):
    env(MONITOR_WEB__OIDC__ISSUER="https://id.example", MONITOR_EMAIL__HOST="mail.example")
    env(MONITOR_LLM__BUDGET__COST_PER_DAY=1)
    with pytest.raises(WrongSettings) as refused:
        load_settings()
    assert str(refused.value).splitlines()[1:] == [
        "  MONITOR_LLM__…: a budget in money needs INPUT_PRICE and OUTPUT_PRICE",
        "  MONITOR_EMAIL__…: HOST, SENDER and RECIPIENTS go together",
        "  MONITOR_WEB__OIDC__…: ISSUER and CLIENT_ID go together",
    ]


def test_settings_of_the_file_that_contradict_each_other_are_called_as_the_file_has_them(toml):
    toml('[web.oidc]\nissuer = "https://id.example"\n')
    with pytest.raises(WrongSettings, match=r"monitor\.toml:1: web\.oidc: issuer and client_id go together"):
        load_settings()


@pytest.mark.parametrize("given", ["", "https://monitor.example", "http://10.0.0.1:8080/rag/"])
def test_the_address_for_links_is_a_url_or_none(env, given):
    env(MONITOR_PUBLIC_URL=given)
    assert load_settings().public_url == (given or None)


def test_a_secret_that_is_given_twice_is_warned_of(env, secret_file, caplog):
    env(MONITOR_LLM__API_KEY="other", MONITOR_LLM__API_KEY_FILE=secret_file, MONITOR_SLACK__BOT_TOKEN_FILE=secret_file)
    assert load_settings().llm.api_key.get_secret_value() == "other"
    (warning,) = caplog.messages
    assert warning == (
        "MONITOR_LLM__API_KEY and MONITOR_LLM__API_KEY_FILE are both set, and the file is ignored: unset one"
    )


def test_a_tilde_is_the_home_of_the_user_in_every_path(env, toml, tmp_path):
    """A shell has it so; the files that systemd and Docker read settings from do not."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "secret").write_text(f"\ufeff{SECRET}\n", encoding="utf-8")
    env(HOME=home, MONITOR_STATE_DIR="~/st", MONITOR_PROFILE="~/ours.toml", MONITOR_LLM__API_KEY_FILE="~/secret")
    env(MONITOR_REDACTION__PREVIOUS_KEY_FILES="~/old,/older", MONITOR_PROBES="~nobody-of-this-name/probes.yaml")
    toml('rules = "~/rules.yaml"\n[audit]\nkey_file = "~/key"\n[lookup.by_app.shop]\npath = "~/shop.jsonl"\n')
    settings = load_settings()
    assert (settings.state_dir, settings.rules) == (home / "st", home / "rules.yaml")
    assert (settings.profile, settings.audit.key_file) == (str(home / "ours.toml"), home / "key")
    assert settings.llm.api_key.get_secret_value() == SECRET
    assert settings.redaction.previous_key_files == (home / "old", Path("/older"))
    assert settings.lookup.by_app["shop"].path == home / "shop.jsonl"
    assert settings.probes == Path("~nobody-of-this-name/probes.yaml")


def test_a_settings_file_may_begin_with_a_byte_order_mark(toml):
    toml('\ufeffprofile = "ours"\n')
    assert load_settings().profile == "ours"
    toml('\ufeffprofil = "ours"\n')
    with pytest.raises(WrongSettings, match=r"monitor\.toml:1: profil: unknown key; did you mean profile\?"):
        load_settings()


@pytest.mark.parametrize(
    ("given", "shown"),
    [("a, b", "a,b"), ('["a,b", "c"]', '["a,b", "c"]'), ("", "[]")],
    ids=["several", "comma", "none"],
)
def test_a_list_is_shown_in_a_form_that_the_environment_takes(env, given, shown):
    env(MONITOR_REPORT__APPS=given)
    name, output = "MONITOR_REPORT__APPS", CliRunner().invoke(app, ["settings"]).output
    (line,) = [line for line in output.splitlines() if line.startswith(f"{name} ")]
    assert line.split(maxsplit=1)[1] == shown
    before = load_settings().report.apps
    env(MONITOR_REPORT__APPS=shown)
    assert load_settings().report.apps == before


@pytest.mark.parametrize("name", ["MONITOR_NOTIFY__DEADLINE", "MONITOR_NOTIFY__FALLBACK_AFTER"])
def test_a_time_that_no_clock_reaches_is_refused_and_not_met_by_the_first_failure(env, name):
    env(**{name: 1e12})
    with pytest.raises(WrongSettings, match=name):
        load_settings()
