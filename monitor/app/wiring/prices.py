"""Reads the file of prices that `MONITOR_PRICES` names."""

from __future__ import annotations

from datetime import date
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from monitor.alert.rules.marked_yaml import InvalidYaml, MarkedYaml, parse_yaml, written
from monitor.core.errors import WrongSettings
from monitor.core.figures.prices import ModelPrice, Price, PriceTable
from monitor.core.settings.load import Settings


class WrongPrices(WrongSettings):
    """A file of prices is wrong; the message has a line for each problem."""


_PROBLEMS = {
    "extra_forbidden": "unknown key",
    "missing": "is missing",
    "string_pattern_mismatch": "must be a code of three capital letters, such as USD",
    "model_type": "must be a mapping of keys to values",
    "greater_than_equal": "must be 0 or more",
    "float_type": "must be a number",
    "date_type": "must be a day such as 2026-11-01",
    "string_type": "must be a text",
    "list_type": "must be a list",
}


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
    currency: str = Field(pattern=r"^[A-Z]{3}$")
    models: list[_ModelForm] = Field(min_length=1)


def prices_of(settings: Settings) -> PriceTable | None:
    """The table that the settings name; None if they name none.

    Raises:
        WrongPrices: the file cannot be read, or is not a table of prices.
    """
    return None if settings.prices is None else read_prices(settings.prices)


def currency_of(settings: Settings) -> str:
    """The currency of the prices; empty without prices. Raises as `prices_of` does."""
    table = prices_of(settings)
    return "" if table is None else table.currency


def read_prices(path: Path) -> PriceTable:
    """The table of the file.

    Raises:
        WrongPrices: the file cannot be read, or is not a table of prices.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise WrongPrices(f"{path}: cannot read the prices: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise WrongPrices(f"{path}: cannot read the prices: {error}") from None
    return parse_prices(text, name=str(path))


def parse_prices(text: str, *, name: str) -> PriceTable:
    """Like `read_prices`, but from text; messages call the file `name`."""
    try:
        document = parse_yaml(text)
    except InvalidYaml as error:
        raise WrongPrices(f"{name}:{error.mark.line}:{error.mark.column}: {error.problem}") from None
    try:
        form = _PricesForm.model_validate(document.value)
    except ValidationError as error:
        raise WrongPrices("\n".join(_problem(name, document, e) for e in error.errors(include_url=False))) from None
    first: dict[tuple[str, date], int] = {}
    for number, one in enumerate(form.models):
        if (earlier := first.setdefault((one.model.casefold(), one.since), number)) != number:
            line = document.mark(("models", earlier)).line
            at = document.mark(("models", number))
            raise WrongPrices(f"{name}:{at.line}:{at.column}: {one.model!r} has a price from this day in line {line}")
    return PriceTable(
        currency=form.currency,
        models=tuple(
            ModelPrice(model=one.model, price=Price(input=one.input, output=one.output), since=one.since)
            for one in form.models
        ),
    )


def _problem(name: str, document: MarkedYaml, error: Any) -> str:
    path = error["loc"]
    mark = document.mark(path, of_key=error["type"] == "extra_forbidden")
    problem = _PROBLEMS.get(error["type"], error["msg"].removeprefix("Value error, "))
    return f"{name}:{mark.line}:{mark.column}: {written(path)}: {problem}"
