"""How Dutch words refusals, courtesies and hedges."""

from __future__ import annotations

from monitor.assess.classify.lexicon.wording import Wording, pattern, upto, whole, words

# What an assistant calls the texts that it was given. The second list also names things that users ask about.
_TEXT = (
    r"(?:documenten|document|documentatie|teksten|tekst|context|bronnen|brontekst(?:en)?|bronmateriaal|"
    r"handleiding(?:en)?|artikel(?:en|s)?|fragment(?:en)?|passages?|alinea(?:'s)?|paragra(?:af|fen)|brochures?|"
    r"kennisbank|kennisbase|zoekresulta(?:at|ten)|stukken|faq|uittreksels?)"
)
_SOURCE = (
    rf"(?:{_TEXT}|informatie|gegevens|materia(?:al|len)|gids(?:en)?|handboek(?:en)?|pagina(?:'s)?|notities|"
    r"rapport|richtlijn(?:en)?|website|hoofdstuk(?:ken)?|database)"
)
_NOT = r"(?:niet|geen|niets|niks|nergens|nooit)"
_SAID = (
    r"(?:bevat(?:ten)?|vermeld(?:t|en)?|genoemd|noem(?:t|en)|beschr\w+|gespecificeerd|specificeert|specificeren|"
    r"aangegeven|zegt?|zeggen|gezegd|staa[nt]|vinden|vindt|gevonden|behandel(?:d|t|en)|besproken|bespreekt|bespreken|"
    r"ingegaan|uitgelegd|toegelicht|duidelijk|blijk(?:t|en)|opgenomen|informatie|antwoord\w*|details?|op te maken|af "
    r"te leiden|afgeleid|opgemaakt|beantwoord\w*|verstrekt|verduidelijkt|vermelding\w*|aanwijzing\w*|uitleg|"
    r"toelichting|gegevens|in op|beschikbaar|gegeven|aan bod|terug (?:te )?vinden|melding|verwijzing\w*|uitsluitsel|"
    r"over gezegd|bekend|expliciet)"
)
_INFORMATION = (
    r"(?:informatie|info|gegevens|details?|antwoord(?:en)?|vermelding(?:en)?|aanwijzing(?:en)?|uitleg|toelichting|data|"
    r"kennis|uitsluitsel|bijzonderheden|duidelijkheid)"
)
_REPLY = (
    r"(?:beantwoorden|antwoorden|helpen|verderhelpen|zeggen|vinden|terugvinden|vertellen|bepalen|vaststellen|"
    r"bevestigen|beoordelen|achterhalen|opmaken|afleiden|meedelen|adviseren|assisteren|ingaan|halen|van dienst zijn|"
    r"opzoeken|voldoen|(?:antwoord|informatie|gegevens|advies|uitsluitsel|uitleg|details|oordeel) (?:\w+ "
    r"){0,4}(?:geven|verstrekken|bieden|delen)|uitspra(?:ak|ken) (?:\w+ ){0,2}doen)"
)
_SAY = (
    r"(?:vermeld|noem|beschrij|specificeer|specificer|zeg|leg|geef|gev|behandel|bespre|verduidelijk|beantwoord|ga(?:a|"
    r"n)|licht)\w*"
)
_DET = r"(?:de|het|deze|dit|mijn)"
_HERE = r"(?:hier|daar|er|hierover|daarover|dit|dat|deze|die|het)"

DUTCH = Wording(
    code="nl",
    cues=words(
        "niet geen niets niks nergens nooit noch onbekend onduidelijk onmogelijk onvoldoende ontbreekt ontbreken buiten"
    ),
    limit_cues=words("alleen slechts enkel uitsluitend beperkt"),
    openers=words(
        "ja nee zeker natuurlijk uiteraard graag prima oké okay ok hallo hoi hey dag goedendag goedemorgen goedemiddag "
        "goedenavond beste geachte bedankt dank dankjewel hartelijk goede wat dat een sorry excuses het mijn onze ik "
        "we wij neem aarzel laat als mocht heeft heb kan is wilt wil zou kunt met vriendelijke groet groeten fijne een "
        "prettige veel succes geen hopelijk houd let deze dit die de dit hangt voor zover naar volgens op hier "
        "hieronder samengevat samenvattend kortom kort opmerking antwoord belangrijk controleer raadpleeg afhankelijk "
        "aan alle vraag kom stel gerust welkom begrepen helder mogelijk in u je daarnaast verder alstublieft vergeet"
    ),
    refusing=pattern(
        # the speaker
        r"\b(?:ik|we|wij) (?:kan|kunnen|kon|konden|mag|mogen)\b[^.;\d]{0,80}?\b"
        rf"{_NOT}\b[^.;]{{0,60}}?\b{_REPLY}\b",
        rf"\b(?:kan|kon|mag) ik\b[^.;\d]{{0,80}}?\b{_NOT}\b[^.;]{{0,60}}?\b{_REPLY}\b",
        rf"\b(?:kunnen|konden) (?:we|wij)\b[^.;\d]{{0,80}}?\b{_NOT}\b[^.;]{{0,60}}?\b{_REPLY}\b",
        rf"\b(?:we|wij) (?:hebben|beschikken|vinden|vonden) (?:\w+ ){{0,4}}?{_NOT} (?:\w+ ){{0,3}}?(?:{_INFORMATION}|"
        r"gevonden|kunnen vinden)\b",
        r"\b(?:ik) (?:heb|beschik|vind|vond|zie|bezit)\b[^.;]{0,60}?\b"
        rf"{_NOT}\b[^.;]{{0,40}}?(?:\b{_INFORMATION}\b|\btoegang\b|\bdocument|\bgevonden\b|\bkunnen (?:vinden|"
        r"achterhalen)|\bidee\b|\bkunnen terugvinden|\bover (?:die|deze|dat|dit)\b|\b(?:hier|daar|er)over\b|"
        r"\bgegevens\b)",
        rf"\b(?:heb|beschik|vind|zie) ik\b[^.;]{{0,60}}?\b{_NOT}\b(?:[^.;]{{0,40}}?(?:\b{_INFORMATION}\b|\btoegang\b|"
        r"\bgevonden\b|\bvinden\b|\bover\b)|$|[.!])",
        r"\b(?:ik|we|wij) (?:vind|vinden|vond|heb|zie)\b[^.;]{0,30}?\b(?:niets|niks)\b[^.;]{0,30}?\b(?:over|in de|"
        r"terug|gevonden)\b",
        r"\b(?:ik|we|wij) (?:weet|weten) (?:(?:het|dat|dit|daar|hier|er|helaas|ook|zelf|momenteel|op dit moment|"
        r"eerlijk gezegd|het antwoord|de reden) ){0,4}(?:niet|niets|niks)\b(?! beter)",
        r"\bweet ik (?:(?:het|dat|helaas|ook|zelf|eerlijk gezegd|momenteel|zo) ){0,3}(?:niet|niets|niks)\b|^weet (?:ik "
        r")?(?:het )?(?:helaas )?niet\b",
        r"\bzou (?:ik )?(?:het |dat )?(?:u |je )?(?:echt |zo )?niet (?:weten|kunnen zeggen)\b|\bik zou (?:het|dat) "
        r"(?:\w+ )?niet weten\b|\bgeen (?:flauw )?idee\b(?! (?:om|van plan))",
        r"\b(?:mij|me|ons) (?:is|zijn|ontbreekt|ontbreken)\b[^.;]{0,40}?\b(?:niets?|geen|onbekend|informatie)\b|\bis "
        r"(?:mij|me|ons) (?:helaas )?(?:niets?|onbekend)\b",
        r"\bik ben (?:er )?(?:helaas )?(?:niet (?:in staat|bevoegd|gemachtigd|bekend met|zeker|op de hoogte|"
        r"geprogrammeerd)|er niet zeker van)\b|\bik ben (?:daar |hier )?(?:helaas )?onzeker\b|\bben ik (?:er )?(?:\w+ "
        r")?niet (?:zeker|in staat|bevoegd|van op de hoogte)\b",
        r"\bbuiten (?:mijn|onze) (?:kennis|vakgebied|expertise|mogelijkheden|bereik|taken|takenpakket|domein|"
        r"werkgebied|deskundigheid|bevoegdheid|scope)\w*\b|\bbuiten (?:het bereik|de reikwijdte|de scope) van (?:mijn|"
        r"wat ik|deze|de)\b|\bbuiten wat ik\b|\bhoort niet (?:bij|tot) mijn\b|\bvalt niet (?:binnen|onder) mijn\b",
        r"\bgeen verstand van\b|^er (?:staat|wordt) (?:niet|nergens)(?: \w+)? (?:vermeld |genoemd |beschreven |"
        r"aangegeven |gezegd |uitgelegd )?(?:hoe|wie|wat|waar|wanneer|of|welke?|waarom)\b",
        # the documents
        rf"\b(?:{_HERE}|over (?:dit|dat|deze|die|uw|je|jouw) \w+)\b (?:\w+ )?(?:is|zijn|staat|staan|wordt|worden|heb|"
        r"hebben|kan|valt|zegt)\b"
        r"[^.;]{0,60}?\b(?:niets (?:\w+ ){0,3}?(?:over|bekend|vermeld|gezegd|te vinden|gevonden)|geen "
        rf"{_INFORMATION})\b",
        r"\b(?:hierover|daarover|over (?:dit|dat|deze|die|uw|je) \w+) (?:is|staat|wordt|zegt|kan|"
        r"heb)\b[^.;]{0,60}?\bniets\b",
        rf"\b{_SOURCE}\b[^.;]{{0,90}}?\b{_NOT}\b[^.;]{{0,80}}?\b{_SAID}\b",
        rf"\b{_TEXT}(?: \w+){{0,3}} {_SAY}(?: (?!(?:en|of)\b)[\w'-]+){{0,8}} (?:niet|niets|geen)\b",
        r"\b(?:documenten|bronnen|teksten|passages|fragmenten|artikelen|context|handleiding|alinea's|"
        r"zoekresultaten)(?: \w+){0,3} (?:bevat|bevatten)(?: \w+){0,3} (?:geen|niets|niet)\b",
        rf"\b(?:de|het|deze|dit|verstrekte|beschikbare|gegeven) {upto(2)}(?:{_SOURCE}|bron) {_SAY} (?:\w+ "
        r"){0,4}(?:niet|"
        r"niets)(?:$|[.,!]| (?:wie|wat|waar|wanneer|hoe|of|welke?|waarom|over)\b)",
        rf"\b{_SOURCE} (?:staat|staan|is|wordt) (?:\w+ ){{0,4}}(?:niets|niks)\b",
        r"\b(?:vermeld|noem|beschrij|specificeer|specificer|zeg|geef|gev|behandel|bespre|verduidelijk|beantwoord)\w* "
        rf"{_DET} {upto(2)}{_SOURCE} (?:\w+ ){{0,4}}(?:niet|niets|geen)\b",
        rf"\buit {_DET} {upto(2)}{_SOURCE} (?:blijkt|blijken|volgt|wordt)(?: \w+){{0,4}} (?:niet|niets)\b",
        rf"\bgeen (?:\w+ ){{0,2}}{_INFORMATION}(?: (?:over|beschikbaar|gevonden|bekend|voor|omtrent|betreffende|"
        r"opgenomen|aanwezig|in de|in het)\b|$|[.!])",
        rf"\b(?:staat|staan|is|zijn|wordt|worden|werd|komt|komen|valt)\b[^.;]{{0,90}}?\b{_NOT}\b[^.;]{{0,50}}?\b(?:in|"
        r"uit|op basis "
        rf"van|aan de hand van|binnen) (?:de|het|deze|dit|mijn|een van de) (?:\w+ ){{0,2}}{_TEXT}\b",
        rf"\b(?:geen (?:enkel\w* )?(?:van )?(?:de |deze )?{upto(2)}|nergens in (?:de|het|deze|mijn) {upto(2)}|niets in "
        rf"(?:de|het|deze|mijn) {upto(2)}){_TEXT}\b[^.;]{{0,60}}?(?:\b(?:vermeld|noem|genoemd|gaat|gaan|geef|geven|"
        r"bevat|beschrij|zegt|staat|"
        r"wijst|behandel|bespreekt)\w*)",
        r"\b(?:kan|kunnen|valt|is|zijn)\b[^.;]{0,80}?\bniet (?:\w+ ){0,3}?(?:worden )?(?:beantwoord|te beantwoorden|"
        r"bepaald|te bepalen|vastgesteld|vast te stellen|op te maken|opgemaakt|af te leiden|afgeleid|te achterhalen|te "
        r"zeggen)\b",
        r"\b(?:is|wordt|zijn|worden|werd|blijft) (?:\w+ ){0,4}niet (?:\w+ )?(?:vermeld|genoemd|gespecificeerd|"
        r"aangegeven|bekend|beschreven|duidelijk|opgegeven|toegelicht)(?:$|[.!])",
        r"^(?:niet (?:\w+ )?(?:vermeld|bekend|gespecificeerd|genoemd|aangegeven|beschikbaar|opgegeven|van toepassing|"
        r"duidelijk|zeker)|n\.?v\.?t\.?)\b[^,:]{0,30}$|^(?:helaas )?geen (?:\w+ )?(?:informatie|gegevens|antwoord|"
        r"vermelding|resultaten)(?: (?:beschikbaar|gevonden|bekend|over|in)\b[^,:]{0,30})?[.!]?$|^(?:onbekend|"
        r"onduidelijk)(?:$|[.!,])",
        r"\b(?:het|dat|dit) (?:is|blijft) (?:(?:mij|me|helaas|nog|ook|uit de \w+|op basis van de \w+|voor mij) "
        r"){0,3}(?:onduidelijk|onbekend|niet (?:duidelijk|bekend|mogelijk (?:om|te)(?: \w+){0,8} (?:beantwoorden|"
        r"zeggen|bepalen|geven|achterhalen)))\b",
        r"\b(?:onduidelijk|onbekend|niet (?:duidelijk|bekend))\b[^.;]{0,40}(?:,? (?:of|wie|hoe|wanneer|wat|waar|welke?|"
        r"waarom)\b|"
        rf"\b(?:uit|in|op basis van) (?:de|het|deze) {upto(2)}{_SOURCE}\b)",
        r"\b(?:is|blijft) (?:\w+ ){0,3}(?:onduidelijk|onbekend)(?:$|[.!])|\b(?:is|was) (?:\w+ )?(?:onmogelijk|niet "
        r"mogelijk) (?:om )?[^.;]{0,60}\b(?:beantwoorden|zeggen|bepalen|vast te stellen)\b|^onmogelijk (?:om )?te "
        r"(?:zeggen|beantwoorden|bepalen)\b",
        rf"(?:\b{_INFORMATION}\b[^.;]{{0,40}}?\b|\b(?:dit|dat|die) )(?:ontbreekt|ontbreken)\b(?:$|[.!]| in\b| "
        r"(?:helaas|hier)\b)|"
        r"\bontbre(?:ekt|ken) (?:\w+ )?"
        rf"(?:de )?{_INFORMATION}\b",
        rf"\b(?:onvoldoende|niet genoeg|niet voldoende|te weinig) (?:\w+ )?{_INFORMATION}\b",
        rf"\b(?:deze|die|de|uw|je|gevraagde) (?:\w+ )?{_INFORMATION} (?:\w+ ){{0,3}}(?:is|zijn|staat|staan|komt|wordt|"
        r"heb|hebben|kan|kon) (?:\w+ ){0,4}niet\b[^.;]{0,40}?(?:beschikbaar|aanwezig|opgenomen|in de|in het|vinden|"
        r"gevonden|bekend|vermeld|voor)\b",
        r"\b(?:niet|geen)\b[^.;]{0,30}\b(?:relevant|gerelateerd|verwant)\w* (?:aan|voor|met) (?:de|het|deze) (?:\w+ "
        rf")?(?:{_TEXT}|vraag)\b",
    ),
    limit=pattern(
        r"^(?:ik kan|kan ik) (?:u |je |helaas |hier )*(?:alleen|slechts|enkel|uitsluitend) [^.;:]{0,80}\b(?:helpen|"
        r"beantwoorden|antwoorden|assisteren|informatie (?:\w+ )?(?:geven|verstrekken))\b|^ik kan (?:\w+ "
        r"){0,5}?(?:alleen|uitsluitend) (?:\w+ ){0,6}(?:helpen|beantwoorden)\b",
        r"^(?:ik heb|heb ik|we hebben|wij hebben|ik beschik|beschik ik) (?:helaas |hier )?(?:alleen|slechts|enkel|"
        r"uitsluitend) (?:\w+ ){0,2}"
        rf"(?:{_INFORMATION}|toegang|documenten)\b|^ik beantwoord (?:helaas )?(?:alleen|uitsluitend) vragen\b|\bmijn "
        r"kennis (?:is beperkt tot|beperkt zich tot)\b",
    ),
    fact=pattern(
        r"^(?!.*\b(?:ik|wij|we)\b).*?\b(?:mag|mogen|moet|moeten|hoeft|hoeven|hoef|dient|dienen) (?:\w+ ){0,2}(?:niet|"
        r"geen)\b",
        r"^(?:als(?! (?:een )?(?:ai|virtu|digit|chatbot|assistent|taalmodel))|indien|wanneer|tenzij|zolang|zodra|"
        r"mits)\b(?:(?!, (?:kan ik|weet ik|heb ik)).)*$",
        r"\bniet (?:meer )?(?:nodig|vereist|verplicht|noodzakelijk)\b|\bgeen (?:informatie|gegevens),? (?:die|dat|"
        r"nodig)\b",
        r"\b(?:winkelwagen|verpakking)\b|\bomdat (?:ze|die|hij|het) (?:\w+ ){0,2}(?:vervallen|afgeschaft)\b",
        r"\bgeen (?:enkele )?(?:persoonsgegevens|(?:persoonlijke|vertrouwelijke|gevoelige|bijzondere) (?:gegevens|"
        r"informatie|data))\b(?! (?:over|van|voor|met betrekking))",
    ),
    courtesy=whole(
        r"(?:ja|zeker|natuurlijk|uiteraard|graag|heel graag|met plezier|prima|oké|okay|ok|begrepen|helder|geen "
        r"probleem|ja hoor|graag gedaan)(?:[,!.]? (?:ik help|dat kan|hier is|hier volgt|ik leg)[^.;:]{0,50})?",
        r"(?:hallo|hoi|hey|dag|goedendag|goedemorgen|goedemiddag|goedenavond)(?: daar| allemaal)?|(?:beste|geachte) "
        r"[^.;:]{1,40}",
        r"(?:hartelijk |heel erg )?(?:bedankt|dank ?(?:u|je)(?: ?wel)?|dank)(?: (?:voor|alvast|dat)[^.;:]{0,80})?",
        r"(?:dat is |wat )?(?:een )?(?:hele |heel )?(?:goede|interessante|leuke|terechte|belangrijke|mooie) vraag",
        r"(?:het )?spijt (?:me|mij|ons)(?: \w+)?(?: (?:voor|van|om)[^.;:,]{0,80})?|sorry(?: (?:voor|"
        r"dat)[^.;:,]{0,60})?|(?:mijn |onze |mijn oprechte )?excuses(?: (?:voor|dat)[^.;:,]{0,80})?|(?:ik|we|wij) "
        r"bied(?:en)? (?:u |je )?(?:mijn|onze) (?:\w+ )?excuses aan(?: voor[^.;:,]{0,60})?|excuseer(?: [^.;:,]{0,50})?|"
        r"het spijt (?:me|mij)(?: [^.;:,]{0,40})?",
        r"(?:ik|we|wij) (?:help|helpen|sta|staan)\b[^.;]{0,30}(?:graag|klaar|verder)[^.;]{0,60}|(?:graag )?help ik "
        r"(?:u|je)[^.;]{0,60}",
        r"(?:als|mocht|heeft|heb|indien) (?:u|je|jij|er)\b[^.;:]{0,80}(?:vragen|vraag|hulp|informatie|weten|"
        r"nodig)\b[^.;:]{0,90}",
        r"(?:laat (?:het )?(?:me|mij|ons)(?: gerust)?(?: het)? weten|aarzel (?:dan )?niet|stel (?:ze |je vraag |uw "
        r"vraag )?gerust|neem gerust|vraag gerust|voel (?:u|je) vrij)[^.;]{0,90}",
        r"(?:is er (?:verder )?nog iets|kan ik (?:u|je|verder|nog|ergens)|heeft u (?:verder )?nog|heb je (?:verder "
        r")?nog|wilt u (?:dat ik|meer)|wil je (?:dat ik|meer))[^.;\d]{0,80}",
        r"(?:kunt u|kun je|zou u|zou je|wilt u) (?:mij |me |misschien |alstublieft )?[^.;\d]{0,80}(?:geven|"
        r"verduidelijken|herformuleren|vertellen|toelichten|specificeren|delen|aangeven|vermelden|noemen)(?: "
        r"[^.;\d]{0,30})?",
        r"(?:neem (?:dan |a\.u\.b\. |alstublieft |voor meer informatie |hiervoor |daarvoor )*contact op met|wend u tot|"
        r"raadpleeg|vraag het aan)[^.;\d]{0,60}(?:ons|klantenservice|helpdesk|support|team|afdeling|servicedesk|"
        r"medewerkers?|leverancier|fabrikant|winkel|beheerder)\b[^.;\d]{0,40}",
        r"(?:met )?(?:vriendelijke|hartelijke|vele) groet(?:en)?|(?:ik wens (?:u|je) )?(?:nog )?een (?:fijne|prettige|"
        r"goede|mooie) (?:dag|avond|middag)(?: verder)?|fijne dag(?: verder)?|veel (?:succes|plezier)[^.;:\d]{0,30}|"
        r"tot ziens|welkom",
    ),
    hedge=whole(
        r"(?:ik|we) ho(?:op|pen)(?:,)? (?:dat )?(?:dit|dat|deze|u|je)[^.;:]{0,70}|hopelijk (?:helpt|is|"
        r"heb)[^.;:]{0,50}",
        r"(?:let (?:er )?(?:wel )?op|houd er rekening mee|houd in gedachten|vergeet niet|let wel)(?: (?:echter|"
        r"ook))?,? (?:dat )?(?:dit|deze|de|het|er|mijn|sommige|prijzen)\b[^.;:]{0,60}(?:kan|kunnen|afwijken|variëren|"
        r"veranderen|verschillen|onvolledig|algemeen|verouderd)\b[^.;:]{0,60}",
        r"(?:deze|de|dit|dat|het|alle|individuele)(?: \w+){0,3} (?:kan|kunnen|zou kunnen|zouden kunnen)(?: \w+){0,5} "
        r"(?:afwijken|variëren|veranderen|verschillen|wijzigen|onvolledig zijn|verouderd zijn|anders zijn)",
        r"(?:dit|dat|het) hangt(?: \w+){0,2} (?:af van|ervan af)[^.;:]{0,60}|afhankelijk van (?:uw|je|de) (?:situatie|"
        r"omstandigheden)|dat verschilt per (?:situatie|persoon|geval)",
        r"(?:maar )?(?:ik kan|ik zou) (?:me |mij |het )?(?:ook )?(?:vergissen|kunnen vergissen|mis hebben|fout hebben)|"
        r"aan deze informatie kunnen geen rechten worden ontleend|alle informatie is onder voorbehoud",
        r"(?:dit|dat|deze \w+|het bovenstaande) (?:is|vormt|vervangt|geldt)[^.;:]{0,40}(?:geen|niet|slechts|"
        r"alleen)[^.;:]{0,60}(?:advies|informatie|samenvatting|leidraad|indicatie)[^.;:]{0,30}",
        r"(?:voor zover ik (?:weet|kan zien|kan nagaan)|naar mijn (?:weten|beste weten))(?:,? (?:is|klopt) (?:dit|dat) "
        r"(?:juist|correct|zo)|,? klopt (?:dit|dat))?",
        r"(?:controleer|raadpleeg|verifieer|overleg)(?: (?:dit|altijd|het|de|een|voor|met|"
        r"bij))*[^.;:\d]{0,60}(?:deskundige|arts|advocaat|expert|bron(?:nen)?|website|klantenservice|specialist|"
        r"adviseur|professional|instantie)\b[^.;:\d]{0,50}|het is (?:\w+ )?(?:raadzaam|aan te raden|verstandig|"
        r"aanbevolen)[^.;:\d]{0,90}(?:raadplegen|controleren|overleggen|vragen|winnen)\b[^.;:\d]{0,30}",
        r"(?:op basis van|volgens|aan de hand van|gebaseerd op|uit) (?:de|het|uw|je|mijn|deze|dit) "
        rf"{upto(3)}{_SOURCE}(?: (?:is|heb|kan|vond|volgt)[^.;:]{{0,60}}"
        r"(?:gevonden|het volgende|antwoord|samenvatting|zeggen|informatie|samenvatten))?",
        r"(?:hier|hieronder)(?: (?:is|volgt|zijn|vindt u|vind je|staan|een|het|de))+[^.;]{0,40}(?:samenvatting|"
        r"overzicht|antwoord|punten|stappen|informatie|lijst|gevonden|uitleg|details)[^.;:]{0,50}",
        r"samengevat|samenvattend|kortom|kort gezegd|samenvatting|opmerking|antwoord|belangrijke punten|de "
        r"belangrijkste punten|overzicht|let op",
    ),
    apology=whole(r"(?:het )?spijt (?:me|mij|ons)(?: \w+)?|sorry|(?:mijn )?excuses|helaas(?: niet)?|excuseer"),
    lead=pattern(
        r"[\W_]*(?:(?:het )?spijt (?:me|mij|ons)(?: zeer| heel erg)?|sorry|(?:mijn )?excuses|helaas|jammer genoeg|"
        r"echter|maar|dus|daarom|nee(?=,)|ja|en|ook|ik begrijp (?:uw|je) vraag|bovendien|daarnaast|eerlijk gezegd|ik "
        r"ben bang dat|hallo|momenteel|op dit moment|tja|hm+)\b[\W_]*"
    ),
    border=pattern(
        r"[,;:–—-]+ (?:maar|echter|terwijl|hoewel|daarentegen)\b ?",
        r"; |[–—] | - | maar | echter ",
        r", (?:en|dus|daarom|zodat) ",
    ),
    concessive=pattern(r"[\W_]*(?:hoewel|ofschoon|terwijl|ook al|ondanks dat)\b"),
    aside=pattern(
        rf"(?:(?:het|ze|zij|deze|daarin)|(?:de|het|deze|dit|mijn|onze) {upto(3)}{_SOURCE}) (?:\w+ ){{0,2}}?(?:alleen|"
        r"slechts|enkel|uitsluitend|vooral|voornamelijk)\b",
        r"(?:ik|we|wij) (?:beantwoord|help|kan|kunnen|ken|heb|hebben|ben) (?:\w+ ){0,3}?(?:alleen|slechts|enkel|"
        r"uitsluitend)\b",
        r"(?:neem (?:\w+ ){0,3}contact|raadpleeg|vraag|wend u|probeer|bekijk|kijk|bezoek|bel|controleer|ga naar)\b|"
        r"(?:u|je) (?:kunt|kan|zou|moet|kun) (?:\w+ ){0,4}?(?:contact|raadplegen|vragen|navragen|proberen|bekijken|"
        r"kijken|wenden|best)\b|(?:ik|wij|we) (?:raad|raden|adviseer|adviseren)\b|het (?:beste|is (?:raadzaam|"
        r"verstandig|aan te raden))\b",
        r"(?:als|indien|zodra|wanneer) (?:u|je|jij)\b[^.;]{0,40}(?:mij|me|geeft|geven|heeft|hebt|deelt|delen|nodig)",
        r"(?:de vraag|u vraagt|je vraagt|u vroeg|je vroeg|u wilde weten)\b|(?:dit|dat|het) (?:kan|hangt|zou)\b",
        r"voor (?:meer|verdere|actuele|specifieke) ",
    ),
    report=pattern(
        rf"(?:ze|zij|het|daarin|(?:de|het|deze|dit|in de|in het) {upto(3)}{_SOURCE}) (?:\w+ ){{0,3}}?(?:noem|vermeld|"
        r"beschrij|bevat|zeg|leg|behandel|ga|geef|gev|staa|bespre)"
    ),
)
