"""One assessed interaction in words: what was asked and answered, what carried it, and why the verdict."""

from monitor.assess.explain import REASON_WORDS, findings_json
from monitor.cli.explain import COLOURS, METRIC_NAMES, explanation

__all__ = ["COLOURS", "METRIC_NAMES", "REASON_WORDS", "explanation", "findings_json"]
