"""What calls for action in a week: the findings as JSON, and as sentences that say what, since when, where, how sure.

A refusal is told by how well its documents match the question (QRD), as a rank among the questions that the app
answered in the four weeks: whatever the app and its texts are, the documents of one in twenty answered questions match
worse than RIGHT_BELOW, and those of seven in ten match better than OVER_FROM. Of right refusals no more than FALSE_OVER
lie above OVER_FROM: .12 on Natural Questions, .15 on the demo's articles. Of questions written to look answerable
(SQuAD 2.0) half do, so that there this tells little.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from operator import itemgetter
from typing import Any, Final
from urllib.parse import quote, urlencode

from monitor.core.diagnosis import Diagnosis
from monitor.core.figures.proportions import at_most
from monitor.core.model import Json
from monitor.core.text.plain import moment as shown_moment
from monitor.core.text.plain import percent, plain, plural
from monitor.report.findings.cells import NEGATIVE, OFF_QUESTION, WHOLE
from monitor.report.findings.find import SAMPLED
from monitor.report.findings.levels import Level
from monitor.report.findings.outages import Outage
from monitor.report.findings.trends import Rise
from monitor.report.weekly.compare import share, significant
from monitor.report.weekly.elements import Item
from monitor.report.weekly.facts import Facts, Finding, Refusals
from monitor.report.weekly.operations import moment, name_json
from monitor.report.weekly.retrieval.diagnoses import LACKING, lacking_findings
from monitor.report.weekly.week import TREND_WEEKS
from monitor.report.weekly.wording import chance, when

RIGHT_BELOW: Final = 0.05
OVER_FROM: Final = 0.3
FALSE_OVER: Final = 0.15
LEAST_ANSWERED: Final = 200  # answered questions, to compare with
_SURE = 0.05  # that fewer refusals are wrong than the bound says
_FALSE_ALARM = 0.01  # that refusals are called wrong in a week where all are right
_FEWEST_WRONG = 5
_VERY_SURE = 0.001
_MOST = 5  # findings that are shown
_MOST_FIRING = 3  # alerts that are shown before them
_DOES = {"self_generated": "invents more answers", "refusal": "refuses more"}
_HAS_DONE = {"self_generated": "has invented more answers", "refusal": "has refused more"}
_VERDICT = {NEGATIVE: "negative", OFF_QUESTION: "off their question"} | {
    "self_generated": "self-generated",
    "refusal": "refusals",
}
_LABELS = {"model": "Model", "topic": "Topic", "environment": "Environment", SAMPLED: "Prompt version"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing to do for people: a sentence, how sure it is, and the path of the page with what it is about."""

    text: str
    sure: str
    path: str
    look: str = "Look at these answers"


def findings_json(facts: Facts) -> dict[str, Json]:
    """`{tests, items}`; each item with `cost`, about how many bad answers of the week it explains, the most first.

    Refusals that rise are left out where wrong refusals are named.
    """
    found = [_finding(one, facts) for one in facts.findings.items]
    wrong = _wrong_refusals(facts.refusals, facts.refusals_before)
    if wrong is not None:
        found = [one for one in found if (one["kind"], one["signal"]) != ("rise", "refusal")] + [wrong]
    found += lacking_findings(facts)
    found.sort(key=itemgetter("cost"), reverse=True)
    return {"tests": facts.findings.tests, "items": list(found)}


def _finding(one: Finding, facts: Facts) -> dict[str, Any]:
    about = one.about
    known: dict[str, Any] = {
        "label": about.slice.label,
        "value": name_json(about.slice.value),
        "signal": about.signal,
        "q": significant(one.q),
    }
    match about:
        case Outage():
            start, end = one.start or facts.week.start, one.end or facts.week.end
            return {
                "kind": "outage",
                **known,
                "start": moment(start),
                "end": moment(end),
                "this": share(about.matching, about.total),
                "negative": share(one.negative, about.total),
                "otherwise": share(about.matching_outside, about.total_outside),
                "cost": round(
                    max(one.negative, about.matching) - about.total * about.matching_outside / about.total_outside
                ),
            }
        case Rise():
            weeks: Json = [share(k, n) for k, n in about.weeks]
            cost = round(about.size * about.weeks[-1][1])
            return {"kind": "rise", **known, "steady": about.steady, "weeks": weeks, "cost": cost}
        case Level():
            return {
                "kind": "level",
                **known,
                "this": share(about.matching, about.total),
                "peers": share(about.matching_peers, about.total_peers),
                "cost": round((about.matching - about.total * about.matching_peers / about.total_peers) / TREND_WEEKS),
            }


def _wrong_refusals(now: Refusals, before: Refusals) -> dict[str, Any] | None:
    """None where all may be right, or where too few questions were answered to tell."""
    least = least_wrong(now.over, now.total)
    if not now.answered or least < _FEWEST_WRONG or _at_least(now.over, now.total, FALSE_OVER) > _FALSE_ALARM:
        return None
    likely = round((now.over - FALSE_OVER * now.total) / (1 - OVER_FROM - FALSE_OVER))
    likely = min(max(likely, least), now.total - now.correct)
    return {
        "kind": "wrong_refusals",
        "label": WHOLE,
        "value": "",
        "signal": "refusal",
        "q": significant(_at_least(now.over, now.total, FALSE_OVER)),
        "at_least": least,
        "likely": likely,
        "refusals": now.total,
        "told_wrong": now.over,
        "told_right": now.correct,
        "not_told": now.unknown,
        "refusals_before": before.total,
        "cost": likely,
    }


def least_wrong(told_wrong: int, refusals: int) -> int:
    """The lower bound, at 95 %, of the refusals that are wrong when so many are told to be.

    The smallest number of wrong ones with which `told_wrong` is not too many, if each of them and FALSE_OVER of the
    right ones were told to be wrong.
    """
    return bisect_left(
        range(told_wrong), _SURE, key=lambda wrong: _at_least(told_wrong - wrong, refusals - wrong, FALSE_OVER)
    )


def _at_least(k: int, n: int, p: float) -> float:
    """P(X ≥ k), X binomial (n, p)."""
    return max(0.0, 1.0 - at_most(k - 1, n, p))  # rounding may fall below


def actions(content: Item) -> list[Action]:
    """What to do: alerts that still fire, then the findings, the clearest first; earlier releases had no findings."""
    found = content.get("findings")
    if found is None:
        return []
    findings = [
        Action(text=_SENTENCES[one["kind"]](one), sure=_sure(one), path=_path(one, content))
        for one in found["items"][:_MOST]
    ]
    return [*_still_firing(content), *findings]


def _still_firing(content: Item) -> list[Action]:
    """What no finding may name yet: a scan for outages sees one span of hours of each slice, and nothing recent."""
    firing = [episode for episode in content["alerts"]["episodes"] if episode["resolved_at"] is None]
    more = len(firing) - _MOST_FIRING
    until = "still firing" if content["week"].get("running") else "still firing when the week ended"
    found = []
    for episode in firing[-_MOST_FIRING:]:
        labels = ", ".join(f"{name} {plain(value)}" for name, value in sorted(episode["labels"].items()))
        by = episode["acknowledged_by"]
        found.append(
            Action(
                text=f"Alert {plain(episode['rule'])}{f' ({labels})' if labels else ''}: firing since "
                f"{datetime.fromisoformat(episode['fired_at']):%A} {when(episode['fired_at'])}, {until}.",
                sure=f"Acknowledged by {plain(by)}." if by else "Nobody has acknowledged it.",
                path=f"/alerts/episodes/{quote(episode['episode'], safe='')}",
                look="Look at this alert",
            )
        )
    if more > 0:
        found[0] = replace(found[0], sure=f"{found[0].sure} {plural(more, 'other alert')} fired before it and went on.")
    return found


def calm(content: Item) -> str | None:
    """What to say in place of actions; None where there are some, or where nothing was looked for."""
    found = content.get("findings")
    if found is None or actions(content):
        return None
    if not content["verdicts"]["answers"]:
        return "There is nothing to look at: no answers."
    return (
        f"Nothing calls for action: {found['tests']:,} comparisons of the app, its models, topics, environments and "
        f"prompt versions over {TREND_WEEKS} weeks show no outage, no rise and no value that stands out."
    )


def _who(one: Item) -> str:
    if one["label"] == WHOLE:
        return "The app as a whole"
    return f"{_LABELS[one['label']]} {plain(one['value']) or '(none)'}"


def _outage(one: Item) -> str:
    start, end = (datetime.fromisoformat(one[name]) for name in ("start", "end"))
    length = end - start
    unit = "minute" if length < timedelta(minutes=90) else "hour"
    lasted = plural(max(1, round(length / timedelta(**{f"{unit}s": 1}))), unit)
    until = f"{end:%H:%M} UTC" if start.date() == end.date() else shown_moment(end)
    span = f"for about {lasted}, from {start:%A} {shown_moment(start)} to {until}"
    this, bad, otherwise = one["this"], one["negative"]["count"], percent(one["otherwise"]["share"])
    if one["signal"] == OFF_QUESTION:
        documents = f"the documents of {this['count']:,} of {plural(this['of'], 'answer')} were off their question"
        return f"{_who(one)}: retrieval went wrong {span}: {documents} ({otherwise} at other times), {bad:,} were bad."
    counted = f"{this['count']:,} of {plural(this['of'], 'answer')} were {_VERDICT[one['signal']]}"
    return f"{_who(one)} went wrong {span}: {counted} ({otherwise} at other times)."


def _rise(one: Item) -> str:
    *earlier, now = one["weeks"]
    known = [week for week in earlier if week["of"]]
    if one["steady"]:
        shares = " → ".join(percent(week["share"]) for week in (*known, now))
        does = _DOES[one["signal"]]
        more = f"{does} each week" if _rising([*known, now]) else does.replace("more", "more and more")
        return f"{_who(one)} {more}: {shares} of its answers over {len(known) + 1} weeks."
    before = sum(week["count"] for week in known) / sum(week["of"] for week in known)
    has_done = _HAS_DONE[one["signal"]]
    return f"{_who(one)} {has_done} this week: {percent(now['share'])} of its answers, {percent(before)} before."


def _rising(weeks: list[Item]) -> bool:
    return all(one["share"] < other["share"] for one, other in pairwise(weeks))


def _level(one: Item) -> str:
    own, peers = percent(one["this"]["share"]), percent(one["peers"]["share"])
    more = f"{_DOES[one['signal']]} than its peers"
    return f"{_who(one)} {more} in these {TREND_WEEKS} weeks: {own} of its answers against {peers}."


def _wrong(one: Item) -> str:
    refusals = plural(one["refusals"], "refusal")
    before = f"{one['refusals_before']:,} in the week before"
    untold = f"{one['not_told']:,} cannot be told"
    return (
        f"Refusals: at least {one['at_least']:,} of {refusals} ({before}) are wrong, probably about {one['likely']:,}: "
        f"the documents match the question as well as those of answered questions do; {untold}."
    )


def _lacking(one: Item) -> str:
    """The question is blank once its answer is erased."""
    asked = f"like “{plain(one['question'])}”" if one["question"] else "alike"
    answers = plural(one["this"]["count"], "answer")
    return (
        f"Knowledge base: {percent(one['this']['share'])} of the questions are {asked}, and no retrieved document "
        f"seems to answer them: {one['negative']:,} of {answers} were refused or made up. Read a few answers; if the "
        "knowledge base lacks it, write a document."
    )


_SENTENCES = {"outage": _outage, "rise": _rise, "level": _level, "wrong_refusals": _wrong, LACKING: _lacking}


def _sure(one: Item) -> str:
    very = "Very sure" if one["q"] <= _VERY_SURE else "Sure"
    return f"{very} ({chance('q', one['q'])}); about {plural(one['cost'], 'more bad answer')} this week."


def _path(one: Item, content: Item) -> str:
    """The list of answers that the finding is about."""
    return f"/interactions?{urlencode(dict(_query(one, content)), safe=':', errors='replace')}"


def _query(one: Item, content: Item) -> Iterator[tuple[str, str]]:
    yield "app", content["app"]
    if one["label"] in {"model", "topic", "environment"}:
        yield one["label"], one["value"]
    for name, end in (("since", "start"), ("until", "end")):
        yield name, one.get(end, content["week"][end]).removesuffix("T00:00:00Z")
    signals: Mapping[str, tuple[str, str]] = {
        OFF_QUESTION: ("reason", OFF_QUESTION),
        Diagnosis.RETRIEVAL_MISSED: ("diagnosis", Diagnosis.RETRIEVAL_MISSED),
    }
    yield signals.get(one["signal"], ("verdict", one["signal"]))
