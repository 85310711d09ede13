"""The groups of settings, with the default of each."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator
from pydantic_settings import NoDecode


def split(value: object) -> object:
    """`a, b` in the environment is a list of two."""
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return [part.strip() for part in value.split(",") if part.strip()]
    return json.loads(value) if isinstance(value, str) else value


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
    token_cache_bytes: int = Field(256 * 2**20, ge=0, description="memory for tokens of texts seen before")
    threads: Annotated[int, Field(ge=0)] = Field(0, description="of the embedded model: 0 is one per core")
    build: Literal["fp32", "int8"] = Field(
        "fp32", description="of the embedded model: int8 is about twice as fast, with verdicts of its own"
    )


class DetectorSettings(Section):
    """A stronger model of one's own, whose score joins the features. It says what in an answer is not carried."""

    path: Path | None = Field(None, description="folder with model.onnx, tokenizer.json and config.json; default: none")
    device: Literal["auto", "cpu", "cuda"] = "auto"
    threads: Annotated[int, Field(ge=0)] = Field(0, description="on the CPU: 0 is one per core")
    max_tokens: int = Field(4_096, ge=64, description="of one input; fewer where the model reads fewer")
    max_inputs: int = Field(512, gt=0, description="interactions that need more inputs get no score")
    max_input_chars: int = Field(200_000, gt=0, description="nor do those with longer texts")
    prompt: str | None = Field(
        None,
        description="token classifiers only, with {documents}, {question} and {count} in it; default: LettuceDetect's",
    )


class BudgetSettings(Section):
    """What all calls of language models together may use in an hour and in a day of UTC; all processes share it."""

    calls_per_hour: int | None = Field(None, ge=0)
    calls_per_day: int | None = Field(None, ge=0)
    tokens_per_hour: int | None = Field(None, ge=0)
    tokens_per_day: int | None = Field(None, ge=0)
    cost_per_hour: float | None = Field(None, ge=0, description="in the currency of the prices")
    cost_per_day: float | None = Field(None, ge=0)


class LLMSettings(Section):
    """An OpenAI-compatible server, for the sidecar and the judge."""

    base_url: Annotated[str | None, Field(pattern=r"^https?://[^/\s]+")] = Field(
        None, description="with http:// and, mostly, /v1 at its end; default: OpenAI's"
    )
    api_key: SecretStr | None = None
    model: str | None = None
    timeout: float = Field(60.0, gt=0, description="seconds of one request")
    structure: Literal["json_schema", "json_object", "text"] = Field(
        "json_schema", description="how the form of answers is asked for; the next weaker one where a server refuses it"
    )
    max_output_tokens: int = Field(4_096, gt=0)
    max_input_chars: int = Field(200_000, gt=0, description="interactions with longer texts are not asked about")
    input_price: float | None = Field(None, ge=0, description="of a million tokens")
    output_price: float | None = Field(None, ge=0, description="of a million tokens")
    budget: BudgetSettings = BudgetSettings()

    @model_validator(mode="after")
    def _priced(self) -> Self:
        if (self.input_price is None) != (self.output_price is None):
            raise ValueError("input_price and output_price go together")
        limited = self.budget.cost_per_hour is not None or self.budget.cost_per_day is not None
        if limited and self.input_price is None:
            raise ValueError("a budget in money needs input_price and output_price")
        return self


class SidecarSettings(Section):
    """Asks a generator what supports an answer, where the event does not say."""

    mode: Literal["off", "explain", "regenerate"] = "off"
    model: str | None = Field(None, description="default: the LLM's")
    concurrency: int = Field(16, gt=0, le=256, description="calls at a time")
    patience: float = Field(10.0, gt=0, description="seconds for a batch; what is not answered then is asked later")


JudgeMetric = Literal[
    "faithfulness",
    "answer_relevance",
    "context_relevance",
    "context_recall",
    "context_precision",
    "context_utilization",
    "context_entity_recall",
    "summarization_score",
]
Share = Annotated[float, Field(ge=0, le=1)]


class SampleSettings(Section):
    """Which interactions are judged; the same ones wherever it is decided."""

    negatives: Share = Field(1.0, description="part of the refusals and self-generated answers")
    low_margin: Share = Field(0.2, description="all whose two most probable verdicts are closer than that")
    rest: Share = Field(0.02, description="part of all others")


class JudgeSettings(Section):
    """Judges a sample of the interactions with a language model."""

    mode: Literal["off", "separate", "combined"] = "off"
    model: str | None = Field(None, description="default: the LLM's")
    metrics: Annotated[tuple[JudgeMetric, ...], NoDecode, BeforeValidator(split)] = (
        "faithfulness",
        "answer_relevance",
        "context_relevance",
    )
    sample: SampleSettings = SampleSettings()
    by_app: dict[str, SampleSettings] = Field({}, description="another sample for an app")
    concurrency: int = Field(8, gt=0, le=256, description="calls at a time")
    budget_share: Share = Field(0.5, description="part of the budget after which the judge leaves the rest to others")
    batch: bool = Field(
        default=False, description="through the provider's batch endpoint: half the price, within a day"
    )

    @model_validator(mode="after")
    def _batched(self) -> Self:
        joint = {"faithfulness", "answer_relevance", "context_relevance"}
        if self.batch and (self.mode == "separate" or not set(self.metrics) <= joint or len(set(self.metrics)) < 2):  # noqa: PLR2004
            raise ValueError(f"batch needs mode combined, and at least two of {', '.join(sorted(joint))}, no others")
        return self


class PendingSettings(Section):
    """Work that is done later."""

    after: float = Field(30.0, ge=0, description="seconds without an embedder after which interactions are set aside")
    max_attempts: int = Field(100, gt=0, description="then it is given up, until `monitor pending retry`")


def _pattern(value: str | None) -> str | None:
    try:
        re.compile(value or "")
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from None
    return value


Topics = Annotated[
    tuple[Annotated[str, Field(pattern=r"^[a-zA-Z0-9._-]{1,249}$")], ...], NoDecode, BeforeValidator(split)
]
Servers = Annotated[
    tuple[Annotated[str, Field(pattern=r"^(\[[0-9a-fA-F:]+\]|[^\s:\[\]]+)(:[0-9]{1,5})?$")], ...],
    NoDecode,
    BeforeValidator(split),
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
