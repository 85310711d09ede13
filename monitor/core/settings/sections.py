"""Groups of settings, with defaults: ingest, embedding, detector, language models, pending work and Kafka."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator
from pydantic_settings import NoDecode

from monitor.core import plugins
from monitor.core.plugins import choice


def split(value: object) -> object:
    """Reads `a, b` from the environment as a list of two; JSON lists too."""
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return [part.strip() for part in value.split(",") if part.strip()]
    return json.loads(value) if isinstance(value, str) else value


DialectName = Literal[
    "auto",
    "native",
    "cloudevents",
    "ragas",
    "otlp",
    "otlp_proto",
    "otlp_json",
    "phoenix",
    "langsmith",
    "langfuse",
    "feedback",
]
DialectChoice = Annotated[str, AfterValidator(choice(plugins.DIALECTS, get_args(DialectName)))]


class Section(BaseModel):
    """A group of settings; an unknown name in it is an error, so that typing errors are noticed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class IngestSettings(Section):
    """Limits on messages, and defaults for fields that a dialect does not carry."""

    dialect: DialectChoice = "auto"
    app: str = Field("default", min_length=1, description="app of events that do not name one")
    environment: str = Field("production", min_length=1, description="environment of events that do not name one")
    max_message_bytes: int = Field(8 * 2**20, gt=0, description="bytes; a longer message becomes a dead letter")
    max_text_chars: int = Field(
        1_000_000, gt=0, description="characters; a message with a longer text becomes a dead letter"
    )
    max_documents: int = Field(1_000, gt=0, description="a message with more retrieved documents becomes a dead letter")
    batch_events: int = Field(512, gt=0, le=100_000)
    batch_bytes: int = Field(16 * 2**20, gt=0)
    batch_ms: int = Field(250, gt=0)


class EmbeddingSettings(Section):
    """The embedder. `hash` is for tests and benchmarks only: its vectors mean nothing."""

    provider: Literal["minilm", "openai", "hash"] = "minilm"
    model: str = Field("text-embedding-3-small", description="openai only")
    dimensions: int | None = Field(None, gt=0, description="openai only: shorter vectors, if the model supports them")
    base_url: str | None = Field(None, description="openai only; default: the LLM's")
    api_key: SecretStr | None = Field(None, description="openai only; default: the LLM's")
    weights_dir: Path | None = Field(None, description="minilm only: a folder with the published model's files")
    cache_bytes: int = Field(128 * 2**20, ge=0, description="bytes of memory for vectors of recent texts")
    token_cache_bytes: int = Field(256 * 2**20, ge=0, description="bytes of memory for token vectors of recent texts")
    threads: Annotated[int, Field(ge=0)] = Field(0, description="threads of the embedded model; 0: one per core")
    build: Literal["fp32", "int8"] = Field(
        "fp32", description="embedded model only: int8 is about twice as fast, and some verdicts differ"
    )


class DetectorSettings(Section):
    """Your own detector model, which finds unsupported parts of an answer; its score becomes a feature."""

    path: Path | None = Field(None, description="folder with model.onnx, tokenizer.json and config.json; default: none")
    device: Literal["auto", "cpu", "cuda"] = "auto"
    threads: Annotated[int, Field(ge=0)] = Field(0, description="threads on the CPU; 0: one per core")
    max_tokens: int = Field(4_096, ge=64, description="of one input; the model's own limit, if lower, holds")
    max_inputs: int = Field(512, gt=0, description="interactions that need more inputs get no score")
    max_input_chars: int = Field(200_000, gt=0, description="interactions with longer texts get no score")
    prompt: str | None = Field(
        None,
        description="token classifiers only; contains {documents}, {question} and {count}; default: LettuceDetect's",
    )


class BudgetSettings(Section):
    """Limits on all calls of language models, per hour and per UTC day; all processes share them."""

    calls_per_hour: int | None = Field(None, ge=0)
    calls_per_day: int | None = Field(None, ge=0)
    tokens_per_hour: int | None = Field(None, ge=0)
    tokens_per_day: int | None = Field(None, ge=0)
    cost_per_hour: float | None = Field(None, ge=0, description="in the currency of the prices")
    cost_per_day: float | None = Field(None, ge=0)


class LLMSettings(Section):
    """An OpenAI-compatible server, for the sidecar and the judge."""

    base_url: Annotated[str | None, Field(pattern=r"^https?://[^/\s]+")] = Field(
        None, description="http(s) URL, which mostly ends with /v1; default: OpenAI's"
    )
    api_key: SecretStr | None = None
    model: str | None = None
    timeout: float = Field(60.0, gt=0, description="seconds for one request")
    structure: Literal["json_schema", "json_object", "text"] = Field(
        "json_schema", description="how the form of answers is requested; the next weaker way if the server refuses it"
    )
    max_output_tokens: int = Field(4_096, gt=0)
    max_input_chars: int = Field(200_000, gt=0, description="interactions with longer texts are not sent")
    input_price: float | None = Field(None, ge=0, description="per million tokens")
    output_price: float | None = Field(None, ge=0, description="per million tokens")
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
    """Asks a generator for the supporting documents of answers whose events name none."""

    mode: Literal["off", "explain", "regenerate"] = "off"
    model: str | None = Field(None, description="default: the LLM's")
    concurrency: int = Field(16, gt=0, le=256, description="concurrent calls")
    patience: float = Field(
        10.0, gt=0, description="seconds for a batch; calls that are not answered by then are made later"
    )


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
MetricChoice = Annotated[str, AfterValidator(choice(plugins.METRICS, get_args(JudgeMetric)))]
_JOINT_METRICS = frozenset({"faithfulness", "answer_relevance", "context_relevance"})
Share = Annotated[float, Field(ge=0, le=1)]


class SampleSettings(Section):
    """The sample of interactions that is judged; every process draws the same one."""

    negatives: Share = Field(1.0, description="share of refusals and self-generated answers")
    low_margin: Share = Field(
        0.2, description="all answers whose two most probable verdicts are closer than this are judged"
    )
    rest: Share = Field(0.02, description="share of all other answers")


class JudgeSettings(Section):
    """Judges a sample of the interactions with a language model."""

    mode: Literal["off", "separate", "combined"] = "off"
    model: str | None = Field(None, description="default: the LLM's")
    metrics: Annotated[tuple[MetricChoice, ...], NoDecode, BeforeValidator(split)] = (
        "faithfulness",
        "answer_relevance",
        "context_relevance",
    )
    sample: SampleSettings = SampleSettings()
    sampling: Literal["random", "doubt"] = Field(
        "random", description="doubt: half of each share goes to answers whose verdict a judgement may turn"
    )
    by_app: dict[str, SampleSettings] = Field({}, description="another sample for single apps")
    concurrency: int = Field(8, gt=0, le=256, description="concurrent calls")
    budget_share: Share = Field(0.5, description="the judge stops once this share of the budget is used, by anyone")
    batch: bool = Field(
        default=False, description="use the provider's batch endpoint: half the price, answers within a day"
    )

    @model_validator(mode="after")
    def _batched(self) -> Self:
        several = len(set(self.metrics)) > 1
        if self.batch and not (self.mode != "separate" and several and _JOINT_METRICS.issuperset(self.metrics)):
            names = ", ".join(sorted(_JOINT_METRICS))
            raise ValueError(f"batch needs mode combined, and at least two of {names}, no others")
        return self


class PendingSettings(Section):
    """When work is put off, and how often it is tried."""

    after: float = Field(30.0, ge=0, description="seconds without an embedder before interactions are set aside")
    max_attempts: int = Field(
        100, gt=0, description="attempts before work is given up; `monitor pending retry` revives it"
    )


def _session_timeout(given: dict[str, Any]) -> int:
    """Short, so that a dead consumer's partitions do not wait; it fits the heartbeat and the poll interval given."""
    usual: int = 45_000 if given.get("group_instance_id") else 7_000
    longest: int = given.get("max_poll_interval_ms", usual)  # absent where it is wrong itself
    heartbeat: int = given.get("heartbeat_interval_ms", 0)
    return min(max(usual, 3 * heartbeat), longest)


def _pattern(value: str | None) -> str | None:
    try:
        re.compile(value or "")
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    return value


Topics = Annotated[
    tuple[Annotated[str, Field(pattern=r"^[a-zA-Z0-9._-]{1,249}$")], ...], NoDecode, BeforeValidator(split)
]
Servers = Annotated[
    tuple[Annotated[str, Field(pattern=r"^(\[[0-9a-fA-F:]+\]|[^\s:\[\]]+)(:[0-9]{1,5})?$")], ...],
    NoDecode,
    BeforeValidator(split),
]
Amount = Annotated[int, Field(gt=0, lt=2**31)]  # an int32 of Kafka's protocol


class TopicSettings(Section):
    """Settings for one topic, which override those of `ingest`."""

    dialect: DialectChoice | None = None
    app: str | None = Field(None, min_length=1)
    environment: str | None = Field(None, min_length=1)
    map: dict[str, str] = Field({}, description="where the fields of native events stand, as with --map")


class KafkaSettings(Section):
    """The Kafka topics to read. Client options have the names that kafka-python uses."""

    bootstrap_servers: Servers = Field((), description="host:port, separated by commas")
    topics: Topics = Field((), description="separated by commas")
    topic_pattern: Annotated[str | None, AfterValidator(_pattern)] = Field(
        None, description="a regular expression instead of topics; also matches topics created later"
    )
    by_topic: dict[str, TopicSettings] = Field({}, description="dialect, app, environment and map for single topics")
    group_id: str = Field("monitor", min_length=1)
    group_instance_id: str | None = Field(
        None, description="makes the process a static member of the group; different for each process"
    )
    client_id: str = "monitor"
    client_rack: str = ""
    auto_offset_reset: Literal["earliest", "latest"] = Field("earliest", description="where a new group starts")
    isolation_level: Literal["read_committed", "read_uncommitted"] = "read_committed"
    heartbeat_interval_ms: Amount = 2_000
    max_poll_interval_ms: Amount = 300_000
    session_timeout_ms: Amount = Field(
        default_factory=_session_timeout,
        description="when a dead consumer's partitions are given to others; with group_instance_id 45000 by default",
    )
    metadata_max_age_ms: Amount = Field(30_000, description="how soon new topics and partitions are found")
    request_timeout_ms: Amount = 30_000
    fetch_min_bytes: Amount = 1
    fetch_max_wait_ms: Amount = 250
    fetch_max_bytes: Amount = 16 * 2**20
    max_partition_fetch_bytes: Amount = 2 * 2**20
    max_record_batch_bytes: Amount = Field(
        64 * 2**20, description="decompressed; a record batch with more becomes a dead letter, unread"
    )
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    ssl_cafile: Path | None = None
    ssl_certfile: Path | None = None
    ssl_keyfile: Path | None = None
    ssl_password: SecretStr | None = None
    ssl_crlfile: Path | None = None
    ssl_ciphers: str | None = None
    ssl_check_hostname: bool = True
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] | None = None
    sasl_plain_username: str | None = Field(None, description="for PLAIN and SCRAM")
    sasl_plain_password: SecretStr | None = Field(None, description="for PLAIN and SCRAM")
    sasl_oauthbearer_token_path: Path | None = Field(None, description="file with a token, read for each connection")
    sasl_oauthbearer_token_endpoint_url: str | None = Field(
        None, description="exchanges client credentials for a token"
    )
    sasl_oauthbearer_client_id: str | None = None
    sasl_oauthbearer_client_secret: SecretStr | None = None
    sasl_oauthbearer_scope: str | None = None
    dead_letter_topic: str | None = Field(None, description="gets a copy of each dead letter")
    max_consecutive_dead: int = Field(
        500, ge=0, description="stop after this many dead letters of a partition in a row; 0: never"
    )
    max_dead_ratio: float = Field(
        0.5, ge=0, le=1, description="stop if a larger share of the last 1,000 messages is dead; 1: never"
    )

    @model_validator(mode="after")
    def _in_proportion(self) -> Self:
        if not self.heartbeat_interval_ms < self.session_timeout_ms <= self.max_poll_interval_ms:
            raise ValueError(
                "must hold: heartbeat_interval_ms < session_timeout_ms ≤ max_poll_interval_ms; in force are "
                f"{self.heartbeat_interval_ms}, {self.session_timeout_ms} and {self.max_poll_interval_ms}"
            )
        if not self.fetch_max_wait_ms < self.request_timeout_ms:
            raise ValueError("must hold: fetch_max_wait_ms < request_timeout_ms")
        return self
