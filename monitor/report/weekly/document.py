"""A report as sections of sentences, tables, cards and charts, for any form of page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import partial
from typing import TypeAlias

from monitor.alert.wording import words as spelt
from monitor.core.text.plain import plain
from monitor.report.weekly.elements import Card, Chart, Rows, Section, Table
from monitor.report.weekly.operations_sections import watching
from monitor.report.weekly.wording import SIDES, Found, chance, change, counted, number, plural, share, when

Link: TypeAlias = Callable[[str, str], str | None]  # where people look at an answer, by app and id
_GROUPS = {"model": "Model", "environment": "Environment", "prompt_version": "Prompt version"}
_REFUSALS = {
    "correct": "Right: the documents do not hold the answer",
    "over": "Over-refusal: the documents hold it",
    "unknown": "Cannot be told",
}
_COMPARED = ("Answers", "Negative", "Week before", "Change", "q")


def sections(content: Found, link: Link) -> list[Section]:
    """All of them, in the order in which they are read; a section with nothing to say says so."""
    return [
        _verdicts(content),
        _refusals(content),
        _groups(content),
        _topics(content),
        _worst(content, link),
        _over_refusals(content, link),
        _documents(content),
        *watching(content),
    ]


def _verdicts(content: Found) -> Section:
    verdicts = content["verdicts"]
    notes = []
    if not verdicts["answers"]:
        notes.append("No answers were assessed in this week.")
    elif not verdicts["answers_before"]:
        notes.append("The week before has no answers, so nothing can be compared.")
    rates = tuple(
        (SIDES[side], f"{rate['this']['count']:,}", share(rate["this"]), share(rate["before"]), change(rate["change"]))
        for side in SIDES
        for rate in (verdicts["rates"][side],)
    )
    headings = ("Verdict", "Answers", "This week", "Week before", "Change")
    this_week = content["days"][-7:]
    by_day = tuple(
        (f"{date.fromisoformat(day['day']):%a %Y-%m-%d}", f"{day['answers']:,}", *(share(day[side]) for side in SIDES))
        for day in this_week
    )
    return Section(
        title="Verdicts",
        words="Shares with Wilson's intervals at 95 %. A change is in percentage points, with Newcombe's interval and "
        "the chance (Fisher, two-sided) of so much or more without any; at the border the two may disagree. Answers of "
        "one incident hang together, which these do not know: judge a small change by the days too.",
        notes=tuple(notes),
        charts=tuple(_trend(content)),
        tables=(
            Table(caption="Verdicts of the week", headings=headings, rows=rates),
            Table(caption="Day by day", headings=("Day", "Answers", *SIDES.values()), rows=by_day),
        ),
    )


def _trend(content: Found) -> Iterator[Chart]:
    days, since = content["days"], date.fromisoformat(content["days"][-7]["day"])
    if not any(day["answers"] for day in days):
        return
    yield Chart(
        caption="Shares of refusals and of self-generated answers by day, with intervals; the report's week is shaded.",
        svg=partial(_shares, days, since),
    )
    yield Chart(caption="Answers by day.", svg=partial(_answers, days, since))


def _shares(days: Sequence[Found], since: date) -> str:
    from monitor.report.charts.trend import DayShare, shares_chart  # noqa: PLC0415  altair takes time to import

    series = {
        SIDES[side].lower(): [
            DayShare(
                day=date.fromisoformat(day["day"]),
                share=day[side]["share"],
                lower=day[side]["lower"],
                upper=day[side]["upper"],
            )
            for day in days
        ]
        for side in ("refusal", "self_generated")
    }
    return shares_chart(series, since=since, description="Shares of refusals and self-generated answers by day")


def _answers(days: Sequence[Found], since: date) -> str:
    from monitor.report.charts.trend import answers_chart  # noqa: PLC0415

    counts = [(date.fromisoformat(day["day"]), day["answers"]) for day in days]
    return answers_chart(counts, since=since, description="Answers by day")


def _refusals(content: Found) -> Section:
    found = content["refusals"]
    notes = [f"{counted(found['partial'])} answers refuse in part; what else they say was judged."]
    if not found["correct"]["this"]["of"]:
        notes = ["No answer of the week is a refusal.", *([notes[0]] if found["partial"]["count"] else [])]
    rows = tuple(
        (
            name,
            f"{found[key]['this']['count']:,}",
            share(found[key]["this"]),
            share(found[key]["before"]),
            change(found[key]["change"]),
        )
        for key, name in _REFUSALS.items()
    )
    headings = ("Refusals", "Answers", "This week", "Week before", "Change")
    table = Table(caption="Refusals of the week by whether they were right", headings=headings, rows=rows)
    return Section(
        title="Refusals",
        words="Shares of the refusals. A refusal is right where the retrieved documents do not hold the answer.",
        notes=tuple(notes),
        tables=(table,) if found["correct"]["this"]["of"] else (),
    )


def _groups(content: Found) -> Section:
    notes, tables = [], []
    for key, name in _GROUPS.items():
        group = content["groups"][key]
        if not [one for one in group["values"] if one["value"]]:
            notes.append(f"No answer names its {name.lower()}.")
            continue
        tables.append(_compared(f"Negative answers by {name.lower()}", name, group["values"]))
        if group["left_out"]:
            notes.append(f"{plural(group['left_out'], name.lower())} with fewer answers left out.")
    return Section(
        title="Models, environments, prompts",
        words="The share of negative answers. q is the chance p of the change, adjusted for all values compared "
        "(Benjamini and Hochberg); values with fewer than 30 answers in either week are too few.",
        notes=tuple(notes),
        tables=tuple(tables),
    )


def _topics(content: Found) -> Section:
    found = content["topics"]
    notes, tables = [], []
    if not found["topics"]:
        notes.append("No answer names a topic (tag `topic`).")
    elif not found["compared"]:
        notes.append("No topic has 30 answers in both weeks, so none can be compared.")
    else:
        for name in ("worse", "better"):
            if found[name]:
                tables.append(_compared(f"Topics that got {name}", "Topic", found[name]))
            else:
                notes.append(f"No topic got clearly {name}, of {found['compared']} compared.")
    if found["topics"] and found["largest"]:
        tables.append(_compared("Topics with most answers", "Topic", found["largest"]))
    if found["topics"] and found["answers_without_topic"]:
        notes.append(f"{plural(found['answers_without_topic'], 'answer')} without a topic.")
    return Section(
        title="Topics",
        words="Topics whose share of negative answers changed, of all compared with at most 5 % false discoveries.",
        notes=tuple(notes),
        tables=tuple(tables),
    )


def _compared(caption: str, name: str, values: Sequence[Found]) -> Table:
    rows = tuple(
        (
            one["value"] or "(none)",
            f"{one['this']['of']:,}",
            share(one["this"]),
            share(one["before"]),
            change(one["change"]),
            chance("q", one["q"]),
        )
        for one in values
    )
    return Table(caption=caption, headings=(name, *_COMPARED), rows=rows)


def _worst(content: Found, link: Link) -> Section:
    cards = _cards(content, "worst", "p_grounded", "Probability of grounded", link)
    return Section(
        title="Worst answers",
        words="Self-generated answers that are least likely grounded, one for each question. Personal data is masked.",
        notes=() if cards else ("No answer of the week is self-generated.",),
        cards=cards,
    )


def _over_refusals(content: Found, link: Link) -> Section:
    cards = _cards(content, "over_refusals", "p_refusal", "Probability of a refusal", link)
    return Section(
        title="Over-refusals",
        words="Refusals although the retrieved documents hold the answer, the surest first, one for each question.",
        notes=() if cards else ("No refusal of the week was found to be one too many.",),
        cards=cards,
    )


def _cards(content: Found, name: str, probability: str, called: str, link: Link) -> tuple[Card, ...]:
    return tuple(
        Card(
            heading=f"{place}. {', '.join(spelt(reason) for reason in one['reasons']) or 'no reason'}",
            question=one["question"],
            answer=one["answer"],
            facts=tuple(
                (label, value)
                for label, value in (
                    ("At", when(one["occurred_at"])),
                    (called, number(one[probability])),
                    ("Topic", one["topic"]),
                    ("Model", one["model"]),
                    ("Id", plain(one["id"])),
                )
                if value
            ),
            url=link(content["app"], one["id"]),
        )
        for place, one in enumerate(content[name], start=1)
    )


def _documents(content: Found) -> Section:
    found = content["documents"]
    least, idle, suspects = found["least_retrievals"], found["supporting_nothing"], found["self_generated"]
    notes, tables = [], []
    if found["answers_read"] < found["answers"]:
        notes.append(f"Read were {found['answers_read']:,} of {found['answers']:,} answers, evenly over the week.")
    if not found["retrieved_often"]:
        notes.append(f"No document was retrieved {least} times, too few to say that any supports nothing.")
    elif not idle["found"]:
        notes.append(f"Each of the {found['retrieved_often']:,} documents retrieved often supports some answer.")
    else:
        rows: Rows = tuple((one["document"], f"{one['retrieved']:,}") for one in idle["documents"])
        caption = f"Retrieved at least {least} times, and never behind a sentence of an answer"
        tables.append(Table(caption=caption, headings=("Document", "Retrieved"), rows=rows))
    if not suspects["found"]:
        notes.append(f"No document goes clearly with self-generated answers, of {suspects['compared']:,} compared.")
    else:
        rows = tuple(
            (
                one["document"],
                counted(one["with_it"]),
                share(one["with_it"]),
                share(one["without_it"]),
                "–" if one["lift"] is None else f"{one['lift']:.1f}",
                chance("q", one["q"]),
            )
            for one in suspects["documents"]
        )
        headings = ("Document", "Self-generated", "Share with it", "Share without it", "Lift", "q")
        tables.append(Table(caption="Documents behind self-generated answers", headings=headings, rows=rows))
    notes += [
        f"{more:,} more such documents are not shown."
        for group in (idle, suspects)
        if (more := group["found"] - len(group["documents"]))
    ]
    return Section(
        title="Documents",
        words="A document supports an answer where one of its passages carries a sentence at least in part, or the "
        "generator named it. q is of Fisher's test that answers with it are self-generated more often than the others.",
        notes=tuple(notes),
        tables=tuple(tables),
    )
