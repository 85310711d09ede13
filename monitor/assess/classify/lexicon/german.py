"""How German words refusals, courtesies and hedges."""

from __future__ import annotations

from monitor.assess.classify.lexicon.wording import Wording, pattern, upto, whole, words

_SOURCE = (
    r"(?:dokument(?:e|en|s|ation)?|unterlagen?|texte?[sn]?|kontext(?:e?s)?|quellen?|handb(?:uch|uchs|üchern?)|"
    r"informationen|abschnitte?n?|seiten?|ausz(?:ug|üge|ügen)|passagen?|artikeln?|absatz|absätzen?|"
    r"material(?:ien)?|wissens(?:datenbank|basis)|anleitung(?:en)?|broschüre|suchergebnisse?n?|textstellen?)"
)
_NOT = r"(?:nicht|keine?[nrms]?|nichts|nirgends|weder)"
_SAID = (
    r"(?:enthalten|enthält|erwähn\w*|genannt|nenn(?:t|en)|hervor\w*|angegeben|angabe\w*|information\w*|auskunft|"
    r"beschr\w+|erklär\w*|steht|stehen|(?:ge|zu )?f[iu]nd(?:en|et)|gefunden|beantwort\w*|erläuter\w*|hinweis\w*|"
    r"aufgeführt|dargestellt|behandelt|behandeln|besprochen|eingegangen|gesagt|sagen|sagt|ersichtlich|spezifiziert|"
    r"thematisiert|ableiten|entnehmen|aussage\w*|geben|gibt|liefern|liefert|vor(?:handen)?|eindeutig|klar|"
    r"entnommen|festgelegt|dokumentiert|ein|antwort|details?|eingehen|nähere\w*|daten)"
)
_INFORMATION = (
    r"(?:information\w*|angaben?|auskunft|auskünfte|antwort\w*|hinweise?n?|daten|details?|kenntnis(?:se)?|belege?)"
)
_REPLY = (
    r"(?:beantworten|antworten|helfen|weiterhelfen|sagen|finden|nennen|mitteilen|beurteilen|bestätigen|bestimmen|"
    r"feststellen|ermitteln|weitergeben|behilflich|entnehmen|erkennen|unterstützen|(?:auskunft|angaben?|rat|"
    r"ratschläge|empfehlung(?:en)?|einschätzung|antwort|informationen) (?:dazu |darüber )?(?:geben|machen|"
    r"erteilen))"
)

GERMAN = Wording(
    code="de",
    cues=words(
        "nicht nichts nirgends kein keine keinen keiner keinem keines außerhalb unklar unbekannt weder unmöglich "
        "ungewiss überfragt offen leider überschreitet"
    ),
    limit_cues=words("nur lediglich ausschließlich beschränkt"),
    openers=words(
        "gerne gern natürlich selbstverständlich klar sicher hallo guten vielen danke herzlichen gute das ich wir "
        "es tut entschuldigung entschuldigen verzeihung bitte wenn falls sollten lassen zögern melden kann haben "
        "gibt hoffentlich beachten diese die dies alle angaben hier im folgenden zusammenfassend zusammengefasst "
        "laut auf basierend gemäß nach soweit meines unseres je wenden mit freundliche viele beste hinweis freut "
        "okay ja kein sehr in ihre wichtig bedenken beachte denken überprüfen prüfen möchten brauchen benötigen "
        "können zur zum eine kurz viel sonst grundsätzlich allgemein generell anbei aus den nachfolgend bei für "
        "wie kontaktieren"
    ),
    refusing=pattern(
        r"\b(?:ich|wir) (?:kann|können|konnte|konnten|darf|dürfen|"
        rf"möchte)\b[^.;\d]{{0,80}}?\b{_NOT}\b[^.;]{{0,60}}?\b{_REPLY}",
        r"\b(?:kann|können|konnte|konnten|darf|dürfen) (?:ich|"
        rf"wir)\b[^.;\d]{{0,80}}?\b{_NOT}\b[^.;]{{0,60}}?\b{_REPLY}",
        r"\b(?:ich (?:habe|finde|verfüge|besitze|sehe)|wir (?:finden|verfügen|"
        rf"haben))\b[^.;]{{0,60}}?\b{_NOT}\b[^.;]{{0,40}}?(?:{_INFORMATION}|zugriff|zugang|dokument|unterlage|"
        r"gefunden|finden können|ahnung|dazu|darüber)",
        rf"\b(?:habe|finde|sehe) ich\b[^.;]{{0,60}}?\b{_NOT}\b(?:[^.;]{{0,40}}?(?:{_INFORMATION}|zugriff|zugang|"
        r"gefunden|finden)|$|[.!])",
        r"\b(?:ich|wir) (?:weiß|wissen) (?:es |das |dies |darüber |dazu )?(?:leider |auch |selbst |momentan "
        r")?nicht\b|\bweiß ich (?:leider |auch )?nicht|^weiß (?:ich )?(?:es )?(?:leider )?nicht|\bkeine ahnung\b|"
        r"\b(?:mir|uns) (?:ist|sind|liegen|liegt|fehlen)\b[^.;]{0,40}?\b(?:nichts?|keine?n?)\b",
        r"\bist (?:mir|uns) (?:leider )?(?:nichts?|unbekannt)\b|\bfehlen mir (?:die|leider)\b|\bda bin ich "
        r"(?:leider )?überfragt\b|^überfragt",
        r"\bich bin (?:leider )?(?:nicht (?:in der lage|befugt|berechtigt|sicher)|überfragt|unsicher)\b|\bich bin "
        r"mir (?:\w+ )?nicht sicher\b",
        r"\b(?:dazu|darüber|hierzu|hierüber|davon|zu (?:diese[mr]|ihrer|deiner) \w+)\b (?:\w+ )?(?:habe|haben|"
        rf"liegen|liegt|gibt|finde|steht|findet|enthalten|kann|lässt|ist|wird|sagt|sagen)\b[^.;]{{0,60}}?\b{_NOT}\b",
        rf"\b{_SOURCE}\b[^.;]{{0,90}}?\b{_NOT}\b[^.;]{{0,80}}?\b{_SAID}\b",
        rf"\b{_SOURCE} (?:steht|stehen|findet sich|finden sich) (?:\w+ ){{0,4}}nichts\b",
        r"\b(?:enthalten|enthält|erwähnen|nennen|nennt|erwähnt|beschreiben|geben|gibt|sagen|sagt|liefern|liefert|"
        rf"machen)\b[^.;]{{0,40}}?\b(?:keine?n?|nichts|nicht)\b[^.;]{{0,60}}?\b(?:(?!daten){_INFORMATION}|darüber|dazu|"
        r"aussage|"
        r"auskunft)",
        rf"\bkeine?n? (?:\w+ ){{0,2}}{_INFORMATION}(?: (?:dazu|darüber|hierzu|zu|über|vor|verfügbar|vorhanden|"
        r"gefunden|enthalten|zum|zur)\b|(?<!daten)(?:$|[.!]))",
        r"\b(?:steht|findet sich|finden sich|ist|wird|sind|werden|wurde|geht|gehen|lässt sich|lassen "
        rf"sich)\b[^.;]{{0,90}}?\b{_NOT}\b[^.;]{{0,50}}?(?:in den|aus den|im|aus dem|in der|aus der) (?:\w+ "
        rf"){{0,2}}{_SOURCE}",
        r"\b(?:lässt|lassen) sich\b[^.;]{0,80}?\bnicht (?:\w+ )?(?:beantworten|sagen|bestimmen|ableiten|"
        r"feststellen|beurteilen|ermitteln|entnehmen)\b",
        r"\b(?:ist|wird|sind|werden|wurde|bleibt) (?:\w+ ){0,4}nicht (?:\w+ )?(?:erwähnt|angegeben|genannt|"
        r"spezifiziert|bekannt|beschrieben|ersichtlich)(?:$|[.!])",
        r"^nicht (?:\w+ )?(?:angegeben|bekannt|erwähnt|genannt|spezifiziert|verfügbar|"
        r"bekanntgegeben)\b[^,:]{0,30}$|^(?:leider )?keine (?:angaben?|informationen|auskunft|"
        r"antwort)\b[^,:]{0,30}$|^unbekannt\b|^unklar\b",
        r"\b(?:es|das|dies) (?:ist|bleibt) (?:\w+ ){0,3}(?:unklar|unbekannt|nicht (?:klar|bekannt|möglich (?:zu "
        r"sagen|,)|ersichtlich|eindeutig))\b",
        r"\b(?:ist|bleibt)\b[^.;]{0,60}\b(?:unklar|offen)\b[^.;,]{0,30}(?:$|[.!]|, (?:ob|wer|wie|wann|was|wo|"
        r"welche\w*))|\blassen? (?:das|dies|es) offen\b",
        r"\bes ist (?:\w+ )?(?:nicht möglich|unmöglich)[^.;]{0,60}\b(?:beantworten|sagen|bestimmen|antwort)",
        rf"\b{_SOURCE} (?:\w+ )?(?:nenn|erwähn|enthalt|enthält|sag|beschreib|geb|gib|erklär|spezifizier|mach)\w*(?: "
        r"[^.;,]{1,60})? (?:nicht|nichts)(?:[.,!]|$| (?:an|aus)(?:[.,!]|$))",
        r"\baußerhalb (?:meine[sr]|unseres (?:wissens|themen|aufgaben|fach))|\bgehört (?:leider )?nicht zu "
        r"meine[nm]\b|\b(?:überschreitet|übersteigt) mein",
        rf"\b{_INFORMATION} (?:\w+ ){{0,3}}(?:ist|sind|liegen|liegt|steht|stehen) (?:\w+ ){{0,3}}(?:nicht|"
        r"keine)\b[^.;]{0,30}(?:verfügbar|vor|vorhanden|enthalten|bekannt|zur verfügung)",
        r"\b(?:dokumente|unterlagen|quellen|texte|textstellen|artikel|auszüge|passagen|kontext|handbuch|dokumentation) "
        r"(?:\w+ )?(?:nennt|nennen|"
        r"erwähnt|erwähnen|beschreibt|beschreiben|enthalten) (?:\w+ ){0,2}keine?[nrms]?\b",
        rf"\bkeine?[nrs]? (?:der|dieser|von den) (?:\w+ ){{0,2}}{_SOURCE}\b[^.;]{{0,60}}?(?:\b{_SAID}|$|[.!])",
        r"(?:beratung|auskunft|auskünfte|empfehlung(?:en)?|ratschläge) (?:kann|darf) ich (?:\w+ ){0,2}(?:nicht|keine) "
        r"(?:\w+ )?(?:geben|leisten|erteilen|"
        r"anbieten)\b",
    ),
    limit=pattern(
        r"^(?:ich (?:kann|darf)|(?:kann|darf) ich) (?:ihnen |dir |leider |hier )*(?:nur|lediglich|ausschließlich) "
        r"[^.;:]{0,80}\b"
        r"(?:helfen|weiterhelfen|beantworten|antworten|unterstützen|auskunft geben|informationen geben)\b",
        r"^(?:ich (?:habe|besitze)|(?:habe|besitze) ich|wir haben) (?:leider |hier )?(?:nur|lediglich|ausschließlich) "
        rf"(?:\w+ ){{0,2}}(?:{_INFORMATION}|"
        r"zugriff|zugang|unterlagen|dokumente|wissen)\b|^ich beantworte (?:leider )?(?:nur|ausschließlich) fragen\b|"
        r"\bmein wissen (?:ist|"
        r"beschränkt sich) (?:\w+ ){0,3}(?:auf|beschränkt)\b",
    ),
    fact=pattern(
        r"^(?!.*\b(?:ich|wir)\b).*\bkeine (?:\w+ )?(?:personenbezogenen|persönlichen|vertraulichen|sensiblen|geheimen) "
        r"(?:daten|"
        r"informationen|angaben)\b(?! (?:zu|über|von|des|der)\b)",
        r"^(?!.*\b(?:ich|wir)\b).*?\b(?:dürfen|darf|müssen|muss|sollen|soll|sollte|sollten|brauchen|braucht) "
        r"(?:\w+ ){0,2}(?:nicht|keine?[nrms]?)\b",
        r"\bkeine (?:angaben|informationen|daten), die (?:sie|du|man)\b|^(?:wenn|falls|sofern|solange|"
        r"sobald)\b(?:(?!, (?:kann ich|weiß ich)).)*$",
        r"\b(?:lieferumfang|warenkorb)\b|\bnicht (?:mehr )?(?:benötigt|erforderlich|nötig|notwendig)\b|\bsondern\b",
    ),
    courtesy=whole(
        r"(?:gerne?|sehr gerne?|natürlich|selbstverständlich|klar|sicher|okay|alles klar|kein problem|aber "
        r"gerne?)(?:[,!.]? (?:ich helfe|helfe ich|das mache ich|hier)[^.;:]{0,50})?",
        r"(?:hallo|guten (?:tag|morgen|abend)|liebe[r]? [^.;:]{0,30}|sehr geehrte[^.;:]{0,40})",
        r"(?:vielen|herzlichen|besten)? ?dank(?:e)?(?: (?:für|ihnen|dir|im voraus|schön|sehr)[^.;:]{0,80})?",
        r"(?:das ist )?(?:eine )?(?:sehr )?(?:gute|interessante|berechtigte|wichtige|tolle) frage",
        r"(?:es )?tut (?:mir|uns) (?:\w+ )?leid[^.;:,]{0,60}|(?:ich |wir )?(?:bitte[n]?|entschuldige\w*)(?: (?:um|"
        r"sie|bitte|mich|das|die|vielmals)){0,3}[^.;:,]{0,60}(?:entschuldigung|verwirrung|missverständnis|"
        r"unannehmlichkeiten|verzeihung)|entschuldigung(?: für[^.;:,]{0,60})?|verzeihung",
        r"(?:ich|wir) (?:helfe|helfen|stehe|stehen|freue|freuen|unterstütze|beantworte)\b[^.;]{0,80}(?:gerne?|"
        r"weiter|verfügung|zu können|fragen)|gerne? (?:helfe|stehe|unterstütze|beantworte) ich[^.;]{0,80}",
        r"(?:wenn|falls|sollten|haben|hast) (?:sie|du|noch|ihnen|dir)\b[^.;:]{0,80}(?:fragen|hilfe|unterstützung|"
        r"informationen|wissen|brauchen|benötigen)\b[^.;:]{0,90}",
        r"(?:bitte )?(?:lassen sie (?:es )?(?:mich|uns)[^.;]{0,30}wissen|lass (?:es )?mich[^.;]{0,30}wissen|sagen "
        r"sie (?:mir )?(?:einfach )?bescheid|zögern sie nicht|melden sie sich|melde dich|fragen sie)[^.;]{0,80}",
        r"kann ich (?:ihnen|dir|sonst|noch)[^.;]{0,60}(?:helfen|tun|weiterhelfen|behilflich sein)|(?:gibt es|haben "
        r"sie|möchten sie|sonst)[^.;]{0,30}noch (?:etwas|fragen|weitere)[^.;]{0,60}",
        r"(?:könnten|können|würden) sie (?:bitte |mir )?[^.;]{0,80}(?:mitteilen|präzisieren|angeben|umformulieren|"
        r"nennen|beschreiben|sagen|erläutern)",
        r"(?:bitte )?(?:wenden sie sich|kontaktieren sie)[^.;]{0,60}(?:uns|support|kundendienst|kundenservice|"
        r"service|team|hotline|beratung|filiale)[^.;]{0,40}",
        r"(?:mit )?(?:freundlichen|freundliche|viele|beste|besten|herzliche) (?:grüßen|grüße|dank)|(?:ich wünsche "
        r"ihnen |ich wünsche dir )?(?:einen )?(?:schönen|guten) tag(?: noch)?|viel (?:erfolg|spaß|"
        r"glück)[^.;:]{0,30}",
    ),
    hedge=whole(
        r"(?:ich|wir) hoffen?,? (?:dass )?(?:das|dies|diese)[^.;:]{0,70}|hoffentlich hilft[^.;:]{0,40}|ich "
        r"hoffe[^.;:,]{0,40}",
        r"(?:bitte )?(?:beachten sie|beachte|bedenken sie|denken sie daran|berücksichtigen sie)(?: bitte)?(?: "
        r"jedoch| auch)?,? (?:dass )?[^.;:]{0,60}(?:kann|können|abweichen|variieren|ändern|unvollständig|"
        r"allgemein)\w*[^.;:]{0,60}",
        r"(?:diese|die|dies|das|ihre|alle|einzelne)(?: \w+){0,3} (?:kann|können|könnte|könnten)(?: \w+){0,5} "
        r"(?:abweichen|variieren|ändern|unvollständig sein|veraltet sein|anders sein)",
        r"(?:das|dies|es) (?:hängt|kommt)(?: \w+){0,3} (?:von|darauf)[^.;:]{0,60}|je nach (?:situation|"
        r"fall)[^.;:]{0,60}",
        r"(?:aber )?(?:ich|da) (?:kann|könnte|könnten|mag) (?:mich |ich mich )?(?:auch )?(?:irren|"
        r"täuschen)[^.;:]{0,20}|alle angaben ohne gewähr|(?:alle )?angaben ohne gewähr",
        r"(?:das|dies|die \w+) (?:ist|sind|stellt|dient|ersetzt)[^.;:]{0,40}(?:keine?|nicht|"
        r"nur)[^.;:]{0,60}(?:beratung|information\w*|zusammenfassung|orientierung|rat|dar)[^.;:]{0,30}",
        r"(?:soweit ich (?:weiß|sehe|das beurteilen kann)|nach meinem (?:wissen|kenntnisstand)|meines "
        r"wissens)(?:,? (?:ist|stimmt) das (?:richtig|so|korrekt))?",
        r"(?:bitte )?(?:überprüfen|prüfen|vergewissern) sie [^.;:]{0,90}|(?:es )?(?:ist|wird) (?:\w+ )?(?:ratsam|"
        r"empfohlen|empfehlenswert|sinnvoll),? [^.;:]{0,50}(?:fachmann|arzt|anwalt|experten?|quellen?|"
        r"kundenservice|support|stellen?)[^.;:]{0,50}",
        r"(?:auf (?:der )?(?:grundlage|basis)|basierend auf|laut|gemäß|nach|aus) (?:der|den|dem|ihren|deinen|"
        rf"meinen|vorliegenden|diesen) {upto(2)}{_SOURCE}(?: (?:habe|kann|finden|lässt|lassen|ergibt|hier|ist|"
        r"sind)[^.;:]{0,60}(?:gefunden|sagen|folgende\w*|zusammenfassung|antwort|ich fand|zusammenfassen|"
        r"informationen))?",
        r"(?:hier|im folgenden|nachfolgend|anbei)(?: (?:ist|sind|finden sie|kommt|folgt|eine|die|das|finde "
        r"ich))?[^.;]{0,40}(?:zusammenfassung|überblick|übersicht|antwort|punkte|schritte|informationen|liste|"
        r"gefunden|erklärung|anleitung|details)[^.;:]{0,50}",
        r"zusammenfassend|zusammengefasst|kurz gesagt|zusammenfassung|hinweis|antwort|wichtige punkte|die "
        r"wichtigsten punkte|übersicht|überblick",
    ),
    apology=whole(r"(?:es )?tut (?:mir|uns) (?:\w+ )?leid|entschuldigung|verzeihung|leider nein|leider nicht"),
    lead=pattern(
        r"[\W_]*(?:(?:es )?tut (?:mir|uns) (?:\w+ )?leid|entschuldigung|verzeihung|leider|bedauerlicherweise|"
        r"jedoch|allerdings|aber|doch|also|daher|deshalb|nein(?=,)|ja|und|auch|zudem|außerdem|ehrlich gesagt|ich "
        r"fürchte|hallo|momentan|derzeit|zurzeit)\b[\W_]*"
    ),
    border=pattern(
        r"[,;:–—-]+ (?:aber|jedoch|doch|allerdings|während|hingegen|dafür|obwohl|wobei|wohl aber)\b ?",
        r"; |[–—] | - | aber | jedoch ",
        r", (?:und|daher|deshalb|sodass|so dass) ",
    ),
    concessive=pattern(r"[\W_]*(?:obwohl|obgleich|zwar|während|auch wenn|wenngleich)\b"),
    aside=pattern(
        rf"(?:(?:es|sie|dort|darin)|(?:der|die|das|den|in den|im|meine|unsere) {upto(3)}{_SOURCE}) (?:\w+ "
        r"){0,2}?(?:\w+ )?(?:nur|lediglich|ausschließlich|bloß)\b",
        r"(?:ich|wir) (?:beantworte|helfe|kann|können|kenne|habe) (?:\w+ ){0,3}?(?:nur|lediglich|ausschließlich)\b",
        r"(?:bitte|am besten|sie (?:können|sollten)|ich empfehle|wir empfehlen|es empfiehlt sich|wenden sie sich|"
        r"fragen sie|kontaktieren sie|schauen sie|versuchen sie)\b",
        r"(?:wenn|falls|sobald) (?:sie|du)\b[^.;]{0,40}(?:mir|mitteilen|geben|haben|nennen|brauchen|benötigen)",
        r"(?:die frage|sie fragen|sie haben gefragt|sie wollten wissen)\b|(?:das|dies|es) (?:kann|hängt|könnte)\b",
    ),
    report=pattern(
        rf"(?:sie|es|darin|dort|(?:der|die|das|den|in den|im|dem) {upto(3)}{_SOURCE}) (?:\w+ ){{0,3}}?(?:nenn|"
        r"erwähn|beschreib|enthalt|enthält|sag|erklär|behandel|geh|gib|geb|steht)"
    ),
)
