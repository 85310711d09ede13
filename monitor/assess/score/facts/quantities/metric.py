"""Builds the metric units from their bases and prefixes: µg, dL, kilovolts, Mikrosekunden."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from monitor.assess.score.facts.language import listed

_MICRO = "µμ"  # the sign and the Greek letter, which look alike
_FACTORS = {"": 1.0, "n": 1e-9, **dict.fromkeys(_MICRO, 1e-6), "m": 1e-3, "c": 0.01, "d": 0.1}
_FACTORS |= {"h": 100.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_SPELLED = {
    "": [""],
    "n": ["nano"],
    "µ": ["micro", "mikro"],
    "m": ["milli", "mili"],
    "c": ["centi", "zenti", "centí"],
    "d": ["deci", "dezi", "déci", "decí"],
    "h": ["hecto", "hekto"],
    "k": ["kilo", "quilo", "chilo"],
    "M": ["mega", "méga"],
    "G": ["giga"],
    "T": ["tera"],
}


class MetricForm(NamedTuple):
    """One way to write a unit, and how many of its dimension's own unit it is."""

    form: str
    dimension: str
    factor: float


class _Base(NamedTuple):
    dimension: str
    factor: float
    symbol: str
    prefixes: str
    names: str


# Symbols that are also units alone. "A" is more often the article; the small letters are listed in `units`.
_ALONE = listed("L Hz W Wh J V Pa mol")
_KILOWATT_HOUR = 3.6e6  # joules
_BASES = (
    _Base("mass", 1.0, "g", "nµmcdk", "gram grams gramme grammes gramm gramos gramas grammi"),
    _Base("length", 1.0, "m", "nµmcdk", "meter meters metre metres mètre mètres metro metros metri"),
    _Base("volume", 1.0, "l", "nµmcdh", "liter liters litre litres litro litros litri"),
    _Base("volume", 1.0, "L", "nµmcdh", ""),
    _Base("time", 1.0, "s", "nµm", "second seconds sekunde sekunden seconde secondes segundo segundos secondi"),
    _Base("frequency", 1.0, "Hz", "mkMGT", "hertz"),
    _Base("power", 1.0, "W", "nµmkMGT", "watt watts"),
    _Base("energy", 1e-3, "Wh", "mkMGT", "wattstunde wattstunden wattheure wattheures"),
    _Base("energy", 1 / _KILOWATT_HOUR, "J", "mkMGT", "joule joules"),
    _Base("energy", 4.184 / _KILOWATT_HOUR, "cal", "k", ""),
    _Base("voltage", 1.0, "V", "nµmkM", "volt volts voltios"),
    _Base("current", 1.0, "A", "nµmk", "amp amps ampere amperes ampère ampères amperios"),
    _Base("pressure", 1.0, "Pa", "mhkMG", "pascal pascals"),
    _Base("amount", 1.0, "mol", "nµmk", ""),
    _Base("bytes", 0.125, "bit", "kMGT", ""),
)


def symbols() -> Iterator[MetricForm]:
    """The symbols with their prefixes; capitals count (mW, MW)."""
    for base in _BASES:
        prefixes = base.prefixes.replace("µ", _MICRO)
        for prefix in ["", *prefixes] if base.symbol in _ALONE else prefixes:
            yield MetricForm(prefix + base.symbol, base.dimension, base.factor * _FACTORS[prefix])


def names() -> Iterator[MetricForm]:
    """The names with their prefixes, in lower case; some are of two languages and nobody writes them."""
    for base in _BASES:
        for prefix in ["", *base.prefixes]:
            for spelled in _SPELLED[prefix]:
                for name in base.names.split():
                    yield MetricForm(spelled + name, base.dimension, base.factor * _FACTORS[prefix])
