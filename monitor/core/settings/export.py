"""Groups of settings: where verdicts are sent, and the address of a trace in the team's own tool."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator
from pydantic_settings import NoDecode

from monitor.core.settings.kafka import TopicName
from monitor.core.settings.sections import Section, split
from monitor.core.text.trace_link import EVERY_APP

PLACES = ("trace_id", "span_id", "app", "id")  # what a template of a trace's address may name
_PLACE = re.compile(r"\{([^{}]*)\}")
_ADDRESS = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+(?:/[^\s<>|\"\\^`]*)?")
_NAME = Field(min_length=1)

Url = Annotated[str, Field(pattern=r"^https?://[^/\s<>|\"\\^`{}@]+[^\s<>|\"\\^`{}?#]*$")]
Sent = Literal["verdict", "probabilities", "similarities", "rank", "refusal", "diagnosis", "judgements"]


class OtlpExportSettings(Section):
    """An OpenTelemetry collector or backend that takes logs over OTLP/HTTP."""

    endpoint: Url | None = Field(None, description="base URL; /v1/logs is appended, unless it ends so")
    headers: SecretStr | None = Field(None, description="name=value, separated by commas, values URL-encoded")


class PhoenixExportSettings(Section):
    """An Arize Phoenix server, through its REST API."""

    url: Url | None = Field(None, description="the server's address")
    api_key: SecretStr | None = Field(None, description="if the server asks for one")


class LangfuseExportSettings(Section):
    """A project of Langfuse, through its public API."""

    url: Url | None = Field(None, description="such as https://cloud.langfuse.com")
    public_key: str | None = Field(None, description="pk-lf-…")
    secret_key: SecretStr | None = Field(None, description="sk-lf-…")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if len({self.url is None, self.public_key is None, self.secret_key is None}) > 1:
            raise ValueError("url, public_key and secret_key go together")
        return self


class KafkaExportSettings(Section):
    """A topic of the cluster that MONITOR_KAFKA__… describes."""

    topic: TopicName | None = Field(None, description="such as monitor.verdicts; it must exist")


class ExportSettings(Section):
    """Where verdicts are sent; nowhere by default."""

    apps: Annotated[tuple[Annotated[str, _NAME], ...], NoDecode, BeforeValidator(split)] = Field(
        (), description="apps whose verdicts are sent, separated by commas; default: all"
    )
    sample: float = Field(1.0, gt=0, le=1, description="share of the answers, picked by id")
    scores: Annotated[tuple[Sent, ...], NoDecode, BeforeValidator(split)] = Field(
        ("verdict", "probabilities", "similarities", "rank", "refusal", "diagnosis", "judgements"),
        description="what is sent of each answer, but for Kafka, which gets all",
    )
    otlp: OtlpExportSettings = OtlpExportSettings()
    phoenix: PhoenixExportSettings = PhoenixExportSettings()
    langfuse: LangfuseExportSettings = LangfuseExportSettings()
    kafka: KafkaExportSettings = KafkaExportSettings()


def _by_app(value: object) -> Any:
    """Reads one address as that of every app, and JSON as addresses by app."""
    if not isinstance(value, str):
        return value
    if not value.strip():
        return {}
    if not value.lstrip().startswith("{"):
        return {EVERY_APP: value.strip()}
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError("is neither an address nor JSON of addresses by app") from None


def _checked(templates: Mapping[str, str]) -> Mapping[str, str]:
    for app, template in templates.items():
        of = "" if app == EVERY_APP else f" of {app}"
        if not _ADDRESS.fullmatch(template):
            raise ValueError(f"the address{of} must begin with http:// or https:// and a host without placeholders")
        if unknown := [name for name in _PLACE.findall(template) if name not in PLACES]:
            known = ", ".join(f"{{{name}}}" for name in PLACES)
            raise ValueError(f"the address{of} has {{{unknown[0]}}}; what it may have is {known}")
        if "{trace_id}" not in template:
            raise ValueError(f"the address{of} lacks {{trace_id}}")
    return templates


TraceUrls = Annotated[Mapping[str, str], NoDecode, BeforeValidator(_by_app), AfterValidator(_checked)]
