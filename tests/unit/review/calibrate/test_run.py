from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from monitor.assess.classify.profile import load_profile
from monitor.assess.score.features import FEATURES
from monitor.core.errors import WrongSettings
from monitor.core.model import Refusal, RefusalKind, Verdict
from monitor.review.calibrate.crossval import cross_validated
from monitor.review.calibrate.fit import Rows
from monitor.review.calibrate.profile_file import profile_toml
from monitor.review.calibrate.run import calibrated, objective_of, rows_of
from monitor.review.calibrate.thresholds import fitted_rules
from monitor.review.evaluate.labels import data_hash
from monitor.review.evaluate.statistics import auc, f_objective, precision_recall_f
from tests.factories.assess.interactions import profile
from tests.factories.review.calibrate import START, labelled, some_rows


def made(count=200, objective="f1", **given):
    rows, assessments = labelled(some_rows(count, **given))
    start = profile(groundedness=START)
    assert start.hash  # is kept on the object, which is no part of the profile
    assert start.thresholds
    return calibrated(rows, assessments, start=start, name="ours", objective=objective), rows, assessments


def test_the_profile_can_be_written_and_read_again(tmp_path: Path):
    found, *_ = made(gaps=False)
    path = tmp_path / "ours.toml"
    path.write_text(profile_toml(found.profile), encoding="utf-8")
    read = load_profile(str(path), "table/3", "table/3")
    assert read == found.profile
    assert read.hash == found.profile.hash
    assert read.calibrated


def test_figures_are_of_answers_judged_without_their_group():
    found, *_ = made()
    calibration = found.profile.calibration
    assert calibration is not None
    judged, made_up = found.judged, found.rows.made_up
    assert calibration.figures["auc"] == pytest.approx(auc(judged.probability, made_up), abs=1e-4)
    tp = int((judged.flagged & made_up).sum())
    f1 = 2 * tp / (int(judged.flagged.sum()) + int(made_up.sum()))
    assert calibration.figures["f1"] == pytest.approx(f1, abs=1e-4)
    everything = 2 * made_up.sum() / (len(made_up) + made_up.sum())
    assert calibration.figures["flag_everything_f1"] == pytest.approx(everything, abs=1e-4)
    for name, (low, high) in calibration.intervals.items():
        assert low <= calibration.figures[name] <= high


def test_nothing_of_a_group_is_known_when_it_is_judged():
    """Each group has labels of its own, which a feature gives away: only leakage could tell them."""
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(40), 10)
    label = rng.random(40) < 0.5
    features = rng.normal(size=(400, len(FEATURES)))
    rows = Rows(
        features=features,
        made_up=label[group],
        groups=np.array([f"g{g}" for g in group]),
        start=START.model_copy(update={"features": {}}),
    )
    found = cross_validated(rows, f_objective(1), np.random.default_rng(0))
    assert 0.35 < auc(found.probability, rows.made_up) < 0.65


def test_an_objective_of_recall_counts_misses_more():
    f1, f2 = made(noise=3.0)[0], made(objective="f2", noise=3.0)[0]
    assert f2.profile.groundedness.threshold < f1.profile.groundedness.threshold
    assert f2.profile.calibration.figures["recall"] > f1.profile.calibration.figures["recall"]


def test_recall_at_a_precision_flags_less():
    f1, sure = made(noise=3.0)[0], made(objective="recall@0.95", noise=3.0)[0]
    assert sure.profile.groundedness.threshold > f1.profile.groundedness.threshold


@pytest.mark.parametrize("name", ["f3", "recall", "recall@", "recall@1.0", "recall@0", "recall@-0.5", "F1", ""])
def test_other_objectives_are_refused(name):
    with pytest.raises(WrongSettings, match="--objective must be"):
        objective_of(name)


def test_the_important_features_are_named():
    found, *_ = made(count=400)
    importance = found.profile.calibration.importance
    assert max(importance, key=importance.get) in {"grounding", "content_overlap"}


def test_what_refuses_or_has_nothing_to_align_is_left_out():
    rows, assessments = labelled(some_rows(100))
    rows[0] = replace(rows[0], label=Verdict.REFUSAL)
    assessments[1] = replace(assessments[1], refusal=Refusal(kind=RefusalKind.FULL))
    features = {**assessments[2].evidence.features, "grounding": None}
    assessments[2] = replace(assessments[2], evidence=replace(assessments[2].evidence, features=features))
    assert len(rows_of(rows, assessments, START).groups) == 97
    found = calibrated(rows, assessments, start=profile(groundedness=START), name="x", objective="f1")
    assert found.left_out == 3
    assert found.profile.calibration.refusals == 1


def test_shares_of_refusals_come_from_the_labels():
    rows, assessments = labelled(some_rows(200))
    for i in range(20):
        assessments[i] = replace(assessments[i], refusal=Refusal(kind=RefusalKind.FULL))
        rows[i] = replace(rows[i], label=Verdict.REFUSAL if i < 18 else Verdict.GROUNDED)
    found = calibrated(rows, assessments, start=profile(groundedness=START), name="x", objective="f1").profile
    assert found.refusal_precision == pytest.approx(18.5 / 21, abs=1e-4)
    assert found.refusal_missed == pytest.approx(0.5 / 181, abs=1e-3)


def test_without_refusals_nothing_is_learnt_of_them():
    rows, assessments = labelled(some_rows(100))
    start = profile(groundedness=START, refusal_precision=0.97, refusal_missed=0.01)
    made = calibrated(rows, assessments, start=start, name="x", objective="f1").profile
    assert (made.refusal_precision, made.refusal_missed) == (0.97, 0.01)


@pytest.mark.parametrize(
    ("count", "groups", "words"),
    [
        (40, 40, "20 usable answers of either kind"),
        (40, 40, "`monitor review next --interactive` offers answers to label"),
        (200, 3, "3 sources"),
    ],
)
def test_too_few_labels_are_refused(count, groups, words):
    with pytest.raises(WrongSettings, match=words):
        made(count, groups=groups)


def test_too_few_labels_say_how_many_rows_are_of_no_use():
    rows, assessments = labelled(some_rows(40))
    assessments[0] = replace(assessments[0], refusal=Refusal(kind=RefusalKind.FULL))
    with pytest.raises(WrongSettings, match="; 1 more refuse or have no documents"):
        calibrated(rows, assessments, start=profile(groundedness=START), name="x", objective="f1")


def test_the_data_hash_is_of_the_content_in_any_order():
    rows, _ = labelled(some_rows(30))
    assert data_hash(rows) == data_hash(rows[::-1])
    other = [replace(rows[0], label=Verdict.REFUSAL), *rows[1:]]
    assert data_hash(rows) != data_hash(other)


def test_the_same_seed_gives_the_same_profile():
    assert made()[0].profile.hash == made()[0].profile.hash


def test_thresholds_do_best_together():
    rng = np.random.default_rng(4)
    negative = rng.random(300) < 0.4
    values = {name: rng.normal(size=300) * 0.1 + 0.5 for name in ("sdq", "sdrd", "sda", "qrd", "qa")}
    values["sda"] = np.where(negative, 0.2, 0.8) + 0.1 * rng.normal(size=300)
    values["sdq"][:5] = np.nan
    found = fitted_rules(profile().metrics, values, negative, f_objective(1))
    flagged = np.logical_or.reduce([values[n] < getattr(found, n).threshold for n in ("sdq", "sdrd", "sda")])
    assert precision_recall_f(flagged, negative).f > 0.95
    assert 0.3 < found.sda.threshold < 0.7
    assert (values["qa"][~negative] < found.qa.threshold).mean() <= 0.03


def test_importance_of_what_the_start_weighs_too():
    rows = some_rows(400)
    rng = np.random.default_rng(0)
    for place, name in enumerate(FEATURES):
        if name != "grounding":
            rows.features[:, place] = rng.normal(size=400)
    importance = cross_validated(rows, f_objective(1), rng).importance
    assert importance["grounding"] > 0.2
    assert all(abs(value) < 0.05 for name, value in importance.items() if name != "grounding")


def test_what_is_not_fitted_stays_as_it_was():
    rows, assessments = labelled(some_rows(100))
    start = profile(groundedness=START, refusal_closeness=0.6)
    made = calibrated(rows, assessments, start=start, name="x", objective="f1").profile
    kept = ("refusal_closeness", "question_held", "question_not_held", "embedding_model", "token_model")
    assert [getattr(made, name) for name in kept] == [getattr(start, name) for name in kept]


def test_a_precision_that_cannot_be_had_is_refused():
    with pytest.raises(WrongSettings, match=r"no threshold reaches recall@0\.999"):
        made(objective="recall@0.999", noise=30.0)


def test_labels_that_one_feature_tells_apart_give_a_profile_that_can_be_loaded(tmp_path: Path):
    found, *_ = made(noise=0.0)
    path = tmp_path / "ours.toml"
    path.write_text(profile_toml(found.profile.model_copy(update={"name": "naïve 😀 \x7f"})), encoding="utf-8")
    assert 0 < load_profile(str(path), "table/3", "table/3").groundedness.threshold < 1
