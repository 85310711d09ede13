"""Made-up labelled rows with their assessments."""

from __future__ import annotations

from monitor.core.model import Assessment, Metrics, Probabilities, Verdict
from monitor.review.evaluate.labels import Labelled
from monitor.review.evaluate.rows import Measured, measure
from tests.factories.answers import an_assessment

G, R, S = Verdict.GROUNDED, Verdict.REFUSAL, Verdict.SELF_GENERATED
THRESHOLDS = {"sdq": 0.5, "sdrd": 0.3, "sda": 0.6, "qrd": 0.4, "qa": 0.2}


def a_row(
    label: Verdict,
    verdict: Verdict,
    *,
    number: int = 0,
    metrics: tuple[float | None, ...] = (0.7, 0.7, 0.7, 0.7, 0.7),
    probabilities: tuple[float, float, float] = (0.5, 0.2, 0.3),
    rule: Verdict | None = None,
    group: str | None = None,
    model: str | None = None,
    answerable: bool | None = None,
    drawn: str | None = None,
) -> tuple[Labelled, Assessment]:
    """`metrics` are SDQ, SDRD, SDA, QRD, QA."""
    assessment = an_assessment(
        id=f"q-{number}",
        model=model,
        verdict=verdict,
        rule_verdict=rule or verdict,
        metrics=Metrics(**dict(zip(("sdq", "sdrd", "sda", "qrd", "qa"), metrics, strict=True))),
        probabilities=Probabilities(**dict(zip(("grounded", "refusal", "self_generated"), probabilities, strict=True))),
    )
    labelled = Labelled(
        interaction=assessment.interaction,
        label=label,
        group=group or f"g-{number}",
        answerable=answerable,
        drawn=drawn,
    )
    return labelled, assessment


def some_rows() -> list[tuple[Labelled, Assessment]]:
    """Twelve rows of seven groups, two generators and every kind of right and wrong verdict."""
    specification = [
        # label, verdict, rule, metrics, probabilities, group, model, answerable
        (G, G, G, (0.9, 0.9, 0.9, 0.9, 0.9), (0.92, 0.03, 0.05), "a", "small", True),
        (G, G, G, (0.8, 0.9, 0.7, 0.6, 0.5), (0.75, 0.15, 0.1), "a", "large", True),
        (G, S, S, (0.6, 0.9, 0.55, 0.7, 0.8), (0.4, 0.1, 0.5), "b", "small", True),
        (G, R, G, (0.7, 0.8, 0.7, 0.5, 0.1), (0.3, 0.6, 0.1), "c", "large", None),
        (G, G, G, (0.6, None, 0.65, 0.3, 0.4), (0.55, 0.15, 0.3), "d", None, True),
        (R, R, R, (0.45, 0.7, 0.3, 0.35, 0.15), (0.05, 0.9, 0.05), "b", "small", False),
        (R, S, S, (0.4, 0.7, 0.3, 0.6, 0.7), (0.2, 0.3, 0.5), "e", "large", False),
        (R, R, S, (0.7, 0.2, 0.7, 0.6, 0.9), (0.35, 0.6, 0.05), "e", "small", None),
        (S, S, S, (0.3, 0.2, 0.2, 0.7, 0.6), (0.1, 0.1, 0.8), "f", "small", True),
        (S, G, R, (0.55, 0.9, 0.5, 0.7, 0.1), (0.6, 0.1, 0.3), "f", "large", False),
        (S, S, G, (0.8, 0.7, 0.75, None, 0.6), (0.45, 0.05, 0.5), "g", "large", True),
        (S, S, G, (None, None, None, None, 0.6), (0.4, 0.05, 0.55), "g", "small", None),
    ]
    return [
        a_row(
            label,
            verdict,
            number=number,
            rule=rule,
            metrics=metrics,
            probabilities=probabilities,
            group=group,
            model=model,
            answerable=answerable,
        )
        for number, (label, verdict, rule, metrics, probabilities, group, model, answerable) in enumerate(specification)
    ]


def measured(pairs: list[tuple[Labelled, Assessment]]) -> Measured:
    return measure([row for row, _ in pairs], [assessment for _, assessment in pairs])
