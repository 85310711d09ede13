"""How a YAML file becomes rules: pydantic reads it, and every error names file, line and column."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from monitor.alert.duration import parse_duration
from monitor.alert.marked_yaml import InvalidYaml, MarkedYaml, parse_yaml
from monitor.alert.methods import METHODS
from monitor.alert.rule import LABELS, SIGNALS, Label, Rule, Selector, Severity
from monitor.errors import WrongSettings

DEFAULT_RULES = "default_rules.yaml"
_MINUTE = timedelta(minutes=1)
_UNKNOWN_KEY = "unknown key"


def load_rules(path: Path | None, *, receivers: Collection[str]) -> tuple[Rule, ...]:
    """The rules of the file at `path`, or the set that ships with `monitor`; `receivers` are the names configured.

    Raises:
        WrongSettings: the file cannot be read or is wrong; the message names file, line and column of every error.
    """
    if path is None:
        return parse_rules(_shipped().read_text(encoding="utf-8"), name=DEFAULT_RULES, receivers=receivers)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WrongSettings(f"{path}: cannot read the alert rules: {error}") from None
    return parse_rules(text, name=str(path), receivers=receivers)


def parse_rules(text: str, *, name: str, receivers: Collection[str]) -> tuple[Rule, ...]:
    """As `load_rules`, from text; `name` stands for the file in messages."""
    try:
        document = parse_yaml(text)
    except InvalidYaml as error:
        raise WrongSettings(f"{name}:{error.mark.line}:{error.mark.column}: {error.problem}") from None
    try:
        file = _RulesFile.model_validate(document.value)
    except ValidationError as error:
        raise _wrong(name, document, [_explained(e) for e in error.errors(include_url=False)]) from None
    if problems := _problems_between(file, receivers):
        raise _wrong(name, document, problems)
    return tuple(entry.rule() for entry in file.rules)


def _shipped() -> Any:  # importlib's Traversable moved between Python versions
    return resources.files("monitor.alert").joinpath(DEFAULT_RULES)


# --- the file, as pydantic reads it ---


def _storable(text: str) -> str:
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("holds a character that cannot be stored (U+0000 or half of a surrogate pair)")
    return text


def _listed(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _without_repeats(values: list[str]) -> list[str]:
    if repeated := next((value for value in values if values.count(value) > 1), None):
        raise ValueError(f"{repeated!r} stands here twice")
    return values


def _duration(value: object) -> timedelta:
    if isinstance(value, str) or (value == 0 and not isinstance(value, bool)):
        return parse_duration(str(value))
    raise ValueError(f"{value!r} is no duration: write it as 30s, 5m, 1h30m or 1d")


def _whole_minutes(length: timedelta) -> timedelta:
    if length < _MINUTE or length % _MINUTE:
        raise ValueError("must be a whole number of minutes, at least 1m: answers are counted by the minute")
    return length


def _one_line(name: str) -> str:
    if not name.isprintable() or name != name.strip():
        raise ValueError("must be one line of printable text without space around it")
    return name


def _known_signal(signal: str) -> str:
    if signal not in SIGNALS:
        raise ValueError(f"unknown signal {signal!r}; known: {', '.join(SIGNALS)}")
    return signal


def _known_method(method: str) -> str:
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; known: {', '.join(METHODS)}")
    return method


def _own_labels(labels: dict[str, str]) -> dict[str, str]:
    if taken := next((label for label in LABELS if label in labels), None):
        raise ValueError(f"{taken!r} comes from the answers themselves; choose another name")
    return labels


_Text = Annotated[str, Field(min_length=1, max_length=2_000), AfterValidator(_storable)]
_Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_storable), AfterValidator(_one_line)]
_Texts = Annotated[list[_Text], BeforeValidator(_listed), Field(min_length=1), AfterValidator(_without_repeats)]
_By = Annotated[list[Label], BeforeValidator(_listed), AfterValidator(_without_repeats)]
_Duration = Annotated[timedelta, BeforeValidator(_duration)]


def _by_app() -> list[Label]:
    return ["app"]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _SelectorEntry(_Entry):
    app: _Texts = Field(default_factory=list)
    environment: _Texts = Field(default_factory=list)
    model: _Texts = Field(default_factory=list)
    topic: _Texts = Field(default_factory=list)


class _SignalEntry(_Entry):
    rate: Annotated[str, AfterValidator(_known_signal)]


class _RuleEntry(_Entry):
    name: _Name
    selector: _SelectorEntry = _SelectorEntry()
    by: _By = Field(default_factory=_by_app)
    signal: _SignalEntry
    method: Annotated[str, AfterValidator(_known_method)] = "threshold"
    above: float = Field(gt=0, lt=1, allow_inf_nan=False)
    window: Annotated[_Duration, AfterValidator(_whole_minutes)]
    min_samples: int = Field(30, ge=1)
    confident: bool = False
    for_: _Duration = Field(timedelta(), alias="for")
    severity: Severity = "warning"
    labels: Annotated[dict[_Name, _Text], AfterValidator(_own_labels)] = Field(default_factory=dict)
    annotations: dict[_Name, _Text] = Field(default_factory=dict)
    receivers: _Texts | None = None

    def rule(self) -> Rule:
        return Rule(
            name=self.name,
            signal=self.signal.rate,
            above=self.above,
            window=self.window,
            for_=self.for_,
            min_samples=self.min_samples,
            confident=self.confident,
            selector=Selector(**{label: tuple(getattr(self.selector, label)) for label in LABELS}),
            by=tuple(self.by),
            method=self.method,
            severity=self.severity,
            labels=self.labels,
            annotations=self.annotations,
            receivers=None if self.receivers is None else tuple(self.receivers),
        )


class _RulesFile(_Entry):
    rules: list[_RuleEntry]


# --- errors with the place they stand at ---

_Problem: TypeAlias = tuple[tuple[int | str, ...], str]


def _problems_between(file: _RulesFile, receivers: Collection[str]) -> list[_Problem]:
    """What no single value shows: a name given twice, a receiver that is not configured."""
    problems: list[_Problem] = []
    names: set[str] = set()
    for index, entry in enumerate(file.rules):
        if entry.name in names:
            problems.append((("rules", index, "name"), f"another rule has the name {entry.name!r} already"))
        names.add(entry.name)
        for place, receiver in enumerate(entry.receivers or ()):
            if receiver not in receivers:
                known = ", ".join(sorted(receivers)) or "none"
                problem = f"receiver {receiver!r} is not configured; configured: {known}"
                problems.append((("rules", index, "receivers", place), problem))
    return problems


def _explained(error: Any) -> _Problem:
    match error["type"]:
        case "extra_forbidden":
            return error["loc"], _UNKNOWN_KEY
        case "missing":
            return error["loc"], "is missing"
        case "model_type":
            return error["loc"], "must be a mapping of keys to values"
    return error["loc"], error["msg"].removeprefix("Value error, ")


def _wrong(name: str, document: MarkedYaml, problems: list[_Problem]) -> WrongSettings:
    lines = []
    for path, problem in problems:
        mark = document.mark(path, of_key=problem == _UNKNOWN_KEY)
        where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".") or "file"
        lines.append(f"{name}:{mark.line}:{mark.column}: {where}: {problem}")
    return WrongSettings("\n".join(lines))
