"""Stores interactions that are new, each with the secret from which the audit trail commits to its texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from monitor.audit.commitment import new_secret
from monitor.core.model import Interaction
from monitor.store.audit_queue import Kind
from monitor.store.audit_rows import queued_record, stored_row
from monitor.store.database import copy_rows
from monitor.store.interaction.partitions import Partitions, claim_keys
from monitor.store.interaction.rows import INTERACTION_COLUMNS, interaction_row

if TYPE_CHECKING:
    import psycopg

# A secret that is there already belongs to nothing: the interaction is new.
_KEEP_SECRETS = """
    INSERT INTO audit_secret (app, id, secret) SELECT * FROM unnest(%s::text[], %s::text[], %s::bytea[])
    ON CONFLICT (app, id) DO UPDATE SET secret = excluded.secret
"""


class StoredInteraction(NamedTuple):
    """A new interaction that was stored, with its secret, and what is to be sealed of it."""

    interaction: Interaction
    secret: bytes
    record: str


def keep_new(
    connection: psycopg.Connection, partitions: Partitions, interactions: Sequence[Interaction], stored_at: datetime
) -> list[StoredInteraction]:
    """Stores those of the interactions that are new, in the order of their keys, in the caller's transaction."""
    new = claim_keys(connection, sorted(interactions, key=lambda interaction: (interaction.app, interaction.id)))
    if not new:
        return []
    partitions.ensure(connection, new)
    rows = [interaction_row(interaction, stored_at) for interaction in new]
    copy_rows(connection, "interaction", INTERACTION_COLUMNS, rows)
    kept = []
    for interaction, row in zip(new, rows, strict=True):
        secret, as_read = new_secret(), stored_row(Kind.INTERACTION, INTERACTION_COLUMNS, row)
        kept.append(StoredInteraction(interaction, secret, queued_record(Kind.INTERACTION, as_read, secret)))
    secrets = zip(*((one.interaction.app, one.interaction.id, one.secret) for one in kept), strict=True)
    connection.execute(_KEEP_SECRETS, [list(column) for column in secrets])
    return kept


def others(interactions: Sequence[Interaction], settled: Sequence[Interaction]) -> list[Interaction]:
    """The interactions that are not among the settled ones; the same object may occur several times."""
    left, found = Counter(map(id, settled)), []
    for interaction in interactions:
        if left[id(interaction)]:
            left[id(interaction)] -= 1
        else:
            found.append(interaction)
    return found
