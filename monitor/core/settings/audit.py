"""Settings of the audit trail."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from monitor.core.settings.sections import Section, split


class AuditSettings(Section):
    """Sealing into a Merkle tree with signed checkpoints; docs/audit/audit.md."""

    enabled: bool = Field(default=True, description="whether this process seals; stored rows are queued in any case")
    origin: str = Field("monitor", pattern=r"^[^\s+]+$", description="the name of this log in checkpoints and keys")
    key_file: Path | None = Field(None, description="default: audit/key in the state directory, made on first use")
    previous_keys: Annotated[tuple[str, ...], NoDecode, BeforeValidator(split)] = Field(
        (), description="public keys (name+hash+base64) of earlier checkpoints"
    )
    every: float = Field(60.0, gt=0, description="seconds between checkpoints")
    witness_file: Path | None = Field(None, description="default: audit/checkpoints in the state directory")
    witness_topic: str | None = Field(None, description="a topic of the configured Kafka that gets each checkpoint")
    witness_slack: bool = Field(
        default=False, description="post each checkpoint to the configured Slack channel or webhook"
    )
    timestamp_url: SecretStr | None = Field(None, description="an RFC 3161 authority that time-stamps checkpoints")
    timestamp_ca: Path | None = Field(
        None, description="the authority's root certificates (PEM), without which its time stamps are not checked here"
    )
    calendar_url: SecretStr | None = Field(None, description="an OpenTimestamps calendar that gives receipts")
    timestamp_every: float = Field(3_600.0, gt=0, description="seconds between time stamps of each authority")
