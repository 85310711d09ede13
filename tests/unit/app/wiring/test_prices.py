"""The file of prices: what it may hold, and what is said of a wrong one."""

from __future__ import annotations

from datetime import date

import pytest

from monitor.app.wiring.prices import parse_prices, read_prices
from monitor.core.errors import WrongSettings

GOOD = """\
currency: EUR
models:
  - {model: kestrel-2-large, input: 2, output: 8.5}
  - model: kestrel-2-mini*
    input: 0.1
    output: 0
    from: 2026-11-01
"""


def test_a_table_is_read():
    table = parse_prices(GOOD, name="prices.yaml")
    assert table.currency == "EUR"
    assert table.cost("kestrel-2-mini-v3", date(2026, 11, 1), 1_000_000, 5) == pytest.approx(0.1)
    assert table.cost("kestrel-2-mini-v3", date(2026, 10, 31), 1_000_000, 5) is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("EUR", "euro"), "p.yaml:1:11: currency: must be a code of three capital letters, such as USD"),
        (("output: 8.5", "output: -1"), "p.yaml:3:48: models[0].output: must be 0 or more"),
        (("output: 8.5", "output: .inf"), "p.yaml:3:48: models[0].output: must be finite"),
        (("output: 8.5", "ouput: 8.5"), "p.yaml:3:40: models[0].ouput: unknown key"),
        (("input: 0.1", "input: cheap"), "p.yaml:5:12: models[1].input: must be a number"),
        (("2026-11-01", "soon"), "p.yaml:7:11: models[1].from: must be a day such as 2026-11-01"),
        (("kestrel-2-large", "[a"), "p.yaml:3:38: "),
        (("    from: 2026-11-01\n", "  - {model: KESTREL-2-mini*, input: 1, output: 1}\n"), "in line 4"),
        (("currency: EUR\n", ""), "currency: is missing"),
    ],
)
def test_a_mistake_is_named_with_its_line(change, said):
    with pytest.raises(WrongSettings) as raised:
        parse_prices(GOOD.replace(*change), name="p.yaml")
    assert said in str(raised.value)


def test_an_empty_or_missing_file_is_refused(tmp_path):
    (tmp_path / "empty.yaml").write_text("")
    for name, said in (
        ("empty.yaml", "is empty; it needs currency, models"),
        ("none.yaml", "cannot read the prices: No such file"),
    ):
        with pytest.raises(WrongSettings, match=said):
            read_prices(tmp_path / name)
