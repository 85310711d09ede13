"""Hours written with an h, which are a time of day or a length of time."""

from __future__ import annotations

import pytest

from monitor.assess.score.facts import FactIndex, conflicts, facts, missing


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("Le magasin ouvre à 9 h 30.", "Ouverture : 9h30"),
        ("Le magasin ouvre à 9h30.", "Ouverture à 9\u00a0h\u00a030."),
        ("Ouvert de 9 h à 18 h.", "Horaires : 9h00-18h00"),
        ("Ouvert de 9h00 à 18h00.", "Horaires : 9h-18h"),
        ("It is open from 9 am to 6 pm.", "Ouvert de 9 h à 18 h."),
        ("Ouvert de 9h à 18h.", "9:00–18:00"),
        ("Le trajet dure 2 h 30.", "Le trajet dure 2 heures 30 minutes."),
        ("Le trajet dure 2h30.", "Durée : 150 minutes."),
        ("Le trajet dure 150 minutes.", "Durée : 2h30."),
        ("Le trajet dure 2 h 30 min.", "Durée : 2h30."),
        ("Réponse en 24 h.", "Réponse en un jour."),
    ],
)
def test_the_same_time_in_another_form_is_held(answer, document):
    assert missing(answer, FactIndex.of([document])) == ()


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("Le magasin ouvre à 9 h 30.", "Ouverture : 9h00"),
        ("Le magasin ferme à 18 h.", "Fermeture à 19 h."),
        ("Le trajet dure 2 h 30.", "Le trajet dure 2 heures 20 minutes."),
    ],
)
def test_another_time_is_not_held(answer, document):
    assert len(missing(answer, FactIndex.of([document]))) == 1


def test_a_time_of_day_conflicts_with_no_length_of_time():
    (opening,) = facts("Le magasin ouvre à 9h30.")
    assert not conflicts(opening, "La visite dure 3 heures.")
