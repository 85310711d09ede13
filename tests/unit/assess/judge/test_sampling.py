"""Which interactions are judged."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.app.wiring.models import sampling
from monitor.assess.judge.sampling import Sample, SamplingPolicy, chance
from monitor.core.model import Probabilities, Verdict
from monitor.core.settings.sections import JudgeSettings
from tests.factories.answers import an_assessment

ROOT = Path(__file__).parents[4]
CLEAR = Probabilities(grounded=0.8, refusal=0.1, self_generated=0.1)
parts = st.floats(0, 1)
samples = st.builds(Sample, negatives=parts, low_margin=parts, rest=parts)
assessments = st.builds(
    lambda app, id_, verdict, two: an_assessment(
        app=app,
        id=id_,
        verdict=verdict,
        probabilities=Probabilities(grounded=two[0], refusal=two[1] * (1 - two[0]), self_generated=0.0),
    ),
    st.text(min_size=1, max_size=5),
    st.text(min_size=1, max_size=8),
    st.sampled_from(Verdict),
    st.tuples(parts, parts),
)


def a_sample(**over):
    return Sample(**{"negatives": 0.0, "low_margin": 0.0, "rest": 0.0, **over})


def taken(sample, number=4000, **over):
    found = (an_assessment(id=f"q-{n}", **{"probabilities": CLEAR, **over}) for n in range(number))
    return {a.interaction.id for a in found if sample.takes(a)}


@pytest.mark.parametrize("verdict", [Verdict.REFUSAL, Verdict.SELF_GENERATED])
def test_all_negatives_are_taken_and_nothing_else(verdict):
    assert len(taken(a_sample(negatives=1.0), verdict=verdict)) == 4000
    assert taken(a_sample(negatives=1.0)) == set()
    assert taken(a_sample(rest=1.0), verdict=verdict) == set()


def test_all_whose_margin_is_low_are_taken_whatever_their_verdict():
    close = Probabilities(grounded=0.4, refusal=0.35, self_generated=0.25)
    for verdict in Verdict:
        assert len(taken(a_sample(low_margin=0.1), verdict=verdict, probabilities=close)) == 4000
        assert taken(a_sample(low_margin=0.04), verdict=verdict, probabilities=close) == set()
    even = Probabilities(grounded=0.5, refusal=0.5, self_generated=0.0)
    assert taken(a_sample(), probabilities=even) == set()  # none is below nothing


@pytest.mark.parametrize("part", [0.02, 0.1, 0.5, 0.9])
def test_about_the_configured_share_of_the_rest_is_taken(part):
    number = 20_000
    deviation = (part * (1 - part) / number) ** 0.5
    assert abs(len(taken(a_sample(rest=part), number)) / number - part) < 4 * deviation


@given(assessment=assessments, one=samples, other=samples)
def test_the_larger_of_two_samples_holds_the_smaller(assessment, one, other):
    larger = Sample(
        negatives=max(one.negatives, other.negatives),
        low_margin=max(one.low_margin, other.low_margin),
        rest=max(one.rest, other.rest),
    )
    if one.takes(assessment) or other.takes(assessment):
        assert larger.takes(assessment)


@given(assessment=assessments)
def test_all_are_taken_by_a_sample_of_everything_and_none_by_one_of_nothing(assessment):
    assert Sample(negatives=1.0, low_margin=0.0, rest=1.0).takes(assessment)
    assert not a_sample().takes(assessment)


@given(st.text(), st.text())
def test_a_chance_is_at_least_nothing_and_less_than_one(app, id_):
    assert 0 <= chance(app, id_) < 1
    assert chance(app, id_) == chance(app, id_)


def test_apps_with_the_same_ids_have_samples_of_their_own():
    sample = a_sample(rest=0.5)
    assert taken(sample, app="one") != taken(sample, app="two")


def test_ids_with_lone_surrogates_have_a_chance_too():
    assert 0 <= chance("app", "\ud800") < 1


def test_two_processes_take_the_same():
    program = (
        "from monitor.assess.judge.sampling import chance\n"
        "print([n for n in range(2000) if chance('support-bot', f'q-{n}') < 0.05])"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert said == {f"{[n for n in range(2000) if chance('support-bot', f'q-{n}') < 0.05]}\n"}
    assert taken(a_sample(rest=0.05), 2000) == {f"q-{n}" for n in range(2000) if chance("support-bot", f"q-{n}") < 0.05}


def test_an_app_may_have_a_sample_of_its_own():
    policy = SamplingPolicy(sample=a_sample(), by_app={"support-bot": a_sample(rest=1.0)})
    assert policy.takes(an_assessment(probabilities=CLEAR))
    assert not policy.takes(an_assessment(probabilities=CLEAR, app="another"))


def test_the_settings_make_the_policy():
    settings = JudgeSettings(
        sample={"rest": 0.25}, by_app={"quiet": {"negatives": 0.0, "low_margin": 0.0, "rest": 0.0}}
    )
    policy = sampling(settings)
    assert policy.sample == Sample(negatives=1.0, low_margin=0.2, rest=0.25)
    assert policy.by_app == {"quiet": a_sample()}


# --- doubt -----------------------------------------------------------------------------------------------------------

DOUBTFUL = Probabilities(grounded=0.6, refusal=0.1, self_generated=0.3)


def test_under_doubt_half_a_share_is_random_and_the_other_half_favours_what_is_in_doubt():
    sample = a_sample(negatives=0.2, rest=0.2, doubt=True)
    of_clear, of_doubtful = taken(sample), taken(sample, probabilities=DOUBTFUL)
    random = {f"q-{n}" for n in range(4000) if chance("support-bot", f"q-{n}") < sample.random_share}
    assert sample.random_share == 0.1
    assert of_clear == random  # all of them are drawn whatever they are, and nothing else of what is clear
    assert random < of_doubtful
    assert len(of_doubtful) / 4000 == pytest.approx(1 - 0.9 * 0.6, abs=0.03)  # .1 at random, .4 for doubt


@given(samples, assessments, st.booleans())
def test_what_is_taken_has_the_probability_with_which_it_is_and_what_is_not_has_none(sample, assessment, doubt):
    sample = replace(sample, doubt=doubt)
    it = assessment.interaction
    found = sample.inclusion(it.app, it.id, assessment.verdict, assessment.probabilities)
    assert (found is not None) == sample.takes(assessment)
    assert found is None or 0 < found <= 1


@pytest.mark.parametrize("doubt", [False, True])
def test_means_weighted_by_the_inclusion_are_those_of_all_answers(doubt):
    """One in five answers is in doubt, and one in five of these is bad; of the others none is."""
    sample, wrong, weights = a_sample(rest=0.2, negatives=0.5, doubt=doubt), 0.0, 0.0
    for n in range(20_000):
        p, bad = (DOUBTFUL, n % 25 == 0) if n % 5 == 0 else (CLEAR, False)
        one = an_assessment(id=f"q-{n}", probabilities=p, verdict=Verdict.REFUSAL if n % 7 == 0 else Verdict.GROUNDED)
        inclusion = sample.inclusion(one.interaction.app, one.interaction.id, one.verdict, p)
        if inclusion is not None:
            wrong, weights = wrong + bad / inclusion, weights + 1 / inclusion
    assert weights == pytest.approx(20_000, rel=0.05)
    assert wrong / weights == pytest.approx(0.04, abs=0.008)


def test_the_random_share_is_what_is_taken_whatever_the_verdict():
    assert a_sample(negatives=0.3, rest=0.02).random_share == 0.02
    assert a_sample(negatives=0.1, rest=0.5).random_share == 0.1
    policy = sampling(JudgeSettings(sampling="doubt", by_app={"wiki": {"rest": 0.4}}))
    assert (policy.of("shop").random_share, policy.of("wiki").random_share) == (0.01, 0.2)
