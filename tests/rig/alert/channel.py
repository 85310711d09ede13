"""What an episode of alerts leaves behind in Slack and in the database, and the answers that bring it about."""

from __future__ import annotations

from monitor.core.model import Verdict
from monitor.store.interaction.writer import Writer
from tests.factories.answers import a_batch, an_assessment, clock
from tests.rig.alert.rounds import LIFE, at
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.waiting import until
from tests.servers.slack import shown

TABLES = "alert, alert_event, alert_group, notification, rule_state, alert_memory, alert_explanation, alert_action"
EVENTS = [
    ("negative-rate", "inactive", "firing"),
    ("refusal-rate", "inactive", "firing"),
    ("negative-rate", "firing", "resolved"),
    ("refusal-rate", "firing", "resolved"),
]


def answers(database):
    """What makes each news of `LIFE` come about in its time."""
    wanted = [(10, -2, Verdict.SELF_GENERATED), (10, 2, Verdict.REFUSAL), (40, 268, Verdict.GROUNDED)]
    writer = Writer(database, clock, queue_key=QUEUE_KEY)
    writer.write(
        a_batch(
            *(
                an_assessment(id=f"{verdict}-{number}", occurred_at=at(minutes), verdict=verdict)
                for count, minutes, verdict in wanted
                for number in range(count)
            )
        )
    )
    writer.close()


class Channel:
    """What stands in Slack and in the database after rounds of one episode."""

    def __init__(self, slack, rows):
        self.slack = slack
        self._rows = rows
        self.taken = 0
        self._answer, slack.answer = slack.answer, self._counted

    def _counted(self, *arguments):
        answer = self._answer(*arguments)
        self.taken += 1
        return answer

    def clear(self):
        self._rows(f"TRUNCATE {TABLES}")
        self.slack.reset()
        self.taken = 0

    def read_all(self, steps):
        """Waits until Slack has read what a process that is gone had sent."""
        sent = sum(": sent " in step for step in steps)
        until("Slack has read it all", lambda: self.taken == sent)

    def backends(self):
        """Sessions of others."""
        query = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        return len(self._rows(query))

    @property
    def roots(self):
        return self.slack.roots()

    @property
    def lines(self):
        """The numbers of the notifications in the threads, in the order of the messages."""
        lines = [line for root in self.roots for line in self.slack.thread(root.ts)]
        return [line.payload["metadata"]["event_payload"]["number"] for line in lines]

    def told(self):
        """The notifications, by number and news, that one episode has delivered; there are no others."""
        told = self._rows("SELECT number, news FROM notification WHERE delivered_at IS NOT NULL ORDER BY id")
        assert self._rows("SELECT count(*), count(DISTINCT episode) FROM notification") == [(len(told), 1)]
        return told

    def alerts(self):
        """What became of the alerts: changes of state, how they stand, what people did; nobody waits for news."""
        assert self._rows("SELECT 1 FROM alert_group") == []
        return (
            self._rows(
                "SELECT rule, from_state, to_state FROM alert_event JOIN alert USING (fingerprint)"
                " ORDER BY alert_event.id"
            ),
            self._rows("SELECT rule, state, value, samples, acknowledged_by, receivers FROM alert ORDER BY rule"),
            self._rows('SELECT rule, action, a."by" FROM alert_action a JOIN alert USING (fingerprint) ORDER BY rule'),
        )

    def seen(self):
        """All of it; of a root message that came twice one stays as it was, whichever the server took first."""
        resolved = sum("Resolved" in shown(root.payload) for root in self.roots)
        stored = "SELECT to_jsonb(n) - 'payload' FROM notification n ORDER BY id"
        assert resolved == 1, (self._rows(stored), self.alerts())
        return len(self.roots), self.lines, self.told(), self.alerts()

    def check(self):
        """That a whole life went by as if nothing had happened."""
        roots, lines, told, (events, alerts, actions) = self.seen()
        assert (roots, lines) == (1, [1, 2, 3, 4])
        assert told == list(enumerate(LIFE))
        assert events == EVENTS
        assert [(rule, state, by) for rule, state, _, _, by, _ in alerts] == [
            ("negative-rate", "resolved", "ada"),
            ("refusal-rate", "resolved", "ada"),
        ]
        assert len(actions) == 2
