"""What a list shows of each row that it has found."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, and_, select, true

from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Reason, Verdict
from monitor.store.interaction.filters import USED, ListedInteraction
from monitor.store.tables.interactions import METRICS, assessment, interaction

_a, _i = assessment.c, interaction.c


def same(key: Any) -> ColumnElement[bool]:
    return and_(_i.app == key.app, _i.id == key.id, _i.occurred_at == key.occurred_at)


def listed(keys: Any, *, forward: bool) -> Select[Any]:
    """The columns shown of the rows found, each row looked up on its own."""
    k = keys.c
    texts = select(
        *(_i[name] for name in ("environment", "model", "conversation_id", "question", "answer", *USED)),
        _i.tags["topic"].astext.label("topic"),
    ).where(same(k))
    names = (
        *("verdict", "rule_verdict", "reasons", "refusal_kind", "refusal_correct", "p_grounded", "p_refusal"),
        *("p_self_generated", "uncalibrated", *METRICS, "profile_name", "profile_hash", "rank", "reference"),
        "diagnosis",
    )
    judged = (
        select(*(_a[name] for name in names))
        .where(_a.app == k.app, _a.id == k.id, _a.occurred_at == k.occurred_at, _a.live)
        .limit(1)
    )
    i, a = texts.lateral("i"), judged.lateral("a")
    order = [k[name].asc() if forward else k[name].desc() for name in ("occurred_at", "app", "id")]
    return select(*k, *i.c, *a.c).select_from(keys.join(i, true()).join(a, true())).order_by(*order)


def listed_row(row: Any) -> ListedInteraction:
    found = dict(row)
    known = {
        "verdict": Verdict(found["verdict"]),
        "rule_verdict": Verdict(found["rule_verdict"]),
        "reasons": tuple(map(Reason, found["reasons"])),
        "diagnosis": None if found["diagnosis"] is None else Diagnosis(found["diagnosis"]),
    }
    return ListedInteraction(**{**found, **known})
