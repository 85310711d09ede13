"""The sections on how the app was watched: alerts, coverage, judgements, human labels, profiles and the rule."""

from __future__ import annotations

from monitor.core.model import Unscored, Verdict
from monitor.core.reason_words import UNSCORED_ADVICE, UNSCORED_WORDS
from monitor.core.text.plain import money, plural
from monitor.report.weekly.elements import Columns, Item, Section, table_of
from monitor.report.weekly.wording import (
    NOTHING,
    SIDES,
    counted,
    length,
    number,
    seconds,
    share,
    text,
    thousands,
    watched,
    when,
)

_EPISODES: Columns = {
    "Rule": text("rule"),
    "Labels": lambda episode: (
        ", ".join(f"{name} {value}" for name, value in sorted(episode["labels"].items())) or NOTHING
    ),
    "Severity": text("severity"),
    "Fired": lambda episode: when(episode["fired_at"]),
    "To acknowledge": lambda episode: length(episode["seconds_to_acknowledge"]),
    "By": lambda episode: episode["acknowledged_by"] or NOTHING,
    "To resolve": lambda episode: length(episode["seconds_to_resolve"]) if episode["resolved_at"] else "still firing",
}
_SILENCES: Columns = {
    "Silenced": lambda silence: ", ".join(silence["matchers"]),
    "By": text("by"),
    "Why": text("comment"),
    "From": lambda silence: when(silence["starts_at"]),
    "Until": lambda silence: "after the week" if silence["until_after_the_week"] else when(silence["ends_at"]),
}
_SOURCES: Columns = {"Source": text("source"), "Arrived": thousands("received"), "Dead": thousands("dead")}
_PROBLEMS: Columns = {"Problem": text("problem"), "Letters": thousands("letters")}
_LEDGER: Columns = {
    "Partitions": thousands("partitions"),
    **{
        name.capitalize(): thousands(name)
        for name in ("received", "assessed", "duplicate", "dead", "pending", "unscored")
    },
    "Ledger": lambda ledger: (
        "balanced" if ledger["balanced"] else f"{ledger['unbalanced_partitions']:,} partitions do not balance"
    ),
}
_READING: Columns = {
    "Source": text("source"),
    "Through": lambda source: when(source["through"]),
    "Unread": thousands("unread"),
}
_CALLS: Columns = {
    "Calls": thousands("calls"),
    "Tokens": lambda usage: f"{usage['input_tokens'] + usage['output_tokens']:,}",
    "Cost": lambda usage: money(usage["cost"]),
}
_METRICS: Columns = {
    "Metric": lambda metric: metric["metric"].replace("_", " "),
    "Model": text("model"),
    "Scored": lambda metric: f"{metric['this']['scored']:,}",
    "Mean": lambda metric: _mean(metric["this"]),
    "Week before": lambda metric: _mean(metric["before"]),
    **_CALLS,
}
_USAGE: Columns = {"Purpose": text("purpose"), "Model": text("model"), **_CALLS}
_USED: Columns = {
    "Model": lambda used: used["model"] or "not named",
    "Answers": lambda used: f"{used['this']['answers']:,}",
    "p50": lambda used: seconds(used["this"]["latency"]["p50"]),
    "p95": lambda used: seconds(used["this"]["latency"]["p95"]),
    "Week before": lambda used: seconds(used["before"]["latency"]["p95"]),
    "Tokens read": lambda used: number(used["this"]["tokens"]["input"], 0),
    "Tokens written": lambda used: number(used["this"]["tokens"]["output"], 0),
    "Cost": lambda used: _cost(used["this"]["cost"], "sum"),
    "Cost the week before": lambda used: _cost(used["before"]["cost"], "sum"),
    "Per answer": lambda used: _cost(used["this"]["cost"], "of_an_answer"),
    "Per grounded answer": lambda used: _cost(used["this"]["cost"], "of_a_grounded_answer"),
}
_AGREEMENT: Columns = {
    "Compared with people": text("name"),
    "Agrees": counted,
    "Share": share,
    "Kappa": lambda agreement: number(agreement["kappa"], 2),
}
_PROFILES: Columns = {
    "Profile": text("name"),
    "Hash": text("hash"),
    "Embedding model": text("embedding_model"),
    "Calibrated": lambda profile: "no" if profile["uncalibrated"] else "yes",
    "Answers": thousands("answers"),
}
_RULE: Columns = {
    "Verdict": text("name"),
    **{f"Rule: {SIDES[verdict.value].lower()}": thousands(verdict.value) for verdict in Verdict},
}


def operations_sections(content: Item) -> list[Section]:
    """The sections in reading order."""
    return [
        *_used(content.get("used")),
        _alerts(content["alerts"]),
        _coverage(content["coverage"], content["ledger"]),
        _judge(content["judge"]),
        _agreement(content["agreement"]),
        _profiles(content["profiles"], content["rule"]),
    ]


def _used(found: Item | None) -> list[Section]:
    """Reports of earlier releases do not hold it, and of some apps nothing is told."""
    if found is None or not (found["all"]["this"]["latency"]["answers"] or found["all"]["this"]["tokens"]["input"]):
        return []
    everything, costs = found["all"], found["all"]["this"]["cost"]
    notes = []
    if not costs["answers"]:
        notes.append(
            "No answer of the week has a price, so its cost is not known; `monitor docs operate/cost` says how."
        )
    elif costs["unpriced"]:
        notes.append(f"{plural(costs['unpriced'], 'answer')} without a price: the costs leave them out.")
    rows = [*found["models"], *([{"model": "all models", **everything}] if len(found["models"]) > 1 else [])]
    return [
        Section(
            title="Latency, tokens and cost",
            words="Half of the answers come within p50, 95 % within p95, each to 5 %; the column after it has the p95 "
            "of the week before. Tokens are means of an answer. Costs are in the currency of the prices that held "
            "when each answer was stored; a grounded answer is charged with what all others cost too.",
            notes=notes,
            tables=(table_of(rows, _USED, caption="What the answers of the week used"),),
        )
    ]


def _cost(costs: Item, name: str) -> str:
    return NOTHING if costs[name] is None or not costs["answers"] else money(costs[name])


def _alerts(found: Item) -> Section:
    notes, tables = [], []
    if found["episodes"]:
        notes += [
            f"{plural(found['fired'], 'alert')} fired, {found['fired_before']:,} went on from the week before.",
            _time_to(found["to_acknowledge"], "acknowledged"),
            _time_to(found["to_resolve"], "resolved"),
        ]
        tables.append(table_of(found["episodes"], _EPISODES, caption="Alerts of the week", texts=3))
    else:
        notes.append(f"{watched(found)}.")
    if found["silences"]:
        tables.append(table_of(found["silences"], _SILENCES, caption="Silences", texts=3))
    else:
        notes.append("Nothing was silenced.")
    return Section(
        title="Alerts",
        words="Alerts of this app, and of no particular app, that fired in the week or were still firing. Times count "
        "from firing.",
        notes=notes,
        tables=tables,
    )


def _time_to(found: Item, done: str) -> str:
    if not found["count"]:
        return f"None was {done} by the end of the week."
    median, longest = length(found["median_seconds"]), length(found["longest_seconds"])
    return f"{counted(found)} {done}: after {median} (median), {longest} at most."


def _coverage(coverage: Item, ledger: Item) -> Section:
    notes = [
        f"{counted(coverage['assessed'])} stored answers of this app are assessed; {coverage['pending']:,} still wait.",
        f"All apps: {plural(coverage['received'], 'message')} arrived, {counted(coverage['dead'])} as dead letters.",
    ]
    notes += [
        f"{counted(its['turns'])} turns {UNSCORED_WORDS[reason]}, and have no verdict: {UNSCORED_ADVICE[reason]}."
        for its in coverage.get("unscored", ())
        for reason in (Unscored(its["reason"]),)
    ]
    tables = []
    if coverage["sources"]:
        tables.append(table_of(coverage["sources"], _SOURCES, caption="Messages by source"))
    if coverage["dead_letters"]:
        tables.append(table_of(coverage["dead_letters"], _PROBLEMS, caption="Problems of the dead letters"))
    if ledger["partitions"]:
        tables.append(
            table_of([{"unscored": 0, **ledger}], _LEDGER, caption="The ledger of all apps since its beginning")
        )
    else:
        notes.append("The ledger holds nothing: it counts what is read from Kafka and from followed files.")
    if ledger.get("read_once"):
        caption = "Read once, from files or as sent, of all apps since the beginning; whoever sent it saw the outcome"
        tables.append(table_of(ledger["read_once"], _SOURCES, caption=caption))
    if ledger["reading"]:
        tables.append(table_of(ledger["reading"], _READING, caption="How far each source was read"))
    return Section(
        title="Coverage",
        words="Received = assessed + duplicate + dead + pending + unscored. A dead letter belongs to no app, so "
        "messages are counted for all apps. The ledger and the reading are as of when the report was made.",
        notes=notes,
        tables=tables,
    )


def _judge(found: Item) -> Section:
    notes, tables = [], []
    if found["metrics"]:
        notes.append(f"{counted(found['sampled'])} answers were judged, at a cost of {money(found['cost'])}.")
        tables.append(table_of(found["metrics"], _METRICS, caption="Means of judged answers", texts=2))
    else:
        notes.append("No answer of the week was judged.")
    if found["usage_of_all_apps"]:
        caption = "Calls of language models, all apps"
        tables.append(table_of(found["usage_of_all_apps"], _USAGE, caption=caption, texts=2))
    return Section(
        title="Judged metrics",
        words="Means of a sample of the answers, with normal intervals at 95 %. Costs follow the configured prices.",
        notes=notes,
        tables=tables,
    )


def _mean(found: Item) -> str:
    if found["mean"] is None:
        return NOTHING
    if found["lower"] is None:
        return number(found["mean"])
    return f"{number(found['mean'])} ({number(found['lower'])} to {number(found['upper'])})"


def _agreement(found: Item) -> Section:
    notes = [f"{counted(found['reviewed'])} answers were labelled by {plural(found['people'], 'person', 'people')}."]
    tables = []
    if not found["reviewed"]["count"]:
        notes = ["No answer of the week was labelled; `monitor review next` offers some."]
    elif not found["labels"]:
        notes.append("None of them was drawn at random, so they say nothing about all answers.")
    else:
        if not found["enough"]:
            notes.append(f"Fewer than {found['least']} labels drawn at random are too few to say much.")
        if found["disputed"]:
            notes.append(
                f"People disagree on {found['disputed']:,}: the majority counts, or the newest label in a tie."
            )
        raters = [{"name": "The verdict", **found["verdict"]}, {"name": "The study's rule", **found["rule"]}]
        tables.append(table_of(raters, _AGREEMENT, caption="Agreement with human labels"))
    if found["not_labelled"]:
        open_ = f"{found['not_labelled']:,} answers drawn at random are open"
        notes.append(f"{open_}: if they are the hard ones, the shares are too high.")
    return Section(
        title="Human labels",
        words="How often verdicts agree with people, on answers drawn at random; kappa is Cohen's.",
        notes=notes,
        tables=tables,
    )


def _profiles(profiles: list[Item], rule: Item) -> Section:
    notes, tables = [], []
    if profiles:
        verdicts = [{"name": SIDES[own.value], **rule["verdicts"][own.value]} for own in Verdict]
        notes.append(
            f"The study's rule agrees with {share(rule['agrees'])} of the verdicts, and calls "
            f"{share(rule['negative'])} negative."
        )
        tables.append(table_of(profiles, _PROFILES, caption="Profiles in force", texts=4))
        tables.append(table_of(verdicts, _RULE, caption="Verdicts against those of the study's rule"))
    else:
        notes.append("No profile was in force: nothing was assessed.")
    return Section(
        title="Profiles and the rule",
        words="The profiles that gave the verdicts. The study's rule is kept for comparison only.",
        notes=notes,
        tables=tables,
    )
