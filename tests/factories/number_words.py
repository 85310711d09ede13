"""Spells numbers up to a million in seven languages, in the forms that each really uses."""

from __future__ import annotations

from collections.abc import Callable


def listed(words: str) -> list[str]:
    return words.split()


EN = listed(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
EN_TENS = listed("- - twenty thirty forty fifty sixty seventy eighty ninety")
DE = listed(
    "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "
    "achtzehn neunzehn"
)
DE_TENS = listed("- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")
FR = listed(
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit "
    "dix-neuf"
)
FR_TENS = listed("- - vingt trente quarante cinquante soixante septante huitante nonante")
ES = listed(
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete "
    "dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete "
    "veintiocho veintinueve"
)
ES_TENS = listed("- - - treinta cuarenta cincuenta sesenta setenta ochenta noventa")
ES_HUNDREDS = listed(
    "- ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos"
)
PT = listed(
    "zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete "
    "dezoito dezenove"
)
PT_TENS = listed("- - vinte trinta quarenta cinquenta sessenta setenta oitenta noventa")
PT_HUNDREDS = listed("- cento duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos novecentos")
IT = listed(
    "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici "
    "diciassette diciotto diciannove"
)
IT_TENS = listed("- - venti trenta quaranta cinquanta sessanta settanta ottanta novanta")
NL = listed(
    "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien "
    "achttien negentien"
)
NL_TENS = listed("- - twintig dertig veertig vijftig zestig zeventig tachtig negentig")

Speller = Callable[[int], str]


def english(n: int, *, join: str = " and ", hyphen: str = "-") -> str:
    if n < 20:
        return EN[n]
    if n < 100:
        return EN_TENS[n // 10] + (hyphen + EN[n % 10] if n % 10 else "")
    if n < 1000:
        rest = english(n % 100, join=join, hyphen=hyphen)
        return f"{EN[n // 100]} hundred" + (join + rest if n % 100 else "")
    rest = english(n % 1000, join=join, hyphen=hyphen)
    between = join if n % 1000 < 100 else " "
    return f"{english(n // 1000, join=join, hyphen=hyphen)} thousand" + (between + rest if n % 1000 else "")


def german(n: int, *, one: str = "ein", last: bool = True) -> str:
    """`one` is what is said before "hundert" and "tausend": "ein" or nothing."""
    if n == 1 and last:
        return "eins"
    if n < 20:
        return DE[n]
    if n < 100:
        return (f"{DE[n % 10]}und" if n % 10 else "") + DE_TENS[n // 10]
    size, word = (100, "hundert") if n < 1000 else (1000, "tausend")
    before = one if n // size == 1 else german(n // size, last=False)
    return before + word + (german(n % size, one="ein", last=last) if n % size else "")


def french(n: int, *, join: str = "-", belgian: bool = False) -> str:
    """`join` stands between all words: hyphens since the reform of 1990, spaces as many write."""
    et = f"{join}et{join}"
    if n < 20:
        return FR[n].replace("-", join)
    if n < 100:
        ten, unit = divmod(n, 10)
        if not belgian and ten in {7, 9}:
            if n == 71:
                return f"soixante{et}onze"
            return ("soixante" if ten == 7 else f"quatre{join}vingt") + join + french(10 + unit, join=join)
        if not belgian and ten == 8:
            return f"quatre{join}vingt" + (join + FR[unit] if unit else "s")
        return FR_TENS[ten] + (et if unit == 1 else join if unit else "") + (FR[unit] if unit else "")
    size, word = (100, "cent") if n < 1000 else (1000, "mille")
    count, rest = divmod(n, size)
    plural = "s" if size == 100 and count > 1 and not rest else ""
    before = (
        french(count, join=join, belgian=belgian).removesuffix("s" * (count % 100 == 80)) + join if count > 1 else ""
    )
    return before + word + plural + (join + french(rest, join=join, belgian=belgian) if rest else "")


def feminine_french(n: int, *, join: str = "-") -> str:
    spelt = french(n, join=join)
    return f"{spelt}e" if spelt.endswith("un") else spelt


def hundreds_of(n: int, names: list[str], *, feminine: bool) -> str:
    """The hundreds of a Spanish or Portuguese number: doscientos, doscientas."""
    name = names[n // 100]
    return f"{name[:-2]}as" if feminine and n >= 200 else name


def spanish(n: int, *, feminine: bool = False, before_noun: bool = False) -> str:
    if n < 30:
        ones = {1: ("un", "una"), 21: ("veintiún", "veintiuna")}
        return ones[n][feminine] if before_noun and n in ones else ES[n]
    own = {"feminine": feminine, "before_noun": before_noun}
    if n < 100:
        return ES_TENS[n // 10] + (f" y {spanish(n % 10, **own)}" if n % 10 else "")
    if n == 100:
        return "cien"
    if n < 1000:
        hundreds = hundreds_of(n, ES_HUNDREDS, feminine=feminine)
        return hundreds + (f" {spanish(n % 100, **own)}" if n % 100 else "")
    count = f"{spanish(n // 1000, feminine=feminine, before_noun=True)} " if n >= 2000 else ""
    return f"{count}mil" + (f" {spanish(n % 1000, **own)}" if n % 1000 else "")


def portuguese(n: int, *, feminine: bool = False, european: bool = False) -> str:
    if feminine and n in {1, 2}:
        return ("uma", "duas")[n - 1]
    if n < 20:
        changed = {14: "quatorze", 16: "dezasseis", 17: "dezassete", 19: "dezanove"} if european else {}
        return changed.get(n, PT[n])
    own = {"feminine": feminine, "european": european}
    if n < 100:
        return PT_TENS[n // 10] + (f" e {portuguese(n % 10, **own)}" if n % 10 else "")
    if n == 100:
        return "cem"
    if n < 1000:
        hundreds = hundreds_of(n, PT_HUNDREDS, feminine=feminine)
        return hundreds + (f" e {portuguese(n % 100, **own)}" if n % 100 else "")
    count = f"{portuguese(n // 1000, **own)} " if n >= 2000 else ""
    rest = n % 1000
    between = " e " if rest < 100 or rest % 100 == 0 else " "
    return f"{count}mil" + (between + portuguese(rest, **own) if rest else "")


def italian(n: int, *, accent: str = "é", elided: bool = True, last: bool = True) -> str:
    """`elided`: "centottanta" for "centoottanta"."""
    if n < 20:
        return IT[n]
    if n < 100:
        ten, unit = IT_TENS[n // 10], n % 10
        ten = ten[:-1] if unit in {1, 8} else ten
        return ten + (f"tr{accent}" if unit == 3 and last else IT[unit] if unit else "")
    own = {"accent": accent, "elided": elided}
    if n < 1000:
        rest = n % 100
        hundred = (IT[n // 100] if n >= 200 else "") + ("cent" if elided and rest // 10 == 8 else "cento")
        return hundred + (italian(rest, last=last, **own) if rest else "")
    count = f"{italian(n // 1000, last=False, **own)}mila" if n >= 2000 else "mille"
    count = count.replace("unomila", "unmila")
    return count + (italian(n % 1000, last=last, **own) if n % 1000 else "")


def dutch(n: int, *, trema: bool = True, apart: str = "") -> str:
    """`apart` stands after "duizend": a space, as the spelling rules ask, or nothing."""
    if n < 20:
        return NL[n]
    if n < 100:
        unit, ten = NL[n % 10], NL_TENS[n // 10]
        join = "ën" if trema and unit[-1] == "e" else "en"
        return (unit + join if n % 10 else "") + ten
    own = {"trema": trema, "apart": apart}
    if n < 1000:
        count = NL[n // 100] if n >= 200 else ""
        return f"{count}honderd" + (dutch(n % 100, **own) if n % 100 else "")
    count = dutch(n // 1000, **own) if n >= 2000 else ""
    return f"{count}duizend" + (apart + dutch(n % 1000, **own) if n % 1000 else "")


# Every form by language, with the words of a sentence before and after the number.
FORMS: dict[str, tuple[tuple[str, str], dict[str, Speller]]] = {
    "en": (
        ("The list has been with you for", "boxes and that is it"),
        {
            "with and": english,
            "without and": lambda n: english(n, join=" "),
            "without hyphens": lambda n: english(n, hyphen=" "),
        },
    ),
    "de": (
        ("Die Liste ist mit", "Kisten und das ist alles"),
        {
            "with ein": german,
            "without ein": lambda n: german(n, one=""),
            "with ss": lambda n: german(n).replace("ß", "ss"),
            "without umlauts": lambda n: german(n).replace("ü", "ue").replace("ö", "oe"),
        },
    ),
    "fr": (
        ("La liste est avec", "boîtes et pas une de plus"),
        {
            "reform of 1990": french,
            "with spaces": lambda n: french(n, join=" "),
            "Swiss": lambda n: french(n, belgian=True),
            "Swiss with spaces": lambda n: french(n, join=" ", belgian=True),
            "feminine": feminine_french,
            "feminine with spaces": lambda n: feminine_french(n, join=" "),
        },
    ),
    "es": (
        ("La lista es con", "cajas para los que están"),
        {
            "alone": spanish,
            "masculine": lambda n: spanish(n, before_noun=True),
            "feminine": lambda n: spanish(n, feminine=True, before_noun=True),
            "without accents": lambda n: spanish(n).translate(str.maketrans("éó", "eo")),
        },
    ),
    "pt": (
        ("A lista é com", "caixas para os que são"),
        {
            "Brazilian": portuguese,
            "European": lambda n: portuguese(n, european=True),
            "feminine": lambda n: portuguese(n, feminine=True),
        },
    ),
    "it": (
        ("La lista è con", "scatole per il resto della casa"),
        {
            "elided": italian,
            "not elided": lambda n: italian(n, elided=False),
            "without accent": lambda n: italian(n, accent="e"),
            "with the wrong accent": lambda n: italian(n, accent="è"),
        },
    ),
    "nl": (
        ("Het is een lijst voor deze", "dozen uit het huis"),
        {
            "joined": dutch,
            "apart": lambda n: dutch(n, apart=" "),
            "without trema": lambda n: dutch(n, trema=False),
            "accented": lambda n: "één" if n == 1 else dutch(n),
        },
    ),
}
