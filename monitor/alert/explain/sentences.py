"""Words an explanation in a few plain sentences, the same for the console, mail and Slack.

Values, words and questions come from outside: each is reduced to one line, cut, and cleared of personal data. The
caller escapes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import category

from monitor.alert.explain.dimensions import DOCUMENT, DOCUMENTS
from monitor.alert.explain.finding import FEWEST_DIAGNOSED, Cluster, Diagnoses, Finding, Kind, Value
from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Reason
from monitor.core.reason_words import REASON_WORDS
from monitor.privacy.masking import redact

MOST = 5
LONGEST = 199  # characters of a sentence
MOST_CLUSTERS = 2  # clusters that get a sentence
_VALUE = 36  # characters of a value; with two values that coincide, there is still room for the figures
_EXAMPLE = 80
_SIGNALS = {
    "negative": "negative",
    "grounded": "grounded",
    "refusal": "refused",
    "self_generated": "self-generated",
}
_MOST_DIAGNOSES = 2  # that a sentence has
_LEAST_DIAGNOSES = 0.005  # of the answers: a diagnosis that rose by less is left out
_WHOLE = 0.95  # from this share of the rise on, a value explains the whole rise
_TENTHS_BELOW = 0.0995  # smaller shares are shown with one decimal


def sentences_of(
    *,
    signal: str,
    rate: float | None,
    before: float | None,
    looked_at: int,
    findings: Sequence[Finding],
    clusters: Sequence[Cluster],
    diagnoses: Diagnoses,
) -> list[str]:
    """At most `MOST` sentences: the findings, most telling first, the clusters of questions, then the diagnoses."""
    shown = _SIGNALS.get(signal) or _shown(signal)
    rise = None if rate is None or before is None else rate - before
    telling = [f for f in findings if f.kind is not Kind.AS_BEFORE]
    sentences = [_finding(finding, shown, rise) for finding in telling]
    if not telling:
        sentences.append(_nothing(rate, looked_at, found=bool(findings)))
        sentences += [_finding(finding, shown, rise) for finding in findings[:1]]
    about = [*map(_cluster, clusters[:MOST_CLUSTERS]), *_diagnoses(diagnoses)]
    return [_cut(sentence, LONGEST) for sentence in (*sentences[: MOST - len(about)], *about)]


def _shown(signal: str) -> str:
    if signal in set(Diagnosis):
        return f"diagnosed as {signal.replace('_', ' ')}"
    return f"where {REASON_WORDS[Reason(signal)]}"


def _finding(finding: Finding, shown: str, rise: float | None) -> str:
    named = " = ".join(map(value_phrase, finding.values[:2]))
    more = len(finding.values) - 2
    named += f" (and {more} more that coincide)" if more > 0 else ""
    return f"{named}{_compared(finding, shown)}{_owed(finding, rise)}."


def _compared(f: Finding, shown: str) -> str:
    """The one comparison that tells: with before, or with the other answers where there is no before."""
    rate = f"{percent(f.rate)} {shown}"
    if f.kind is Kind.NEW:
        return f": new, and {rate} ({percent(f.elsewhere)} elsewhere)"
    if f.before_rate is None or f.before_share is None:
        return f": {rate} ({percent(f.elsewhere)} elsewhere)"
    if f.kind is Kind.MIX:
        return f": {percent(f.share)} of the answers ({percent(f.before_share)} before), as bad as they were"
    return f": {rate}, as before" if f.kind is Kind.AS_BEFORE else f": {rate} ({percent(f.before_rate)} before)"


def _owed(finding: Finding, rise: float | None) -> str:
    if finding.kind in (Kind.AS_BEFORE, Kind.UNCOMPARED) or rise is None or rise <= 0:
        return ""
    if finding.owed >= _WHOLE * rise:
        return "; this explains the whole rise"
    return f"; this explains {percent(finding.owed / rise)} of the rise"


def _nothing(rate: float | None, looked_at: int, *, found: bool) -> str:
    dimensions = "app, model, prompt version, topic, document or tag"
    if rate is None:
        return "Nothing can be compared: the window has no answers."
    if not looked_at:
        return f"Nothing can be compared: too few answers to tell one {dimensions} from another."
    verb = "explains the change" if found else "stands out"
    return f"No {dimensions} {verb} among {looked_at} compared values."


def _cluster(cluster: Cluster) -> str:
    before = "" if cluster.before_share is None else f" ({percent(cluster.before_share)} before)"
    words = ", ".join(map(word_phrase, cluster.words))
    about = f"are about {words}" if words else "are alike"
    example = _cut(plain(cluster.example), _EXAMPLE)
    return f"{percent(cluster.share)} of the failing questions{before} {about}: “{example}”"


def _diagnoses(found: Diagnoses) -> list[str]:
    """The diagnoses that rose most, such as `Diagnoses: retrieval missed 41 % (6.0 % before).` in one sentence.

    None where too few answers have a diagnosis, or none rose.
    """
    if found.answers < FEWEST_DIAGNOSED:
        return []
    compared = {each.diagnosis: found.shares(each.diagnosis) for each in found.counts}
    wrong = [
        (name, now.rate, before.rate)
        for name, (now, before) in compared.items()
        if name != Diagnosis.HEALTHY and now.rate - (before.rate if found.comparable else 0.0) >= _LEAST_DIAGNOSES
    ]
    wrong.sort(key=lambda each: (each[2] - each[1], each[0]))
    pieces = [
        f"{_cut(plain(name.replace('_', ' ')), _VALUE)} {percent(now)}"
        + (f" ({percent(before)} before)" if found.comparable else "")
        for name, now, before in wrong[:_MOST_DIAGNOSES]
    ]
    return [f"Diagnoses: {', '.join(pieces)}."] if pieces else []


def value_phrase(value: Value) -> str:
    """How a sentence names a value."""
    if value.dimension == DOCUMENTS:
        return f"documents {value.value}"
    if value.dimension == DOCUMENT and not value.value:
        return "no retrieved document"
    return (
        f"{_cut(plain(redact(value.dimension)).replace('_', ' '), _VALUE)} {_cut(plain(redact(value.value)), _VALUE)}"
    )


def word_phrase(word: str) -> str:
    """How a sentence names a word of a group of questions."""
    return _cut(plain(word), _VALUE)


def plain(text: str) -> str:
    """`text` on one line, without control, bidi and other invisible characters."""
    seen = "".join(character for character in " ".join(text.split()) if category(character)[0] != "C")
    return " ".join(seen.split()) or "(empty)"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def percent(share: float) -> str:
    """Whole percents, with one decimal below 10 %."""
    return f"{share * 100:.1f} %" if 0 < share < _TENTHS_BELOW else f"{share * 100:.0f} %"
