"""Sums the week up in a few lines, for the head of a report and for Slack."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from monitor.core.diagnosis import Diagnosis
from monitor.core.reason_words import diagnosis_name
from monitor.core.text.plain import percent, plain, plural
from monitor.report.findings.lacking import FALSE_ALARM
from monitor.report.weekly.actions import least_wrong
from monitor.report.weekly.compare import BETTER, UNCLEAR, WORSE, change_verdict
from monitor.report.weekly.elements import Item
from monitor.report.weekly.probes.sections import got_worse
from monitor.report.weekly.retrieval.sections import named_document
from monitor.report.weekly.wording import change, counted, length, number, points, share, watched

_NAMED = 3
_VERDICTS = {WORSE: "clearly worse", BETTER: "clearly better", UNCLEAR: UNCLEAR}


def title(content: Item) -> str:
    return f"Weekly report: {plain(content['app'])}, {content['week']['name']}"


def period(content: Item) -> str:
    """The days of the week; both ends are Mondays at 0:00 UTC, the second one excluded."""
    start, end = (content["week"][name][:10] for name in ("start", "end"))
    return f"{start} to {end}, Monday 0:00 UTC to Monday"


def headline(content: Item) -> list[str]:
    """The few sentences for a reader with half a minute. Names in them come from outside."""
    if not content["verdicts"]["answers"]:
        return ["No answers were assessed in this week.", *got_worse(content)]
    return [
        *_true_rates(content),
        *_rates(content),
        *_topics(content),
        *_retrieval(content),
        *got_worse(content),
        *_operations(content),
    ]


def warnings(content: Item) -> list[str]:
    """What makes the figures less reliable."""
    found = []
    if content["week"].get("running"):
        found.append("The week is not over: these are its figures so far.")
    uncalibrated = sum(used["answers"] for used in content["profiles"] if used["uncalibrated"])
    if uncalibrated:
        found.append(
            f"{plural(uncalibrated, 'answer')} were assessed under a profile that is not calibrated for this app: "
            "compare weeks, and rely on a rate only where it comes from labels."
        )
    if len(content["profiles"]) > 1:
        found.append(
            "More than one profile was in force, so a change may come from the profile and not from the chatbot."
        )
    pending = content["coverage"]["pending"]
    if pending:
        found.append(f"{plural(pending, 'answer')} of the week wait for an assessment and are not counted.")
    if not content["ledger"]["balanced"]:
        found.append("The ledger does not balance: `monitor ledger` shows which partitions.")
    return found


def _true_rates(content: Item) -> Iterator[str]:
    """What people found; a report of an earlier release has none of it."""
    known = content.get("true_rates")
    if known is None:
        start, end = (content["week"][name][:10] for name in ("start", "end"))
        draw = f"monitor review plan --app {shlex.quote(plain(content['app']))}"
        if content["week"].get("running"):  # labels are drawn once, for a period that is over
            yield f"The true rates are not known yet: the week is not over ({draw} draws from the last seven days)."
        else:
            draw = f"{draw} --from {start} --to {end}"
            yield f"The true rates are not known: no answers drawn for this week are labelled ({draw})."
        return
    made_up = known["classes"]["self_generated"]
    lower, upper = (percent(made_up[bound]).removesuffix(" %") for bound in ("lower", "upper"))
    labels = f"{made_up['labels']:,} of {plural(known['items'], 'label')} drawn for it"
    if made_up["estimate"] is None:
        yield f"Between {lower} and {upper} % of the answers are self-generated, as far as {labels} tell."
    else:
        yield f"{percent(made_up['estimate'])} of the answers are self-generated ({lower} to {upper}), by {labels}."


def _rates(content: Item) -> Iterator[str]:
    verdicts = content["verdicts"]
    negative = verdicts["rates"]["negative"]
    line = f"{plural(verdicts['answers'], 'answer')}, {share(negative['this'])} of them flagged as negative"
    changed = negative["change"]
    if changed is not None:
        yield f"{line}; {_VERDICTS[str(change_verdict(changed))]}: {change(changed)}."
    elif verdicts["answers_before"]:
        days = f"{verdicts['days_before']} of the days before and {verdicts['days']} of this week"
        yield f"{line}; not compared with the week before, since only {days} have answers."
    else:
        yield f"{line}; the week before has no answers to compare with."
    made_up, refused = (verdicts["rates"][name]["this"]["share"] for name in ("self_generated", "refusal"))
    line = f"{percent(made_up)} are flagged as self-generated, {percent(refused)} as refusals"
    yield f"{line}{_wrong_refusals(content['refusals'])}."


def _wrong_refusals(refusals: Item) -> str:
    """A lower bound, and what could not be told."""
    over, untold = (refusals[name]["this"]["count"] for name in ("over", "unknown"))
    of = refusals["over"]["this"]["of"]
    if not of:
        return ""
    least = least_wrong(over, of)
    known = f"at least {least:,} of these {of:,} although the documents hold the answer" if least else ""
    not_known = f"for {untold:,} it cannot be told whether they were right" if untold else ""
    return "".join(f"; {part}" for part in (known, not_known) if part)


def _topics(content: Item) -> Iterator[str]:
    for name, word in (("worse", "Worse"), ("better", "Better")):
        topics = content["topics"][name]
        if topics:
            named = [f"{topic['value']} {points(topic['change']['difference'])}" for topic in topics[:_NAMED]]
            more = len(topics) - len(named)
            yield f"{word}: {', '.join(named)}{f' and {more} more' if more else ''}."


def _retrieval(content: Item) -> Iterator[str]:
    """Reports of earlier releases, and weeks without diagnoses, have documents alone."""
    diagnoses, lacking = content.get("diagnoses"), content.get("lacking")
    if diagnoses is not None and diagnoses["diagnosed"]:
        missed = _share_of(diagnoses, [Diagnosis.RETRIEVAL_MISSED])
        generator = _share_of(diagnoses, [each for each in Diagnosis if each.of_generator])
        told = f"Retrieval missed what was asked in {missed} of the diagnosed answers"
        yield f"{told}; the generator failed in {generator}."
    groups = () if lacking is None else lacking["groups"]
    clear = [group for group in groups if group["q"] is not None and group["q"] <= FALSE_ALARM and group["question"]]
    if clear:
        others = f" and {plural(len(clear) - 1, 'other group')} of questions" if len(clear) > 1 else ""
        asked = f"“{plain(clear[0]['question'])}” and the like ({plural(clear[0]['missed']['count'], 'answer')})"
        yield f"Nothing retrieved answers: {asked}{others}."
    suspects = content["documents"]["self_generated"]
    if suspects["found"]:
        named = ", ".join(named_document(document) for document in suspects["documents"][:_NAMED])
        yield f"{plural(suspects['found'], 'document')} behind self-generated answers: {named}."


def _share_of(diagnoses: Item, own: Sequence[Diagnosis]) -> str:
    """The share with one of these diagnoses, and which of them clearly changed."""
    count = sum(diagnoses["rates"][each.value]["this"]["count"] for each in own)
    changes = [(each, diagnoses["rates"][each.value]["change"]) for each in own]
    clear = [
        f"{'' if len(own) == 1 else diagnosis_name(each) + ' '}{_VERDICTS[found['verdict']]}: "
        f"{points(found['difference'])}"
        for each, found in changes
        if found is not None and found["verdict"] != UNCLEAR
    ]
    whole = percent(count / diagnoses["diagnosed"])
    return f"{whole} ({'; '.join(clear)})" if clear else whole


def _operations(content: Item) -> Iterator[str]:
    alerts = content["alerts"]
    if alerts["fired"]:
        acknowledged = alerts["to_acknowledge"]
        after = f" after {length(acknowledged['median_seconds'])} (median)" if acknowledged["count"] else ""
        before = f", {alerts['fired_before']:,} went on from the week before" if alerts["fired_before"] else ""
        yield f"{plural(alerts['fired'], 'alert')} fired{before}; {counted(acknowledged)} acknowledged{after}."
    else:
        yield f"{watched(alerts)}."
    agreement = content["agreement"]
    if agreement["labels"]:
        few = "" if agreement["enough"] else ", too few to say much"
        agreed = f"People agree with {share(agreement['verdict'])} of the verdicts"
        kappa = number(agreement["verdict"]["kappa"], 2)
        yield f"{agreed} (kappa {kappa}, {plural(agreement['labels'], 'label')} drawn at random{few})."
