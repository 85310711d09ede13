"""The group of settings for traces of the program's own stages."""

from __future__ import annotations

from pydantic import Field, SecretStr

from monitor.core.settings.export import Url
from monitor.core.settings.sections import Section, Share


class TracingSettings(Section):
    """An OpenTelemetry collector or backend that takes traces of monitor's own stages over OTLP/HTTP."""

    endpoint: Url | None = Field(
        None, description="base URL; /v1/traces is appended, unless it ends so; default: none, so no traces"
    )
    headers: SecretStr | None = Field(None, description="name=value, separated by commas, values URL-encoded")
    sample: Share = Field(1.0, description="share of the traces that are sent, each of them whole")
    service: str = Field("rag-monitor", min_length=1, description="service.name of the traces")
