"""In: texts. Out: their hard facts, and those of an answer that its documents do not hold.

Hard facts are numbers, dates and names.
"""

from monitor.assess.score.facts.conflict import conflicts
from monitor.assess.score.facts.extract import facts
from monitor.assess.score.facts.fact import Fact, FactKind
from monitor.assess.score.facts.index import FactIndex, missing, not_held
from monitor.assess.score.facts.spelled import spelled_out

__all__ = ["Fact", "FactIndex", "FactKind", "conflicts", "facts", "missing", "not_held", "spelled_out"]
