"""What an alert measures, in words: the signal, the value, the line that it is held against, and the evidence.

Every receiver, page and command words an alert by these, so that a figure reads the same everywhere. A reader may have
been woken by it: each phrase stands alone, says what it counts, and gives its unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from math import inf

from monitor.alert.notification import NotifiedAlert, Unit
from monitor.core.text.duration import format_duration
from monitor.core.text.plain import moment, money, percent, plain

_RATES: Mapping[str, str] = {
    "negative": "negative answers",
    "grounded": "grounded answers",
    "refusal": "refusals",
    "self_generated": "self-generated answers",
    "support_off_question": "answers whose supporting documents are not about the question",
    "support_not_retrieved": "answers whose supporting documents do not match the retrieved ones",
    "answer_off_support": "answers that depart from their supporting documents",
    "retrieval_off_question": "answers whose retrieved documents are not about the question",
    "answer_off_question": "answers that are not about the question",
    "not_in_documents": "answers that say something that no retrieved document supports",
    "missing_fact": "answers with a number, date or name that is in no document",
    "contradicts_documents": "answers that contradict their documents",
    "no_documents": "answers for which nothing was retrieved",
    "no_support": "answers whose generator named no supporting document",
    "empty_answer": "empty answers",
    "refusal_wording": "answers worded as a refusal",
    "retrieval_missed": "answers for which no relevant chunk was retrieved",
    "retrieval_noisy": "answers for which most of what was retrieved is not about the question",
    "retrieval_redundant": "answers for which much of what was retrieved repeats the rest",
    "generator_ignored": "answers that do not use the relevant chunk that was retrieved",
    "generator_invented": "answers that use a relevant chunk and say more than the documents",
    "healthy": "answers diagnosed as healthy",
}
_MEANS: Mapping[str, str] = {
    "sdq": "similarity of supporting documents and question (mean SDQ)",
    "sdrd": "similarity of supporting and retrieved documents (mean SDRD)",
    "sda": "similarity of supporting documents and answer (mean SDA)",
    "qrd": "similarity of question and retrieved documents (mean QRD)",
    "qa": "similarity of question and answer (mean QA)",
}
_PROBED: Mapping[str, str] = {
    "correctness": "correctness of answers to golden questions (mean, 1 to 5)",
    "wscore": "how fast conversations about golden questions get to the right answer (mean wscore, 0 to 5)",
    "unsure": "answers to golden questions that say they are not sure",
    "unjudged": "golden questions without a judged answer",
}
_RANKED: Mapping[str, str] = {  # of each, one in ten was as bad before
    "score": "answers that look as made up as the worst tenth used to",
    "refusal": "answers as close to a refusal as the worst tenth used to be",
    "sdq": "answers whose supporting documents fit the question as badly as the worst tenth used to",
    "qrd": "answers whose retrieved documents fit the question as badly as the worst tenth used to",
}
_AMOUNTS: Mapping[str, str] = {
    "latency of mean": "time that an answer takes (mean)",
    "latency of p50": "time within which half of the answers come (p50)",
    "latency of p90": "time within which 90 % of the answers come (p90)",
    "latency of p95": "time within which 95 % of the answers come (p95)",
    "latency of p99": "time within which 99 % of the answers come (p99)",
    "tokens of input": "tokens that an answer reads (mean)",
    "tokens of output": "tokens that an answer writes (mean)",
    "tokens of total": "tokens that an answer reads and writes (mean)",
    "cost of answer": "cost of an answer (mean, in the currency of the prices)",
    "cost of spend": "cost of all answers (in the currency of the prices)",
}
_STATES: Mapping[str, str] = {
    "no_data": "answers",
    "unscored_rate": "turns that cannot be scored",
    "dead_letters": "messages that cannot be read (dead letters)",
    "lag": "reading is behind by",
    "ledger_imbalance": "partitions whose ledger does not balance",
}
_UNKNOWN: Mapping[str, str] = {
    "lag": "nothing is being read",
    "ledger_imbalance": "nothing has been read yet",
}
_LIMITS: Mapping[str, str] = {  # what the bound of a method is; that of any other is a line
    "shift": "usually",
    "burn_rate": "allowed",
    "sequential": "target",
    "absence": "expected",
}


_A_MINUTE = 60.0
_A_LIFETIME = 3e9  # beyond, as of a latency in wrong units, days say nothing, and a timedelta does not hold all
_SMALL = 0.1  # below, three decimals say too little of a cost


def signal_words(signal: str) -> str:
    """The text of `str(Signal)` for people: `rate of negative` → `negative answers`."""
    kind, _, name = signal.partition(" of ")
    match kind:
        case "rate" if name:
            return words(name)
        case "mean" if name in _MEANS:
            return _MEANS[name]
        case "ranks" if name in _RANKED:
            return _RANKED[name]
        case "probe" if name in _PROBED:
            return _PROBED[name]
        case "true_rate" if name:
            return f"{words(name)}, as people labelled them"
    return _AMOUNTS.get(signal) or _STATES.get(signal) or plain(signal.replace("_", " "))


def words(identifier: str) -> str:
    """What a rate counts: `negative` → `negative answers`."""
    return _RATES.get(identifier, f"answers with {plain(identifier.replace('_', ' '))}")


def capital(text: str) -> str:
    """`text` with a capital first letter."""
    return text[:1].upper() + text[1:]


def amount(value: float, unit: Unit) -> str:
    """`value` with its unit: `38.2 %`, `0.612`, `1h30m`, `3.4s`."""
    match unit:
        case "share":
            return percent(value)
        case "seconds":
            if value < _A_MINUTE and value != int(value):
                return f"{value * 1000:,.0f}ms" if value < 1 else f"{value:.1f}s"
            if value > _A_LIFETIME:
                return f"{value:.3g}s"
            return format_duration(timedelta(seconds=value))
        case "number":
            return money(value) if 0 < value < _SMALL else f"{value:,.3f}".rstrip("0").rstrip(".")


def value_of(alert: NotifiedAlert) -> str:
    """The value with its unit, `none` for missing answers, `unknown` if there is none."""
    if alert.value is None:
        return "unknown"
    if alert.method == "absence" and not alert.value:
        return "none"
    return amount(alert.value, alert.unit)


def interval_of(alert: NotifiedAlert) -> str:
    """`28.5 % to 48.9 %`; empty for an exact or unknown value."""
    if alert.value is None or alert.lower is None or alert.upper is None or alert.lower == alert.upper:
        return ""
    if alert.upper == inf:
        return f"{amount(alert.lower, alert.unit)} or more"
    return f"{amount(alert.lower, alert.unit)} to {amount(alert.upper, alert.unit)}"


def limit_of(alert: NotifiedAlert) -> tuple[str, str]:
    """What the value is held against, as name and amount: `fires above`, `30.0 %`."""
    if alert.method == "absence":
        return _LIMITS["absence"], f"about {alert.bound:,.0f} in {format_duration(alert.window)}"
    if alert.method in {"change", "decline"} and (alert.bound >= 1.0 if alert.unit == "share" else not alert.bound):
        return "usual level", "not known yet"  # no share rises above 1, no usual amount or line is 0
    name = _LIMITS.get(alert.method, f"fires {'below' if alert.below else 'above'}")
    return name, amount(alert.bound, alert.unit)


def figure(alert: NotifiedAlert) -> str:
    """The alert in one phrase without text from outside: `negative answers: 38.2 %, fires above 30.0 %`."""
    if alert.status == "error":
        return "the rule cannot be evaluated, so nobody is watching"
    quiet = f"no {counted(alert)} since {moment(alert.quiet_since)}" if alert.quiet_since else ""
    if alert.method == "absence" and not alert.value:
        return f"{quiet or 'no answers'}, {limit_of(alert)[1]} expected"
    if alert.value is None:
        return quiet or _UNKNOWN.get(alert.signal, f"no {counted(alert)} to judge")
    phrase = f"{signal_words(alert.signal)}: {value_of(alert)}, {' '.join(limit_of(alert))}"
    return f"{quiet}; before that, {phrase}" if quiet else phrase


def counted(alert: NotifiedAlert) -> str:
    """What is counted: `messages`, `turns`, `labels`, `golden questions` or `answers`."""
    if alert.signal.startswith("true_rate"):
        return "labels"
    if alert.signal.startswith("probe"):
        return "golden questions"
    return {"dead_letters": "messages", "unscored_rate": "turns"}.get(alert.signal, "answers")
