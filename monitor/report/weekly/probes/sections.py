"""The section on golden probes, and what the head of a report says of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from monitor.core.text.plain import percent, plain, plural
from monitor.probe.compare import FEWEST
from monitor.report.weekly.elements import Columns, Item, Section, Table, table_of
from monitor.report.weekly.wording import NOTHING, number, points, text, when

_NAMES = {"correctness": "Correctness", "wscore": "wscore", "unsure": "Not sure"}
_OUTCOMES = {"better": "better", "worse": "worse", "no_difference_shown": "no difference shown", "too_few": "too few"}
_FIGURES: Columns = {
    "Figure": text("words"),
    "This week": lambda row: _value(row["name"], row["this"]),
    "Week before": lambda row: _value(row["name"], row["before"]),
    "Change": lambda row: _change(row["name"], row["change"]),
    "Outcome": lambda row: NOTHING if row["change"] is None else _OUTCOMES[row["change"]["outcome"]],
}
_FELL: Columns = {
    "Question": lambda moved: plain(moved["question"]) if moved["question"] else plain(moved["item"]),
    "Before": lambda moved: number(moved["before"], 1),
    "Now": lambda moved: number(moved["after"], 1),
}


def probe_sections(content: Item) -> list[Section]:
    """The section; none if nothing was probed in the week, or the report is of an earlier release."""
    probes = content.get("probes")
    if not probes:
        return []
    return [
        Section(
            title="Golden probes",
            words="The newest run of each probe in the week against the newest of the week before. Correctness is from "
            "1 to 5, wscore from 0 to 5, with 95 % intervals; answers that are not sure stay out of both. A change is "
            f"over the questions of both runs, with the 99 % interval of a bootstrap; with fewer than {FEWEST} there "
            "is none. An answer that is not sure counts as 0 among the questions that fell.",
            notes=[_note(probe) for probe in probes],
            tables=[table for probe in probes for table in _tables(probe)],
        )
    ]


def got_worse(content: Item) -> Iterator[str]:
    """A line for each probe that has a figure that got worse; names in it come from outside."""
    for probe in content.get("probes") or ():
        worse = [
            f"{_NAMES[name].lower()} {_change(name, its['change'])}"
            for name, its in probe["figures"].items()
            if its["change"] is not None and its["change"]["outcome"] == "worse"
        ]
        if worse:
            yield f"The probe {plain(probe['probe'])} got worse: {', '.join(worse)}."


def _note(probe: Item) -> str:
    run = f"Probe {plain(probe['probe'])} ({plain(probe['environment'])}): {_run(probe['this'])}"
    before = "no run in the week before" if probe["before"] is None else f"before {_run(probe['before'])}"
    return f"{run}; {before}."


def _run(run: Item) -> str:
    version = f", version {plain(run['chatbot'])}" if run["chatbot"] else ""
    return f"run {run['run']} of {when(run['began_at'])}{version}"


def _tables(probe: Item) -> Iterator[Table]:
    rows = [{"name": name, "words": _NAMES[name], **its} for name, its in probe["figures"].items()]
    link = f"/probes/{probe['this']['run']}"
    yield table_of(rows, _FIGURES, caption=f"Probe {plain(probe['probe'])}", links=[link] * len(rows))
    if probe["fell"]:
        table = table_of(probe["fell"], _FELL, caption=f"Fell most, probe {plain(probe['probe'])}")
        more = probe["fallen"] - len(probe["fell"])
        yield replace(table, more=f"{plural(more, 'more question')} fell." if more else "")


def _value(name: str, its: Item | None) -> str:
    if its is None or its["mean"] is None:
        return NOTHING
    if name == "unsure":
        lower, upper = (percent(its[bound]).removesuffix(" %") for bound in ("lower", "upper"))
        return f"{percent(its['mean'])} ({lower} to {upper})"
    interval = "" if its["lower"] is None else f" ({number(its['lower'], 2)} to {number(its['upper'], 2)})"
    return f"{number(its['mean'], 2)}{interval}"


def _change(name: str, its: Item | None) -> str:
    if its is None or its["mean"] is None:
        return NOTHING
    written = points if name == "unsure" else _signed
    interval = "" if its["lower"] is None else f" ({written(its['lower'])} to {written(its['upper'])})"
    return f"{written(its['mean'])}{interval}"


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
