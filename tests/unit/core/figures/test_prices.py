from __future__ import annotations

from datetime import date

import pytest

from monitor.core.figures.prices import MOST_REMEMBERED, ModelPrice, Price, PriceTable

TODAY = date(2026, 11, 23)


def a_table(**prices):
    """Prices by name; the input price tells which of them was found."""
    models = (ModelPrice(model=name, price=Price(input=price, output=price)) for name, price in prices.items())
    return PriceTable(currency="USD", models=tuple(models))


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("kestrel", 1.0),
        ("kestrel-mini", 2.0),
        ("kestrel-mini-2026-01-01", 3.0),
        ("KESTREL-mini-2", 3.0),
        ("kestrel-large", 4.0),
        ("other", None),
        ("xkestrel", None),
    ],
)
def test_the_most_exact_name_holds(model, price):
    table = a_table(**{"kestrel": 1.0, "kestrel-mini": 2.0, "kestrel-mini*": 3.0, "kestrel*": 4.0})
    found = table.price(model, TODAY)
    assert (found and found.input) == price


def test_only_a_star_stands_for_other_text():
    assert a_table(**{"a?[bc]": 1.0}).price("axb", TODAY) is None
    assert a_table(**{"a?[bc]*": 1.0}).price("a?[bc]-2", TODAY) is not None


def test_a_price_holds_from_its_day_on():
    since = {date(2026, 1, 1): 2.0, date(2026, 11, 1): 1.0, date(2027, 1, 1): 0.5}
    table = PriceTable(
        currency="USD",
        models=tuple(ModelPrice(model="m", price=Price(input=p, output=p), since=day) for day, p in since.items()),
    )
    found = [table.price("m", day) for day in (date(2025, 12, 31), date(2026, 10, 31), TODAY)]
    assert [price and price.input for price in found] == [None, 2.0, 1.0]


@pytest.mark.parametrize("missing", [{"model": None}, {"read": None}, {"written": None}, {"model": "other"}])
def test_what_is_not_known_costs_nothing_that_could_be_told(missing):
    asked = {"model": "m", "read": 1000, "written": 500, **missing}
    table = PriceTable(currency="USD", models=(ModelPrice(model="m", price=Price(input=2.0, output=8.0)),))
    assert table.cost("m", TODAY, 1000, 500) == pytest.approx(0.006)
    assert table.cost(asked["model"], TODAY, asked["read"], asked["written"]) is None


def test_names_that_come_once_do_not_fill_the_memory():
    table = a_table(m=1.0)
    for number in range(MOST_REMEMBERED + 10):
        table.price(f"m-{number}", TODAY)
    assert len(table._found) <= MOST_REMEMBERED
