"""Units of measure: their dimensions and factors, and how they are written in the languages covered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from monitor.assess.score.facts.language import listed
from monitor.assess.score.facts.quantities.metric import names, symbols
from monitor.assess.score.facts.tokens import Tokens

RATIO: Final = "ratio"
TEMPERATURE: Final = "temperature"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A unit of one dimension: `value · factor + offset` is the value in the dimension's own unit."""

    dimension: str
    factor: float = 1.0
    offset: float = 0.0


def _unit(dimension: str, factor: float = 1.0, offset: float = 0.0) -> Unit:
    return Unit(dimension=dimension, factor=factor, offset=offset)


VERSION: Final = _unit("version")  # of numbers such as 2.10, which is not 2.1

_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0
_LENGTH = "length"
_POUNDS = (_unit("mass", 453.59237), _unit("pound"))
_DOLLAR, _EURO, _YEN, _YUAN = (_unit("dollar"),), (_unit("euro"),), (_unit("yen"),), (_unit("yuan"),)

# Written forms in lower case, by unit. An ambiguous form has several units, which give a fact several readings.
_FORMS: tuple[tuple[str, tuple[Unit, ...]], ...] = (
    (
        """% percent percentage prozent pourcent porcento porciento percentuali procent pp prozentpunkt prozentpunkte
        prozentpunkten""",
        (_unit(RATIO, 0.01),),
    ),
    ("割", (_unit(RATIO, 0.1),)),
    ("‰", (_unit(RATIO, 0.001),)),
    ("‱ bps basispunkt basispunkte basispunkten", (_unit(RATIO, 1e-4),)),
    ("ppm", (_unit(RATIO, 1e-6),)),
    ("ppb", (_unit(RATIO, 1e-9),)),
    ("微秒", (_unit("time", 1e-6),)),
    ("ms millisecond milliseconds millisekunden millisecondes milisegundos millisecondi 毫秒", (_unit("time", 0.001),)),
    (
        "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos secondi seconden 秒 초",
        (_unit("time"),),
    ),
    ("min mins minute minutes minuten minuto minutos minuti minuut minuten 分钟 分鐘 分 분", (_unit("time", _MINUTE),)),
    (
        """h hr hrs hour hours std stunde stunden heure heures hora horas ora ore uur uren 小时 小時 個小時 个小时 時間
        시간""",
        (_unit("time", _HOUR),),
    ),
    (
        "d day days tag tage tagen jour jours día días dia dias giorno giorni dag dagen 天 日 日間 일",
        (_unit("time", _DAY),),
    ),
    (
        """wk wks week weeks woche wochen semaine semaines semana semanas settimana settimane weken 周 週 週間 星期
        个星期 주""",
        (_unit("time", 7 * _DAY),),
    ),
    ("fortnight fortnights", (_unit("time", 14 * _DAY),)),
    (
        """month months monat monate monaten mois mes meses mês mese mesi maand maanden 个月 個月 ヶ月 か月
        カ月 ヵ月 개월""",
        (_unit("time", 30.436875 * _DAY),),
    ),
    ("quarters quartale trimestres", (_unit("time", 91.310625 * _DAY),)),
    (
        "yr yrs year years jahr jahre jahren an ans année années año años ano anos anno anni jaar jaren 年 年間 년",
        (_unit("time", 365.2425 * _DAY),),
    ),
    ("decade decades jahrzehnt jahrzehnte décennies décadas decenni", (_unit("time", 3652.425 * _DAY),)),
    (
        "century centuries jahrhundert jahrhunderte siècle siècles siglo siglos século séculos secoli",
        (_unit("time", 36524.25 * _DAY),),
    ),
    (
        "mm millimeter millimeters millimetre millimetres millimètres milímetros millimetri 毫米",
        (_unit(_LENGTH, 0.001),),
    ),
    (
        "cm centimeter centimeters centimetre centimetres zentimeter centimètres centímetros centimetri 厘米",
        (_unit(_LENGTH, 0.01),),
    ),
    ("meter meters metre metres mètre mètres metro metros metri 米 メートル", (_unit(_LENGTH),)),
    ("m", (_unit(_LENGTH), _unit("time", _MINUTE))),
    (
        "km kms kilometer kilometers kilometre kilometres kilomètres kilómetros chilometri 公里 キロメートル",
        (_unit(_LENGTH, 1000.0),),
    ),
    ("in inch inches zoll pouces pulgadas polegadas pollici 英寸", (_unit(_LENGTH, 0.0254),)),
    ("ft foot feet fuß pieds pies pés piedi 英尺", (_unit(_LENGTH, 0.3048),)),
    ("yd yds yard yards", (_unit(_LENGTH, 0.9144),)),
    ("mi mile miles meilen milles millas milhas miglia 英里 マイル", (_unit(_LENGTH, 1609.344),)),
    ("微米", (_unit(_LENGTH, 1e-6),)),
    ("纳米", (_unit(_LENGTH, 1e-9),)),
    ("mcg 微克", (_unit("mass", 1e-6),)),
    ("mg milligram milligrams milligramm miligramos milligrammi 毫克", (_unit("mass", 0.001),)),
    ("g gram grams gramme grammes gramm gramos gramas grammi 克 グラム", (_unit("mass"),)),
    (
        "kg kgs kilo kilos kilogram kilograms kilogramme kilogrammes kilogramm kilogramos quilos chili 公斤 千克 キロ",
        (_unit("mass", 1000.0),),
    ),
    ("t tonne tonnes tonnen toneladas tonnellate 吨 噸 トン", (_unit("mass", 1e6),)),
    ("ton tons", (_unit("mass", 1e6), _unit("mass", 907184.74))),
    ("oz ounce ounces unzen", (_unit("mass", 28.349523125),)),
    ("lb lbs", (_unit("mass", 453.59237),)),
    ("pound pounds", _POUNDS),
    (
        "ml milliliter milliliters millilitre millilitres mililitros millilitri 毫升",
        (_unit("volume", 0.001),),
    ),
    ("l liter liters litre litres litros litri 升 リットル", (_unit("volume"),)),
    ("gal gallon gallons", (_unit("volume", 3.785412), _unit("volume", 4.54609))),
    ("bit bits", (_unit("bytes", 0.125),)),
    ("byte bytes octets", (_unit("bytes"),)),
    ("kb kib kilobyte kilobytes ko", (_unit("bytes", 1e3), _unit("bytes", 2**10))),
    ("mb mib megabyte megabytes mo", (_unit("bytes", 1e6), _unit("bytes", 2**20))),
    ("gb gib gigabyte gigabytes gig gigs go", (_unit("bytes", 1e9), _unit("bytes", 2**30))),
    ("tb tib terabyte terabytes to", (_unit("bytes", 1e12), _unit("bytes", 2**40))),
    ("pb pib petabyte petabytes", (_unit("bytes", 1e15), _unit("bytes", 2**50))),
    ("kbps kbit/s", (_unit("rate", 1e3),)),
    ("mbps mbit/s", (_unit("rate", 1e6),)),
    ("gbps gbit/s", (_unit("rate", 1e9),)),
    ("hz hertz", (_unit("frequency"),)),
    ("khz kilohertz", (_unit("frequency", 1e3),)),
    ("mhz megahertz", (_unit("frequency", 1e6),)),
    ("ghz gigahertz", (_unit("frequency", 1e9),)),
    ("w watt watts", (_unit("power"),)),
    ("kw kilowatt kilowatts", (_unit("power", 1e3),)),
    ("mw megawatt megawatts", (_unit("power", 1e6),)),
    ("kwh", (_unit("energy"),)),
    ("mwh", (_unit("energy", 1e3),)),
    ("calorie calories kalorien calorías calorias", (_unit("energy", 4.184 / 3.6e6), _unit("energy", 4.184 / 3600))),
    ("mph", (_unit("speed", 1.609344),)),
    ("kph km/h kmh", (_unit("speed"),)),
    ("m/s", (_unit("speed", 3.6),)),
    ("acre acres", (_unit("area", 4046.8564),)),
    ("hectare hectares hektar ha", (_unit("area", 1e4),)),
    ("m² m2 sqm", (_unit("area"),)),
    ("km² km2", (_unit("area", 1e6),)),
    ("cm² cm2", (_unit("area", 1e-4),)),
    ("mm² mm2", (_unit("area", 1e-6),)),
    ("m³ m3", (_unit("volume", 1e3),)),
    ("cm³ cm3", (_unit("volume", 1e-3),)),
    ("sqft ft²", (_unit("area", 0.09290304),)),
    ("°c ℃ celsius", (_unit(TEMPERATURE),)),
    ("°f ℉ fahrenheit", (_unit(TEMPERATURE, 5 / 9, -160 / 9),)),
    ("° degree degrees grad degrés grados graus gradi 度", (_unit(TEMPERATURE), _unit(TEMPERATURE, 5 / 9, -160 / 9))),
    ("$ dollar dollars usd us$ dólares dólar dollari 美元 ドル 달러", _DOLLAR),
    ("cent cents ¢", (_unit("dollar", 0.01), _unit("euro", 0.01))),
    ("€ eur euro euros 欧元 ユーロ 유로", _EURO),
    ("£ gbp", (_unit("pound"),)),
    ("¥", _YEN + _YUAN),
    ("jpy yen 円", _YEN),
    ("cny rmb yuan 元 人民币", _YUAN),
    ("₹ inr rs rupee rupees", (_unit("rupee"),)),
    ("₩ krw won 원", (_unit("won"),)),
    ("chf franken", (_unit("franc"),)),
)
_LISTED = {form: units for forms, units in _FORMS for form in forms.split()}
UNITS = {name: (_unit(dimension, factor),) for name, dimension, factor in names()} | _LISTED
# Forms in which capitals count; they come before those of UNITS.
SYMBOLS = {form: (_unit(dimension, factor),) for form, dimension, factor in symbols() if form not in _LISTED} | {
    "IU": (_unit("international unit"),)
}
_MONEY = frozenset(("dollar", "euro", "pound", "yen", "yuan", "rupee", "won", "franc"))
PREFIXES = frozenset(form for form, units in UNITS.items() if units[0].dimension in _MONEY and form[:1].isascii()) | {
    *"€£¥₹₩",
}
_BEFORE_ONLY = frozenset("$€£¥₹₩")
_DASHES = frozenset("-–")
_ALSO_BEHIND = frozenset("€£¥")
SYMBOL_OF_DEGREES: Final = {scale: UNITS[f"°{scale.lower()}"][0] for scale in "CF"}
_SCALES = ("c", "f", "celsius", "fahrenheit")
# Letters that are a unit only directly after the figures or in the right case ("5 m", but not "5 M" or "in 5 a man").
_SHORT = listed("s h d m g l t w in an to go mo ko ha d or ore ora mes pies")
_LOOSE = listed("h m g l t w s ha mes ore ora")
_QUALIFIERS = listed(
    """business working calendar consecutive full whole more additional extra straight further long solid
    volle weitere jours-ouvrés"""
)
_SQUARE = {"meters": "m²", "metres": "m²", "kilometers": "km²", "kilometres": "km²", "feet": "sqft", "foot": "sqft"}
_PAIRS = (
    {("square", length): area for length, area in _SQUARE.items()}
    | {("sq", "feet"): "sqft", ("sq", "ft"): "sqft", ("percentage", "points"): "%", ("percentage", "point"): "%"}
    | {("basis", "points"): "‱", ("basis", "point"): "‱"}
    | dict.fromkeys((("puntos", "porcentuales"), ("pontos", "percentuais"), ("punti", "percentuali")), "%")
    | {
        ("per", "cent"): "%",
        ("per", "cento"): "%",
        ("por", "cento"): "%",
        ("por", "ciento"): "%",
        ("pour", "cent"): "%",
    }
    | {(degree, scale): f"°{scale[0]}" for degree in ("°", "degree", "degrees") for scale in _SCALES}
    | {("us", "dollars"): "$", ("us", "$"): "$"}
)
_CLOSE = frozenset(("", " ", "\u00a0", "\u202f"))
_UNSPACED = "\u2e80"  # the first character of the scripts whose words are not tokens
_LONGEST_UNSPACED = 4


def is_money(units: tuple[Unit, ...]) -> bool:
    """Whether a number with these units is surely an amount in a currency; cents have fractions, pounds may weigh."""
    return bool(units) and all(unit.dimension in _MONEY and unit.factor == 1 for unit in units)


def unit_after(tokens: Tokens, i: int) -> tuple[tuple[Unit, ...], int]:
    """The unit after a number that ends before token `i`, and the token after the unit; () if no unit is known."""
    if (unspaced := _unspaced(tokens, i)) or i >= len(tokens) or tokens.gap(i) not in _CLOSE:
        return unspaced, i
    word, following = tokens.word(i), tokens.word(i + 1)
    if (form := _PAIRS.get((word, following))) is not None:
        return UNITS[form], i + 2
    if following == "/" and (rate := f"{word}/{tokens.word(i + 2)}") in UNITS:
        return UNITS[rate], i + 3
    if (tokens.hyphen(i) or word in _QUALIFIERS) and following in UNITS and following not in _SHORT:
        return UNITS[following], i + 2
    if (symbol := SYMBOLS.get(tokens.raw(i))) and _is_symbol(tokens, i):
        return symbol, i + 1
    return (UNITS[word], i + 1) if word in UNITS and _is_unit(tokens, i) else ((), i)


def _is_symbol(tokens: Tokens, i: int) -> bool:
    """Whether the token at `i`, which is spelled like a symbol, is one: no V-belt, and not the initial of a name."""
    if len(tokens.raw(i)) > 1:
        return True
    return not tokens.hyphen(i + 1) and (tokens.glued(i) or not tokens.gap(i + 1).startswith("."))


def _is_unit(tokens: Tokens, i: int) -> bool:
    """Whether the token at `i`, which is spelled like a unit, is one: no short word, no currency of the next number."""
    raw, word = tokens.raw(i), tokens.word(i)
    if raw in _BEFORE_ONLY:
        return raw in _ALSO_BEHIND and not tokens.glued(i + 1)
    if word in _SHORT:
        return raw == word and (tokens.glued(i) or word in _LOOSE)
    return not (word == "second" and tokens.hyphen(i + 1))  # second-hand


def _unspaced(tokens: Tokens, i: int) -> tuple[Unit, ...]:
    """The unit directly after the figures, in a script whose words are not tokens."""
    at = tokens.end(i - 1)
    following = tokens.text[at : at + _LONGEST_UNSPACED + 1].lstrip(" ")
    if not following or following[0] < _UNSPACED:
        return ()
    for length in range(min(_LONGEST_UNSPACED, len(following)), 0, -1):
        if units := UNITS.get(following[:length]):
            return units
    return ()


def unit_before(tokens: Tokens, i: int) -> tuple[Unit, ...]:
    """The currency before the number at token `i` ("$5", "EUR 5"), or before the range that it ends ("$5-10")."""
    if tokens.raw(i - 1) in _DASHES and tokens.glued(i) and tokens.glued(i - 1):
        i -= 2
    if i < 1 or tokens.gap(i) not in _CLOSE:
        return ()
    raw = tokens.raw(i - 1)
    if raw in _BEFORE_ONLY:
        return UNITS[raw]
    return UNITS[raw.lower()] if raw.lower() in PREFIXES and (raw.isupper() or raw in {"Rs", "Euro"}) else ()
