"""The part of the composition root that wires the audit trail: key, witnesses and sealer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from monitor.core.errors import WrongSettings
from monitor.core.installed.extras import installed, require

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from monitor.app.audit.sealer import Sealer
    from monitor.app.audit.stamper import Authority, CheckedStamps, ShownStamp, Stamper
    from monitor.audit.key import Signer
    from monitor.core.settings.load import Settings
    from monitor.store.audit.recovery import History


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
        """The key that signs checkpoints; the first use creates it, if nothing is signed yet.

        Raises:
            Retriable: its file is missing, and the database, which may be signed already, is out of reach.
            WrongSettings: its file cannot be used, or is missing although there is a signed trail.
        """
        from monitor.app.audit.key import key_at

        return key_at(self.key_file, self._settings.audit.origin, before_new=self._check_unsigned)

    def queue_key(self) -> bytes:
        """The key that authenticates what is queued to be sealed. Raises as `key` does."""
        return self.key.queue_key

    def tag_key(self) -> bytes:
        """The key of the digests by which redacted tags are found. Raises as `key` does."""
        return self.key.tag_key

    def known_tag_keys(self) -> tuple[bytes, ...]:
        """The keys under which a redacted tag may be found, the current one first; makes no new one.

        Raises:
            WrongSettings: the file of a key cannot be used.
        """
        from monitor.app.audit.key import stored_key

        own = (self.key.tag_key,) if self.key_file.exists() else ()
        return (*own, *(stored_key(file).tag_key for file in self._settings.redaction.previous_key_files))

    def known_queue_key(self) -> bytes | None:
        """The key of the queue; None where this machine has no audit key. Makes no new one."""
        return self.key.queue_key if self.key_file.exists() else None

    def public_keys(self) -> list[str]:
        """The keys to check checkpoints with, the current one first; makes no new key. Empty if nothing is signed.

        Raises:
            Retriable: the database is out of reach.
            WrongSettings: there is no key on this machine, and a trail that is signed.
        """
        own = [self.key.verifier_key] if self.key_file.exists() else []
        keys = [*own, *self._settings.audit.previous_keys]
        if not keys:
            self._check_unsigned()
        return keys

    def refused(self) -> dict[str, int]:
        """By the file of checkpoints: 1 if it contradicts the trail, so that nothing is sealed, else 0.

        Empty where this installation does not seal. Raises Retriable while the database is out of reach.
        """
        from monitor.app.audit.witnesses import FileWitness
        from monitor.store.audit.recovery import Contradicted

        if not (self._settings.audit.enabled and self.key_file.exists()):
            return {}
        try:
            known = FileWitness(self.witness_file).read(recent=True)
            self.history(self.key.verifier_key).check(known, shared=False)
        except (Contradicted, WrongSettings):
            return {str(self.witness_file): 1}
        return {str(self.witness_file): 0}

    def history(self, *keys: str) -> History:
        """The trail beside what witnesses know, checked with these public keys and the previous ones."""
        from monitor.store.audit.recovery import History

        return History(self._engine(), (*keys, *self._settings.audit.previous_keys))

    def authorities(self) -> list[Authority]:
        """The configured authorities that time-stamp checkpoints.

        Raises:
            WrongSettings: a URL is none, the client of authorities is not installed, two have the same host, or the
                file of certificates cannot be read.
        """
        if self._settings.audit.timestamp_url is not None:
            require("timestamps", "MONITOR_AUDIT__TIMESTAMP_URL")
        return self._known_authorities()

    def _known_authorities(self) -> list[Authority]:
        """As `authorities`, without the one whose client is not installed: its time stamps stay unchecked."""
        from monitor.app.audit.authority import Calendar

        audit = self._settings.audit
        found: list[Authority] = []
        if audit.timestamp_url is not None and installed("timestamps"):
            from monitor.app.audit.timestamps import TimestampAuthority

            found.append(TimestampAuthority(audit.timestamp_url.get_secret_value(), audit.timestamp_ca))
        elif audit.timestamp_url is None and audit.timestamp_ca is not None:
            raise WrongSettings("MONITOR_AUDIT__TIMESTAMP_CA needs MONITOR_AUDIT__TIMESTAMP_URL")
        if audit.calendar_url is not None:
            found.append(Calendar(audit.calendar_url.get_secret_value()))
        if len({authority.name for authority in found}) < len(found):
            raise WrongSettings(
                f"MONITOR_AUDIT__TIMESTAMP_URL and MONITOR_AUDIT__CALENDAR_URL both name {found[0].name}: time stamps "
                "are stored by host, so these must be two"
            )
        return found

    def stamper(self) -> Stamper | None:
        """Has checkpoints time-stamped; None where no authority is configured.

        Raises:
            WrongSettings: the settings of an authority are wrong, or there is no key.
        """
        from monitor.app.audit.stamper import Stamper
        from monitor.store.audit.stamps import Stamps

        authorities = self.authorities()
        if not authorities:
            return None
        return Stamper(
            stamps=Stamps(self._engine()),
            keys=(self.key.verifier_key, *self._settings.audit.previous_keys),
            authorities=authorities,
            every=timedelta(seconds=self._settings.audit.timestamp_every),
        )

    def newest_stamps(self) -> list[ShownStamp]:
        """The time stamp that each authority gave last; raises Retriable or WrongSettings."""
        from monitor.app.audit.stamper import shown_stamps
        from monitor.store.audit.stamps import Stamps

        newest = Stamps(self._engine()).newest()
        return shown_stamps(newest, self.public_keys() if newest else (), self._known_authorities())

    def check_stamps(self, keys: Sequence[str]) -> CheckedStamps:
        """Checks all stored time stamps of checkpoints that these public keys signed.

        Without the client of authorities no signature is checked, and the result says so. Raises Retriable or
        WrongSettings.
        """
        from monitor.app.audit.stamper import check_stamps
        from monitor.store.audit.stamps import Stamps

        checked = check_stamps(Stamps(self._engine()).all(), keys, self._known_authorities())
        if self._settings.audit.timestamp_ca is not None:
            try:
                require("timestamps", "checking them against MONITOR_AUDIT__TIMESTAMP_CA")
            except WrongSettings as error:
                return replace(checked, unchecked_because=str(error))
        return checked

    def _check_unsigned(self) -> None:
        """Raises WrongSettings if a trail is signed, except by a previous key, or rows wait that need the old key."""
        from monitor.app.audit.witnesses import FileWitness
        from monitor.audit.note import signers

        previous = {"+".join(key.split("+")[:2]) for key in self._settings.audit.previous_keys}
        if self.history().proved_by_key():
            raise WrongSettings(
                f"there is no audit key in {self.key_file}, and rows wait in the database that only the key with which "
                "they were stored can prove: put it back from your copy, or name its file in MONITOR_AUDIT__KEY_FILE. "
                "To change keys, run `monitor audit seal` with the old one first"
            )
        whole = filter(None, map(signers, reversed(FileWitness(self.witness_file).read(recent=True).notes)))
        known = (
            ("the trail in this database", self.history().signed_by()),
            (f"the last checkpoint in {self.witness_file}", next(whole, ())),
        )
        for what, names in known:
            if names and not previous.intersection(names):
                raise WrongSettings(
                    f"there is no audit key in {self.key_file}, and {what} is signed by {' and '.join(names)}: no new "
                    "key is made beside it. Put the key back from your copy, or name its file in "
                    "MONITOR_AUDIT__KEY_FILE. If it is lost, or to change keys, name the old public key in "
                    "MONITOR_AUDIT__PREVIOUS_KEYS, and a new one is made"
                )

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
            sealing=Sealing(self._engine()),
            history=self.history(self.key.verifier_key),
            signer=self.key,
            previous_keys=audit.previous_keys,
            witnesses=witnesses,
        )
