"""The words by which an Italian question leans on earlier ones."""

from __future__ import annotations

from monitor.assess.conversation.lexicon.leaning_words import LeaningWords, found, listed

ITALIAN = LeaningWords(
    code="it",
    asking=listed("chi che cosa cos quale quali qual quando dove dov come com perché quanto quanta quanti quante"),
    auxiliary=listed(
        "è sono era erano fu sarà essere ha hanno ho aveva può possono posso possiamo potrei deve devono devo si "
        "fa fanno "
        "va vanno c v bisogna"
    ),
    function=listed(
        "il lo la i gli le l un uno una di del dello della dei degli delle al allo alla ai agli alle da dal "
        "dalla dai nel "
        "nella nei nelle sul sulla io tu noi voi mi ti ci vi mio mia miei mie nostro nostra e ed o ma se non né "
        "molto più "
        "meno anche solo già ancora qui altro altra altri altre stesso stessa tutto tutti tutte a ad d sì no "
        "grazie allora"
    ),
    generic=listed(
        "significa spiega spiegare dire dice succede funziona funzionano costa costano dura tempo esempio esempi "
        "dettagli "
        "informazioni possibile differenza ragione prossimo meglio peggio economico veloce grande sicuro necessario "
        "disponibile gratis gratuito vale"
    ),
    speaker=listed("io noi posso possiamo può voglio devo per"),
    pronouns=listed("lui lei loro esso essa essi esse ciò questi queste questo questa là lì"),
    possessives=listed("suo sua suoi sue"),
    before=listed("in per con senza nel nella nei nelle durante dopo prima sotto tra fra su contro secondo fuori fino"),
    address=listed("tu te puoi sei"),
    pointing=found(
        r"\b(?:questo|questa|questi|queste|quel|quella|quelle|quei|quegli|quest'|quell')"
        r"(?! ?(?:anno|settimana|mese|sera|mattina|estate|inverno|che)\b) ?\w*",
        r"\b\w{2,}[aei]r(?:lo|la|li|le|ne|gli)\b",
    ),
    setting_aside=found(r"\bper questo\b|\bvale a dire\b"),
    opener=found(
        r"(?:e |ma )?(?:che ne dici di|che mi dici di|cosa succede (?:con|se))\b",
        r"e (?:se|per|in|nel|nella|con|i|gli|le|il|la|dopo|poi|allora)\b|e l'",
        r"(?:cosa|chi|dove|cos') ?(?:altro|ancora)\b",
    ),
    joining=found(r"(?:e|o|ma|anche|solo|perfino)\b,?"),
    relative=listed("che cui dove"),
    linking=listed("e o ma se quando perché"),
    whole=found(
        r"(?:e |ma |ok |allora )*(?:perché(?: no)?|come(?: mai)?|quanto(?: costa| tempo| dura| è)?|quanti|quante|"
        r"da quando|fino a quando|davvero|quale|quali|per esempio|ad esempio|sì(?: grazie)?|no|"
        r"(?:dimmi|raccontami) di più|più (?:dettagli|informazioni))(?: per favore)?"
    ),
)
