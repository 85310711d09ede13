"""Loads the settings: the environment (`MONITOR_…`, nested by `__`), secret files (`MONITOR_…_FILE`), a settings file.

Nothing is read at import; commands call `load_settings()`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from platformdirs import user_state_path
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
)
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)
from typing_extensions import override

from monitor.core.errors import WrongSettings
from monitor.core.settings.alert import (
    AlertmanagerSettings,
    EmailSettings,
    HttpUrl,
    MetricsSettings,
    NotifySettings,
    PagerDutySettings,
    SlackSettings,
    TeamsSettings,
    WebhookSettings,
)
from monitor.core.settings.audit import AuditSettings
from monitor.core.settings.collect import CollectSettings
from monitor.core.settings.export import ExportSettings, TraceUrls
from monitor.core.settings.faults import PREFIX, SECRET_FILE, hint, told
from monitor.core.settings.file import (
    IN_WORKING_DIRECTORY,
    NAMED_BY,
    exposed_secrets,
    read_settings_file,
    settings_file,
)
from monitor.core.settings.kafka import KafkaSettings
from monitor.core.settings.lookup import LookupSettings
from monitor.core.settings.privacy import RedactionSettings, RetentionSettings
from monitor.core.settings.report import ReportSettings
from monitor.core.settings.sections import (
    DetectorSettings,
    EmbeddingSettings,
    IngestSettings,
    JudgeSettings,
    LLMSettings,
    PendingSettings,
    ProbeSettings,
    RerankerSettings,
    SidecarSettings,
    from_home,
    paths_from_home,
)
from monitor.core.settings.tracing import TracingSettings
from monitor.core.settings.web import WebSettings
from monitor.core.yaml.problems import problems_of

# read by tests and benchmarks, and by `monitor.client` in the chatbot
_NOT_OURS = ("MONITOR_DATA_DIR", "MONITOR_REQUIRE_SERVICES", "MONITOR_TEST_", "MONITOR_CLIENT_")
log = logging.getLogger(__name__)


def state_dir() -> Path:
    """The folder for files of this user.

    Raises:
        WrongSettings: there is none.
    """
    try:
        return user_state_path("rag-monitor")
    except RuntimeError:  # no HOME, and a user unknown to the system
        raise WrongSettings("this user has no home directory: set MONITOR_STATE_DIR to a writable folder") from None


def _from_home(profile: str | None) -> str | None:
    return str(from_home(Path(profile))) if profile and profile.startswith("~") else profile


class Settings(BaseSettings):
    """Every setting with its default."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True)

    _home = field_validator("*")(paths_from_home)

    state_dir: Path = Field(
        default_factory=state_dir,
        description="folder of the embedded PostgreSQL, keys and caches; default: the user's state directory",
    )
    database_url: SecretStr | None = Field(None, description="any PostgreSQL ≥ 15; default: the embedded database")
    profile: Annotated[str | None, AfterValidator(_from_home)] = Field(
        None, description="name of a shipped profile, or path of a profile file; default: by embedder"
    )
    rules: Annotated[Path | None, BeforeValidator(lambda path: path or None)] = Field(
        None, description="file of alert rules; default: the rules that ship"
    )
    probes: Annotated[Path | None, BeforeValidator(lambda path: path or None)] = Field(
        None, description="file of probes, which ask chatbots golden questions; default: none"
    )
    prices: Annotated[Path | None, BeforeValidator(lambda path: path or None)] = Field(
        None, description="file with the prices of the chatbots' models; default: none, so no costs"
    )
    log_format: Literal["text", "json"] = Field("text", description="of what is logged; json: one object a line")
    public_url: Annotated[HttpUrl | None, BeforeValidator(lambda url: url or None)] = Field(
        None, description="URL of this installation, for links in messages"
    )
    docs_url: Annotated[str | None, Field(pattern=r"^https?://([^\s<>|\"\\^`{}?#]|\{page\})+$")] = Field(
        None,
        description="where people read this documentation, for runbooks as links: the URL above `docs/`, or, of a site "
        "made of it, the URL of a page with {page} for its name",
    )
    trace_url: TraceUrls = Field(
        default_factory=dict,
        description="address of a trace in your own tool, with {trace_id}; or JSON of addresses by app, `*` for others",
    )
    evaluation_interval: float = Field(15.0, gt=0, description="seconds between evaluations of the alert rules")
    ingest: IngestSettings = IngestSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    detector: DetectorSettings = DetectorSettings()
    reranker: RerankerSettings = RerankerSettings()
    llm: LLMSettings = LLMSettings()
    sidecar: SidecarSettings = SidecarSettings()
    judge: JudgeSettings = JudgeSettings()
    probe: ProbeSettings = ProbeSettings()
    pending: PendingSettings = PendingSettings()
    notify: NotifySettings = NotifySettings()
    slack: SlackSettings = SlackSettings()
    alertmanager: AlertmanagerSettings = AlertmanagerSettings()
    pagerduty: PagerDutySettings = PagerDutySettings()
    teams: TeamsSettings = TeamsSettings()
    webhook: WebhookSettings = WebhookSettings()
    email: EmailSettings = EmailSettings()
    kafka: KafkaSettings = KafkaSettings()
    lookup: LookupSettings = LookupSettings()
    report: ReportSettings = ReportSettings()
    metrics: MetricsSettings = MetricsSettings()
    audit: AuditSettings = AuditSettings()
    redaction: RedactionSettings = RedactionSettings()
    retention: RetentionSettings = RetentionSettings()
    web: WebSettings = WebSettings()
    collect: CollectSettings = CollectSettings()
    export: ExportSettings = ExportSettings()
    tracing: TracingSettings = TracingSettings()

    @classmethod
    @override
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # _PlainSource replaces it
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,  # _SecretFileSource replaces it
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """In order of precedence: arguments, the environment, secret files, the settings file."""
        file = settings_file()
        return (
            init_settings,
            _PlainSource(settings_cls),
            _SecretFileSource(settings_cls),
            InitSettingsSource(settings_cls, {} if file is None else read_settings_file(file, Settings)),
        )


def _is_secret_file(name: str) -> bool:
    """Whether a name in the environment names a file with the value of a setting, and is no setting by itself."""
    section, _, field = name.upper().removeprefix(PREFIX).lower().partition("__")
    known = Settings.model_fields.get(section)
    fields = getattr(known.annotation, "model_fields", {}) if known else {}
    return name.upper().endswith(SECRET_FILE) and field not in fields


class _PlainSource(EnvSettingsSource):
    """The environment without the names of secret files."""

    @override
    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name: value for name, value in super()._load_env_vars().items() if not _is_secret_file(name)}


class _SecretFileSource(EnvSettingsSource):
    """`MONITOR_SLACK__BOT_TOKEN_FILE=/run/secrets/x` sets `slack.bot_token` to the content of that file."""

    @override
    def _load_env_vars(self) -> dict[str, str | None]:
        values: dict[str, str | None] = {}
        for name, path in os.environ.items():
            if name.upper().startswith(PREFIX) and _is_secret_file(name):
                try:
                    value = from_home(Path(path)).read_text(encoding="utf-8-sig").strip()
                except (OSError, UnicodeDecodeError) as error:
                    raise WrongSettings(f"{name}: cannot read {path!r}: {error}") from None
                values[name[: -len(SECRET_FILE)].lower()] = value
        return values


def load_settings(**overrides: Any) -> Settings:
    """Reads the settings.

    Raises:
        WrongSettings: a value or a name is wrong; the message lists each with its place.
    """
    file = settings_file()
    for name in unknown_names():
        log.warning("%s is not a setting of monitor and is ignored; %s", name, hint(_nearest(name)))
    if secrets := readable_secrets():
        log.warning("every user of this machine can read %s in %s: chmod 640 %s", ", ".join(secrets), file, file)
    for name in _given_twice():
        log.warning("%s and %s%s are both set, and the file is ignored: unset one", name, name, SECRET_FILE)
    try:
        return Settings(**overrides)
    except ValidationError as error:
        found = "\n".join(f"  {told(path, problem, file, Settings)}" for path, problem in problems_of(error, Settings))
        places = f"MONITOR_… in the environment, or {file or IN_WORKING_DIRECTORY}"
        raise WrongSettings(f"wrong settings ({places}):\n{found}") from None
    except SettingsError as error:
        field = str(error).partition('"')[2].partition('"')[0]
        raise WrongSettings(f"MONITOR_{field.upper()}…: is not valid JSON: {error.__cause__}") from None


def _given_twice() -> list[str]:
    """Names of settings that the environment gives, and a file with their value too."""
    given = {name.upper() for name in os.environ}
    return sorted(name for name in given if f"{name}{SECRET_FILE}" in given and _is_secret_file(name + SECRET_FILE))


def readable_secrets() -> list[str]:
    """The secrets in the settings file, if everybody on this machine can read it.

    Raises:
        WrongSettings: the file cannot be read.
    """
    file = settings_file()
    return [] if file is None else exposed_secrets(file, Settings)


def unknown_names() -> list[str]:
    """Names in the environment that begin like settings but are none, such as typing errors.

    Unknown names in a section are not among them: `load_settings` refuses those.
    """
    ours = (name for name in os.environ if name.startswith(PREFIX) and not name.startswith(_NOT_OURS))
    unknown = (name for name in ours if not _is_known(name) and not _is_known(name.removesuffix(SECRET_FILE)))
    return sorted(name for name in unknown if name != NAMED_BY)


def _is_known(name: str) -> bool:
    """Whether a name is that of a setting, or has the section of one."""
    first, nested, _ = name.removeprefix(PREFIX).lower().partition("__")
    return first in (_sections() if nested else Settings.model_fields)


def _sections() -> list[str]:
    """The settings that nest."""
    source = _PlainSource(Settings)
    return [name for name, field in Settings.model_fields.items() if source.field_is_complex(field)]


def _nearest(name: str) -> str | None:
    """The known name that an unknown one in the environment is like, if there is one."""
    first, nested, rest = name.removeprefix(PREFIX).partition("__")
    sections = _sections()
    known = sections if nested else [field for field in Settings.model_fields if field not in sections]
    similar = get_close_matches(first.lower(), known, n=1)
    return f"{PREFIX}{similar[0].upper()}{nested}{rest}" if similar else None
