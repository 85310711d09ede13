"""Prints how far the judge agrees with people: figures, or why there are none, differences, and tables of scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Final, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from monitor.assess.judge.correctness.grade import HIGHEST, UNSURE
from monitor.cli.probe.agreement import NAMES, Way
from monitor.cli.terminal import plural
from monitor.core.model import Json
from monitor.core.text.plain import readable
from monitor.probe.agreement.measure import compared, measure

if TYPE_CHECKING:
    from monitor.probe.agreement.coefficients import Agreement
    from monitor.probe.agreement.difference import Change, Difference
    from monitor.probe.agreement.measure import Judged, Measured


class About(NamedTuple):
    """What was judged, and by whom. `reused` grades were known before."""

    judge: str
    repeats: int
    labels: int
    documents: int
    reused: int


_HEADINGS: Final = ("answers", "Pearson", "Spearman", "weighted κ", "bias", "tilt", "ungraded")
_FIGURES: Final = {"pearson": "Pearson", "kappa": "weighted κ", "bias": "bias"}
_WITHOUT_0: Final = "  without 0"


def as_json(judged: Mapping[str, Judged], about: About) -> dict[str, Json]:
    """The figures for each kind of contexts, and the differences between two of them, for a program."""
    rows: list[Json] = []
    for contexts, one in judged.items():
        found = measure(one, repeats=about.repeats)
        rows.append(
            {
                "contexts": contexts,
                **_agreement(found.agreement),
                "without_0": _agreement(found.above_0),
                "not_sure": {**_not_sure(found), "kappa": found.unsure.kappa},
                "table": [list(row) for row in found.table],
                "tilt": found.tilt,
                "ungraded": sum(found.ungraded.values()),
                "ungraded_by_reason": dict(found.ungraded),
                "spend": asdict(found.spend),
            }
        )
    differences: dict[str, Json] = {name: _difference(one) for name, one in _differences(judged).items()}
    return {**about._asdict(), "contexts": rows, "differences": differences}


def _difference(found: Difference) -> dict[str, Json]:
    changes: dict[str, Json] = {
        name: {
            "value": one.value,
            "interval": None if one.interval is None else [*one.interval],
            "reason": one.reason,
            "shown": one.is_shown,
        }
        for name, one in found.changes.items()
    }
    return {"answers": found.answers, **changes}


def _agreement(of: Agreement) -> dict[str, Json]:
    figures = {"answers": of.count, "pearson": of.pearson, "spearman": of.spearman, "kappa": of.kappa, "bias": of.bias}
    return {**figures, "undefined": of.undefined}


def _not_sure(found: Measured) -> dict[str, int]:
    """How many answers both call not sure, the judge alone, and people alone."""
    both = found.table[UNSURE][UNSURE]
    judge, people = sum(row[UNSURE] for row in found.table), sum(found.table[UNSURE])
    return {"both": both, "judge_alone": judge - both, "people_alone": people - both}


def _differences(judged: Mapping[str, Judged]) -> dict[str, Difference]:
    """What the reference brings to the contexts (the study's E3 less its E2); empty if one of the two is missing."""
    before, after = judged.get(NAMES[Way.QUESTION]), judged.get(NAMES[Way.BOTH])
    if before is None or after is None:
        return {}
    return {name: compared(before, after, above_0=name == "without_0") for name in ("all", "without_0")}


def print_agreement(judged: Mapping[str, Judged], about: About) -> None:
    """Prints figures, or why there are none, differences and tables of scores."""
    found = {contexts: measure(one, repeats=about.repeats) for contexts, one in judged.items()}
    _print_figures(found)
    for contexts, one in found.items():
        _print_undefined(contexts, one, repeats=about.repeats)
    typer.echo("")
    for contexts, one in found.items():
        counts = _not_sure(one)
        typer.echo(
            f"{contexts}: not sure by both {counts['both']}, by the judge alone {counts['judge_alone']}, "
            f"by people alone {counts['people_alone']}; κ {_figure(one.unsure.kappa)}"
        )
    for name, difference in _differences(judged).items():
        _print_difference(difference, without_0=name == "without_0")
    for contexts, one in found.items():
        _print_table(contexts, one)
    _print_about(found, about)


def _print_figures(found: Mapping[str, Measured]) -> None:
    table = Table("contexts", box=None, pad_edge=False)
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for contexts, one in found.items():
        table.add_row(contexts, *_row(one.agreement), _signed(one.tilt), str(sum(one.ungraded.values())))
        table.add_row(_WITHOUT_0, *_row(one.above_0))
    Console().print(table)
    typer.echo(
        "bias: the judge's score less the person's; tilt: scores listed from 5 down less scores listed from 0 up"
    )


def _row(of: Agreement) -> tuple[str, ...]:
    return f"{of.count:,}", _figure(of.pearson), _figure(of.spearman), _figure(of.kappa), _signed(of.bias)


def _print_undefined(contexts: str, one: Measured, *, repeats: int) -> None:
    for which, of in ((contexts, one.agreement), (f"{contexts}, without 0", one.above_0)):
        if of.undefined:
            typer.echo(f"{which}: undefined, since {of.undefined}")
    if one.tilt is None:
        why = "each is judged once: --repeats 2" if repeats == 1 else "no answer has all its judgings"
        typer.echo(f"{contexts}: tilt undefined, since {why}")
    if one.ungraded:
        reasons = ", ".join(f"{readable(reason)} {number}" for reason, number in sorted(one.ungraded.items()))
        typer.echo(f"{contexts}: {plural(sum(one.ungraded.values()), 'answer')} could not be judged: {reasons}")


def _print_difference(found: Difference, *, without_0: bool) -> None:
    which = " without 0" if without_0 else ""
    typer.echo(
        f"\nby question and reference less by question, {plural(found.answers, 'answer')}{which} judged in both ways:"
    )
    for name, words in _FIGURES.items():
        typer.echo(f"  {words} {_change(found.changes[name])}")


def _change(change: Change) -> str:
    if change.interval is None:
        return f"{_signed(change.value)}, without an interval: {change.reason}"
    low, high = change.interval
    shown = "a difference is shown" if change.is_shown else "no difference shown"
    return f"{_signed(change.value)} (95 % interval {low:+.2f} to {high:+.2f}): {shown}"


def _print_table(contexts: str, one: Measured) -> None:
    typer.echo(f"\n{contexts}: people's scores by row, the judge's by column")
    table = Table("", *(str(score) for score in range(HIGHEST + 1)), box=None, pad_edge=False)
    for column in table.columns:
        column.justify = "right"
    for score, counts in enumerate(one.table):
        table.add_row(str(score), *(str(number or "·") for number in counts))
    Console(highlight=False).print(table)


def _print_about(found: Mapping[str, Measured], about: About) -> None:
    calls = sum(one.spend.calls for one in found.values())
    typer.echo(
        f"\n{plural(about.labels, 'label')}, each answer judged {plural(about.repeats, 'time')} by "
        f"{readable(about.judge)}, {plural(calls, 'call')}; {plural(about.documents, 'document')}"
    )
    if about.reused:
        typer.echo(
            f"{plural(about.reused, 'grade')} known before: from the file, or with the same contexts another way"
        )


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"


def _signed(value: float | None) -> str:
    return "undefined" if value is None else f"{value:+.2f}"
