r"""Figures in LaTeX: $10^{6}$ and 10⁶, 5\,\mathrm{km} and 5 km, are the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.score.facts import FactIndex, facts, missing
from monitor.assess.score.facts.latex import Plain


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (r"$10^{6}$ rows", "1 million rows"),
        (r"$10^6$ rows", "1,000,000 rows"),
        ("10^6 rows", "1,000,000 rows"),
        (r"$3 \times 10^{-3}$ mol", "0.003 mol"),
        (r"3\times10^{-3} mol", "0.003 mol"),
        (r"$1.5 \cdot 10^{6}$ rows", "1.5 million rows"),
        (r"$50\%$ of it", "50% of it"),
        (r"50\% of it", "50% of it"),
        (r"$5\,\mathrm{km}$ long", "5 km long"),
        (r"\(5\ \text{km}\) long", "5 km long"),
        (r"\[5~\mathrm{km}\] long", "5 km long"),
        (r"$5 \mathrm{\mu g}$", "5 µg"),
        (r"$5\,\mathrm{m}^{2}$", "5 m²"),
        (r"5 m^2", "5 m²"),
        (r"$-5^{\circ}\mathrm{C}$", "-5 °C"),
        (r"$-5^\circ$C", "-5 °C"),
        (r"$\frac{3}{4}$ of it", "75% of it"),
        (r"$10{,}000$ rows", "10,000 rows"),
        (r"$10\,000$ rows", "10,000 rows"),
        (r"\$25 a month", "$25 a month"),
        (r"$\sim 50$ rows", "50 rows"),
        (r"$5\ \mathrm{m/s}$", "18 km/h"),
    ],
)
def test_figures_in_latex_are_held_by_plain_ones_and_hold_them(latex, plain):
    assert missing(f"It is {latex}.", FactIndex.of([f"It is {plain}."])) == ()
    assert missing(f"It is {plain}.", FactIndex.of([f"It is {latex}."])) == ()


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        (r"It is $10^{6}$.", r"It is $10^{5}$."),
        (r"It is $3 \times 10^{-3}$ mol.", r"It is $3 \times 10^{-4}$ mol."),
        (r"It is $5\,\mathrm{km}$.", r"It is $5\,\mathrm{m}$."),
        (r"It is $50\%$.", "It is $50."),
        ("It is 10^6.", "It has 10 rows of 6."),
    ],
)
def test_another_figure_is_not_held(answer, document):
    assert len(missing(answer, FactIndex.of([document]))) == 1


def test_a_fact_is_where_it_is_written():
    text = r"It is $1.5 \times 10^{6}\,\mathrm{km}$, {not} \frac{7}{2} or $\frac{1}{2}$ of it, or 3^{\circ}C."
    found = facts(text)
    assert [text[fact.start : fact.end] for fact in found] == [
        r"1.5 \times 10^{6}\,\mathrm{km",
        "7",
        "2",
        r"\frac{1}{2}",
        r"3^{\circ}C",
    ]
    assert all(fact.text == text[fact.start : fact.end] for fact in found)


@pytest.mark.parametrize(
    "text", ["It costs $5 and $10.", "It is {5} and {6}.", r"C:\new\5", "from $10 (up 5 %) to $20", "a^b and 2^8"]
)
def test_what_is_no_latex_stays_as_it_is(text):
    assert Plain(text).text == text


def test_amounts_around_a_sign_of_latex_enclose_no_formula():
    found = facts(r"It rose from $10 (up 5\%) to $20.")
    assert [fact.text for fact in found] == ["$10", r"5\%", "$20"]


_PIECES = r"5 10 $ \times 10^{6} ^{\circ} C {,} 000 { } \mathrm{ km \frac{1}{2} \frac{7}{2} \, \% \( \) text m^2 ~ ."


@given(st.lists(st.sampled_from(_PIECES.split()), max_size=20).map("".join))
def test_facts_are_in_order_apart_and_where_they_say(text):
    end = 0
    for fact in facts(text):
        assert end <= fact.start < fact.end <= len(text)
        assert text[fact.start : fact.end] == fact.text
        end = fact.end


@pytest.mark.parametrize("unit", ["\\", "$", "{", "\\text{", "$\\", "^{", "10^{6}", "\\frac{1}{", "\\times "])
def test_hostile_texts_are_read_to_their_end(unit):
    text = unit * 5_000 + " and then 40 days"
    assert facts(text)[-1].text == "40 days"
