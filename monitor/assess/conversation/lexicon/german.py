"""The words by which a German question leans on earlier ones."""

from __future__ import annotations

from monitor.assess.conversation.lexicon.leaning_words import LeaningWords, found, listed

GERMAN = LeaningWords(
    code="de",
    asking=listed(
        "wer wen wem wessen was welche welcher welches welchen welchem wann wo wohin woher warum weshalb wieso wie "
        "wieviel wozu womit wofür worin woran wodurch wovon"
    ),
    auxiliary=listed(
        "ist sind war waren bin sein wird werden wurde wurden kann können könnte könnten darf dürfen muss müssen "
        "soll "
        "sollte sollen will wollen hat habe haben hatte hatten gibt gab macht tut"
    ),
    function=listed(
        "der die das den dem des ein eine einen einem einer eines ich du wir ihr mich mir uns man mein meine meinen "
        "meiner meinem unser unsere dein deine und oder aber auch nur noch schon so als wenn falls dann denn "
        "doch nicht "
        "kein keine keinen zu sehr mehr am im zum zur vom ob dass da hier jetzt alle alles jeder jede bitte ja nein "
        "sich selbst andere anderen anderes mal eigentlich genau gleich"
    ),
    generic=listed(
        "heißt bedeutet erklären erkläre erklär sagen sag geht gehen funktioniert funktionieren kostet kosten dauert "
        "lange lang oft viel viele groß hoch weit teuer passiert beispiel beispiele details einzelheiten "
        "informationen "
        "möglich unterschied grund weiter nächste gilt gelten stimmt besser schneller billiger günstiger größer "
        "kleiner "
        "braucht brauche nötig sicher erlaubt verfügbar statt stattdessen etwas nichts"
    ),
    speaker=listed("ich du wir man zu"),
    pronouns=listed(
        "er es sie ihn ihm ihnen ihr denen deren dessen dafür davon damit dazu darüber daran dabei darin darauf "
        "daraus "
        "dadurch dagegen danach davor dort dorthin diese dieser dieses diesen diesem jene jener jenes solche solchen"
    ),
    possessives=listed("ihre ihren ihrem ihrer seine seinen seinem seiner"),
    before=listed(
        "in im für mit ohne bei von vom aus nach vor während unter über zwischen bis seit auf an am um ab gegen "
        "wegen "
        "trotz innerhalb außerhalb"
    ),
    address=listed("du dein dich"),
    pointing=found(
        r"\bdies(?:e|er|es|en|em)\b(?! (?:jahr|woche|monat|tage|sommer|winter|quartal))",
        r"\bdas(?=\s*(?:[?.!]|$))|\b(?:ist|war|geht|heißt|gilt|kann|macht|funktioniert) das (?:so|auch|kostenlos|"
        r"möglich|"
        r"sicher|erlaubt|normal|immer|nur|noch|schon|richtig|wirklich|überhaupt)\b",
    ),
    setting_aside=found(
        r"\b(?:gibt|gab|geht|handelt|regnet|schneit) es\b|\bes (?:gibt|gab|geht|handelt|regnet|schneit)\b",
        r"\b(?:ist|war|wäre) es (?:\w+ ){0,3}(?:zu|dass|wenn)?\b|\bes (?:ist|war) (?:\w+ ){1,5}?(?:zu|dass|wenn)\b",
        r"\b(?:dauert|kostet|braucht|heißt|bedeutet) es,? (?:\S+ ){0,8}?(?:zu|bis|wenn|dass)\b",
        r"\b(?:können|könnten|könnt|haben|hätten|würden|bieten|sind|werden|sollten|müssen|möchten|wissen|empfehlen|"
        r"verkaufen|liefern|akzeptieren|machen|nehmen|meinen) (?:sie|ihnen|ihre\w?)\b|\bhaben sie\b|\bwenn sie\b",
        r",\s{0,3}damit\b",
    ),
    opener=found(
        r"(?:und |aber |ok |okay )?(?:was ist (?:denn )?mit|wie (?:ist|sieht|steht) es (?:denn )?(?:mit|bei|aus)|"
        r"wie sieht's|was ist,? wenn)\b",
        r"(?:was|wer|wo) (?:sonst|noch)\b|und dann\b|gilt das\b",
    ),
    joining=found(r"(?:und|oder|aber|auch|nur|sogar|sondern|also)\b,?"),
    relative=listed("der die das welche wo"),
    linking=listed("und oder aber wenn falls weil als"),
    vague=listed("sie"),
    whole=found(
        r"(?:und |aber |ok |okay |bitte )*(?:warum(?: nicht| das| denn)?|wieso(?: nicht| das)?|weshalb|wie "
        r"(?:lange|viel|"
        r"viele|oft|das|denn|meinst du das)|wieviel|seit wann|bis wann|ab wann|wofür|womit|wozu|wirklich|echt|"
        r"(?:erzähl|sag)(?:e|en sie)? mir mehr(?: darüber| dazu)?|mehr (?:dazu|details|informationen)|zum beispiel|"
        r"welche[rsn]?|ja(?: bitte)?|nein|weiter)(?: bitte)?"
    ),
)
