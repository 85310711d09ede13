"""Which numbers say the same: one without a unit is compared with the number that an answer writes, as it stands."""

from __future__ import annotations

import pytest

from monitor.assess.score.facts import FactIndex, missing

WITH_UNITS = ["17 days", "100 GB", "150 kg", "90 hours", "30 km", "12 weeks", "40 euros", "35 %", "3 TB", "25 °C"]
# None of these is near a number of WITH_UNITS, as written or converted.
OTHERS = ["4.5 stars", "release 2.1", "2,000 lamps", "50,000 lamps", "chapter 7.25", "about 1,300 lamps"]


@pytest.mark.parametrize("others", OTHERS)
@pytest.mark.parametrize("figure", WITH_UNITS)
def test_a_bare_number_hides_no_figure_of_another_size(figure, others):
    documents = FactIndex.of([f"The warranty is long. See {others}."])
    assert [fact.text for fact in missing(f"It is {figure}.", documents)] == [figure]


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It takes 17 days.", "In days: 17."),
        ("It takes 17 days.", "In days: 17.3."),  # rounded as written
        ("It weighs 1.5 kg.", "Weight in kg: 1.52."),
        ("It takes about 90 hours.", "Hours: 92."),
        ("It is 35 %.", "A share of 0.35."),
        ("It is 35 %.", "A share of 0.352."),
    ],
)
def test_a_bare_number_of_that_size_holds_it(answer, document):
    assert missing(answer, FactIndex.of([document])) == ()


@pytest.mark.parametrize(
    ("answer", "document"),
    [("It takes 17 days.", "In days: 17.6."), ("It takes about 90 hours.", "Hours: 97."), ("It is 35 %.", "0.358.")],
)
def test_one_that_rounds_to_another_does_not(answer, document):
    assert len(missing(answer, FactIndex.of([document]))) == 1


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It is in version 2.1.", "It is in version 2.10."),
        ("It is in version 2.10.", "It is in version 2.1."),
        ("It is in release 2.1.", "It is in driver 2.10."),
        ("It is in version 2.1.", "It is in version 2.14."),
    ],
)
def test_a_version_is_held_by_its_own_figures_only(answer, document):
    assert len(missing(answer, FactIndex.of([document]))) == 1


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It is in version 2.10.", "It is in driver 2.10."),
        ("It is in version 2.1.", "Get driver-2.1 now."),
        ("It is in version 2.0.", "It is in version 2."),
        ("It is in 2.1.", "It is in version 2.1."),
        ("It is in version 2.1 or 2.2.", "It is in version 2.2 and 2.1."),
    ],
)
def test_a_version_is_held_wherever_its_figures_stand(answer, document):
    assert missing(answer, FactIndex.of([document])) == ()


@pytest.mark.parametrize("figure", ["700 rows", "about 700 rows", "row 999", "690.5 rows"])
def test_a_figure_among_many_others_near_it_is_found(figure):
    table = "\n".join(f"row {number}: 690.53" for number in range(1, 1_000))
    assert missing(f"It is {figure}.", FactIndex.of([table])) == ()


def test_many_figures_near_it_do_not_hold_one():
    table = "\n".join(f"row {number}: 690.53" for number in range(1, 1_000))
    assert len(missing("It is 700.5 rows.", FactIndex.of([table]))) == 1
