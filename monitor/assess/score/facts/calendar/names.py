"""The names of months and days in the seven languages.

They are those of CLDR, the register of how languages write them, and a few more in use; a test compares them with it.
"""

from __future__ import annotations

# From January to December: for each, its names and abbreviations in English, German, French, Spanish, Portuguese,
# Italian and Dutch.
_MONTHS = (
    "january jan januar jänner jän janvier janv enero ene janeiro gennaio gen januari",
    "fevr february feb februar février févr febrero fevereiro fev febbraio februari",
    "march mar märz mär mars marzo março maart mrt",
    "april apr avril avr abril abr aprile",
    "may mai mayo maio maggio mei",
    "june jun juni juin junio junho giugno giu",
    "july jul juli juillet juil julio julho luglio lug",
    "august aug août agosto augustus",
    "setiembre september sep sept septembre septiembre setembro settembre",
    "october oct oktober okt octobre octubre outubro ottobre ott",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre déc diciembre dic dezembro dicembre",
)
# From Monday to Sunday.
_WEEKDAYS = (
    "monday montag lundi lunes segunda-feira lunedì maandag",
    "tuesday dienstag mardi martes terça-feira martedì dinsdag",
    "wednesday mittwoch mercredi miércoles quarta-feira mercoledì woensdag",
    "thursday donnerstag jeudi jueves quinta-feira giovedì donderdag",
    "friday freitag vendredi viernes sexta-feira venerdì vrijdag",
    "sonnabend saturday samstag samedi sábado sabato zaterdag",
    "sunday sonntag dimanche domingo domenica zondag",
)

MONTHS = {name: month for month, names in enumerate(_MONTHS, start=1) for name in names.split()}  # January is 1
# Abbreviations that are words of their own: "three out of five", "two days ago", "ich mag". Read only in whole dates.
ABBREVIATED_MONTHS = {"mag": 5, "ago": 8, "set": 9, "out": 10}
WEEKDAYS = {name: day for day, names in enumerate(_WEEKDAYS) for name in names.split()}  # Monday is 0
