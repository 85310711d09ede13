"""Settings of privacy: what is taken out of texts before they are stored, and how long rows are kept."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_settings import NoDecode

from monitor.core.model import Verdict
from monitor.core.personal_data import PersonalData
from monitor.core.settings.sections import Section, split
from monitor.core.text.pattern import compile_pattern


def _known(regions: tuple[str, ...]) -> tuple[str, ...]:
    if not regions:
        return ()
    from phonenumbers import SUPPORTED_REGIONS  # noqa: PLC0415  large tables, which few installations need

    regions = tuple(dict.fromkeys(region.upper() for region in regions))
    if unknown := [region for region in regions if region not in SUPPORTED_REGIONS]:
        raise ValueError(f"no country by these two letters: {', '.join(unknown)}")
    return regions


def _compiled(patterns: dict[str, str]) -> dict[str, str]:
    for name, expression in patterns.items():
        try:
            compile_pattern(expression)
        except ValueError as error:
            raise ValueError(f"{name}: {expression!r} {error}") from None
    return patterns


class RedactionSettings(Section):
    """What is replaced by a word in what arrives, before anything is stored, embedded or sent on. Default: nothing."""

    kinds: Annotated[tuple[PersonalData, ...], NoDecode, BeforeValidator(split)] = Field(
        (), description=f"of {', '.join(PersonalData)}; several with commas between them"
    )
    regions: Annotated[tuple[str, ...], NoDecode, BeforeValidator(split), AfterValidator(_known)] = Field(
        (), description="countries by two letters, as DE, FR: whose national ids and telephone numbers are known"
    )
    patterns: Annotated[dict[str, str], AfterValidator(_compiled)] = Field(
        {}, description="regular expressions of your own by name, for whole words; [name] takes their place"
    )


class AppRetentionSettings(Section):
    """What stands before the retention of all apps for one of them."""

    keep: str | None = Field(None, description="as 400d, or forever")
    by_verdict: dict[Verdict, str] = Field({}, description="another time for a verdict")


class RetentionSettings(Section):
    """How long interactions are kept, with all that belongs to them, by when they occurred. Default: forever."""

    keep: str | None = Field(None, description="as 400d, or forever")
    by_verdict: dict[Verdict, str] = Field({}, description="another time for a verdict")
    by_app: dict[str, AppRetentionSettings] = Field({}, description="other times for an app")
