"""Stores the dead letters of a batch, each once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from monitor.core.assessment_json import storable
from monitor.core.message import DeadLetter, Position

if TYPE_CHECKING:
    import psycopg

_DEAD = """
    INSERT INTO dead_letter (topic, partition, position, received_at, key, header_names, header_values,
                             value, size, digest, path, problem, group_id)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (topic, partition, position, digest) DO NOTHING RETURNING id
"""


def bury(connection: psycopg.Connection, group: str, letters: Sequence[DeadLetter]) -> frozenset[int]:
    """Stores dead letters, each once; returns the indices of the new ones, in the order of positions."""
    if not letters:
        return frozenset()
    # two groups may write the same letters
    letters = sorted(letters, key=lambda letter: place(letter.message.position))
    with connection.cursor() as cursor:
        cursor.executemany(_DEAD, [_row(letter, group) for letter in letters], returning=True)
        return frozenset(i for i, result in enumerate(cursor.results()) if result.fetchone() is not None)


def place(at: Position) -> tuple[str, int, int]:
    return at.topic, at.partition, at.offset


def _row(letter: DeadLetter, group: str) -> tuple[object, ...]:
    message, at = letter.message, letter.message.position
    return (
        storable(at.topic),
        at.partition,
        at.offset,
        message.received_at,
        message.key,
        [storable(name) for name, _ in message.headers],
        [value for _, value in message.headers],
        message.value,
        message.size,
        letter.digest or hashlib.sha256(message.value).digest(),
        storable(letter.path),
        storable(letter.problem),
        group,
    )
