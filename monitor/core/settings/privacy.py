"""Settings of redaction and retention."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_settings import NoDecode

from monitor.core.model import Verdict
from monitor.core.settings.sections import Section, split
from monitor.core.text.pattern import compile_pattern
from monitor.core.text.personal_data import PersonalData


def _known(regions: tuple[str, ...]) -> tuple[str, ...]:
    if not regions:
        return ()
    from phonenumbers import SUPPORTED_REGIONS  # noqa: PLC0415  large tables, which few installations need

    regions = tuple(dict.fromkeys(region.upper() for region in regions))
    if unknown := [region for region in regions if region not in SUPPORTED_REGIONS]:
        raise ValueError(f"not a country code: {', '.join(unknown)}")
    return regions


def _compiled(patterns: dict[str, str]) -> dict[str, str]:
    for name, expression in patterns.items():
        try:
            compile_pattern(expression)
        except ValueError as error:
            raise ValueError(f"{name}: {expression!r} {error}") from None
    return patterns


class RedactionSettings(Section):
    """Personal data to replace before anything is stored, embedded or sent on. Default: none."""

    kinds: Annotated[tuple[PersonalData, ...], NoDecode, BeforeValidator(split)] = Field(
        (), description=f"any of {', '.join(PersonalData)}, separated by commas"
    )
    regions: Annotated[tuple[str, ...], NoDecode, BeforeValidator(split), AfterValidator(_known)] = Field(
        (), description="countries by two letters, as DE, FR, whose national ids and telephone numbers are recognised"
    )
    previous_key_files: Annotated[tuple[Path, ...], NoDecode, BeforeValidator(split)] = Field(
        (), description="earlier audit keys, with which redacted tags are still found after a change of keys"
    )
    patterns: Annotated[dict[str, str], AfterValidator(_compiled)] = Field(
        {}, description="your own regular expressions by name, for whole words; [name] replaces a match"
    )


class AppRetentionSettings(Section):
    """Retention of one app, which overrides that of all apps."""

    keep: str | None = Field(None, description="such as 400d, or forever")
    by_verdict: dict[Verdict, str] = Field({}, description="another length of time for single verdicts")


class RetentionSettings(Section):
    """How long interactions and everything that belongs to them are kept after they occurred. Default: forever."""

    keep: str | None = Field(None, description="such as 400d, or forever")
    by_verdict: dict[Verdict, str] = Field({}, description="another length of time for single verdicts")
    by_app: dict[str, AppRetentionSettings] = Field({}, description="other lengths of time for single apps")
