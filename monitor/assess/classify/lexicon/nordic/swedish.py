"""How Swedish words refusals, courtesies and hedges."""

from __future__ import annotations

from monitor.assess.classify.lexicon.wording import Wording, pattern, upto, whole, words

_TEXT = (
    r"(?:dokument(?:en|et|ation|ationen)?|text(?:en|er|erna)?|kontext(?:en)?|sammanhang(?:et)?|källa|källan|källor|"
    r"källorna|källmaterial(?:et)?|material(?:et)?|manual(?:en|er|erna)?|handbok(?:en)?|bruksanvisning(?:en)?|"
    r"artikeln?|artiklar(?:na)?|avsnitt(?:et|en)?|utdrag(?:et|en)?|passage(?:n|r|rna)?|kunskapsbas(?:en)?|"
    r"sökresultat(?:et|en)?|broschyr(?:en|er)?|underlag(?:et|en)?)"
)
_NOT = r"(?:inte|ej|ingen|inget|inga|ingenting)"
_INFORMATION = (
    r"(?:information(?:en)?|info|uppgift(?:er|en|erna)?|svar(?:et)?|detaljer|data|upplysning(?:ar)?|kunskap|besked|"
    r"vägledning)"
)
_SAY = (
    r"(?:nämner|nämns|nämnts|anger|anges|angetts|beskriver|beskrivs|säger|sägs|framgår|förklarar|förklaras|tar upp|tas "
    r"upp|behandlar|behandlas|specificerar|specificeras|omnämner|omnämns|redovisar|redovisas|besvarar|besvaras|klargör|"
    r"berör|täcker)"
)
_REPLY = (
    r"(?:svara|besvara|hjälpa|säga|hitta|bekräfta|avgöra|fastställa|uttala mig|kommentera|utläsa|bistå|assistera|(?:ge|"
    r"lämna|dela|lämna ut|erbjuda) (?:\w+ ){0,5}?(?:svar|information|råd|rådgivning|besked|uppgifter|upplysningar|"
    r"rekommendationer))"
)
_ASK = r"(?:vem|vilka|vilken|vilket|när|hur|vad|var|varför|om)"

SWEDISH = Wording(
    code="sv",
    cues=words(
        "inte ej ingen inget inga ingenting ingenstans varken okänt okänd oklart omöjligt saknas saknar utanför bortom "
        "otillräcklig osäker"
    ),
    limit_cues=words("bara endast enbart begränsad begränsade"),
    openers=words(
        "ja visst självklart absolut naturligtvis gärna okej ok hej hejsan god goddag godmorgon tack stort bra vilken "
        "det en jättebra förlåt ursäkta jag vi beklagar om har låt tveka hör säg kan finns är vill skulle kunde "
        "kontakta vänligen med vänliga hälsningar ha lycka ingen hoppas observera tänk notera kom detta dessa denna "
        "uppgifterna priserna såvitt enligt baserat utifrån här nedan sammanfattningsvis sammanfattning kort svar obs "
        "viktigt kontrollera rådgör beror allt mina varsågod mvh"
    ),
    refusing=pattern(
        r"\b(?:jag|vi) (?:\w+ ){0,2}?vet (?:\w+ ){0,2}?(?:inte|ej|inget|ingenting)\b(?! bättre)|\bvet (?:jag|vi) "
        r"(?:\w+ ){0,2}?(?:inte|inget|ingenting)\b|^vet (?:inte|ej)\b|\bingen aning\b",
        rf"\b(?:jag|vi) (?:\w+ )?(?:kan|kunde|får|kommer) (?:\w+ ){{0,4}}?{_NOT}\b[^.;\d]{{0,50}}?\b{_REPLY}\b",
        rf"\b(?:kan|kunde|får) (?:jag|vi) (?:\w+ ){{0,4}}?{_NOT}\b[^.;\d]{{0,50}}?\b{_REPLY}\b",
        rf"\b(?:jag|vi) (?:\w+ )?(?:har|hittar|hittade|ser|fann|besitter) (?:\w+ ){{0,3}}?{_NOT}(?: om\b|"
        r"\b[^.;]{0,40}?"
        rf"\b(?:{_INFORMATION}|tillgång|kännedom|hittat|hitta|något om)\b)",
        rf"\b(?:har|hittar|hittade|ser) (?:jag|vi) (?:\w+ ){{0,3}}?{_NOT}(?: om\b|\b[^.;]{{0,40}}?\b(?:{_INFORMATION}|"
        r"tillgång|kännedom|hittat|något om)\b|$|[.!])",
        r"\bjag är (?:\w+ )?(?:inte (?:helt )?säker|osäker|inte kapabel|inte behörig)\b",
        rf"\b(?:jag|vi) saknar (?:\w+ ){{0,2}}?(?:{_INFORMATION}|tillgång)\b|\bsaknar jag (?:\w+ )?(?:{_INFORMATION}|"
        r"tillgång)\b",
        r"\b(?:utanför|bortom) (?:mitt|mina|min|ramen för (?:mina|mitt|min|de|det)|vad jag)\b",
        # the documents
        rf"\b{_TEXT} (?:\w+ ){{0,2}}?(?:inte|ej) {_SAY}\b",
        rf"\b{_TEXT}\b[^.;]{{0,80}}?\b{_SAY} (?:\w+ ){{0,6}}?{_NOT}\b",
        rf"\b{_SAY} (?:\w+ ){{0,4}}?(?:inte|ej|ingenstans|inget)\b[^.;]{{0,50}}?\b(?:i|av|ur|från) {upto(3)}{_TEXT}\b",
        r"\b(?:nämns|anges|framgår|beskrivs|specificeras|omnämns|förklaras|redovisas) (?:\w+ ){0,2}?(?:inte|ej)(?:$|"
        r"[.!]| (?:i|av|hur|vem|när|vad|om|var|varför) )",
        rf"\b{_TEXT}\b[^.;]{{0,60}}?\b(?:innehåller|finns|ger|står|har|hittar|hittades) (?:\w+ ){{0,3}}?{_NOT} (?:\w+ "
        rf"){{0,5}}?(?:{_INFORMATION}\b|om\b)",
        r"\b(?:dokumenten|källorna|texterna|kontexten|manualen|utdragen|artiklarna|underlaget) (?:\w+ )?innehåller "
        rf"(?:\w+ )?{_NOT}\b",
        rf"\b(?:finns|står|hittades) (?:\w+ ){{0,3}}?{_NOT} (?:\w+ ){{0,4}}?(?:{_INFORMATION}|om (?:detta|det|"
        r"saken))\b(?! (?:som du|att fylla))",
        r"\b(?:står|finns|hittades?)\b[^.;]{0,50}?\b(?:inte|ej|ingenstans|inget)\b[^.;]{0,40}?\b(?:i|bland) "
        rf"{upto(3)}{_TEXT}\b",
        r"\bingen (?:\w+ )?(?:information|uppgift) (?:om|finns|tillgänglig|hittades|är)\b|^(?:tyvärr )?ing(?:en|a|et) "
        rf"(?:\w+ )?{_INFORMATION}\b[^,:]{{0,30}}$",
        r"\b(?:är|har) (?:\w+ ){0,3}?(?:inte|ej) (?:\w+ )?(?:angivet|angiven|angivna|känt|känd|specificera[dt]|"
        rf"nämn[td]|tydligt|klart)(?:$|[.!]|,? {_ASK}\b)",
        rf"\b(?:är|förblir) (?:\w+ ){{0,2}}?(?:okänt|oklart|okänd)(?:$|[.!,])|\b(?:okänt|oklart),? {_ASK}\b|^(?:okänt|"
        r"okänd)[.!]?$|^(?:ej|inte) (?:angivet|tillgänglig\w*|känt|"
        r"specificerat)\b[^,:]{0,20}$",
        r"\b(?:går|är) (?:\w+ ){0,2}?(?:inte|ej|omöjligt|inte möjligt) (?:\w+ )?att (?:\w+ )?(?:besvara|svara|säga|"
        r"avgöra|fastställa|utläsa|ge)\b|\bkan (?:inte|ej) (?:\w+ )?(?:besvaras|avgöras|fastställas|utläsas)\b",
        rf"\bsaknas (?:\w+ ){{0,3}}?{_INFORMATION}\b|\b{_INFORMATION}\b[^.;]{{0,50}}?\b(?:saknas|finns (?:\w+ )?inte|"
        r"är inte tillgänglig\w*)\b|\botillräcklig information\b",
        rf"\bing(?:en|et) av {upto(2)}{_TEXT}\b[^.;]{{0,40}}?(?:\b{_SAY}|\binnehåller|\bhandlar|$)",
    ),
    limit=pattern(
        r"^(?:jag kan|kan jag) (?:tyvärr |dig )*(?:bara|endast|enbart) (?:\w+ ){0,2}?(?:hjälpa|svara|besvara|ge "
        r"information)\b",
        rf"^(?:jag har|har jag|vi har) (?:tyvärr )?(?:bara|endast|enbart) (?:\w+ )?(?:{_INFORMATION}|tillgång|"
        r"dokument)\b|^jag svarar (?:bara|endast|enbart) på frågor\b|\b(?:min kunskap|mina kunskaper) är begränsade? "
        r"till\b",
    ),
    fact=pattern(
        r"^(?!.*\b(?:jag|vi)\b).*?\b(?:får|måste|ska|skall|bör|behöver|behövs) (?:\w+ ){0,2}?(?:inte|ej|inga|ingen)\b",
        r"^(?:om|när|såvida|så länge|ifall)\b(?:(?!, (?:kan jag|vet jag|har jag)).)*$",
        r"\b(?:inte|ej|ingen|inga) (?:\w+ )?(?:behövs|krävs|nödvändig\w*|obligatorisk\w*)\b|\btredje part\b|\butan i "
        r"stället\b",
        r"^(?!.*\b(?:jag|vi)\b).*\b(?:inga|inte några|inte|ingen) (?:\w+ )?(?:personuppgifter|(?:personliga|känsliga|"
        r"konfidentiella) (?:uppgifter|data)|(?:känslig|konfidentiell|personlig) information)\b(?! (?:om|för|av)\b)",
    ),
    courtesy=whole(
        r"(?:ja|visst|självklart|absolut|naturligtvis|gärna|okej|ok|ingen orsak|inga problem|varsågod)(?:[,!.]? (?:jag "
        r"hjälper|det ska jag)[^.;:\d]{0,40})?",
        r"(?:hej|hejsan|hej hej|god (?:morgon|kväll|dag)|goddag|godmorgon)(?: på dig)?",
        r"(?:stort |många )?tack(?: (?:så mycket|för|på förhand)[^.;:]{0,80})?",
        r"(?:det är |vilken )?(?:en )?(?:mycket |väldigt )?(?:bra|jättebra|intressant|viktig) fråga",
        r"(?:jag |vi )?(?:beklagar|ber om ursäkt|är ledsen)(?: (?:för|att|över)[^.;:,]{0,80})?|(?:förlåt|ursäkta)(?: "
        r"(?:för|att|mig)?[^.;:,]{0,60})?",
        r"(?:jag|vi) (?:hjälper|svarar) (?:dig |er )?(?:gärna|mer än gärna)[^.;\d]{0,60}",
        r"(?:om|har|skulle) (?:du|ni|det)\b[^.;:\d]{0,80}(?:frågor|fråga|hjälp|information|undrar)\b[^.;:\d]{0,90}",
        r"(?:låt mig (?:gärna )?veta|tveka inte|hör (?:gärna )?av dig|säg (?:bara )?till)[^.;\d]{0,90}",
        r"(?:kan jag|finns det|är det|vill du)[^.;\d]{0,50}(?:hjälpa|något (?:mer|annat)|mer)[^.;\d]{0,50}|hur kan jag "
        r"hjälpa[^.;\d]{0,20}",
        r"(?:kan|kunde|skulle) du (?:kunna )?(?:\w+ )?(?:förtydliga|precisera|omformulera|ange|berätta|"
        r"förklara)[^.;\d]{0,100}",
        r"(?:vänligen )?kontakta[^.;\d]{0,60}(?:oss|kundtjänst\w*|support\w*|kundservice\w*|avdelning\w*|team\w*|"
        r"tillverkaren|butiken|administratören)[^.;\d]{0,40}",
        r"med vänliga? hälsning(?:ar)?|vänliga hälsningar|mvh|ha en (?:bra|trevlig|fin) (?:dag|kväll)|lycka till",
    ),
    hedge=whole(
        r"(?:jag )?hoppas (?:att )?(?:det|detta|svaret)[^.;:\d]{0,60}",
        r"(?:observera|tänk på|notera|kom ihåg)(?: också)?,? att (?:det|detta|dessa|uppgifterna|priserna|informationen|"
        r"vissa)[^.;:\d]{0,60}(?:kan|variera|ändras|skilja)[^.;:\d]{0,50}",
        r"(?:detta|dessa|det|uppgifterna|priserna|informationen|denna information)(?: \w+){0,3} kan(?: \w+){0,3} "
        r"(?:variera|ändras|skilja sig|förändras|vara inaktuell\w*)[^.;:\d]{0,40}",
        r"(?:det|detta|allt) beror (?:helt )?på (?:din|er|dina|situationen|omständigheterna)[^.;:\d]{0,40}",
        r"jag kan ha fel|såvitt jag vet(?:,? (?:är|stämmer) det(?:ta)?(?: \w+)?)?",
        r"(?:kontrollera|rådgör|verifiera)[^.;:\d]{0,60}(?:expert|läkare|jurist|källa|källor|webbplats|kundtjänst|"
        r"specialist|rådgivare)\w*[^.;:\d]{0,40}",
        rf"(?:enligt|baserat på|utifrån) {upto(3)}{_TEXT}(?:,? (?:är|hittade|här)[^.;:\d]{{0,50}})?",
        r"här (?:är|kommer|följer) [^.;\d]{0,30}(?:sammanfattning|svaret|svar|stegen|lista|översikt|information|"
        r"punkter|detaljer)\w*[^.;:\d]{0,50}",
        r"sammanfattningsvis|sammanfattning|kort sagt|svar|obs|viktigt",
    ),
    apology=whole(r"(?:jag )?(?:beklagar|är ledsen)|förlåt|ursäkta|tyvärr(?: inte)?|jag ber om ursäkt"),
    lead=pattern(
        r"[\W_]*(?:jag beklagar|beklagar|jag är ledsen|förlåt|ursäkta|tyvärr|dessvärre|men|dock|så|därför|nej(?=,)|ja|"
        r"och|även(?! om)|dessutom|ärligt talat|för närvarande|jag är rädd att|hej|tack för din fråga)\b[\W_]*"
    ),
    border=pattern(r"[,;:–—-]+ (?:men|dock|medan|däremot|även om)\b ?", r"; |[–—] | - | men ", r", (?:och|så|därför) "),
    concessive=pattern(r"[\W_]*(?:även om|trots att|medan|fastän)\b"),
    aside=pattern(
        rf"(?:de|den|det|där|{upto(2)}{_TEXT}) (?:\w+ ){{0,2}}?(?:bara|endast|enbart|främst)\b",
        r"(?:jag|vi) (?:kan|har|svarar) (?:\w+ ){0,2}?(?:bara|endast|enbart)\b",
        r"(?:vänligen|kontakta|kolla|kontrollera|besök|se|prova|försök|fråga|vänd dig)\b|(?:du|ni) (?:kan|bör) (?:\w+ "
        r"){0,2}?(?:kontakta|kontrollera|fråga|prova|vända|kolla|höra)\b|(?:jag|vi) (?:rekommenderar|föreslår)\b",
        r"om (?:du|ni) (?:ger|kan|har|delar|behöver)\b|(?:frågan|du frågar|du frågade)\b|det (?:kan|beror)\b|för "
        r"(?:mer|ytterligare|aktuell) ",
    ),
    report=pattern(
        rf"(?:de|den|det|där|{upto(2)}{_TEXT}) (?:\w+ ){{0,2}}?(?:nämner|beskriver|innehåller|säger|"
        r"förklarar|tar upp|anger|handlar)"
    ),
)
