"""The part of the composition root that wires the audit trail: key, witnesses and sealer."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from monitor.core.errors import WrongSettings

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from monitor.app.audit.sealer import Sealer
    from monitor.audit.note import Signer
    from monitor.core.settings.load import Settings


class Auditing:
    """Everything about the audit trail. Each part is built when it is first asked for."""

    def __init__(self, settings: Settings, engine: Callable[[], Engine]) -> None:
        self._settings = settings
        self._engine = engine

    @property
    def key_file(self) -> Path:
        """The file of the key that signs checkpoints."""
        return self._settings.audit.key_file or self._settings.state_dir / "audit" / "key"

    @property
    def witness_file(self) -> Path:
        """The file that keeps checkpoints outside the database."""
        return self._settings.audit.witness_file or self._settings.state_dir / "audit" / "checkpoints"

    @cached_property
    def key(self) -> Signer:
        """The key that signs checkpoints; the first use creates it.

        Raises:
            WrongSettings: its file cannot be used.
        """
        from monitor.app.audit.sealer import key_at

        return key_at(self.key_file, self._settings.audit.origin)

    def sealer(self) -> Sealer:
        """A new sealer of the audit trail, for one thread.

        Raises:
            WrongSettings: the settings of the key or of a witness are wrong.
        """
        from monitor.app.audit.sealer import Sealer, Witness
        from monitor.app.audit.witnesses import FileWitness, KafkaWitness, SlackWitness
        from monitor.store.audit.seal import Sealing

        audit = self._settings.audit
        witnesses: dict[str, Witness] = {str(self.witness_file): FileWitness(self.witness_file)}
        if audit.witness_topic is not None:
            if not self._settings.kafka.bootstrap_servers:
                raise WrongSettings("MONITOR_AUDIT__WITNESS_TOPIC needs MONITOR_KAFKA__BOOTSTRAP_SERVERS")
            witnesses["Kafka"] = KafkaWitness(self._settings.kafka, audit.witness_topic)
        if audit.witness_slack:
            witnesses["Slack"] = SlackWitness(self._settings.slack)
        return Sealer(
            sealing=Sealing(self._engine()), signer=self.key, previous_keys=audit.previous_keys, witnesses=witnesses
        )
