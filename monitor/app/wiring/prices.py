"""Reads the file of prices that `MONITOR_PRICES` names."""

from __future__ import annotations

import re
from datetime import date
from math import isfinite
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from monitor.core.errors import WrongSettings
from monitor.core.figures.prices import ModelPrice, Price, PriceTable
from monitor.core.settings.load import Settings
from monitor.core.yaml.form import parse_form, read_text

_CURRENCY = re.compile("[A-Z]{3}")


def _currency(value: str) -> str:
    if not _CURRENCY.fullmatch(value):
        raise ValueError("must be a code of three capital letters, such as USD")
    return value


def _finite(value: float) -> float:
    if not isfinite(value):
        raise ValueError("must be finite")
    return value


_PerMillion = Annotated[float, Field(ge=0), AfterValidator(_finite)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _ModelForm(_Form):
    model: str = Field(min_length=1)
    input: _PerMillion
    output: _PerMillion
    since: date = Field(date.min, alias="from")


class _PricesForm(_Form):
    currency: Annotated[str, AfterValidator(_currency)]
    models: list[_ModelForm] = Field(min_length=1)


def prices_of(settings: Settings) -> PriceTable | None:
    """The table that the settings name; None if they name none.

    Raises:
        WrongSettings: the file cannot be read, or is not a table of prices.
    """
    return None if settings.prices is None else read_prices(settings.prices)


def currency_of(settings: Settings) -> str:
    """The currency of the prices; empty without prices. Raises as `prices_of` does."""
    table = prices_of(settings)
    return "" if table is None else table.currency


def read_prices(path: Path) -> PriceTable:
    """The table of the file.

    Raises:
        WrongSettings: the file cannot be read, or is not a table of prices.
    """
    return parse_prices(read_text(path, of="the prices"), name=str(path))


def parse_prices(text: str, *, name: str) -> PriceTable:
    """Like `read_prices`, but from text; messages call the file `name`."""
    form, document = parse_form(text, _PricesForm, name=name)
    first: dict[tuple[str, date], int] = {}
    for number, one in enumerate(form.models):
        if (earlier := first.setdefault((one.model.casefold(), one.since), number)) != number:
            line = document.mark(("models", earlier)).line
            at = document.mark(("models", number))
            raise WrongSettings(f"{name}:{at.line}:{at.column}: {one.model!r} has a price from this day in line {line}")
    return PriceTable(
        currency=form.currency,
        models=tuple(
            ModelPrice(model=one.model, price=Price(input=one.input, output=one.output), since=one.since)
            for one in form.models
        ),
    )
