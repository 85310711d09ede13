"""Hard facts in texts: the numbers, dates and names that an answer states and its documents do or do not hold."""

from monitor.assess.score.facts.conflict import conflicts
from monitor.assess.score.facts.extract import facts
from monitor.assess.score.facts.fact import Fact, FactKind
from monitor.assess.score.facts.index import FactIndex, missing

__all__ = ["Fact", "FactIndex", "FactKind", "conflicts", "facts", "missing"]
