"""The days on which alert rules were evaluated, so that a report can tell a quiet week from one that nobody watched.

A new table. Days before it are taken from what is known of earlier evaluations: all days from the first event of an
alert to the last evaluation of a rule.
"""

from __future__ import annotations

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE TABLE watched_day (day date PRIMARY KEY)")
    op.execute("""
        INSERT INTO watched_day
        SELECT generate_series(began, ended, interval '1 day')::date
        FROM (
            SELECT date_trunc('day', least((SELECT min(at) FROM alert_event), min(evaluated_at)), 'UTC') AS began,
                max(evaluated_at) AS ended
            FROM rule_state
        ) evaluations
        WHERE began > ended - interval '3 years'
        ON CONFLICT DO NOTHING
    """)


def downgrade() -> None:
    op.execute("DROP TABLE watched_day")
