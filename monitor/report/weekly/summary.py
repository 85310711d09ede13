"""The week in a few lines: what stands at the head of a report, and in Slack."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.core.text.plain import percent, plain
from monitor.report.weekly.wording import Found, change, counted, length, number, plural, points, share

_NAMED = 3


def title(content: Found) -> str:
    """Which app and week."""
    return f"Weekly report: {plain(content['app'])}, {content['week']['name']}"


def period(content: Found) -> str:
    """The week's days; both ends are Mondays 0:00 UTC, of which the second is not in it."""
    start, end = (content["week"][name][:10] for name in ("start", "end"))
    return f"{start} to {end}, Monday 0:00 UTC to Monday"


def headline(content: Found) -> list[str]:
    """The few sentences that somebody with half a minute reads. Names in them come from outside."""
    if not content["verdicts"]["answers"]:
        return ["No answers were assessed in this week."]
    return [*_rates(content), *_topics(content), *_documents(content), *_watched(content)]


def warnings(content: Found) -> list[str]:
    """What takes from the worth of the figures."""
    found = []
    uncalibrated = sum(used["answers"] for used in content["profiles"] if used["uncalibrated"])
    if uncalibrated:
        found.append(
            f"{plural(uncalibrated, 'answer')} were assessed under a profile that is not calibrated for this app: "
            "compare weeks rather than trust a rate."
        )
    if len(content["profiles"]) > 1:
        found.append("More than one profile was in force, so a change may be the profile's and not the chatbot's.")
    pending = content["coverage"]["pending"]
    if pending:
        found.append(f"{plural(pending, 'answer')} of the week wait for an assessment and are not counted.")
    if not content["ledger"]["balanced"]:
        found.append("The ledger does not add up: `monitor ledger` names the partitions.")
    return found


def _rates(content: Found) -> Iterator[str]:
    verdicts = content["verdicts"]
    negative = verdicts["rates"]["negative"]
    line = f"{plural(verdicts['answers'], 'answer')}, {share(negative['this'])} of them negative"
    changed = negative["change"]
    if changed is None:
        yield f"{line}; there is no week before to compare with."
    else:
        clear = "a clear change" if changed["clear"] else "no clear change"
        yield f"{line}; {clear}: {change(changed)}."
    made_up, refused = (verdicts["rates"][name]["this"]["share"] for name in ("self_generated", "refusal"))
    over = content["refusals"]["over"]["this"]
    line = f"{percent(made_up)} are self-generated, {percent(refused)} are refusals"
    known = f"; {over['count']:,} of these although the documents hold the answer" if over["of"] else ""
    yield f"{line}{known}."


def _topics(content: Found) -> Iterator[str]:
    for name, word in (("worse", "Worse"), ("better", "Better")):
        topics = content["topics"][name]
        if topics:
            named = [f"{one['value']} {points(one['change']['difference'])}" for one in topics[:_NAMED]]
            more = len(topics) - len(named)
            yield f"{word}: {', '.join(named)}{f' and {more} more' if more else ''}."


def _documents(content: Found) -> Iterator[str]:
    suspects = content["documents"]["self_generated"]
    if suspects["found"]:
        named = ", ".join(one["document"] for one in suspects["documents"][:_NAMED])
        yield f"{plural(suspects['found'], 'document')} behind self-generated answers: {named}."


def _watched(content: Found) -> Iterator[str]:
    alerts = content["alerts"]
    if alerts["fired"]:
        its = alerts["to_acknowledge"]
        after = f" after {length(its['median_seconds'])} (median)" if its["count"] else ""
        before = f", {alerts['fired_before']:,} went on from before" if alerts["fired_before"] else ""
        yield f"{plural(alerts['fired'], 'alert')} fired{before}; {counted(its)} acknowledged{after}."
    else:
        yield "No alert fired."
    agreement = content["agreement"]
    if agreement["labels"]:
        few = "" if agreement["enough"] else ", too few to say much"
        said = f"People agree with {share(agreement['verdict'])} of the verdicts"
        kappa = number(agreement["verdict"]["kappa"], 2)
        yield f"{said} (kappa {kappa}, {plural(agreement['labels'], 'label')} drawn at random{few})."
