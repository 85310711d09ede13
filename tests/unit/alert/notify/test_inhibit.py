from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from monitor.alert.notify.inhibit import Inhibited
from monitor.alert.silence import Inhibition, Matcher, parse_matcher
from tests.factories.alert.alerts import an_alert

NAMES = ("app", "team", "tier")
labels = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["", "a", "b"]), max_size=3)
matcher = st.builds(
    Matcher,
    label=st.sampled_from((*NAMES, "rule")),
    operator=st.sampled_from(["=", "!="]),
    value=st.sampled_from(["", "a", "b"]),
)
sides = st.lists(matcher, min_size=1, max_size=2).map(tuple)
inhibition = st.builds(
    Inhibition,
    source=sides,
    target=sides,
    equal=st.lists(st.sampled_from(NAMES), max_size=2, unique=True).map(tuple),
)


@given(st.lists(inhibition, max_size=3), st.lists(st.tuples(st.sampled_from("ab"), labels), max_size=6))
def test_it_says_of_many_what_an_inhibition_says_of_two(inhibitions, many):
    alerts = [an_alert(fingerprint=str(place), rule=rule, labels=own) for place, (rule, own) in enumerate(many)]
    firing = alerts[: len(alerts) // 2 + 1]
    inhibited = Inhibited(inhibitions, firing)
    for alert in alerts:
        said = [
            inhibition.holds(source.matched, alert.matched)
            for inhibition in inhibitions
            for source in firing
            if source.fingerprint != alert.fingerprint
        ]
        assert inhibited(alert) is any(said)


class Counted(Matcher):
    """How often it was asked."""

    times = 0

    def matches(self, labels):
        Counted.times += 1
        return super().matches(labels)


def test_a_thousand_alerts_are_not_compared_each_with_each():
    critical = Counted(label="severity", operator="=", value="critical")
    inhibition = Inhibition(source=(critical,), target=(parse_matcher('severity!="critical"'),), equal=("app",))
    worst = [an_alert(fingerprint=f"c{n}", labels={"app": f"app{n}"}, severity="critical") for n in range(1_000)]
    mild = [an_alert(fingerprint=f"w{n}", labels={"app": f"app{n}"}, severity="warning") for n in range(1_001)]
    inhibited = Inhibited([inhibition], [*worst, *mild])
    assert [inhibited(alert) for alert in (*worst, *mild)] == [False] * 1_000 + [True] * 1_000 + [False]
    assert Counted.times < 10_000
