"""When a rule fires, in words: for the list of rules, where a line such as `max(0.3, baseline + 15pp)` is no answer."""

from __future__ import annotations

from monitor.alert.figures import amount, signal_words
from monitor.alert.methods.absence import Absence
from monitor.alert.methods.burn_rate import BurnRate
from monitor.alert.methods.change import Change
from monitor.alert.methods.decline import Decline
from monitor.alert.methods.rate import Rate
from monitor.alert.methods.sequential import Sequential
from monitor.alert.methods.shift import Shift
from monitor.alert.methods.threshold import Threshold
from monitor.alert.notification import Unit
from monitor.alert.rule import Rule
from monitor.alert.target import LOWEST, Target
from monitor.core.text.duration import format_duration


def fires_when(rule: Rule) -> str:
    """When `rule` fires, such as `negative answers: above 30.0 %, over 5m, for 1m`."""
    wait = f", for {format_duration(rule.for_)}" if rule.for_ else ""
    return f"{_condition(rule)}{wait}"


def target_words(target: Target, unit: Unit) -> str:
    """The line of a rule, such as `5m`, or `30.0 %, or 15 points above the usual level if that is more`."""
    if target.value is not None:
        return amount(target.value, unit)
    points = f"{abs(target.margin) * 100:g} {'point' if abs(target.margin) == _POINT else 'points'}"
    learnt = "the usual level"
    if target.margin:
        learnt = f"{points} {'above' if target.margin > 0 else 'below'} {learnt}"
    return learnt if target.least == LOWEST else f"{amount(target.least, unit)}, or {learnt} if that is more"


_POINT = 0.01


def _condition(rule: Rule) -> str:
    method, measured = rule.method, signal_words(str(rule.signal))
    line, window = target_words(method.target, rule.unit), format_duration(method.window)
    match method:
        case Absence():
            held_against = f"none in {window}, though {method.expected} or more usually come"
        case Shift():
            held_against = "clearly more than one in ten"
        case Rate():
            held_against = f"surely more than {line}"
        case BurnRate():
            factors = " or ".join(f"{pair.factor:g} times in {format_duration(pair.long)}" for pair in method.pairs)
            held_against = f"faster than the {line} allowed, {factors}"
        case Sequential():
            held_against = f"clearly above the target of {line}"
        case Change():
            rise = f"{method.at_least * 100:g} {'points' if rule.signal.is_share else '%'}"
            held_against = f"{rise} above the same hours of earlier weeks, over {window}"
        case Decline():
            least = f"{method.at_least * 100:g} points" if rule.signal.is_share else f"{method.at_least:g}"
            held_against = f"{least} or more worse than the same questions in the runs before"
        case Threshold() if rule.signal.is_of_probe:
            side = "below" if method.fires_below(rule.signal) else "above"
            least = f", of {method.min_samples} answers or more" if not rule.signal.is_of_questions else ""
            held_against = f"{side} {line} in the newest run{least}"
        case _ if rule.signal.is_momentary:
            held_against = f"more than {line}"
        case _:
            held_against = f"{'below' if method.fires_below(rule.signal) else 'above'} {line}, over {window}"
    return f"{measured}: {held_against}"
