"""Reads a rules file: YAML, then the form, then rules; every error names the file, the line and the column."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from pydantic import ValidationError

from monitor.alert.methods import METHODS
from monitor.alert.methods.method import Method, WrongParameter
from monitor.alert.rule import Rule, RuleSet
from monitor.alert.rules.between import problems_between
from monitor.alert.rules.form import KEYS, Intervals, RuleForm, RulesForm
from monitor.alert.rules.parameters import WrongParameters, parse_parameters
from monitor.core.errors import WrongSettings
from monitor.core.yaml.form import read_text
from monitor.core.yaml.marked import InvalidYaml, MarkedYaml, parse_yaml
from monitor.core.yaml.problems import UNKNOWN_KEY, Problem, problems_of, written

DEFAULT_RULES = "default_rules.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedProblem:
    """What is wrong at a place of the text; line and column count from 1."""

    line: int
    column: int
    sentence: str


class WrongRules(WrongSettings):
    """The text of rules is wrong; the message has one line for each problem."""

    def __init__(self, name: str, problems: Sequence[MarkedProblem]) -> None:
        super().__init__("\n".join(f"{name}:{each.line}:{each.column}: {each.sentence}" for each in problems))
        self.problems = tuple(problems)


def load_rules(path: Path | None, *, receivers: Collection[str], docs_url: str | None = None) -> RuleSet:
    """The rules of the file at `path`, or the default rules.

    `receivers` are the names of the configured receivers. A runbook that is a page of the documentation becomes a link
    under `docs_url`, and stays a text without it.

    Raises:
        WrongSettings: the file cannot be read or is wrong; the message has one line for each error.
    """
    name = DEFAULT_RULES if path is None else str(path)
    return parse_rules(read_rules(path), name=name, receivers=receivers, docs_url=docs_url)


def read_rules(path: Path | None) -> str:
    """The text of the file at `path`, or of the default rules.

    Raises:
        WrongSettings: the file cannot be read.
    """
    if path is None:
        return resources.files("monitor.alert.rules").joinpath(DEFAULT_RULES).read_text(encoding="utf-8")
    return read_text(path, of="the alert rules")


def parse_rules(text: str, *, name: str, receivers: Collection[str], docs_url: str | None = None) -> RuleSet:
    """Like `load_rules`, but from text; messages call the file `name`.

    Raises:
        WrongRules: the text is wrong.
    """
    try:
        document = parse_yaml(text)
    except InvalidYaml as error:
        mark = error.mark
        problem = MarkedProblem(line=mark.line, column=mark.column, sentence=error.problem)
        raise WrongRules(name, [problem]) from None
    try:
        form = RulesForm.model_validate(document.value)
    except ValidationError as error:
        raise _wrong(name, document, problems_of(error, RulesForm)) from None
    problems = problems_between(form, receivers)
    intervals = form.intervals
    rules: list[Rule] = []
    for index, entry in enumerate(form.rules):
        try:
            rules.append(_rule(entry, intervals, docs_url))
        except WrongParameters as error:
            problems += [(("rules", index, *path), problem) for path, problem in error.problems]
    if problems:
        raise _wrong(name, document, problems)
    return RuleSet(
        rules=tuple(rules),
        grouping=form.grouping.grouping(),
        inhibitions=tuple(entry.inhibition() for entry in form.inhibit),
        source=text,
    )


def _rule(entry: RuleForm, intervals: Intervals, docs_url: str | None) -> Rule:
    signal = entry.signal
    kind: type[Method] = METHODS[entry.chosen_method]
    if signal.kind not in kind.takes:
        accepted = ", ".join(sorted(kind.takes))
        raise WrongParameters([(("signal",), f"the method {kind.name!r} takes {accepted}, not {signal.kind}")])
    method = parse_parameters(kind, entry.parameters, elsewhere=KEYS)
    try:
        method.check(signal)
    except WrongParameter as error:
        raise WrongParameters([((error.field,), error.problem)]) from None
    problems: list[Problem] = [
        ((key, label), f"{signal} has no label {label!r}; its labels: {', '.join(signal.labels)}")
        for key, labels in (("selector", entry.selector), ("by", entry.by or ()))
        for label in labels
        if label not in signal.labels
    ]
    if not problems and signal.is_of_probe and entry.by is not None and {*entry.by} != {*signal.labels}:
        problems = [(("by",), "each probe is looked at for itself: leave by out, or choose probes with selector")]
    if problems:
        raise WrongParameters(problems)
    known = {name: intervals.get(name, ()) for name in (*entry.mute_time_intervals, *entry.active_time_intervals)}
    return entry.rule(method, known, docs_url=docs_url)


def _wrong(name: str, document: MarkedYaml, problems: list[Problem]) -> WrongRules:
    marked = []
    for path, problem in problems:
        mark = document.mark(path, of_key=problem.startswith(UNKNOWN_KEY))
        marked.append(MarkedProblem(line=mark.line, column=mark.column, sentence=f"{written(path)}: {problem}"))
    return WrongRules(name, sorted(marked, key=lambda each: (each.line, each.column)))
