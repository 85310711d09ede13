"""Prints the tables next to the published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.study.published import (
    BALANCED_TAU,
    CLOUD_AUC,
    COMBINATION_F1,
    GENERATORS,
    RECALL_ALONE,
    REFUSAL_PRECISION,
    REFUSAL_RECALL,
    SQUAD_ANSWERABLE,
    SQUAD_UNANSWERABLE,
    THRESHOLDS,
    flag_everything_f1,
)
from benchmarks.study.tables import ALONE, Line, RefusalLine, Tables
from monitor.review.evaluate.document import interval, number
from monitor.review.evaluate.figures import Figure, Rates
from monitor.review.evaluate.tables import COMBINATIONS

SQUAD, CLOUD = "SQuAD 2.0", "cloud FAQ"
_EVERYTHING = flag_everything_f1(SQUAD_ANSWERABLE, SQUAD_UNANSWERABLE)  # the study gives no such figure
_RATES = ("accuracy", "precision", "recall", "F1", "F2")
_FIRST, _COLUMN = 22, 15  # characters
Cell = Figure | float | str | None


def show(experiment: str, generator: str, t: Tables) -> None:
    """Prints every table of one generator; where a cell has two figures, the second is the study's."""
    squad = experiment == SQUAD
    print(f"\n== {experiment}, {generator} ==")
    print(
        f"{t.answered} questions, {t.unanswerable} of which cannot be answered, {t.groups} groups; declined: "
        f"{number(t.declined_of_answerable)} of the answerable, {number(t.declined_of_unanswerable)} of the others.\n"
        "Two figures in a cell: here / in the study.\n"
        f"* τ at which the primary metrics have the recall of the study's τ = {_short(BALANCED_TAU)}."
    )
    _table("metrics", ("τ", *_RATES, "F1 of all"), [_threshold(line, t, squad=squad) for line in t.thresholds])
    _combinations(t, squad=squad)
    _table("recall of each alone", tuple(ALONE), [_alone(lines, t, squad=squad) for lines in _by_tau(t.alone)])
    _table(
        "over every τ",
        ("AUC", "95%"),
        [
            (name, _pair(area, CLOUD_AUC if name == "primary" and not squad else None), interval(area))
            for name, area in t.auc.items()
        ],
    )
    if t.declined_of_unanswerable:
        _table(
            "refusals, unanswerable",
            ("τ", "refused", "called refusal", "precision", "recall", "F1", "F1 of all"),
            [_refusal(line, t) for line in t.refusals],
        )


def show_generators(reached: Mapping[str, Tables]) -> None:
    """The generators of this run and those of the study at its τ, on SQuAD."""
    here: list[tuple[Cell, ...]] = [
        (name, *_reached(line.rates))
        for name, t in reached.items()
        for line in t.thresholds
        if (line.metrics, line.tau) == ("primary", BALANCED_TAU)
    ]
    there: list[tuple[Cell, ...]] = [(f"study: {name}", *values, _EVERYTHING) for name, values in GENERATORS.items()]
    print(f"\n== {SQUAD}, primary metrics below {_short(BALANCED_TAU)} ==")
    _table("generator", (*_RATES, "F1 of all"), [*here, *there])


def _threshold(line: Line, t: Tables, *, squad: bool) -> tuple[Cell, ...]:
    values = THRESHOLDS.get((line.metrics, line.tau)) if squad else None
    study = (*values, _EVERYTHING) if values else (None,) * (len(_RATES) + 1)
    cells = (_pair(ours, theirs) for ours, theirs in zip(_reached(line.rates), study, strict=True))
    return (line.metrics, _tau(line.tau, t), *cells)


def _combinations(t: Tables, *, squad: bool) -> None:
    found = {(line.metrics, line.tau): line.rates.f1 for line in t.thresholds}
    everything = t.thresholds[0].rates.f1_flag_everything
    _table(
        "F1 of combinations",
        (f"τ {_short(BALANCED_TAU)}", f"τ {_tau(t.matched_tau, t)}", "F1 of all"),
        [
            (
                name,
                _pair(found[name, BALANCED_TAU], COMBINATION_F1[name] if squad else None),
                found[name, t.matched_tau],
                _pair(everything, _EVERYTHING if squad else None),
            )
            for name in COMBINATIONS
        ],
    )


def _alone(lines: Sequence[Line], t: Tables, *, squad: bool) -> tuple[Cell, ...]:
    tau = lines[0].tau
    study = RECALL_ALONE.get(tau, {}) if squad else {}
    return (f"τ {_tau(tau, t)}", *(_pair(line.rates.recall, study.get(line.metrics)) for line in lines))


def _by_tau(lines: Sequence[Line]) -> list[list[Line]]:
    return [[line for line in lines if line.tau == tau] for tau in dict.fromkeys(line.tau for line in lines)]


def _refusal(line: RefusalLine, t: Tables) -> tuple[Cell, ...]:
    """The study does not say on which questions it counted its refusals, so its figures are printed with both."""
    precision, recall = (REFUSAL_PRECISION, REFUSAL_RECALL) if line.tau == BALANCED_TAU else (None, None)
    r = line.rates
    tau = "" if line.tau is None else _tau(line.tau, t)
    found = (_pair(r.precision, precision), _pair(r.recall, recall), r.f1, r.f1_flag_everything)
    return (f"by {line.by}", tau, str(r.positives), str(r.flagged), *found)


def _reached(r: Rates) -> tuple[Figure, ...]:
    return r.accuracy, r.precision, r.recall, r.f1, r.f2, r.f1_flag_everything


def _tau(tau: float, t: Tables) -> str:
    return f"{number(tau)}*" if tau == t.matched_tau else _short(tau)


def _short(tau: float) -> str:
    return f"{tau:.2f}"[1:]


def _pair(ours: Figure, theirs: float | None) -> str:
    return number(ours.value) + ("" if theirs is None else f" / {number(theirs)}")


def _table(title: str, headings: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    width = max(_FIRST, *(len(str(row[0])) + 1 for row in rows))
    print(f"\n{title:{width}}" + "".join(f"{heading:>{_COLUMN}}" for heading in headings))
    for first, *cells in rows:
        print(f"{first!s:{width}}" + "".join(f"{_shown(cell):>{_COLUMN}}" for cell in cells))


def _shown(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell
    return number(cell.value if isinstance(cell, Figure) else cell)
