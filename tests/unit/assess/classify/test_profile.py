from __future__ import annotations

import math
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.classify.profile import (
    EARLIER,
    SHIPPED,
    FeatureWeight,
    Profile,
    earlier_profiles,
    load_profile,
    read_profile,
    shipped_profiles,
    sigmoid,
)
from monitor.assess.score.features import FEATURES_VERSION
from monitor.core.errors import WrongSettings
from monitor.core.model import Scores
from tests.factories.assess.interactions import metrics, profile

METRICS = ("sdq", "sdrd", "sda", "qrd", "qa")
MODELS = ("hash/64", "hash/64")  # for sentences and for tokens
TEXT = f"""\
name = "ours"
embedding_model = "hash/64"
token_model = "hash/64"
features_version = {FEATURES_VERSION}
calibrated = true
note = "Fitted on our labels."
refusal_precision = 0.9
refusal_missed = 0.03
refusal_closeness = 0.7
question_held = -0.1
question_not_held = -0.2

[metrics]
sdq = {{ threshold = 0.31 }}
sdrd = {{ threshold = 0.32 }}
sda = {{ threshold = 0.33, reading = "maximum" }}
qrd = {{ threshold = 0.34 }}
qa = {{ threshold = 0.35 }}

[groundedness]
bias = -1.5
threshold = 0.45

[groundedness.features]
grounding = {{ weight = -2.0, center = -0.25, scale = 0.125 }}
quoted = {{ weight = -0.5, center = 0.0, scale = 1.0 }}
"""


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "ours.toml"
    file.write_text(TEXT, encoding="utf-8")
    return file


def loaded(path, text):
    path.write_text(text, encoding="utf-8")
    return load_profile(str(path), *MODELS)


def models_of(name):
    content = tomllib.loads((SHIPPED / f"{name}.toml").read_text(encoding="utf-8"))
    return content["embedding_model"], content["token_model"]


each_shipped = pytest.mark.parametrize("name", shipped_profiles())


@each_shipped
def test_a_shipped_profile_loads_by_its_name_and_by_its_path(name, tmp_path):
    by_name = load_profile(name, *models_of(name))
    assert by_name.name == name
    copy = tmp_path / "copy.toml"
    copy.write_text((SHIPPED / f"{name}.toml").read_text(encoding="utf-8"), encoding="utf-8")
    by_path = load_profile(str(copy), *models_of(name))
    assert by_path == by_name
    assert by_path.hash == by_name.hash


@each_shipped
def test_a_shipped_profile_says_what_it_is(name):
    found = load_profile(name, *models_of(name))
    assert found.note
    assert found.calibrated is False  # none can know the labels of the app that it is used for
    assert found.calibration is None
    assert found.detector_model is None


def test_no_two_shipped_profiles_are_for_the_same_models():
    models = [models_of(name) for name in shipped_profiles()]
    assert len(set(models)) == len(models)


@each_shipped
def test_without_a_choice_the_models_decide(name):
    assert load_profile(None, *models_of(name)).name == name


@pytest.mark.parametrize(
    ("name", "own_name", "hash_"),
    [
        ("minilm-1", "minilm", "bbaabf42e1442dc8"),
        ("minilm-int8-1", "minilm-int8", "719816e7dc7a14c0"),
        ("text-embedding-3-small-1", "text-embedding-3-small", "02b0bdd91561a51b"),
    ],
)
def test_a_profile_of_an_earlier_release_is_read_by_name_and_keeps_the_hash_in_stored_rows(name, own_name, hash_):
    found = read_profile(name)
    assert (found.name, found.hash) == (own_name, hash_)
    assert load_profile(name, found.embedding_model, found.token_model) == found
    assert found.hash != read_profile(own_name).hash


def test_each_earlier_profile_is_one_of_those_and_none_is_chosen_by_itself():
    assert earlier_profiles() == ["minilm-1", "minilm-int8-1", "text-embedding-3-small-1"]
    assert not set(earlier_profiles()) & set(shipped_profiles())
    assert EARLIER.is_dir()


def test_an_embedding_model_without_a_shipped_profile_is_told_what_to_do():
    with pytest.raises(WrongSettings, match=r"(?s)'unheard/of'.*MONITOR_PROFILE"):
        load_profile(None, "unheard/of", "hash/64")


def test_a_shipped_profile_is_not_taken_for_tokens_of_another_model():
    with pytest.raises(WrongSettings, match="'hash' was made for the token model 'hash/64', but 'other' is in use"):
        load_profile(None, "hash/64", "other")


def test_all_that_the_file_says_is_in_the_profile(path):
    found = load_profile(str(path), *MODELS)
    assert (found.name, found.calibrated) == ("ours", True)
    assert (found.refusal_precision, found.refusal_missed, found.refusal_closeness) == (0.9, 0.03, 0.7)
    assert (found.question_held, found.question_not_held) == (-0.1, -0.2)
    rules = found.metrics
    assert [getattr(rules, name).threshold for name in METRICS] == [0.31, 0.32, 0.33, 0.34, 0.35]
    assert (rules.sdrd.reading, rules.sda.reading) == ("joined", "maximum")
    assert found.thresholds == (("sdq", 0.31), ("sdrd", 0.32), ("sda", 0.33), ("qrd", 0.34), ("qa", 0.35))
    assert (found.groundedness.bias, found.groundedness.threshold) == (-1.5, 0.45)
    assert found.groundedness.features["grounding"] == FeatureWeight(weight=-2.0, center=-0.25, scale=0.125)


# --- groundedness ----------------------------------------------------------------------------------------------------


def test_each_feature_moves_the_log_odds_by_its_weight_for_each_scale_above_its_center(path):
    groundedness = load_profile(str(path), *MODELS).groundedness
    row = {"grounding": -0.5, "quoted": 0.5, "aligned": 9.0}  # the last has no weight
    assert groundedness.contributions(row) == {"grounding": 4.0, "quoted": -0.25}
    assert groundedness.probability(row) == pytest.approx(1 / (1 + math.exp(1.5 - 4 + 0.25)))


def test_a_feature_without_a_value_is_left_out(path):
    groundedness = load_profile(str(path), *MODELS).groundedness
    assert groundedness.contributions({"grounding": None}) == {}
    assert groundedness.probability({}) == pytest.approx(1 / (1 + math.exp(1.5)))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_sigmoid_stays_between_nought_and_one_and_is_symmetric(x):
    assert 0 <= sigmoid(x) <= 1
    assert sigmoid(x) + sigmoid(-x) == pytest.approx(1)


# --- the hash --------------------------------------------------------------------------------------------------------


def test_the_hash_of_a_known_profile_is_fixed():
    # Written down: a release that computes it otherwise would cut every stored assessment from its profile.
    known = Profile.model_validate({**tomllib.loads(TEXT), "features_version": 1})
    assert known.hash == "a0129267f9e13e5c"


def test_the_hash_does_not_depend_on_the_note_the_order_of_keys_or_the_spelling_of_numbers(path):
    first = load_profile(str(path), *MODELS).hash
    parts = [part.splitlines() for part in TEXT.split("\n\n")]
    turned = "\n".join([*reversed(parts[0]), *(line for part in parts[1:] for line in (part[0], *reversed(part[1:])))])
    turned = turned.replace("Fitted on our labels.", "").replace("0.31", "3.1e-1").replace("scale = 1.0", "scale = 1")
    assert turned.splitlines() != TEXT.splitlines()
    assert loaded(path, turned).hash == first
    assert loaded(path, TEXT.replace("{ threshold = 0.34 }", "{ threshold = 0.34, reading = 'joined' }")).hash == first


@pytest.mark.parametrize(
    ("old", "new"),
    [
        *((f"0.3{n}", f"0.3{n}00001") for n in range(1, 6)),
        ('reading = "maximum"', 'reading = "joined"'),
        ("precision = 0.9", "precision = 0.91"),
        ("missed = 0.03", "missed = 0.031"),
        ("closeness = 0.7", "closeness = 0.71"),
        ("refusal_closeness = 0.7\n", ""),
        ("question_held = -0.1", "question_held = -0.11"),
        ("not_held = -0.2", "not_held = -0.21"),
        ("bias = -1.5", "bias = -1.6"),
        ("threshold = 0.45", "threshold = 0.46"),
        ("weight = -2.0", "weight = -2.1"),
        ("center = -0.25", "center = -0.26"),
        ("scale = 0.125", "scale = 0.126"),
        ("quoted = {", "longest_copy = {"),
        ("calibrated = true", 'calibrated = true\ndetector_model = "theirs"'),
        ('"ours"', '"theirs"'),
        ("calibrated = true", "calibrated = false"),
    ],
)
def test_the_hash_changes_with_everything_that_verdicts_depend_on(path, old, new):
    assert old in TEXT
    assert loaded(path, TEXT).hash != loaded(path, TEXT.replace(old, new)).hash


@given(st.sampled_from(METRICS), st.floats(-1, 1), st.floats(-1, 1))
def test_two_thresholds_have_one_hash_only_where_they_are_equal(name, one, other):
    left, right = (profile(rules={name: {"threshold": threshold}}) for threshold in (one + 0.0, other + 0.0))
    assert (left.hash == right.hash) is (repr(one + 0.0) == repr(other + 0.0))


# --- what is refused -------------------------------------------------------------------------------------------------


def test_a_profile_of_another_embedding_model_is_refused(path):
    with pytest.raises(WrongSettings) as refused:
        load_profile(str(path), "text-embedding-3-small", "hash/64")
    assert str(path) in str(refused.value)
    assert "'hash/64'" in str(refused.value)
    assert "'text-embedding-3-small'" in str(refused.value)
    with pytest.raises(WrongSettings, match="'hash' was made for the embedding model 'hash/64'"):
        load_profile("hash", "other", "hash/64")


@pytest.mark.parametrize("chosen", ["hash", None])
def test_a_profile_of_another_token_model_is_refused(chosen):
    with pytest.raises(WrongSettings, match="made for the token model 'hash/64', but 'minilm/3' is in use"):
        load_profile(chosen, "hash/64", "minilm/3")


@pytest.mark.parametrize("version", [FEATURES_VERSION - 1, FEATURES_VERSION + 1])
def test_a_profile_of_another_version_of_the_features_is_refused(path, version):
    said = f"version {version} of the features, but this release has version {FEATURES_VERSION}: calibrate it again"
    with pytest.raises(WrongSettings, match=said):
        loaded(path, TEXT.replace(f"features_version = {FEATURES_VERSION}", f"features_version = {version}"))


DETECTING = TEXT.replace("calibrated = true", 'calibrated = true\ndetector_model = "theirs"') + (
    "detector = { weight = 3.0, center = 0.5, scale = 0.25 }\n"
)


@pytest.mark.parametrize("in_use", [None, "another"])
def test_a_profile_that_weighs_another_detector_is_refused(path, in_use):
    path.write_text(DETECTING, encoding="utf-8")
    assert load_profile(str(path), *MODELS, detector_model="theirs").detector_model == "theirs"
    with pytest.raises(WrongSettings, match=rf"the detector 'theirs'.*{in_use!r}.*MONITOR_DETECTOR__PATH"):
        load_profile(str(path), *MODELS, detector_model=in_use)


def test_a_detector_that_the_profile_does_not_weigh_disturbs_nothing(path):
    assert load_profile(str(path), *MODELS, detector_model="any").name == "ours"


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("calibrated = true", "calibratd = true", "calibratd:"),
        ("refusal_missed = 0.03\n", "", "refusal_missed:"),
        ('token_model = "hash/64"\n', "", "token_model:"),
        (f"features_version = {FEATURES_VERSION}\n", "", "features_version:"),
        ("{ threshold = 0.31 }", "{ threshold = 0.31, wait = 1 }", "metrics.sdq.wait:"),
        ("qa = {", "qd = {", "metrics.qd:"),
        ("qa = { threshold = 0.35 }", "", "metrics.qa:"),
        ("0.31", "1.01", "metrics.sdq.threshold:"),
        ("0.31", "-1.01", "metrics.sdq.threshold:"),
        ("0.31", "nan", "metrics.sdq.threshold:"),
        ("0.31", "'high'", "metrics.sdq.threshold:"),
        ('"maximum"', '"mean"', "metrics.sda.reading:"),
        ("precision = 0.9", "precision = 0.5", "refusal_precision:"),
        ("precision = 0.9", "precision = 1.0", "refusal_precision:"),
        ("missed = 0.03", "missed = 0.0", "refusal_missed:"),
        ("missed = 0.03", "missed = 0.5", "refusal_missed:"),
        ("closeness = 0.7", "closeness = 0.0", "refusal_closeness:"),
        ("closeness = 0.7", "closeness = 1.1", "refusal_closeness:"),
        ("not_held = -0.2", "not_held = 0.2", "question_not_held: must not be above question_held"),
        ("threshold = 0.45", "threshold = 0.0", "groundedness.threshold:"),
        ("threshold = 0.45", "threshold = 1.0", "groundedness.threshold:"),
        ("bias = -1.5", "bias = inf", "groundedness.bias:"),
        ("weight = -2.0", "weight = nan", "groundedness.features.grounding.weight:"),
        ("center = -0.25", "center = -inf", "groundedness.features.grounding.center:"),
        ("scale = 0.125", "scale = 0.0", "groundedness.features.grounding.scale:"),
        ("scale = 0.125", "scale = inf", "groundedness.features.grounding.scale:"),
        ("quoted = {", "quotd = {", "unknown feature: quotd; choose from grounding, "),
        ('"ours"', '""', "name:"),
        ('"ours"', f'"{"x" * 101}"', "name:"),
        ('name = "ours"', 'name = "ours', "line 1"),
        ("[metrics]", "[metrics", "line 13"),
    ],
)
def test_errors_name_the_file_and_the_place(path, old, new, where):
    assert old in TEXT
    with pytest.raises(WrongSettings) as refused:
        loaded(path, TEXT.replace(old, new, 1))
    assert str(path) in str(refused.value)
    assert where in str(refused.value)


@pytest.mark.parametrize("chosen", ["nowhere", "./hash.toml.bak", ""])
def test_a_name_that_is_neither_shipped_nor_a_file_is_answered_with_the_names_there_are(chosen, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WrongSettings) as refused:
        load_profile(chosen, *MODELS)
    assert repr(chosen) in str(refused.value)
    assert all(name in str(refused.value) for name in shipped_profiles())


def test_bytes_that_are_no_text_are_refused(path):
    path.write_bytes(b"name = '\xff'")
    with pytest.raises(WrongSettings, match="neither one of"):
        load_profile(str(path), *MODELS)


def test_several_mistakes_are_all_told_at_once(path):
    with pytest.raises(WrongSettings) as refused:
        loaded(path, TEXT.replace("0.31", "7").replace("0.125", "-1").replace("calibrated = true\n", ""))
    for place in ("calibrated:", "groundedness.features.grounding.scale:", "metrics.sdq.threshold:"):
        assert place in str(refused.value)


# --- readings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(("reading", "compared"), [("joined", 0.1), ("maximum", 0.6), ("best", 0.6)])
def test_the_reading_that_a_metric_asks_for_is_compared(name, reading, compared):
    scores = Scores(joined=metrics(*[0.1] * 5), maximum=metrics(*[0.6] * 5))
    got = profile(rules={name: {"reading": reading}}).compared(scores)
    assert {n: getattr(got, n) for n in METRICS} == {n: compared if n == name else 0.1 for n in METRICS}


def test_the_best_reading_is_the_higher_one():
    by = profile(rules={"sda": {"reading": "best"}})
    assert by.compared(Scores(joined=metrics(sda=0.7), maximum=metrics(sda=0.2))).sda == 0.7


@pytest.mark.parametrize("reading", ["joined", "maximum", "best"])
def test_an_undefined_metric_is_undefined_in_every_reading(reading):
    by = profile(rules={name: {"reading": reading} for name in METRICS})
    assert by.compared(Scores(joined=metrics(), maximum=metrics())) == metrics()


def test_a_profile_cannot_be_changed_behind_its_hash():
    found: Profile = load_profile("hash", "hash/64", "hash/64")
    with pytest.raises(ValueError, match="frozen"):
        found.groundedness.bias = 1.0
    with pytest.raises(ValueError, match="frozen"):
        found.metrics.sdq.threshold = 1.0
