"""The sections on how the app was watched: alerts, messages, judgements, human labels, profiles, the rule."""

from __future__ import annotations

from monitor.core.model import Verdict
from monitor.report.weekly.elements import Rows, Section, Table
from monitor.report.weekly.wording import NOTHING, SIDES, Found, cost, counted, length, number, plural, share, when


def watching(content: Found) -> list[Section]:
    """In the order in which they are read."""
    return [
        _alerts(content["alerts"]),
        _coverage(content),
        _judge(content["judge"]),
        _agreement(content["agreement"]),
        _profiles(content),
    ]


def _alerts(found: Found) -> Section:
    notes, tables = [], []
    if not found["episodes"]:
        notes.append("No alert fired in this week.")
    else:
        notes.append(f"{plural(found['fired'], 'alert')} fired, {found['fired_before']:,} went on from before.")
        notes += [_lasted(found, "to_acknowledge", "acknowledged"), _lasted(found, "to_resolve", "resolved")]
        rows: Rows = tuple(
            (
                one["rule"],
                ", ".join(f"{name} {value}" for name, value in sorted(one["labels"].items())) or NOTHING,
                one["severity"],
                when(one["fired_at"]),
                length(one["seconds_to_acknowledge"]),
                one["acknowledged_by"] or NOTHING,
                length(one["seconds_to_resolve"]) if one["resolved_at"] else "still fired",
            )
            for one in found["episodes"]
        )
        headings: tuple[str, ...] = ("Rule", "Labels", "Severity", "Fired", "To acknowledge", "By", "To resolve")
        tables.append(Table(caption="Alerts of the week", headings=headings, rows=rows, texts=3))
    if found["silences"]:
        rows = tuple(
            (
                ", ".join(one["matchers"]),
                one["by"],
                one["comment"],
                when(one["starts_at"]),
                "after the week" if one["until_after_the_week"] else when(one["ends_at"]),
            )
            for one in found["silences"]
        )
        headings = ("Silenced", "By", "Why", "From", "Until")
        tables.append(Table(caption="Silences", headings=headings, rows=rows, texts=3))
    else:
        notes.append("Nothing was silenced.")
    return Section(
        title="Alerts",
        words="Alerts of this app and of no app in particular that fired in the week, or still did; times from firing.",
        notes=tuple(notes),
        tables=tuple(tables),
    )


def _lasted(found: Found, name: str, word: str) -> str:
    its = found[name]
    if not its["count"]:
        return f"None was {word} by the end of the week."
    median, longest = length(its["median_seconds"]), length(its["longest_seconds"])
    return f"{counted(its)} {word}: after {median} (median), {longest} at the longest."


def _coverage(content: Found) -> Section:
    found, ledger = content["coverage"], content["ledger"]
    notes = [
        f"{counted(found['assessed'])} stored answers of this app are assessed, {found['pending']:,} wait for it.",
        f"All apps: {plural(found['received'], 'message')} arrived, {counted(found['dead'])} as dead letters.",
    ]
    tables = []
    if found["sources"]:
        rows: Rows = tuple((one["source"], f"{one['received']:,}", f"{one['dead']:,}") for one in found["sources"])
        tables.append(Table(caption="Messages by source", headings=("Source", "Arrived", "Dead"), rows=rows))
    if found["dead_letters"]:
        rows = tuple((one["problem"], f"{one['letters']:,}") for one in found["dead_letters"])
        tables.append(Table(caption="What was wrong with dead letters", headings=("Problem", "Letters"), rows=rows))
    if ledger["partitions"]:
        names = ("received", "assessed", "duplicate", "dead", "pending")
        state = "balanced" if ledger["balanced"] else f"{ledger['unbalanced_partitions']} do not add up"
        rows = ((f"{ledger['partitions']:,}", *(f"{ledger[name]:,}" for name in names), state),)
        headings: tuple[str, ...] = ("Partitions", *(name.capitalize() for name in names), "Ledger")
        tables.append(Table(caption="The ledger of all apps, since its beginning", headings=headings, rows=rows))
    else:
        notes.append("There is no ledger: nothing was read from Kafka or a file.")
    if ledger["reading"]:
        rows = tuple((one["source"], when(one["through"]), f"{one['unread']:,}") for one in ledger["reading"])
        tables.append(Table(caption="How far was read", headings=("Source", "Through", "Unread"), rows=rows))
    return Section(
        title="Coverage",
        words="Received = assessed + duplicate + dead + pending. A message that is no interaction is of no app, hence "
        "the counts of all. The ledger and how far was read are of when the report was made.",
        notes=tuple(notes),
        tables=tuple(tables),
    )


def _judge(found: Found) -> Section:
    notes, tables = [], []
    if not found["metrics"]:
        notes.append("No answer of the week was judged.")
    else:
        notes.append(f"{counted(found['sampled'])} answers were judged, at a cost of {cost(found['cost'])}.")
        rows: Rows = tuple(
            (
                one["metric"].replace("_", " "),
                one["model"],
                f"{one['this']['scored']:,}",
                _mean(one["this"]),
                _mean(one["before"]),
                f"{one['calls']:,}",
                f"{one['input_tokens'] + one['output_tokens']:,}",
                cost(one["cost"]),
            )
            for one in found["metrics"]
        )
        headings: tuple[str, ...] = ("Metric", "Model", "Scored", "Mean", "Week before", "Calls", "Tokens", "Cost")
        tables.append(Table(caption="Means of judged answers", headings=headings, rows=rows, texts=2))
    if found["usage_of_all_apps"]:
        rows = tuple(
            (
                one["purpose"],
                one["model"],
                f"{one['calls']:,}",
                f"{one['input_tokens'] + one['output_tokens']:,}",
                cost(one["cost"]),
            )
            for one in found["usage_of_all_apps"]
        )
        headings = ("Purpose", "Model", "Calls", "Tokens", "Cost")
        tables.append(Table(caption="Calls of language models, all apps", headings=headings, rows=rows, texts=2))
    return Section(
        title="Judged metrics",
        words="Means of a sample of the answers, with normal intervals at 95 %. Costs are by the configured prices.",
        notes=tuple(notes),
        tables=tuple(tables),
    )


def _mean(found: Found) -> str:
    if found["mean"] is None:
        return NOTHING
    if found["lower"] is None:
        return number(found["mean"])
    return f"{number(found['mean'])} ({number(found['lower'])} to {number(found['upper'])})"


def _agreement(found: Found) -> Section:
    notes = [f"{counted(found['reviewed'])} answers were labelled by {plural(found['people'], 'person', 'people')}."]
    tables = []
    if not found["reviewed"]["count"]:
        notes = ["No answer of the week was labelled; `monitor review next` offers some."]
    elif not found["labels"]:
        notes.append("None of them was drawn at random, so nothing can be said of all answers.")
    else:
        if not found["enough"]:
            notes.append(f"Fewer than {found['least']} labels drawn at random are too few to say much.")
        if found["disputed"]:
            notes.append(f"People disagree on {found['disputed']:,}: the majority counts, of a tie the newest label.")
        rows: Rows = tuple(
            (name, counted(found[key]), share(found[key]), number(found[key]["kappa"], 2))
            for key, name in (("verdict", "The verdict"), ("rule", "The thesis's rule"))
        )
        headings: tuple[str, ...] = ("Compared with people", "Agrees", "Share", "Kappa")
        tables.append(Table(caption="Agreement with human labels", headings=headings, rows=rows))
    if found["not_labelled"]:
        notes.append(f"{found['not_labelled']:,} drawn at random are open: if these are the hard ones, it flatters.")
    return Section(
        title="Human labels",
        words="How often verdicts agree with people, on answers drawn at random; kappa is Cohen's.",
        notes=tuple(notes),
        tables=tuple(tables),
    )


def _profiles(content: Found) -> Section:
    rule, notes, tables = content["rule"], [], []
    if not content["profiles"]:
        notes.append("No profile was in force: nothing was assessed.")
    else:
        rows: Rows = tuple(
            (
                used["name"],
                used["hash"],
                used["embedding_model"],
                "no" if used["uncalibrated"] else "yes",
                f"{used['answers']:,}",
            )
            for used in content["profiles"]
        )
        headings: tuple[str, ...] = ("Profile", "Hash", "Embedding model", "Calibrated", "Answers")
        tables.append(Table(caption="Profiles in force", headings=headings, rows=rows, texts=4))
        notes.append(
            f"The thesis's rule agrees with {share(rule['agrees'])} of the verdicts, and calls "
            f"{share(rule['negative'])} negative."
        )
        rows = tuple(
            (SIDES[own], *(f"{rule['verdicts'][own][by_rule]:,}" for by_rule in map(str, Verdict)))
            for own in map(str, Verdict)
        )
        headings = ("Verdict", *(f"Rule: {SIDES[verdict].lower()}" for verdict in map(str, Verdict)))
        tables.append(Table(caption="Verdicts beside those of the thesis's rule", headings=headings, rows=rows))
    return Section(
        title="Profiles and the rule",
        words="What verdicts were given by. The thesis's rule is kept for comparison only.",
        notes=tuple(notes),
        tables=tuple(tables),
    )
