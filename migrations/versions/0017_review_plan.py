"""Plans that draw answers to label for the rate of a period, and the answers drawn.

New tables only; takes well under a second. The release before does not know them.
"""

from __future__ import annotations

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE review_plan (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            app text NOT NULL,
            since timestamptz NOT NULL,
            until timestamptz NOT NULL,
            draw text NOT NULL,
            seed text NOT NULL,
            frame text NOT NULL,
            answers bigint NOT NULL,
            parts jsonb NOT NULL,
            made_by text NOT NULL,
            made_at timestamptz NOT NULL
        );
        CREATE INDEX review_plan_by_period ON review_plan (app, since);
        CREATE TABLE review_plan_item (
            plan bigint NOT NULL,
            place integer NOT NULL,
            part integer NOT NULL,
            app text NOT NULL,
            interaction_id text NOT NULL,
            occurred_at timestamptz NOT NULL,
            PRIMARY KEY (plan, place)
        );
        CREATE INDEX review_plan_item_by_interaction ON review_plan_item (app, interaction_id)
    """)


def downgrade() -> None:
    op.execute("DROP TABLE review_plan_item; DROP TABLE review_plan")
