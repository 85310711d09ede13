"""The group of settings about reports."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_settings import NoDecode

from monitor.core.settings.sections import Section, split


class ReportSettings(Section):
    """The weekly report of each app, which `monitor run` writes; docs/quality/report.md."""

    weekly: bool = Field(default=True, description="whether it is written when it is due")
    weekday: Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] = "monday"
    hour: int = Field(6, ge=0, le=23, description="of UTC, on that day after the week")
    apps: Annotated[tuple[str, ...], NoDecode, BeforeValidator(split)] = Field(
        (), description="only of these; default: of all that have answers"
    )
    slack: bool = Field(default=False, description="whether it is posted to the configured Slack channel or webhook")
