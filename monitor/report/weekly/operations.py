"""Describes how the app was watched, as JSON objects: alerts, messages, judgements, human labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from statistics import median

from monitor.alert.silence import parse_matcher
from monitor.alert.window import Count, interval
from monitor.core.figures.usage import P50, P95, AnswerUsage
from monitor.core.model import Json
from monitor.core.text.plain import shortened
from monitor.privacy.masking import redact
from monitor.report.weekly.compare import rounded, share
from monitor.report.weekly.facts import Coverage, Episode, Facts, JudgedMetric, WeekSilence
from monitor.review.agreement import ENOUGH, Agreement, summary
from monitor.review.label import Drawn, consensus

_NAME = 120  # characters shown of a name from outside
_NOTE = 200


def moment(at: datetime) -> str:
    """A time in UTC to the microsecond, such as `2026-11-09T00:00:00Z`."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def name_json(name: str | None) -> str | None:
    """A name from outside: masked, on one line and cut; '' and None stay as they are."""
    return shortened(redact(name), _NAME) if name else name


def alerts_json(facts: Facts) -> Json:
    """Alerts of the app, and of no app, that were firing in the week; and the silences."""
    start, end = facts.week.start, facts.week.end
    acknowledged = [
        _seconds(episode.acknowledged_at - episode.fired_at) for episode in facts.episodes if episode.acknowledged_at
    ]
    resolved = [_seconds(episode.resolved_at - episode.fired_at) for episode in facts.episodes if episode.resolved_at]
    quiet = [silence for silence in facts.silences if _may_hold(silence, facts.app)]
    return {
        "watched_days": facts.watched,
        "fired": sum(episode.fired_at >= start for episode in facts.episodes),
        "fired_before": sum(episode.fired_at < start for episode in facts.episodes),
        "to_acknowledge": _lengths(acknowledged, len(facts.episodes)),
        "to_resolve": _lengths(resolved, len(facts.episodes)),
        "episodes": [_episode(episode) for episode in facts.episodes],
        "silences": [
            {
                "matchers": [name_json(matcher) for matcher in silence.matchers],
                "starts_at": moment(silence.starts_at),
                "ends_at": moment(min(silence.ends_at, end)),
                "until_after_the_week": silence.ends_at > end,
                "by": name_json(silence.by),
                "comment": shortened(redact(silence.comment), _NOTE) if silence.comment else "",
            }
            for silence in quiet
        ],
    }


def used_json(facts: Facts) -> Json:
    """What the answers used: latency, tokens and cost, in all and by model, the most expensive first."""
    used = sorted(facts.used.items(), key=lambda pair: (-pair[1].this.cost.sum, -pair[1].this.answers, pair[0]))
    return {
        "all": {
            "this": _used(AnswerUsage.total(weeks.this for weeks in facts.used.values())),
            "before": _used(AnswerUsage.total(weeks.before for weeks in facts.used.values())),
        },
        "models": [
            {"model": name_json(model), "this": _used(weeks.this), "before": _used(weeks.before)}
            for model, weeks in used
            if weeks.this.answers
        ],
    }


def _used(used: AnswerUsage) -> Json:
    """Latencies in seconds, tokens and cost as means of an answer; null where no event tells them."""
    return {
        "answers": used.answers,
        "latency": {
            "answers": used.latency.answers,
            "p50": rounded(used.latency_at(P50)),
            "p95": rounded(used.latency_at(P95)),
        },
        "tokens": {"input": rounded(used.input_tokens.mean), "output": rounded(used.output_tokens.mean)},
        "cost": {
            "answers": used.cost.answers,
            "unpriced": used.unpriced,
            "sum": used.cost.sum,
            "of_an_answer": used.cost.mean,
            "of_a_grounded_answer": used.cost_per_grounded,
        },
    }


def _episode(episode: Episode) -> Json:
    return {
        "episode": episode.episode,
        "rule": name_json(episode.rule),
        "severity": episode.severity,
        "labels": {str(name_json(name)): name_json(value) for name, value in sorted(episode.labels.items()) if value},
        "fired_at": moment(episode.fired_at),
        "acknowledged_at": moment(episode.acknowledged_at) if episode.acknowledged_at else None,
        "acknowledged_by": name_json(episode.acknowledged_by),
        "seconds_to_acknowledge": _seconds(episode.acknowledged_at - episode.fired_at)
        if episode.acknowledged_at
        else None,
        "resolved_at": moment(episode.resolved_at) if episode.resolved_at else None,
        "seconds_to_resolve": _seconds(episode.resolved_at - episode.fired_at) if episode.resolved_at else None,
    }


def _lengths(seconds: Sequence[int], total: int) -> Json:
    return {
        "count": len(seconds),
        "of": total,
        "median_seconds": round(median(seconds)) if seconds else None,
        "longest_seconds": max(seconds, default=None),
    }


def _seconds(length: timedelta) -> int:
    return round(length.total_seconds())


def _may_hold(quiet: WeekSilence, app: str) -> bool:
    """Whether the silence may apply to the app; a matcher that cannot be parsed excludes nothing."""
    for text in quiet.matchers:
        try:
            matcher = parse_matcher(text)
        except ValueError:
            continue
        if matcher.label == "app" and not matcher.matches({"app": app}):
            return False
    return True


def coverage_json(facts: Facts, answers: int) -> Json:
    """How many of the app's answers are assessed, and what arrived in the week for all apps."""
    c = facts.coverage
    received, dead = sum(source.received for source in c.arrivals), sum(source.dead for source in c.arrivals)
    return {
        "assessed": share(answers, answers + c.pending),
        "pending": c.pending,
        "unscored": [
            {"reason": reason.value, "turns": share(turns, answers + c.pending + sum(c.unscored.values()))}
            for reason, turns in sorted(c.unscored.items(), key=lambda item: (-item[1], item[0]))
        ],
        "received": received,
        "dead": share(dead, received),
        "sources": [{**asdict(source), "source": name_json(source.source)} for source in c.arrivals],
        "dead_letters": [{"problem": name_json(problem), "letters": number} for problem, number in c.problems],
    }


def ledger_json(c: Coverage) -> Json:
    """The ledger of the whole installation since its beginning, and how far each source was read."""
    return {
        **asdict(c.ledger),
        "balanced": c.ledger.balanced and not c.unbalanced,
        "read_once": [{**asdict(source), "source": name_json(source.source)} for source in c.read_once],
        "partitions": c.partitions,
        "unbalanced_partitions": c.unbalanced,
        "reading": [
            {"source": name_json(source.source), "through": moment(source.through), "unread": source.unread}
            for source in c.behind
        ],
    }


def judge_json(facts: Facts, answers: int) -> Json:
    """Means of the judged metrics with their intervals and costs."""
    before = {(metric.metric, metric.model): metric for metric in facts.judged_before}
    return {
        "sampled": share(facts.judged_answers, answers),
        "cost": rounded(sum(metric.cost for metric in facts.judged)),
        "metrics": [
            {
                "metric": metric.metric,
                "model": name_json(metric.model),
                "this": _mean(metric),
                "before": _mean(
                    before.get((metric.metric, metric.model), JudgedMetric(metric=metric.metric, model=metric.model))
                ),
                "calls": metric.calls,
                "input_tokens": metric.input_tokens,
                "output_tokens": metric.output_tokens,
                "cost": rounded(metric.cost),
            }
            for metric in facts.judged
        ],
        "usage_of_all_apps": [
            {**asdict(usage), "model": name_json(usage.model), "cost": rounded(usage.cost)} for usage in facts.usage
        ],
    }


def _mean(metric: JudgedMetric) -> Json:
    """`{judged, scored, mean, lower, upper}`: the interval is normal at 95 %, cut to [0, 1]; it needs two scores."""
    count = Count(total=metric.worth, sum=metric.sum, squares=metric.squares)
    lower, upper = interval(count, share=False) if metric.worth > 1 else (None, None)
    return {
        "judged": metric.judged,
        "scored": metric.scored,
        "mean": rounded(count.mean),
        "lower": None if lower is None else rounded(max(0.0, lower)),
        "upper": None if upper is None else rounded(min(1.0, upper)),
    }


def agreement_json(facts: Facts, answers: int) -> Json:
    """How often verdicts agree with people, on answers drawn at random, and how many were labelled at all."""
    decided = consensus(facts.opinions)
    week = summary(facts.week.name, [c for c in decided if c.newest.drawn is Drawn.RANDOM], facts.unlabelled)
    return {
        "reviewed": share(len(decided), answers),
        "labels": week.verdict.total,
        "enough": week.enough,
        "least": ENOUGH,
        "verdict": _agreement(week.verdict),
        "rule": _agreement(week.rule),
        "disputed": week.disputed,
        "not_labelled": week.unlabelled,
        "people": len({opinion.by for opinion in facts.opinions}),
    }


def _agreement(agreed: Agreement) -> Json:
    return {**share(agreed.agreeing, agreed.total), "kappa": rounded(agreed.kappa)}
