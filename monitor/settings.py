"""Settings: the environment (`MONITOR_…`, nested by `__`), secrets in files (`MONITOR_…_FILE`), then `monitor.toml`.

Nothing here is read at import: `app.py` and `cli.py` call `load_settings()`.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from platformdirs import user_state_path
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from monitor.errors import WrongSettings

PREFIX = "MONITOR_"
CONFIG_FILE = Path("monitor.toml")
_FILE = "_FILE"
_NOT_OURS = ("MONITOR_DATA_DIR", "MONITOR_REQUIRE_SERVICES", "MONITOR_TEST_")  # what tests and benchmarks read
log = logging.getLogger(__name__)

DialectName = Literal["auto", "native", "cloudevents", "ragas"]


class Section(BaseModel):
    """A group of settings; an unknown name in it is an error, so that a typing slip does not pass in silence."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class IngestSettings(Section):
    """What a message may be, and what stands in for fields that a dialect does not carry."""

    dialect: DialectName = "auto"
    app: str = Field("default", min_length=1, description="app of events that name none")
    environment: str = Field("production", min_length=1, description="environment of events that name none")
    max_message_bytes: int = Field(8 * 2**20, gt=0, description="a longer message becomes a dead letter")
    max_text_chars: int = Field(1_000_000, gt=0, description="a longer text makes its message a dead letter")
    max_documents: int = Field(1_000, gt=0, description="more retrieved documents make the message a dead letter")
    batch_events: int = Field(512, gt=0, le=100_000)
    batch_bytes: int = Field(16 * 2**20, gt=0)
    batch_ms: int = Field(250, gt=0)


class EmbeddingSettings(Section):
    """Which embedder. `hash` is for tests and benchmarks only: its vectors mean nothing."""

    provider: Literal["minilm", "openai", "hash"] = "minilm"
    model: str = Field("text-embedding-3-small", description="openai only")
    dimensions: int | None = Field(None, gt=0, description="openai only: shorter vectors, where the model can")
    base_url: str | None = Field(None, description="openai only; default: the LLM's")
    api_key: SecretStr | None = Field(None, description="openai only; default: the LLM's")
    weights_dir: Path | None = Field(None, description="minilm only: a folder with the published model's files")
    cache_bytes: int = Field(128 * 2**20, ge=0, description="memory for vectors of texts seen before")
    threads: Annotated[int, Field(ge=0)] = Field(0, description="minilm only: 0 is one per core")


class LLMSettings(Section):
    """An OpenAI-compatible server."""

    base_url: str | None = None
    api_key: SecretStr | None = None
    model: str | None = Field(None, description="for the sidecar and the judge, which are still to come")


def _split(value: object) -> object:
    """`a, b` in the environment is a list of two."""
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return [part.strip() for part in value.split(",") if part.strip()]
    return json.loads(value) if isinstance(value, str) else value


def _pattern(value: str | None) -> str | None:
    try:
        re.compile(value or "")
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from None
    return value


Topics = Annotated[
    tuple[Annotated[str, Field(pattern=r"^[a-zA-Z0-9._-]{1,249}$")], ...], NoDecode, BeforeValidator(_split)
]
Servers = Annotated[
    tuple[Annotated[str, Field(pattern=r"^(\[[0-9a-fA-F:]+\]|[^\s:\[\]]+)(:[0-9]{1,5})?$")], ...],
    NoDecode,
    BeforeValidator(_split),
]
Amount = Annotated[int, Field(gt=0, lt=2**31)]  # as Kafka's protocol has them


class TopicSettings(Section):
    """What stands before the settings of `ingest` for the messages of one topic."""

    dialect: DialectName | None = None
    app: str | None = Field(None, min_length=1)
    environment: str | None = Field(None, min_length=1)


class KafkaSettings(Section):
    """Where interactions arrive. The options of the client have the names that kafka-python gives them."""

    bootstrap_servers: Servers = Field((), description="host:port, several with commas between them")
    topics: Topics = Field((), description="several with commas between them")
    topic_pattern: Annotated[str | None, AfterValidator(_pattern)] = Field(
        None, description="a regular expression instead, for topics still to come too"
    )
    by_topic: dict[str, TopicSettings] = Field({}, description="dialect, app and environment of a topic of its own")
    group_id: str = Field("monitor", min_length=1)
    group_instance_id: str | None = Field(None, description="one per process, for a static member of the group")
    client_id: str = "monitor"
    client_rack: str = ""
    auto_offset_reset: Literal["earliest", "latest"] = Field("earliest", description="where a new group begins")
    isolation_level: Literal["read_committed", "read_uncommitted"] = "read_committed"
    session_timeout_ms: Amount = 45_000
    heartbeat_interval_ms: Amount = 3_000
    max_poll_interval_ms: Amount = 300_000
    metadata_max_age_ms: Amount = Field(30_000, description="how soon a new topic or partition is seen")
    request_timeout_ms: Amount = 30_000
    fetch_min_bytes: Amount = 1
    fetch_max_wait_ms: Amount = 250
    fetch_max_bytes: Amount = 16 * 2**20
    max_partition_fetch_bytes: Amount = 2 * 2**20
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    ssl_cafile: Path | None = None
    ssl_certfile: Path | None = None
    ssl_keyfile: Path | None = None
    ssl_password: SecretStr | None = None
    ssl_crlfile: Path | None = None
    ssl_ciphers: str | None = None
    ssl_check_hostname: bool = True
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] | None = None
    sasl_plain_username: str | None = Field(None, description="SCRAM too")
    sasl_plain_password: SecretStr | None = Field(None, description="SCRAM too")
    sasl_oauthbearer_token_path: Path | None = Field(None, description="a file with a token, read at each connection")
    sasl_oauthbearer_token_endpoint_url: str | None = Field(None, description="client credentials are exchanged there")
    sasl_oauthbearer_client_id: str | None = None
    sasl_oauthbearer_client_secret: SecretStr | None = None
    sasl_oauthbearer_scope: str | None = None
    dead_letter_topic: str | None = Field(None, description="dead letters are written there too")
    max_consecutive_dead: int = Field(500, ge=0, description="so many of a partition in a row stop us; 0: never")
    max_dead_ratio: float = Field(0.5, ge=0, le=1, description="more of the last 1,000 stop us; 1: never")

    @model_validator(mode="after")
    def _in_proportion(self) -> Self:
        if not self.heartbeat_interval_ms < self.session_timeout_ms <= self.max_poll_interval_ms:
            raise ValueError("heartbeat_interval_ms < session_timeout_ms ≤ max_poll_interval_ms has to hold")
        if not self.fetch_max_wait_ms < self.request_timeout_ms:
            raise ValueError("fetch_max_wait_ms < request_timeout_ms has to hold")
        return self


class SlackSettings(Section):
    """Where alerts go: a bot token with a channel, or an incoming webhook."""

    bot_token: SecretStr | None = None
    channel: str | None = None
    webhook_url: SecretStr | None = None
    api_url: str = "https://slack.com/api/"


def _state_dir() -> Path:
    try:
        return user_state_path("rag-monitor")
    except RuntimeError:  # no HOME, and a user that the system does not know
        raise WrongSettings("this user has no home: set MONITOR_STATE_DIR to a folder it may write to") from None


class Settings(BaseSettings):
    """Everything that can be set, with the default of each."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True)

    state_dir: Path = Field(default_factory=_state_dir)
    database_url: SecretStr | None = Field(None, description="any PostgreSQL ≥ 15; default: the embedded one")
    profile: str | None = Field(None, description="name of a shipped profile or path of one; default: the embedder's")
    rules: Path | None = Field(None, description="alert rules; default: the set that ships")
    public_url: str | None = Field(None, description="where people reach this installation; goes into messages")
    evaluation_interval: float = Field(15.0, gt=0, description="seconds between evaluations of the alert rules")
    ingest: IngestSettings = IngestSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    llm: LLMSettings = LLMSettings()
    slack: SlackSettings = SlackSettings()
    kafka: KafkaSettings = KafkaSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003  ours leaves MONITOR_…_FILE to the next
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  the signature is pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003  ours reads MONITOR_…_FILE instead
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments first, then the environment, then secret files, then `monitor.toml`."""
        return (
            init_settings,
            _PlainSource(settings_cls),
            _SecretFileSource(settings_cls),
            TomlConfigSettingsSource(settings_cls, CONFIG_FILE),
        )


class _PlainSource(EnvSettingsSource):
    """The environment without the names of secret files."""

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name: value for name, value in super()._load_env_vars().items() if not name.upper().endswith(_FILE)}


class _SecretFileSource(EnvSettingsSource):
    """`MONITOR_SLACK__BOT_TOKEN_FILE=/run/secrets/x` sets `slack.bot_token` to what the file holds."""

    def _load_env_vars(self) -> dict[str, str | None]:
        values: dict[str, str | None] = {}
        for name, path in os.environ.items():
            if name.upper().startswith(PREFIX) and name.upper().endswith(_FILE):
                try:
                    values[name[: -len(_FILE)].lower()] = Path(path).read_text(encoding="utf-8").strip()
                except (OSError, UnicodeDecodeError) as error:
                    raise WrongSettings(f"{name}: cannot read {path!r}: {error}") from None
        return values


def load_settings(**overrides: Any) -> Settings:
    """Reads the settings.

    Raises:
        WrongSettings: a value or a name is wrong; the message lists each with where it stands.
    """
    for name in unknown_names():
        log.warning("%s is no setting of monitor, and is ignored; `monitor settings` lists them", name)
    try:
        return Settings(**overrides)
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_input=False)]
        found = "\n".join(lines)
        raise WrongSettings(f"wrong settings (MONITOR_… in the environment, or monitor.toml):\n{found}") from None
    except SettingsError as error:
        field = str(error).partition('"')[2].partition('"')[0]
        raise WrongSettings(f"MONITOR_{field.upper()}…: is not the JSON that it has to be: {error.__cause__}") from None
    except ValueError as error:  # a TOML file that does not parse
        raise WrongSettings(f"{CONFIG_FILE}: {error}") from None


def unknown_names() -> list[str]:
    """Names in the environment that look like ours and are none: typing slips."""
    known = {PREFIX + field.upper() for field in Settings.model_fields}
    ours = (name for name in os.environ if name.startswith(PREFIX) and not name.startswith(_NOT_OURS))
    return sorted(n for n in ours if n.split("__")[0] not in known and n.removesuffix(_FILE) not in known)
