"""Settings of the weekly report."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_settings import NoDecode

from monitor.core.settings.sections import Section, split


class ReportSettings(Section):
    """The weekly report of each app, which `monitor run` writes; docs/quality/report.md."""

    weekly: bool = Field(default=True, description="whether reports are written when due")
    weekday: Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] = Field(
        "monday", description="the day on which the report of the week before is written"
    )
    hour: int = Field(6, ge=0, le=23, description="hour (UTC) of that weekday, in the following week")
    apps: Annotated[tuple[str, ...], NoDecode, BeforeValidator(split)] = Field(
        (), description="only these apps; default: all that have answers"
    )
    slack: bool = Field(default=False, description="post reports to the configured Slack channel or webhook")
