"""Pairs of opposite words: a closed list, by stem."""

from __future__ import annotations

from functools import lru_cache

_SUFFIXES = ("ing", "ed", "es", "s", "ly", "e")
_SHORTEST = 3  # letters that must remain as the stem

# Each line has two sides: every word of one side is the opposite of every word of the other.
_OPPOSITES = """
    more / less fewer
    most / least
    increase rise grow gain / decrease fall decline shrink drop
    increases raise raises / reduce reduces lower lowers
    allow permit allowed permitted / forbid forbidden prohibit prohibited deny disallow
    open / close shut
    enable activate turn-on / disable deactivate
    enabled active activated / disabled inactive deactivated
    required mandatory compulsory obligatory / optional voluntary
    above over / below under beneath
    minimum min / maximum max
    first / last
    true / false
    high higher highest / low lower lowest
    large larger largest big bigger biggest / small smaller smallest
    long longer longest / short shorter shortest
    old older oldest / young younger youngest new newer newest
    early earlier earliest / late later latest
    include includes / exclude omit
    accept approve / reject refuse decline
    success succeed / failure fail
    win won / lose lost
    left / right
    north northern / south southern
    east eastern / west western
    up upward / down downward
    inside within internal / outside external
    public / private
    free / paid
    positive / negative
    legal / illegal
    possible / impossible
    valid / invalid
    visible / hidden invisible
    safe / unsafe dangerous
    add / remove delete
    start begin / end finish stop
    buy / sell
    upper / lower
    fast faster fastest / slow slower slowest
    better best / worse worst
    hot hotter / cold colder
    strong stronger / weak weaker
    major / minor
    male / female
    input / output
    encrypt / decrypt
    upgrade / downgrade
    ascending / descending
    synchronous / asynchronous
    permanent / temporary
    automatic automatically / manual manually
    same / different
    present / absent
    heavy heavier / light lighter
    all every / none
    mehr / weniger
    erlaubt gestattet / verboten untersagt
    geöffnet offen / geschlossen
    aktiviert / deaktiviert
    erforderlich notwendig / optional freiwillig
    über oberhalb / unter unterhalb
    steigt erhöht / sinkt senkt
    mindestens / höchstens
    plus / moins
    autorisé permis / interdit
    ouvert ouverte / fermé fermée
    activé activée / désactivé désactivée
    obligatoire / facultatif facultative
    más mais / menos
    permitido / prohibido proibido
    abierto aberto / cerrado fechado
    aumenta / disminuye diminui diminuisce
    obligatorio obrigatório / opcional
    più / meno
    permesso consentito / vietato
    aperto / chiuso
    obbligatorio / facoltativo
"""


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """`word`, which is in lower case, without the ending of an English inflection."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST:
            word = word[: -len(suffix)]
            if suffix not in {"s", "es"}:
                break
    return word


def _read() -> dict[str, frozenset[str]]:
    opposites: dict[str, frozenset[str]] = {}
    for line in _OPPOSITES.strip().splitlines():
        left, right = (frozenset(stem(word) for word in side.split()) for side in line.split("/"))
        for side, against in ((left, right), (right, left)):
            for word in side:
                opposites[word] = opposites.get(word, frozenset()) | against
    return opposites


OPPOSITES = _read()


def opposite(left: str, right: str) -> bool:
    """Whether two stems are opposites."""
    return right in OPPOSITES.get(left, ())
