"""Lays a report out as sections of sentences, tables, cards and charts, the same for every form of page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import partial
from typing import TypeAlias

from monitor.alert.wording import reason_words as spelt
from monitor.core.text.plain import plain, plural
from monitor.report.charts import drawing, trend
from monitor.report.weekly.elements import Card, Chart, Columns, Item, Section, Table, table_of
from monitor.report.weekly.operations_sections import operations_sections
from monitor.report.weekly.probes.sections import probe_sections
from monitor.report.weekly.retrieval.sections import retrieval_sections
from monitor.report.weekly.wording import (
    SIDES,
    TWO_WEEKS,
    chance,
    change,
    counted,
    number,
    share,
    text,
    thousands,
    when,
)

Link: TypeAlias = Callable[[str, str], str | None]  # the page of an answer, by app and id
_GROUPS = {"model": "Model", "environment": "Environment", "prompt_version": "Prompt version"}
_REFUSALS = {
    "correct": "Right: the documents do not hold the answer",
    "over": "Over-refusal: the documents hold it",
    "unknown": "Unclear",
}
_TOLD = {
    True: "That is told by how well its documents match the question, beside those of the app's answered questions; "
    "lists of answers tell it by the profile alone, which is less sure.",
    False: "That is told by the profile, since too few questions were answered to compare with.",
}
_COMPARED: Columns = {
    "Answers": lambda group: f"{group['this']['of']:,}",
    "Negative": lambda group: share(group["this"]),
    "Week before": lambda group: share(group["before"]),
    "Change": lambda group: change(group["change"]),
    "q": lambda group: chance("q", group["q"]),
}


def sections(content: Item, link: Link) -> list[Section]:
    """All sections in reading order; a section without figures says why."""
    return [
        _verdicts(content),
        _refusals(content["refusals"]),
        _groups(content["groups"]),
        _topics(content["topics"]),
        _worst(content, link),
        _over_refusals(content, link),
        *retrieval_sections(content, link),
        *probe_sections(content),
        *operations_sections(content),
    ]


def _verdicts(content: Item) -> Section:
    verdicts = content["verdicts"]
    notes = []
    if not verdicts["answers"]:
        notes.append("No answers were assessed in this week.")
    elif not verdicts["answers_before"]:
        notes.append("The week before has no answers, so there is nothing to compare with.")
    rates = [{"name": name, **verdicts["rates"][side]} for side, name in SIDES.items()]
    by_day: Columns = {
        "Day": lambda day: f"{date.fromisoformat(day['day']):%a %Y-%m-%d}",
        "Answers": thousands("answers"),
        **{name: partial(_side, side) for side, name in SIDES.items()},
    }
    return Section(
        title="Verdicts",
        words="Shares have Wilson intervals at 95 %. A change is in percentage points, with Newcombe's interval and "
        "the probability p (Fisher, two-sided) of a change this large by chance; the two may disagree when close. "
        "The intervals treat answers as independent, though those of one incident are not: for a small change, look at "
        "the single days.",
        notes=notes,
        charts=tuple(_trend(content["days"])),
        tables=(
            table_of(rates, {"Verdict": text("name"), **TWO_WEEKS}, caption="Verdicts of the week"),
            table_of(content["days"][-7:], by_day, caption="Day by day"),
        ),
    )


def _side(side: str, day: Item) -> str:
    return share(day[side])


def _trend(days: Sequence[Item]) -> Iterator[Chart]:
    if not any(day["answers"] for day in days):
        return
    since = date.fromisoformat(days[-7]["day"])
    yield Chart(
        caption="Shares of refusals and of self-generated answers by day, with intervals; the report's week is shaded.",
        svg=partial(_trend_svg, days, since, counts=False),
    )
    yield Chart(caption="Answers by day.", svg=partial(_trend_svg, days, since, counts=True))


def _trend_svg(days: Sequence[Item], since: date, *, counts: bool) -> str:
    """The number of answers by day if `counts`, otherwise the shares of both kinds of negatives."""
    if counts:
        answers = [(date.fromisoformat(day["day"]), day["answers"]) for day in days]
        bars = partial(trend.answers_chart, answers, since=since, description="Answers by day")
        return drawing.for_every_width(lambda width: bars(width=width), trend.WIDTH)
    series = {
        SIDES[side].lower(): [
            trend.DayShare(
                day=date.fromisoformat(day["day"]),
                share=day[side]["share"],
                lower=day[side]["lower"],
                upper=day[side]["upper"],
            )
            for day in days
        ]
        for side in ("refusal", "self_generated")
    }
    about = "Shares of refusals and self-generated answers by day"
    lines = partial(trend.shares_chart, series, since=since, description=about)
    return drawing.for_every_width(lambda width: lines(width=width), trend.WIDTH)


def _refusals(refusals: Item) -> Section:
    kinds = [{"name": name, **refusals[kind]} for kind, name in _REFUSALS.items()]
    partial_note = f"{counted(refusals['partial'])} answers refuse in part; the rest of each was judged."
    if refusals["correct"]["this"]["of"]:
        notes = [partial_note]
        caption = "Refusals of the week, by whether they were right"
        tables = [table_of(kinds, {"Refusals": text("name"), **TWO_WEEKS}, caption=caption)]
    else:
        notes = ["No answer of the week is a refusal.", *([partial_note] if refusals["partial"]["count"] else [])]
        tables = []
    return Section(
        title="Refusals",
        words="Shares of all refusals. A refusal is right if the retrieved documents do not hold the answer. "
        + _TOLD[bool(refusals.get("answered_to_compare"))],
        notes=notes,
        tables=tables,
    )


def _groups(groups: Item) -> Section:
    notes, tables = [], []
    for key, name in _GROUPS.items():
        group = groups[key]
        if not any(value["value"] for value in group["values"]):
            notes.append(f"No answer names its {name.lower()}.")
            continue
        tables.append(_compared(f"Negative answers by {name.lower()}", name, group["values"]))
        if group["left_out"]:
            notes.append(f"{plural(group['left_out'], name.lower())} with fewer answers left out.")
    return Section(
        title="Models, environments, prompts",
        words="The share of negative answers. q is the p of the change, adjusted for all values compared (Benjamini "
        "and Hochberg); values with fewer than 30 answers in either week are too few.",
        notes=notes,
        tables=tables,
    )


def _topics(found: Item) -> Section:
    notes, tables = [], []
    if not found["topics"]:
        notes.append("No answer names a topic (tag `topic`).")
    elif not found["compared"]:
        notes.append("No topic has 30 answers in both weeks, so none can be compared.")
    else:
        for direction in ("worse", "better"):
            if found[direction]:
                tables.append(_compared(f"Topics that got {direction}", "Topic", found[direction]))
            else:
                notes.append(f"Of {found['compared']} topics compared, none got clearly {direction}.")
    if found["topics"] and found["largest"]:
        tables.append(_compared("Topics with most answers", "Topic", found["largest"]))
    if found["topics"] and found["answers_without_topic"]:
        notes.append(f"{plural(found['answers_without_topic'], 'answer')} without a topic.")
    return Section(
        title="Topics",
        words="Topics whose share of negative answers changed, with at most 5 % false discoveries among those named.",
        notes=notes,
        tables=tables,
    )


def _compared(caption: str, name: str, values: Sequence[Item]) -> Table:
    return table_of(values, {name: lambda group: group["value"] or "(none)", **_COMPARED}, caption=caption)


def _worst(content: Item, link: Link) -> Section:
    cards = _cards(content, "worst", "p_grounded", "Probability of grounded", link)
    return Section(
        title="Worst answers",
        words="The self-generated answers least likely to be grounded, one per question. Personal data is masked.",
        notes=() if cards else ("No answer of the week is self-generated.",),
        cards=cards,
    )


def _over_refusals(content: Item, link: Link) -> Section:
    cards = _cards(content, "over_refusals", "p_refusal", "Probability of a refusal", link)
    return Section(
        title="Over-refusals",
        words="Refusals although the retrieved documents hold the answer, the surest first, one per question.",
        notes=() if cards else ("No refusal of the week was found to be an over-refusal.",),
        cards=cards,
    )


def _cards(content: Item, name: str, probability: str, label: str, link: Link) -> tuple[Card, ...]:
    return tuple(
        Card(
            heading=f"{place}. {', '.join(spelt(reason) for reason in example['reasons']) or 'no reason'}",
            question=example["question"],
            answer=example["answer"],
            facts=tuple((fact, value) for fact, value in _card_facts(example, probability, label) if value),
            url=link(content["app"], example["id"]),
        )
        for place, example in enumerate(content[name], start=1)
    )


def _card_facts(example: Item, probability: str, label: str) -> Iterator[tuple[str, str | None]]:
    yield "At", when(example["occurred_at"])
    yield label, number(example[probability])
    yield "Topic", example["topic"]
    yield "Model", example["model"]
    yield "Id", plain(example["id"])
