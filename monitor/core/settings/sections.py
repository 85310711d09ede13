"""Groups of settings, with defaults: ingest, embedding, detector, reranker, language models and pending work."""

from __future__ import annotations

import json
import os.path
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    field_validator,
    model_validator,
)
from pydantic_settings import NoDecode

from monitor.core.installed import plugins
from monitor.core.installed.plugins import choice


def split(value: object) -> object:
    """Reads `a, b` from the environment as a list of two; JSON lists too."""
    if not isinstance(value, str):
        return value
    if not value.lstrip().startswith("["):
        return [part.strip() for part in value.split(",") if part.strip()]
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError('must be a list: write a,b or ["a", "b"]') from None


def from_home(path: Path) -> Path:
    """`path` with the user's home in place of `~` at its beginning; the home of an unknown user stays as it is."""
    return Path(os.path.expanduser(path))  # noqa: PTH111  that of Path would raise


def paths_from_home(value: Any) -> Any:
    """The value of a setting, in which a path, or each path of several, begins as `from_home` says."""
    if isinstance(value, tuple):
        return tuple(map(paths_from_home, value))
    return from_home(value) if isinstance(value, Path) else value


Port = Annotated[int, Field(ge=0, lt=65_536)]  # to listen on; 0 is any free one

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

    _home = field_validator("*")(paths_from_home)


class IngestSettings(Section):
    """Limits on messages, and defaults for fields that a dialect does not carry."""

    dialect: DialectChoice = Field(
        "auto", description="the form of the events, such as otlp or ragas; auto tells it from each event"
    )
    app: str = Field("default", min_length=1, description="app of events that do not name one")
    environment: str = Field("production", min_length=1, description="environment of events that do not name one")
    max_message_bytes: int = Field(8 * 2**20, gt=0, description="bytes; a longer message becomes a dead letter")
    max_text_chars: int = Field(
        1_000_000, gt=0, description="characters; a message with a longer text becomes a dead letter"
    )
    max_documents: int = Field(1_000, gt=0, description="a message with more retrieved documents becomes a dead letter")
    batch_events: int = Field(
        512, gt=0, le=100_000, description="the most events that are assessed and stored together"
    )
    batch_bytes: int = Field(16 * 2**20, gt=0, description="the most bytes of such a batch")
    batch_ms: int = Field(250, gt=0, description="milliseconds that a batch waits for more events")


class EmbeddingSettings(Section):
    """The embedder. `hash` is for tests and benchmarks only: its vectors mean nothing."""

    provider: Literal["minilm", "openai", "hash"] = Field(
        "minilm", description="minilm is embedded; openai is any OpenAI-compatible server"
    )
    model: str = Field("text-embedding-3-small", description="openai only")
    dimensions: int | None = Field(None, gt=0, description="openai only: shorter vectors, if the model supports them")
    base_url: str | None = Field(None, description="openai only; default: the LLM's")
    api_key: SecretStr | None = Field(None, description="openai only; default: the LLM's")
    weights_dir: Path | None = Field(None, description="fp32 only: a folder with the published model.safetensors")
    cache_bytes: int = Field(128 * 2**20, ge=0, description="bytes of memory for vectors of recent texts")
    token_cache_bytes: int = Field(256 * 2**20, ge=0, description="bytes of memory for token vectors of recent texts")
    threads: Annotated[int, Field(ge=0)] = Field(0, description="threads of the embedded model; 0: one per core")
    build: Literal["fp32", "int8"] | None = Field(
        None, description="embedded model only; fp32 needs the published weights; default: the profile's, else int8"
    )


class DetectorSettings(Section):
    """Your own detector model, which finds unsupported parts of an answer; its score becomes a feature."""

    path: Path | None = Field(None, description="folder with model.onnx, tokenizer.json and config.json; default: none")
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="where the model runs; auto takes the GPU if there is one"
    )
    threads: Annotated[int, Field(ge=0)] = Field(0, description="threads on the CPU; 0: one per core")
    max_tokens: int = Field(4_096, ge=64, description="of one input; the model's own limit, if lower, holds")
    max_inputs: int = Field(512, gt=0, description="interactions that need more inputs get no score")
    max_input_chars: int = Field(200_000, gt=0, description="interactions with longer texts get no score")
    prompt: str | None = Field(
        None,
        description="token classifiers only; contains {documents}, {question} and {count}; default: LettuceDetect's",
    )


class RerankerSettings(Section):
    """Your own reranker model, a cross-encoder that orders the chunks of the retrieved documents."""

    path: Path | None = Field(None, description="folder with model.onnx, tokenizer.json and config.json; default: none")
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="where the model runs; auto takes the GPU if there is one"
    )
    threads: Annotated[int, Field(ge=0)] = Field(0, description="threads on the CPU; 0: one per core")
    max_tokens: int = Field(512, ge=64, description="of one input; the model's own limit, if lower, holds")


class BudgetSettings(Section):
    """Limits on all calls of language models, per hour and per UTC day; all processes share them."""

    calls_per_hour: int | None = Field(None, ge=0, description="calls; default: no limit, as of all of these")
    calls_per_day: int | None = Field(None, ge=0, description="calls")
    tokens_per_hour: int | None = Field(None, ge=0, description="tokens read and written")
    tokens_per_day: int | None = Field(None, ge=0, description="tokens read and written")
    cost_per_hour: float | None = Field(None, ge=0, description="in the currency of the prices")
    cost_per_day: float | None = Field(None, ge=0, description="in the currency of the prices")


class LLMSettings(Section):
    """An OpenAI-compatible server, for the sidecar and the judge."""

    base_url: Annotated[str | None, Field(pattern=r"^https?://[^/\s]+")] = Field(
        None, description="http(s) URL, which mostly ends with /v1; default: OpenAI's"
    )
    api_key: SecretStr | None = Field(None, description="any word if the server needs none")
    model: str | None = Field(None, description="the model that is asked, unless a section below names its own")
    timeout: float = Field(60.0, gt=0, description="seconds for one request")
    structure: Literal["json_schema", "json_object", "text"] = Field(
        "json_schema", description="how the form of answers is requested; the next weaker way if the server refuses it"
    )
    max_output_tokens: int = Field(4_096, gt=0, description="the longest answer that is asked for")
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

    mode: Literal["off", "explain", "regenerate"] = Field(
        "off",
        description="explain asks what supports the answer; regenerate has it answered anew, with its support",
    )
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
    "chunk_relevance",
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

    mode: Literal["off", "separate", "combined"] = Field(
        "off", description="separate makes one call a metric; combined one call for all"
    )
    model: str | None = Field(None, description="default: the LLM's")
    metrics: Annotated[tuple[MetricChoice, ...], NoDecode, BeforeValidator(split)] = Field(
        (
            "faithfulness",
            "answer_relevance",
            "context_relevance",
        ),
        description="the metrics to judge by, separated by commas; those of your own packages too",
    )
    sample: SampleSettings = SampleSettings()
    sampling: Literal["random", "doubt"] = Field(
        "random", description="doubt: half of each share goes to answers whose verdict a judgement may turn"
    )
    by_app: dict[str, SampleSettings] = Field({}, description="another sample for single apps")
    rewrite_question: bool = Field(
        default=False, description="chunk_relevance only: the model first makes a clearer query of the question"
    )
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


class ProbeSettings(Section):
    """The judge of probes, which also composes answers and asks further questions in conversations."""

    model: str | None = Field(None, description="default: the judge's, and without one the LLM's")
    concurrency: int = Field(16, gt=0, le=256, description="concurrent calls")
    budget_share: Share = Field(0.5, description="probes stop once this share of the budget is used, by anyone")


class PendingSettings(Section):
    """When work is put off, and how often it is tried."""

    after: float = Field(30.0, ge=0, description="seconds without an embedder before interactions are set aside")
    max_attempts: int = Field(
        100, gt=0, description="attempts before work is given up; `monitor pending retry` revives it"
    )
