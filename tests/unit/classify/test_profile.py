from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.classify.profile import SHIPPED, Profile, load_profile, shipped_profiles
from monitor.errors import WrongSettings
from monitor.model import Scores
from tests.unit.builders import metrics, profile

METRICS = ("sdq", "sdrd", "sda", "qrd", "qa")
TEXT = """\
name = "ours"
embedding_model = "hash/64"
calibrated = true
note = "Fitted on our labels."
steepness = 12.5
refusal_precision = 0.9

[metrics]
sdq = { threshold = 0.31 }
sdrd = { threshold = 0.32, weight = 2.0 }
sda = { threshold = 0.33, reading = "maximum" }
qrd = { threshold = 0.34 }
qa = { threshold = 0.35 }
"""


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "ours.toml"
    file.write_text(TEXT, encoding="utf-8")
    return file


def loaded(path, text, model="hash/64"):
    path.write_text(text, encoding="utf-8")
    return load_profile(str(path), model)


each_shipped = pytest.mark.parametrize("name", shipped_profiles())


@each_shipped
def test_a_shipped_profile_loads_by_its_name_and_by_its_path(name, tmp_path):
    text = (SHIPPED / f"{name}.toml").read_text(encoding="utf-8")
    model = tomllib.loads(text)["embedding_model"]
    by_name = load_profile(name, model)
    assert by_name.name == name
    copy = tmp_path / "copy.toml"
    copy.write_text(text, encoding="utf-8")
    assert load_profile(str(copy), model) == by_name
    assert load_profile(str(copy), model).hash == by_name.hash


@each_shipped
def test_a_shipped_profile_says_what_it_is(name):
    model = tomllib.loads((SHIPPED / f"{name}.toml").read_text(encoding="utf-8"))["embedding_model"]
    found = load_profile(name, model)
    assert found.note
    assert found.calibrated is False  # none can know the labels of the app that it is used for


def test_no_two_shipped_profiles_are_for_the_same_embedding_model():
    models = [
        tomllib.loads((SHIPPED / f"{n}.toml").read_text(encoding="utf-8"))["embedding_model"]
        for n in shipped_profiles()
    ]
    assert len(set(models)) == len(models)


def test_without_a_choice_the_embedding_model_decides():
    assert load_profile(None, "hash/64").name == "hash"
    assert load_profile(None, "text-embedding-3-small").name == "text-embedding-3-small"


def test_a_model_without_a_shipped_profile_is_told_what_to_do():
    with pytest.raises(WrongSettings, match=r"(?s)'unheard/of'.*MONITOR_PROFILE"):
        load_profile(None, "unheard/of")


def test_all_that_the_file_says_is_in_the_profile(path):
    found = load_profile(str(path), "hash/64")
    assert (found.name, found.calibrated, found.steepness, found.refusal_precision) == ("ours", True, 12.5, 0.9)
    rules = found.metrics
    assert [getattr(rules, name).threshold for name in METRICS] == [0.31, 0.32, 0.33, 0.34, 0.35]
    assert (rules.sdrd.weight, rules.sda.weight) == (2.0, 1.0)
    assert (rules.sdrd.reading, rules.sda.reading) == ("joined", "maximum")


# --- the hash --------------------------------------------------------------------------------------------------------


def test_the_hash_of_a_known_profile_is_fixed(path):
    # Written down: a release that computes it otherwise would cut every stored assessment from its profile.
    assert load_profile(str(path), "hash/64").hash == "129ac38c6990d136"


def test_the_hash_does_not_depend_on_the_note_the_order_of_keys_or_the_spelling_of_numbers(path):
    first = load_profile(str(path), "hash/64").hash
    head, tail = TEXT.split("\n\n[metrics]\n")
    turned = "\n".join(reversed(head.splitlines())) + "\n[metrics]\n" + "\n".join(reversed(tail.splitlines()))
    turned = turned.replace("Fitted on our labels.", "").replace("0.31", "3.1e-1").replace("weight = 2.0", "weight = 2")
    assert loaded(path, turned).hash == first
    assert (
        loaded(path, TEXT.replace("{ threshold = 0.34 }", "{ threshold = 0.34, weight = 1, reading = 'joined' }")).hash
        == first
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        *((f"0.3{n}", f"0.3{n}00001") for n in range(1, 6)),
        ("weight = 2.0", "weight = 2.1"),
        ('reading = "maximum"', 'reading = "joined"'),
        ("12.5", "12.6"),
        ("0.9\n", "0.91\n"),
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
        load_profile(str(path), "text-embedding-3-small")
    assert str(path) in str(refused.value)
    assert "'hash/64'" in str(refused.value)
    assert "'text-embedding-3-small'" in str(refused.value)
    with pytest.raises(WrongSettings, match="'hash' was made for 'hash/64'"):
        load_profile("hash", "other")


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("steepness = 12.5", "steepnes = 12.5", "steepnes:"),
        ("steepness = 12.5\n", "", "steepness:"),
        ("{ threshold = 0.31 }", "{ threshold = 0.31, wait = 1 }", "metrics.sdq.wait:"),
        ("qa = {", "qd = {", "metrics.qd:"),
        ("qa = { threshold = 0.35 }", "", "metrics.qa:"),
        ("0.31", "1.01", "metrics.sdq.threshold:"),
        ("0.31", "-1.01", "metrics.sdq.threshold:"),
        ("0.31", "nan", "metrics.sdq.threshold:"),
        ("0.31", "'high'", "metrics.sdq.threshold:"),
        ("weight = 2.0", "weight = 0.0", "metrics.sdrd.weight:"),
        ("weight = 2.0", "weight = nan", "metrics.sdrd.weight:"),
        ('"maximum"', '"mean"', "metrics.sda.reading:"),
        ("12.5", "0", "steepness:"),
        ("12.5", "nan", "steepness:"),
        ("0.9\n", "0.5\n", "refusal_precision:"),
        ("0.9\n", "1.0\n", "refusal_precision:"),
        ('"ours"', '""', "name:"),
        ('"ours"', f'"{"x" * 101}"', "name:"),
        ('name = "ours"', 'name = "ours', "line 1"),
        ("[metrics]", "[metrics", "line 8"),
    ],
)
def test_what_is_wrong_is_named_with_the_file_and_the_place(path, old, new, where):
    assert old in TEXT
    with pytest.raises(WrongSettings) as refused:
        loaded(path, TEXT.replace(old, new, 1))
    assert str(path) in str(refused.value)
    assert where in str(refused.value)


@pytest.mark.parametrize(("old", "new"), [("12.5", "inf"), ("weight = 2.0", "weight = inf")])
def test_infinity_is_refused(path, old, new):
    with pytest.raises(WrongSettings):
        loaded(path, TEXT.replace(old, new))


@pytest.mark.parametrize("chosen", ["nowhere", "./hash.toml.bak", ""])
def test_a_name_that_is_neither_shipped_nor_a_file_is_answered_with_the_names_there_are(chosen, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WrongSettings) as refused:
        load_profile(chosen, "hash/64")
    assert repr(chosen) in str(refused.value)
    assert all(name in str(refused.value) for name in shipped_profiles())


def test_bytes_that_are_no_text_are_refused(path):
    path.write_bytes(b"name = '\xff'")
    with pytest.raises(WrongSettings, match="neither one of"):
        load_profile(str(path), "hash/64")


def test_several_mistakes_are_all_told_at_once(path):
    with pytest.raises(WrongSettings) as refused:
        loaded(path, TEXT.replace("0.31", "7").replace("12.5", "-1").replace("calibrated = true\n", ""))
    for place in ("calibrated:", "steepness:", "metrics.sdq.threshold:"):
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
        found.steepness = 1.0
    with pytest.raises(ValueError, match="frozen"):
        found.metrics.sdq.threshold = 1.0
