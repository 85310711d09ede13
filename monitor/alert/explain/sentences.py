"""An explanation in a few plain sentences, the same for the console, an e-mail and Slack.

Values, words and questions come from outside: they are put on one line and cut, and personal data is taken out; the
caller escapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import category

from monitor.alert.explain.dimensions import DOCUMENT, DOCUMENTS
from monitor.alert.explain.finding import Cluster, Finding, Kind, Value
from monitor.privacy.masking import redact

MOST = 5
LONGEST = 199  # characters of a sentence
MOST_CLUSTERS = 2  # that are said
_VALUE = 36  # characters of a value; of two that coincide they still leave room for the figures
_EXAMPLE = 80
_SIGNALS = {
    "negative": "negative",
    "grounded": "grounded",
    "refusal": "refused",
    "self_generated": "self-generated",
}
_WHOLE = 0.95  # a share of the rise from which on it is all of it


def tell(
    *,
    signal: str,
    rate: float | None,
    before: float | None,
    looked_at: int,
    findings: Sequence[Finding],
    clusters: Sequence[Cluster],
) -> list[str]:
    """At most `MOST`, most telling first: findings, then what the questions are about."""
    shown = _SIGNALS.get(signal, f"with {signal.replace('_', ' ')}")
    rise = None if rate is None or before is None else rate - before
    telling = [f for f in findings if f.kind is not Kind.AS_BEFORE]
    said = [_finding(finding, shown, rise) for finding in telling]
    if not telling:
        said.append(_nothing(rate, before, looked_at, shown, found=bool(findings)))
        said += [_finding(finding, shown, rise) for finding in findings[:1]]
    about = [_cluster(cluster) for cluster in clusters[:MOST_CLUSTERS]]
    return [_cut(sentence, LONGEST) for sentence in (*said[: MOST - len(about)], *about)]


def _finding(finding: Finding, shown: str, rise: float | None) -> str:
    named = " = ".join(map(_value, finding.values[:2]))
    more = len(finding.values) - 2
    named += f" (and {more} more that coincide)" if more > 0 else ""
    return f"{named}: {_percent(finding.rate)} {shown} {_compared(finding)}{_owed(finding, rise)}."


def _compared(f: Finding) -> str:
    against = f"against {_percent(f.elsewhere)} elsewhere"
    share = f"{_percent(f.share)} of the answers"
    if f.kind is Kind.NEW:
        return f"{against}; new, {share}"
    if f.before_rate is None or f.before_elsewhere is None or f.before_share is None:
        return f"{against}, {share}"
    if f.kind is Kind.MIX:
        more = f"{share} instead of {_percent(f.before_share)}"
        return f"({_percent(f.before_rate)} before) {against}, and now {more}: a shift of traffic"
    if f.kind is Kind.AS_BEFORE:
        return f"{against}, as before ({_percent(f.before_rate)} against {_percent(f.before_elsewhere)})"
    return f"{against}, it was {_percent(f.before_rate)} before"


def _owed(finding: Finding, rise: float | None) -> str:
    if finding.kind in (Kind.AS_BEFORE, Kind.UNCOMPARED) or rise is None or rise <= 0:
        return ""
    if finding.owed >= _WHOLE * rise:
        return "; it explains the whole rise"
    return f"; it explains {_percent(finding.owed / rise)} of the rise"


def _nothing(rate: float | None, before: float | None, looked_at: int, shown: str, *, found: bool) -> str:
    dimensions = "app, model, prompt version, topic, document or tag"
    if rate is None:
        return "Nothing can be compared: there are no answers in the window."
    if not looked_at:
        return f"Nothing can be compared: no {dimensions} has answers enough beside the others."
    was = "" if before is None else f" ({_percent(before)} before)"
    stands = "explains the change" if found else "stands out"
    return f"No {dimensions} {stands}, of {looked_at} values looked at: {_percent(rate)} {shown}{was} in all."


def _cluster(cluster: Cluster) -> str:
    before = "" if cluster.before_share is None else f" ({_percent(cluster.before_share)} before)"
    words = ", ".join(_cut(plain(word), _VALUE) for word in cluster.words)
    about = f"are about {words}" if words else "are alike"
    example = _cut(plain(cluster.example), _EXAMPLE)
    return f"{_percent(cluster.share)} of the failing questions{before} {about}: “{example}”"


def _value(value: Value) -> str:
    if value.dimension == DOCUMENTS:
        return f"documents {value.value}"
    if value.dimension == DOCUMENT and not value.value:
        return "no retrieved document"
    return f"{_cut(plain(value.dimension).replace('_', ' '), _VALUE)} {_cut(plain(redact(value.value)), _VALUE)}"


def plain(text: str) -> str:
    """On one line, without control, bidi and other invisible characters."""
    seen = "".join(character for character in " ".join(text.split()) if category(character)[0] != "C")
    return " ".join(seen.split()) or "(empty)"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def _percent(share: float) -> str:
    """Whole percents, but one decimal below 10 %."""
    return f"{share * 100:.1f} %" if 0 < share < 0.0995 else f"{share * 100:.0f} %"  # noqa: PLR2004
