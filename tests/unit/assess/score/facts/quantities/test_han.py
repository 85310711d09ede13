"""Figures with Chinese, Japanese and Korean groups, and shares in these languages."""

from __future__ import annotations

import pytest

from monitor.assess.score.facts import FactIndex, missing
from monitor.assess.score.facts.quantities.han import mixed
from tests.rig.assess.quantities import with_dimensions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1億2000万円", (120_000_000, "yen")),
        ("1万5千円", (15_000, "yen")),
        ("2億5千万", (250_000_000, None)),
        ("3百万", (3_000_000, None)),
        ("1万2345人", (12_345, None)),
        ("5만원", (50_000, "won")),
        ("1억 2000만 원", (120_000_000, "won")),
        ("百分之二十", (20, "ratio")),
        ("百分之20", (20, "ratio")),
        ("四分之三", (75, "ratio")),
        ("2割", (2, "ratio")),
    ],
)
def test_numbers(text, expected):
    assert with_dimensions(f"是{text}。") == [expected]


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("20%です。", "2割です。"),
        ("75%的客户", "四分之三的客户"),
        ("120 million yen", "1億2000万円です。"),
        ("5万10万", "10万5万"),
    ],
)
def test_the_same_number_in_another_form_is_held(answer, document):
    assert missing(answer, FactIndex.of([document])) == ()


@pytest.mark.parametrize(
    ("answer", "document"), [("5만 명", "5천 명"), ("百分之三十", "百分之二十"), ("1万5千", "1万6千")]
)
def test_another_number_is_not_held(answer, document):
    assert len(missing(answer, FactIndex.of([document]))) == 1


@pytest.mark.parametrize("text", ["5", "1.2.3万", "万"])
def test_what_is_no_number_in_both_scripts(text):
    assert mixed(text, 0) is None
