"""Hard facts in texts: the numbers, dates and names that an answer states and its documents do or do not hold."""

from monitor.score.facts.conflict import conflicts
from monitor.score.facts.extract import facts
from monitor.score.facts.fact import Fact, FactKind
from monitor.score.facts.index import FactIndex, missing

__all__ = ["Fact", "FactIndex", "FactKind", "conflicts", "facts", "missing"]
