"""Danish and Norwegian (Bokmål), which word refusals alike: alternatives are in this order where they differ."""

from __future__ import annotations

from monitor.assess.classify.lexicon.wording import Wording, pattern, upto, whole, words

_TEXT = (
    r"(?:dokument(?:et|er|erne|ene|ation|ationen|asjonen?)?|tekst(?:en|er|erne|ene)?|kontekst(?:en)?|sammenhæng(?:en)?|"
    r"kilde(?:n|r|rne|ne)?|kildemateriale\w*|materiale(?:t|r|rne|ne)?|manual(?:en|er|erne|ene)?|håndbog(?:en)?|"
    r"håndbok(?:en|a)?|vejledning(?:en|er|erne)?|brugsanvisning(?:en)?|bruksanvisning(?:en)?|artik(?:el|len|ler|lerne)|"
    r"artikkel(?:en)?|artikl(?:er|ene)|afsnit(?:tet|tene)?|avsnitt(?:et|ene)?|uddrag(?:et|ene)?|utdrag(?:et|ene)?|"
    r"passage(?:n|r|rne)?|vidensbase(?:n)?|kunnskapsbase(?:n)?|søgeresultat\w*|søkeresultat\w*|brochure(?:n|r)?|"
    r"brosjyre(?:n)?)"
)
_NOT = r"(?:ikke|ingen|intet|ingenting|inga|ikkje)"
_INFORMATION = (
    r"(?:information(?:er|en)?|informasjon(?:en)?|info|oplysning(?:er|erne)?|opplysning(?:er|ene)?|svar(?:et)?|"
    r"detaljer|data|viden|kunnskap|kendskab|kjennskap)"
)
_SAY = (
    r"(?:nævne[rs]|nævnt|nevne[rs]|nevnt|angive[rs]|angivet|angir|angis|oppgir|oppgis|beskrive[rs]|beskrevet|siger|"
    r"siges|sier|sies|fremgår|framgår|forklare[rs]|omtale[rs]|omtalt|specificere[rs]|spesifisere[rs]|behandle[rs]|"
    r"besvare[rs]|kommer ind på|kommer inn på|dække[rs]|dekke[rs]|omhandler|oplyse[rs]|opplyse[rs]|handler om|redegør|"
    r"redegjør|tager stilling|tar stilling)"
)
_REPLY = (
    r"(?:svare|besvare|hjælpe|hjelpe|sige|si|finde|finne|bekræfte|bekrefte|afgøre|avgjøre|fastslå|udtale mig|uttale "
    r"meg|kommentere|udlede|bistå|assistere|(?:give|gi|dele|oplyse|opplyse|tilbyde|tilby|udlevere|utlevere) (?:\w+ "
    r"){0,5}?(?:svar|information|informationer|informasjon|råd|rådgivning|oplysninger|opplysninger|anbefalinger))"
)
_ASK = r"(?:hvem|hvornår|når|hvordan|hvad|hva|hvor|hvorfor|om|hvilke[nt]?)"
_ABOUT = rf"(?:(?:\w+ ){{0,4}}?{_INFORMATION}\b|(?:noget |noe )?om\b)"

DANISH = Wording(
    code="da",
    cues=words(
        "ikke ikkje ingen intet ingenting inga ukendt ukjent uklart umuligt umulig mangler uden uten utenfor udenfor "
        "utilstrækkelig utilstrækkelige usikker ingensteds aner"
    ),
    limit_cues=words("kun bare udelukkende utelukkende begrænset begrenset"),
    openers=words(
        "ja bare selvfølgelig naturligvis gerne gjerne okay ok hej hei goddag godmorgen god tak takk mange tusind "
        "tusen det et en godt bra spændende undskyld unnskyld beklager jeg vi om hvis har lad la tøv ikke kontakt sig "
        "si kan er vil kunne med venlig vennlig hilsen venlige hav ha held lykke ingen håber bemærk husk vær merk "
        "dette disse denne oplysningerne opplysningene priserne prisene så ifølge baseret basert her nedenfor "
        "sammenfattende opsummering oppsummering kort svar obs vigtigt viktig tjek kontroller rådfør alt velbekomme "
        "skulle du venligst vennligst mvh hvordan oppsummert opsummeret"
    ),
    refusing=pattern(
        r"\b(?:jeg|vi) (?:\w+ ){0,2}?(?:ved|vet|veit) (?:\w+ ){0,2}?(?:ikke|ikkje|intet|ingenting)\b(?! bedre)|"
        r"\b(?:ved|vet) (?:jeg|vi) (?:\w+ ){0,2}?(?:ikke|intet|ingenting)\b|^(?:ved|vet) ikke\b|\b(?:ingen|ikke) "
        r"(?:anelse|idé|ide)\b(?! om at)|\baner (?:det |jeg )?ikke\b",
        rf"\b(?:jeg|vi) (?:\w+ )?(?:kan|kunne|må|får) (?:\w+ ){{0,4}}?{_NOT}\b[^.;\d]{{0,50}}?\b{_REPLY}\b",
        rf"\b(?:kan|kunne|må) (?:jeg|vi) (?:\w+ ){{0,4}}?{_NOT}\b[^.;\d]{{0,50}}?\b{_REPLY}\b",
        rf"\b(?:jeg|vi) (?:\w+ )?(?:har|finder|finner|fandt|fant|ser) (?:\w+ ){{0,3}}?{_NOT} (?:{_ABOUT}|(?:\w+ "
        r"){0,3}?(?:adgang|tilgang|fundet|funnet))",
        rf"\b(?:har|finder|finner|ser) (?:jeg|vi) (?:\w+ ){{0,3}}?{_NOT}(?: (?:{_ABOUT}|(?:\w+ ){{0,3}}?(?:adgang|"
        r"tilgang|fundet|funnet))|$|[.!])",
        r"\bjeg er (?:\w+ )?(?:ikke (?:helt )?sikker|usikker|ikke i stand|ikke bemyndiget)\b",
        rf"\b(?:jeg|vi) mangler (?:\w+ ){{0,2}}?(?:{_INFORMATION}|adgang|tilgang)\b|\bmangler jeg (?:\w+ "
        rf")?{_INFORMATION}\b",
        r"\b(?:uden for|udenfor|utenfor|ud over) (?:mit|mine|min|mitt|rammerne (?:for|af)|det,? jeg|hva jeg|hvad "
        r"jeg)\b",
        # the documents
        rf"\b{_TEXT}\b[^.;]{{0,80}}?\b{_SAY} (?:\w+ ){{0,6}}?{_NOT}\b|\b{_TEXT} (?:\w+ ){{0,2}}?ikke {_SAY}\b",
        rf"\b{_SAY} (?:\w+ ){{0,4}}?{_NOT}\b[^.;]{{0,50}}?\b(?:i|af|av|fra) {upto(3)}{_TEXT}\b",
        r"\b(?:nævnes|nevnes|angives|angis|oppgis|fremgår|framgår|beskrives|specificeres|spesifiseres|omtales|"
        rf"forklares) (?:\w+ ){{0,2}}?ikke(?:$|[.!]| (?:i|af|av|{_ASK}) )",
        rf"\b{_TEXT}\b[^.;]{{0,60}}?\b(?:indeholder|inneholder|findes|finnes|er der|er det|giver|gir|står|har) (?:\w+ "
        rf"){{0,3}}?{_NOT} {_ABOUT}",
        r"\b(?:dokumenterne|dokumentene|kilderne|kildene|teksterne|tekstene|konteksten|manualen|vejledningen|"
        r"artiklerne|artiklene|uddragene|utdragene) (?:\w+ )?"
        rf"(?:indeholder|inneholder) (?:\w+ )?{_NOT}\b",
        rf"\b(?:der|det) (?:er|findes|finnes|står|var) (?:\w+ ){{0,3}}?{_NOT} (?:\w+ ){{0,4}}?(?:{_INFORMATION}\b|"
        r"(?:noget |noe )?om (?:dette|det|sagen|saken))(?! (?:du|der skal))",
        rf"\b(?:står|findes|finnes) (?:\w+ ){{0,3}}?{_NOT}\b[^.;]{{0,40}}?\b(?:i|blandt|blant) {upto(3)}{_TEXT}\b",
        rf"\bingen (?:\w+ )?{_INFORMATION} (?:om|tilgængelig\w*|tilgjengelig\w*|fundet|funnet|er)\b|^(?:desværre |"
        rf"dessverre )?(?:ingen|intet) (?:\w+ )?{_INFORMATION}\b[^,:]{{0,30}}$",
        r"\ber (?:\w+ ){0,3}?ikke (?:\w+ )?(?:angivet|oppgitt|angitt|kendt|kjent|specificeret|spesifisert|nævnt|nevnt|"
        r"klart|tydeligt|tydelig|"
        rf"oplyst|opplyst)(?:$|[.!]|,? {_ASK}\b|[^.;]{{0,40}}?\bi {upto(3)}{_TEXT})",
        rf"\ber (?:\w+ ){{0,2}}?(?:ukendt|ukjent|uklart)(?:$|[.!,])|\b(?:ukendt|ukjent|uklart),? {_ASK}\b|^(?:ukendt|"
        r"ukjent)[.!]?$|^ikke (?:angivet|oppgitt|angitt|oplyst|opplyst|"
        r"tilgængelig\w*|tilgjengelig\w*|kendt|kjent|specificeret)\b[^,:]{0,20}$",
        r"\b(?:ikke muligt|ikke mulig|umuligt|umulig) (?:for mig |for meg )?(?:at|å) (?:\w+ )?(?:besvare|svare|sige|si|"
        r"afgøre|avgjøre|fastslå|give|gi)\b|\bkan ikke (?:\w+ )?(?:besvares|afgøres|avgjøres|fastslås|udledes)\b",
        rf"\bmangler (?:\w+ ){{0,3}}?{_INFORMATION}\b|\b(?:den|denne|disse|de) (?:\w+ "
        rf")?{_INFORMATION}\b[^.;]{{0,50}}?\b(?:mangler|(?:findes|finnes|står|er) (?:\w+ )?ikke)\b",
        rf"\b(?:ingen|intet) af {upto(2)}{_TEXT}\b[^.;]{{0,40}}?\b(?:{_SAY}|indeholder)\b|\bingen av "
        rf"{upto(2)}{_TEXT}\b[^.;]{{0,40}}?\b(?:{_SAY}|inneholder)\b",
    ),
    limit=pattern(
        r"^(?:jeg kan|kan jeg) (?:desværre |dessverre |dig |deg )*(?:kun|bare|udelukkende|utelukkende) (?:\w+ "
        r"){0,2}?(?:hjælpe|hjelpe|svare|besvare|give information|gi informasjon)\b",
        rf"^(?:jeg har|har jeg|vi har) (?:desværre |dessverre )?(?:kun|bare) (?:\w+ )?(?:{_INFORMATION}|adgang|tilgang|"
        r"dokumenter)\b|^jeg svarer (?:kun|bare) på spørgsmål\b|\bmin (?:viden|kunnskap) er (?:begrænset|begrenset) "
        r"til\b",
    ),
    fact=pattern(
        r"^(?!.*\b(?:jeg|vi)\b).*?\b(?:må|skal|bør|behøver|kræves|trenger) (?:\w+ ){0,2}?(?:ikke|ingen)\b",
        r"^(?:hvis|når|medmindre|med mindre|så længe|så lenge|dersom)\b(?:(?!, (?:kan jeg|ved jeg|vet jeg|har "
        r"jeg)).)*$",
        r"\b(?:ikke|ingen) (?:\w+ )?(?:nødvendig\w*|påkrævet|påkrevd|obligatorisk\w*|behov)\b|\btredjepart\w*\b|"
        r"\btredje part\w*\b",
        r"^(?!.*\b(?:jeg|vi)\b).*\b(?:ingen|ikke) (?:\w+ )?(?:personoplysninger|personopplysninger|persondata|"
        r"(?:personlige|følsomme|fortrolige|sensitive) (?:oplysninger|opplysninger|data))\b(?! (?:om|for|af|av)\b)",
    ),
    courtesy=whole(
        r"(?:ja|selvfølgelig|naturligvis|gerne|gjerne|okay|ok|ingen årsag|bare hyggelig|det var så lidt|"
        r"velbekomme)(?:[,!.]? jeg (?:hjælper|hjelper)[^.;:\d]{0,40})?",
        r"(?:hej|hei|goddag|godmorgen|god (?:morgen|dag|aften|kveld))(?: med dig)?",
        r"(?:mange |tusind |tusen )?(?:tak|takk)(?: (?:for|på forhånd|skal du)[^.;:]{0,80})?",
        r"(?:det er )?(?:et )?(?:rigtig |veldig |virkelig )?(?:godt|bra|interessant|spændende) (?:spørgsmål|spørsmål)",
        r"(?:jeg |vi )?(?:beklager|undskylder|er ked af)(?: (?:for|at|over|forvirringen|ulejligheden)[^.;:,]{0,80})?|"
        r"(?:undskyld|unnskyld)(?: (?:for|at|forvirringen)?[^.;:,]{0,60})?",
        r"(?:jeg|vi) (?:hjælper|hjelper|svarer) (?:dig |deg )?(?:gerne|gjerne)[^.;\d]{0,60}",
        r"(?:hvis|har|skulle|om) (?:du|I|der|det)\b[^.;:\d]{0,80}(?:spørgsmål|spørsmål|hjælp|hjelp|brug for|"
        r"mer)\b[^.;:\d]{0,90}",
        r"(?:lad mig (?:gerne )?vide|la meg (?:gjerne )?vite|tøv ikke|ikke nøl|sig endelig til|si gjerne "
        r"fra)[^.;\d]{0,90}",
        r"(?:kan jeg|er der|er det|vil du)[^.;\d]{0,50}(?:hjælpe|hjelpe|andet|annet|mere|mer)\b[^.;\d]{0,50}|hvordan "
        r"kan jeg (?:hjælpe|hjelpe)[^.;\d]{0,20}",
        r"(?:kan|kunne|vil) du (?:\w+ )?(?:uddybe|utdype|præcisere|presisere|omformulere|angive|oppgi|fortælle|"
        r"fortelle|forklare)[^.;\d]{0,100}",
        r"(?:venligst |vennligst |du kan )?kontakte?[^.;\d]{0,60}(?:os|oss|kundeservice\w*|support\w*|afdeling\w*|"
        r"avdeling\w*|team\w*|producenten|produsenten|butikken|administratoren)[^.;\d]{0,40}",
        r"(?:med )?(?:venlig|vennlig|venlige) (?:hilsen|hilsner)|mvh|(?:hav|ha) en (?:god|fin|dejlig) (?:dag|aften|"
        r"kveld)|held og lykke|lykke til",
    ),
    hedge=whole(
        r"(?:jeg )?håber,? (?:at )?(?:det|dette|svaret)[^.;:\d]{0,60}",
        r"(?:bemærk|husk|vær opmærksom på|vær oppmerksom på|merk)(?: også)?,? at (?:det|dette|disse|oplysningerne|"
        r"opplysningene|priserne|prisene|visse|noen)[^.;:\d]{0,60}(?:kan|variere|ændre|endre|afvige|avvike)[^.;:\d]{0,50}",
        r"(?:dette|disse|det|oplysningerne|opplysningene|priserne|prisene|denne (?:information|informasjonen))(?: "
        r"\w+){0,3} kan(?: \w+){0,3} (?:variere|ændre sig|endre seg|ændres|endres|afvige|avvike|være (?:forældet|"
        r"utdatert)\w*)[^.;:\d]{0,40}",
        r"(?:det|dette|alt) (?:afhænger af|avhenger av|kommer an på) (?:din|dine|situationen|situasjonen|"
        r"omstændighederne)[^.;:\d]{0,40}",
        r"jeg kan tage fejl|jeg kan ta feil|så vidt jeg (?:ved|vet)(?:,? (?:er|stemmer|passer) (?:det|dette)(?: "
        r"\w+)?)?",
        r"(?:tjek|kontroller|rådfør dig|rådfør deg)[^.;:\d]{0,60}(?:ekspert|læge|lege|advokat|kilde|hjemmeside|"
        r"nettside|kundeservice|specialist|spesialist|rådgiver)\w*[^.;:\d]{0,40}",
        rf"(?:ifølge|baseret på|basert på|ud fra|ut fra) {upto(3)}{_TEXT}(?:,? (?:er|fandt|fant|her)[^.;:\d]{{0,50}})?",
        r"her (?:er|kommer|følger) [^.;\d]{0,30}(?:opsummering|oppsummering|sammendrag|resumé|svaret|svar|trinene|"
        r"liste|overblik|oversikt|information|informasjon|punkter|detaljer)\w*[^.;:\d]{0,50}",
        r"sammenfattende|opsummering|oppsummering|opsummeret|oppsummert|kort sagt|svar|obs|vigtigt|viktig",
    ),
    apology=whole(r"(?:jeg )?beklager|undskyld|unnskyld|desværre(?: ikke)?|dessverre(?: ikke)?"),
    lead=pattern(
        r"[\W_]*(?:jeg beklager|beklager|undskyld|unnskyld|desværre|dessverre|men|dog|så|derfor|nej(?=,)|nei(?=,)|ja|"
        r"og|også|desuden|dessuten|ærlig talt|i øjeblikket|for øyeblikket|jeg er bange for,? at|jeg er redd for at|hej|"
        r"hei|tak for dit spørgsmål|takk for spørsmålet)\b[\W_]*"
    ),
    border=pattern(
        r"[,;:–—-]+ (?:men|dog|mens|derimod|selvom|selv om)\b ?",
        r"; |[–—] | - | men ",
        r", (?:og|så|derfor) ",
    ),
    concessive=pattern(r"[\W_]*(?:selvom|selv om|skønt|mens|til trods for at)\b"),
    aside=pattern(
        rf"(?:de|den|det|der|{upto(2)}{_TEXT}) (?:\w+ ){{0,2}}?(?:kun|bare|udelukkende|primært)\b",
        r"(?:jeg|vi) (?:kan|har|svarer) (?:\w+ ){0,2}?(?:kun|bare)\b",
        r"(?:venligst|vennligst|kontakt|tjek|sjekk|kontroller|besøg|besøk|se|prøv|spørg|spør)\b|du (?:kan|bør) (?:\w+ "
        r"){0,2}?(?:kontakte|tjekke|sjekke|spørge|spørre|prøve|henvende)\b|(?:jeg|vi) (?:anbefaler|foreslår)\b",
        r"(?:hvis|dersom) du (?:giver|gir|kan|har|deler)\b|(?:spørgsmålet|spørsmålet|du spørger|du spør|du spurgte)\b|"
        r"det (?:kan|afhænger|avhenger)\b|for (?:mere|mer|yderligere|ytterligere) ",
    ),
    report=pattern(
        rf"(?:de|den|det|der|{upto(2)}{_TEXT}) (?:\w+ ){{0,2}}?(?:nævner|nevner|beskriver|indeholder|"
        r"inneholder|siger|sier|forklarer|omtaler|angiver|angir|handler)"
    ),
)
