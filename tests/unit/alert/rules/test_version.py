"""Which version of the rules is in force: the newest that is valid and as it was saved."""

from __future__ import annotations

import pytest

from monitor.alert.rules.version import RulesVersion, VersionedRules, name_of, parser
from monitor.core.errors import Retriable
from tests.factories.answers import NOON

RULES = "rules:\n  - {{name: {name}, signal: {{rate: negative}}, above: 0.3}}\n"


class Saved:
    """Versions in memory."""

    def __init__(self):
        self.versions: list[RulesVersion] = []
        self.down = False

    def add(self, source, *, authentic=True):
        number = len(self.versions) + 1
        about = {"based_on": number - 1, "saved_at": NOON, "saved_by": "ada", "why": "a reason"}
        self.versions.append(RulesVersion(version=number, source=source, authentic=authentic, **about))

    def newest(self):
        if self.down:
            raise Retriable("the database is out of reach")
        return self.versions[-1] if self.versions else None

    def before(self, version):
        return next((each for each in reversed(self.versions) if each.version < version), None)


@pytest.fixture
def saved():
    return Saved()


@pytest.fixture
def versioned(saved):
    return VersionedRules(saved, parser(lambda: (), None))


def names(versioned):
    return [rule.name for rule in versioned.current().rules]


def test_without_a_version_the_rules_that_ship_are_in_force(versioned):
    found = versioned.in_force()
    assert (found.origin, found.version, found.problem) == (name_of(0), 0, None)
    assert len(found.rules.rules) > 3


def test_the_newest_version_is_taken_up_and_parsed_once(saved, versioned):
    saved.add(RULES.format(name="one"))
    first = versioned.in_force()
    assert versioned.in_force() is first
    saved.add(RULES.format(name="two"))
    assert (names(versioned), versioned.in_force().version) == (["two"], 2)


@pytest.mark.parametrize(
    ("source", "authentic", "why"),
    [
        ("rules: [", True, "version 3:1:9: "),
        (
            "rules:\n  - {name: pager, signal: {rate: negative}, above: 0.3, receivers: [gone]}\n",
            True,
            "not configured",
        ),
        (RULES.format(name="forged"), False, "changed or added past monitor"),
    ],
)
def test_a_version_that_cannot_be_used_is_passed_over(saved, versioned, caplog, source, authentic, why):
    saved.add(RULES.format(name="one"))
    saved.add("rules: [")
    saved.add(source, authentic=authentic)
    found = versioned.in_force()
    assert (names(versioned), found.origin) == (["one"], "version 1")
    assert found.problem.startswith("version 3 cannot be used: ")
    assert why in found.problem
    versioned.current()
    assert len(caplog.records) == 1
    saved.add(RULES.format(name="mended"))
    assert (names(versioned), versioned.in_force().problem) == (["mended"], None)


def test_rules_do_not_change_while_the_database_is_out_of_reach(saved, versioned):
    """The loop of evaluation waits; it never falls back to rules that nobody chose."""
    saved.add(RULES.format(name="one"))
    versioned.current()
    saved.down = True
    with pytest.raises(Retriable):
        versioned.current()
    saved.down = False
    assert names(versioned) == ["one"]
