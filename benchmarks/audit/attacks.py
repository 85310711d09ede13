"""Counts how many attacks on the stored trail are found and named, and how many honest histories are wrongly accused.

    python benchmarks/audit/attacks.py [--short] [--json PATH]

An attack is a random sequence of ten acts of somebody who may do anything in the database, its queue included, and has
no key, between writes and seals of honest processes. It counts as found if findings name every one of its acts. An
honest history is a random sequence of twenty steps: writes, seals, revisions, judgements, rescores, erasures,
retentions, restarts, and restored backups with a recovery. Each has a database of its own, on an embedded PostgreSQL in
a temporary folder. Goal: all of 1,000 attacks found and named, no finding in 1,000 honest histories.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager
from random import Random

from sqlalchemy import Engine
from sqlalchemy.engine import make_url

from benchmarks.databases import temporary_database
from benchmarks.figures import finish, options
from monitor.store.database import connect
from monitor.store.migrate import migrate
from tests.rig.store.databases import Databases
from tests.rig.store.history import Attacker, History
from tests.rig.store.keys import QUEUE_KEY

TRIALS = {False: 1_000, True: 20}
ACTS = 10
STEPS = 20


def attacked(engine: Engine, url: str, seed: int) -> bool:
    """Whether findings name every act of a random attack."""
    with closing(History(engine, url, Random(seed))) as history:
        words = Attacker(history).sequence(ACTS)
        found = history.end().findings
    return all(any(word in one.sentence for word in named for one in found) for named in words)


def accused(engine: Engine, url: str, seed: int) -> bool:
    """Whether there is any finding in a random honest history."""
    with closing(History(engine, url, Random(seed))) as history:
        for _ in range(STEPS):
            history.step()
        return bool(history.end().findings)


@contextmanager
def emptied(databases: Databases, template: str) -> Iterator[tuple[Engine, str]]:
    with databases.lent(template) as url:
        engine = connect(url, queue_key=lambda: QUEUE_KEY)
        try:
            yield engine, url
        finally:
            engine.dispose()


def main() -> None:
    asked = options(__doc__, short=f"{TRIALS[True]} trials of each kind")
    logging.disable(logging.WARNING)  # the sealer names each forged entry
    trials = TRIALS[asked.short]
    with temporary_database() as server:
        databases = Databases(server)
        made = databases.make()
        engine = connect(made, queue_key=lambda: QUEUE_KEY)
        migrate(engine)
        engine.dispose()
        template = str(make_url(made).database)
        found, wrong = 0, 0
        for seed in range(trials):
            with emptied(databases, template) as (engine, url):
                found += attacked(engine, url, seed)
            with emptied(databases, template) as (engine, url):
                wrong += accused(engine, url, seed)
            if (seed + 1) % 100 == 0:
                print(f"after {seed + 1}: {found} attacks found, {wrong} honest histories accused", flush=True)
        databases.close()
    print(f"attacks found, every act named: {found} of {trials}")
    print(f"honest histories accused: {wrong} of {trials}")
    finish({"attacks": trials, "found": found, "honest": trials, "accused": wrong}, seed=0, path=asked.json)


if __name__ == "__main__":
    main()
