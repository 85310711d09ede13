"""What pages keep from one request to the next, in this process: work under way, the rules as they are, candidates."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from threading import Lock

from fastapi import Request

from monitor.alert.rule import RuleSet
from monitor.alert.rules.file import DEFAULT_RULES, parse_rules, read_rules
from monitor.app.wiring.application import Application
from monitor.core.errors import MonitorError
from monitor.store.audit.verify import Verified
from monitor.web.base.jobs import Jobs
from monitor.web.review.candidates import Sittings

_making = Lock()
_MOST_DRAWN = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesNow:
    """The configured rules; where they cannot be read, None and the problem."""

    rules: RuleSet | None
    problem: str | None = None


class Kept:
    """Safe to use from several threads."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self.jobs = Jobs(application.now)
        self.sittings = Sittings(application.reviews)
        self.verified: Verified | None = None  # what the last verification by this process came to
        self._drawings: OrderedDict[Hashable, bytes] = OrderedDict()
        self._read: tuple[str, Sequence[str], RulesNow] | None = None

    def rules(self) -> RulesNow:
        """Those of the configured file as it is now; parsed once for each new text."""
        path = self._application.settings.rules
        try:
            text, receivers = read_rules(path), tuple(self._application.alerting.receivers)
            if self._read is None or self._read[:2] != (text, receivers):
                name = DEFAULT_RULES if path is None else path.name
                self._read = (text, receivers, RulesNow(rules=parse_rules(text, name=name, receivers=receivers)))
        except MonitorError as error:
            return RulesNow(rules=None, problem=str(error).partition("\n")[0])
        return self._read[2]

    def drawn(self, key: Hashable, draw: Callable[[], bytes]) -> bytes:
        """What `draw` gives; it is asked once for each key that was wanted lately."""
        found = self._drawings.pop(key, None)
        if found is None:
            found = draw()
        self._drawings[key] = found
        while len(self._drawings) > _MOST_DRAWN:
            self._drawings.popitem(last=False)
        return found


def kept(request: Request) -> Kept:
    """That of the application which answers."""
    state = request.app.state
    with _making:
        if not hasattr(state, "kept"):
            state.kept = Kept(state.application)
        found: Kept = state.kept
        return found
