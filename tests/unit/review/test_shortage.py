"""What labels calibration lacks, and how many more that takes at the rate of the last ones."""

from __future__ import annotations

import pytest

from monitor.review.shortage import LATELY, NEEDED, CountedLabel, Shortage
from tests.factories.review.labels import G, R, S


def labels(**numbers):
    """So many usable labels of each class in turn, as evenly mixed as they go."""
    kinds = {"good": (G, True), "bad": (S, True), "refusals": (R, False), "useless": (S, False)}
    drawn = sorted((place / numbers[kind], kind) for kind in numbers for place in range(numbers[kind]))
    return Shortage(labels=[CountedLabel(label=kinds[k][0], usable=kinds[k][1]) for _, k in drawn])


def test_two_that_are_missing_take_as_many_labels_as_the_last_ones_say():
    found = labels(good=150, bad=18, refusals=20, useless=12)
    assert (found.usable(S), found.usable(G), found.lacks) == (18, 150, S)
    lately = sum(one.usable and one.label is S for one in found.labels[-LATELY:])
    assert found.more(S) == -(-2 * LATELY // lately)
    assert found.words == (
        f"calibration has 18 of 20 self-generated answers that it can use: about {found.more(S)} more labels at the "
        "present rate"
    )


def test_the_rate_is_that_of_the_last_labels_and_not_of_all():
    early = [CountedLabel(label=G, usable=True)] * 200
    late = [CountedLabel(label=S if n % 5 == 0 else G, usable=True) for n in range(LATELY)]
    assert Shortage(labels=early + late).more(S) == 50


@pytest.mark.parametrize(
    ("found", "lacks", "words"),
    [
        (labels(), S, "0 of 20 self-generated and 0 of 20 grounded answers that it can use: nothing is labelled yet"),
        (labels(good=30), S, "0 of 20 self-generated answers that it can use: none of the last 30 labels was one"),
        (labels(bad=30), G, "0 of 20 grounded answers that it can use: none of the last 30 labels was one"),
        (
            labels(good=3),
            S,
            "3 of 20 grounded answers that it can use: none of the last 3 labels was self-generated",
        ),
        (labels(good=NEEDED, bad=NEEDED), None, "; 160 more labels, 200 in all, make it better"),
    ],
)
def test_what_is_lacking_is_said(found, lacks, words):
    assert found.lacks is lacks
    assert found.words.endswith(words)
    assert found.as_json()["lacks"] == lacks


def test_enough_is_enough():
    found = labels(good=180, bad=24)
    assert found.words == "enough labels for calibration: 24 self-generated and 180 grounded answers that it can use"
    assert [one["missing"] for one in found.as_json()["classes"]] == [0, 0]
