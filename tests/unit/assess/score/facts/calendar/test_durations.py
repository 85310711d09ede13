"""Lengths of time that may be a time of day or a decade as well: 9 h 30, 18h, 30s; and halves of a unit."""

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
        ("The timeout is 30 seconds.", "timeout: 30s"),
        ("The timeout is 60s.", "The timeout is one minute."),
        ("It was sold in the 90s.", "It was sold in 1994."),
        ("It takes 90 minutes.", "It takes an hour and a half."),
        ("It takes one hour and a half.", "It takes 90 minutes."),
        ("It takes 2.5 hours.", "It takes 2 hours and a half."),
        ("Cela dure 90 minutes.", "Cela dure une heure et demie."),
        ("It takes 1 day.", "It takes 1 day and a half-price ticket."),
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
        ("The timeout is 20 seconds.", "timeout: 30s"),
        ("It was sold in the '90s.", "It took 90 seconds."),
        ("It was sold in the 90s.", "It took 90 seconds."),
        ("He is in his 20s.", "It is for people over 20."),
        ("It takes 60 minutes.", "It takes an hour and a half."),
    ],
)
def test_another_time_is_not_held(answer, document):
    assert len(missing(answer, FactIndex.of([document]))) == 1


def test_a_time_of_day_conflicts_with_no_length_of_time():
    (opening,) = facts("Le magasin ouvre à 9h30.")
    assert not conflicts(opening, "La visite dure 3 heures.")
