"""How Italian words refusals, courtesies and hedges."""

from __future__ import annotations

from monitor.assess.classify.lexicon.wording import Wording, pattern, upto, whole, words

_SOURCE = (
    r"(?:document[oi]|documentazione|test[oi]|contest[oi]|font[ei]|passagg(?:io|i)|bran[oi]|informazion[ei]|"
    r"manuale|manuali|pagin[ae]|articol[oi]|opuscolo|base di conoscenza|estratt[oi]|paragraf[oi]|guida|"
    r"material[ei]|contenut[oi]|risultati)"
)
_SAY = (
    r"(?:conti?en|menzion|specific|indic|fornisc|dic[eoa]|inclu(?:de|dono) (?:\w+ )?informaz|parla|offr|spiega|"
    r"compa|tratta|rispond|copr|riporta|cita|preved|dà\b|danno\b|afferma|chiari|descriv|precis|accenna|fa (?:\w+ "
    r")?(?:menzione|riferimento)|fanno|affronta|presenta|permett|lo )"
)
_INFORMATION = (
    r"(?:informazion[ei]|dat[oi]|rispost[ae]|menzion[ei]|dettagl(?:io|i)|indicazion[ei]|riferiment[oi]|notizi[ae]|"
    r"conoscenza|element[oi])"
)
_STATED = (
    r"(?:menzionat|specificat|indicat|fornit|disponibil|dettagliat|chiar|descritt|riportat|not[oa]\b|precisat|"
    r"present|spiegat|citat|trattat|definit|contenut|mai)\w*"
)

ITALIAN = Wording(
    code="it",
    cues=words(
        "non nessun nessuna nessuno fuori impossibile ignoro sconosciuto sconosciuta senza nulla niente né neanche "
        "nemmeno incapace esula supera insufficiente insufficienti oltre neppure"
    ),
    limit_cues=words("solo soltanto solamente esclusivamente limitano limita"),
    openers=words(
        "certo certamente sì si volentieri ciao buongiorno buonasera salve grazie ottima bella buona è mi ci "
        "scusi scusa scusate chiedo le se non fammi mi fatemi posso c ha hai desidera vuole potrebbe può puoi per "
        "contatti contatta cordiali distinti spero speriamo tenga tieni ricordi ricorda questo questa queste "
        "questi le i gli la il l secondo in base sulla a ecco di riassumendo riepilogo verifichi verifica "
        "consulti consulta salvo nota risposta sono resto dipende punti controlli sempre prego tutto d va bene "
        "con ti gentile potrei da qui sintesi buon nel"
    ),
    refusing=pattern(
        r"\bnon (?:ti |le |vi |lo |la |ne |mi )?(?:posso|riesco|riuscirei|ho|dispongo|so|saprei|trovo|vedo|conosco|"
        r"possiedo|sono (?:\w+ )?(?:in grado|a conoscenza|sicur[oa]|riuscit[oa]|autorizzat[oa]|abilitat[oa]|"
        r"cert[oa]))\b(?! (?:nessun |alcun )?(?:problema|problemi))",
        r"\bnon (?:possiamo (?:rispondere|aiutar|dire)|abbiamo (?:\w+ ){0,2}(?:informazion|dati|risposta|trovat)|"
        r"disponiamo di (?:\w+ )?(?:informazion|dati)|sappiamo|(?:mi |ci )?(?:è|risulta|è stato) possibile "
        r"(?:rispondere|sapere|determinare|dire|stabilire|trovare|fornire una risposta|risalire))",
        r"\b(?:mi )?(?:è|risulta) impossibile (?:rispondere|sapere|determinare|dire|stabilire)|^impossibile "
        r"(?:saperlo|dire|dirlo|rispondere|stabilire|determinare)|\bsono incapace di\b",
        rf"\b{_SOURCE}\b[^.;]{{0,80}}?\bnon (?:\w+ ){{0,2}}?{_SAY}",
        rf"\b{_SOURCE}\b[^.;]{{0,80}}?\bnon (?:è|sono|viene|vengono|c'è|ci sono|si (?:parla|fa|trova|"
        rf"dice))\b[^.;]{{0,60}}?(?:{_STATED}|{_INFORMATION}|chi\b|cosa\b|quando\b|come\b|se\b|d[ei]l)",
        r"\bnon (?:viene|vengono|è|sono|c'è|ci sono|si (?:parla|fa|trova|dice|trovano|"
        rf"fornisc\w+))\b[^.;]{{0,60}}?(?:{_INFORMATION}(?! da )|menzion\w+|specificat\w+ (?:nel|nei|in)|"
        rf"(?:{_STATED} )?(?:in|nel|nei|nella|nelle|dai|dal|negli|nell') ?(?:\w+ ){{0,3}}{_SOURCE}\b(?! d))",
        r"\bnon (?:viene|vengono|è|sono|è stat[oa]) (?:\w+ )?(?:specificat|menzionat|indicat|precisat|riportat|"
        r"disponibil|not)\w*(?:$|[.!])|^non (?:specificat|menzionat|indicat|disponibil|precisat|"
        r"not)\w*\b[^,:]{0,30}$",
        rf"\bnessun[oa']? ?(?:dei |delle |degli |tra )?(?:\w+ ){{0,2}}(?:{_SOURCE}|{_INFORMATION})|\b(?:nulla|"
        r"niente) (?:in|nel|nei|nelle|su|al riguardo|a riguardo|in merito|riguardo)\b|^senza informazioni\b|"
        r"^nessuna idea\b",
        r"\b(?:lo )?ignoro\b|^sconosciut[oa]\b|\binformazion[ei] (?:\w+ ){0,3}non (?:è|sono) (?:\w+ "
        r")?(?:disponibil|present|inclus|fornit|nei|nel)",
        r"\b(?:al di )?(?:fuori|oltre)(?: d(?:al|ai|alle|alla|elle|el|ei)| l[ae]|) (?:mi[oae]i?|nostr[oe] "
        r"(?:ambito|competenze)|campo delle mie)\b|\bnon rientra (?:nel|nei|nelle|tra) (?:mi|le mie|i miei)|"
        r"\b(?:esula|supera) (?:dal|dalle|dai|le|il) (?:mi)",
        r"\bnon (?:è|risulta|mi è) (?:\w+ )?chiaro\b(?:$|[.!]| (?:se|chi|quale|quando|come|dove|perché|dal|dai|nel|"
        rf"che|cosa))|\b{_SOURCE}\b[^.;,]{{0,30}} (?:tac[ec]\w*|è insufficiente|sono insufficienti)",
        r"^non lo (?:menziona|dice|specifica|indica|precisa)(?:no)?\b|\b(?:neanche|nemmeno|neppure) (?:lo "
        r")?(?:menziona|dice|specifica|indica)",
    ),
    limit=pattern(
        r"^(?:(?:io )?posso (?:\w+ )?(?:solo|soltanto|solamente|esclusivamente) (?:aiutar|risponder|assister|fornire "
        r"informazioni)|posso "
        r"(?:aiutar|risponder)\w* (?:solo|soltanto|solamente|esclusivamente)|(?:solo|soltanto) posso (?:aiutar|"
        r"risponder))",
        r"^(?:ho|dispongo|abbiamo) (?:solo|soltanto|solamente|esclusivamente) (?:di |accesso |delle )?(?:informazioni|"
        r"dati|accesso|documenti|"
        r"ai?|alle)\b|\bmi[ae] conoscenz[ae] (?:si limitano?|è limitata|sono limitate) (?:a|al|alla|alle|ai|agli)\b",
    ),
    fact=pattern(
        r"^(?!.*\b(?:ho|posso|dispongo|trovo|possiamo|abbiamo)\b).*\b(?:dati|informazioni) (?:personali|riservat[ei]|"
        r"sensibili|privat[ei]|"
        r"confidenziali)\b(?! (?:su|di|del|della|dei|sui|sulla|relativ\w+)\b)",
        r"\bnon (?:deve|devono|dovrebbe|può|possono|è necessari\w+|serve|servono|occorre|occorrono) |"
        r"\binformazion[ei] da (?:inviare|compilare|fornire|inserire)|\bnon ho (?:bisogno|fretta)",
        r"\binformazioni non sono (?:condivis|vendut|trasmess|cedut)|^(?:se|quando|mentre|finché|qualora)\b(?:(?!, "
        r"(?:non posso|non ho)\b).)*$|\b(?:nella|in|con la) confezione\b",
    ),
    courtesy=whole(
        r"(?:certo|certamente|volentieri|con piacere|va bene|d'accordo|assolutamente|naturalmente|ok)(?:[,!.]? "
        r"(?:ecco|posso|ti|le)[^.;:]{0,40}(?:aiut\w*|risposta))?",
        r"(?:ciao|buongiorno|buonasera|salve)(?: a tutti)?|(?:ciao|gentile),? \w+[,!]|(?:molte |mille |tante "
        r")?grazie(?: (?:mille|tante|per|a|di|della)[^.;:]{0,80})?",
        r"(?:è una |che )?(?:molto )?(?:buona|ottima|bella|eccellente) domanda",
        r"(?:mi|ci) (?:dispiace|spiace|scuso|scusiamo)(?: (?:molto|tanto|per|del|della)[^.;:,]{0,70})?|(?:mi "
        r")?scus[iao](?:te)?(?: per[^.;:,]{0,70})?|chiedo scusa(?: per[^.;:,]{0,60})?|le (?:mie|nostre) "
        r"scuse[^.;:,]{0,50}|spiacente|siamo spiacenti[^.;:,]{0,40}",
        r"(?:non (?:esit[iea]|esitare)(?: a)?)[^.;]{0,90}|(?:se (?:ha|hai|avesse|avessi|desidera|vuole|vuoi|ci "
        r"sono|hai bisogno|può|puoi|mi))[^.;]{0,120}(?:domand\w*|aiut\w*|contatt\w*|informazion\w*|dettagli|sapere|"
        r"chied\w*|altro|assistenza)[^.;]{0,60}",
        r"(?:mi faccia|fammi|fatemi) sapere[^.;]{0,70}|(?:c'è|ha|hai|posso|come posso|desidera|vuole|"
        r"vuoi)[^.;]{0,60}(?:altro|aiutar\w*|altre domande|saperne di più|essere utile)[^.;]{0,40}",
        r"(?:potrebbe|può|puoi|potresti)[^.;]{0,110}(?:fornire|fornirmi|chiarire|riformulare|dare|darmi|"
        r"specificare|condividere|indicar\w*)[^.;]{0,70}|(?:sono|resto) (?:qui|felice|lieto|lieta|a (?:sua|tua|"
        r"vostra) disposizione|a disposizione)[^.;]{0,70}",
        r"(?:per favore,? |la prego di |la invito a |si prega di )?(?:contatt[aie]|contattare|si rivolga|"
        r"rivolgersi)[^.;]{0,70}(?:assistenza|supporto|servizio|team|clienti|noi)[^.;]{0,50}",
        r"(?:cordiali|distinti) saluti|saluti|buona (?:giornata|serata|fortuna)|prego|di nulla|buon[ao]? \w+",
    ),
    hedge=whole(
        r"(?:spero|speriamo)(?: che| di)?[^.;:]{0,70}",
        r"(?:per favore,? |si )?(?:tenga|tieni|tenere) (?:presente|conto)(?: anche)?(?: che)? [^.;:]{0,60}(?:può|"
        r"possono|potrebbe|potrebbero|variare|cambiare|dipende)\w*[^.;:]{0,60}|(?:ricordi|ricorda|si noti|nota|"
        r"noti) che [^.;:]{0,50}(?:può|possono|potrebbe|potrebbero)[^.;:]{0,60}",
        r"(?:questo|questa|queste|questi|le|i|gli|la|il|ciò)(?: \w+){0,4} (?:può|possono|potrebbe|potrebbero) "
        r"(?:\w+ )?(?:variare|cambiare|differire|essere (?:divers\w+|incomplet\w+|non aggiornat\w+)|non "
        r"essere)[^.;:]{0,60}|(?:tutto |ciò |questo )?dipende d[^.;:]{0,50}",
        r"(?:potrei|posso) (?:sbagliar\w*|essere in errore)|salvo errori|(?:per quanto (?:ne )?so|a quanto (?:ne "
        r")?so|per quanto mi risulta)(?:,? (?:è|questo è) (?:così|corretto))?",
        r"(?:questo|questa \w+|ciò) non (?:costituisce|è|sostituisce)[^.;:]{0,60}(?:consulenza|consiglio|"
        r"parere)[^.;:]{0,40}|questo è (?:solo )?un riassunto[^.;:]{0,30}",
        r"(?:si consiglia di |è consigliabile |le consiglio di |ti consiglio di |è bene )?(?:verific\w+|consult\w+|"
        r"controll\w+)[^.;:]{0,50}(?:professionista|medico|avvocato|espert[oi]|ufficial\w*|font[ei]|specialista|"
        r"informazioni|dati)[^.;:]{0,50}",
        r"(?:secondo|in base a|sulla base de|a partire da|stando a|dai|dalle)\w{0,3} ?(?:i |il |la |le |gli |"
        rf"l')?{upto(2)}{_SOURCE}(?: \w+)?(?:,? ?(?:ecco|ho trovato)[^.;:]{{0,60}})?",
        r"(?:ecco|di seguito|qui (?:sotto|di seguito)|questi sono|questo è)[^.;]{0,50}(?:riassunto|riepilogo|"
        r"risposta|punti?|passagg[io]+|informazioni|elenco|trovato|spiegazione|dettagli|sintesi)[^.;:]{0,50}",
        r"(?:in )?(?:sintesi|conclusione|breve|riassunto)|riassumendo|per riassumere|riepilogo|risposta|nota|punti "
        r"chiave",
    ),
    apology=whole(r"(?:mi|ci) (?:dispiace|spiace)(?: molto)?|(?:mi )?scus[iao]|spiacente|chiedo scusa"),
    lead=pattern(
        r"[\W_]*(?:(?:mi|ci) (?:dispiace|spiace)(?: molto)?|(?:mi )?scus[iao]|spiacente|purtroppo|sfortunatamente|"
        r"tuttavia|però|ma|quindi|pertanto|perciò|dunque|inoltre|e|sì|temo che|temo di|ciao|attualmente|al momento|"
        r"sinceramente|comunque)\b[\W_]*"
    ),
    border=pattern(
        r"[,;:–—-]+ (?:ma|però|tuttavia|mentre|anche se|sebbene|invece)\b ?",
        r"; |[–—] | - | ma ",
        r", (?:e|quindi|perciò|pertanto) ",
    ),
    concessive=pattern(r"[\W_]*(?:sebbene|benché|anche se|nonostante|mentre)\b"),
    aside=pattern(
        rf"(?:(?:il|lo|la|i|gli|le|l'|miei|questo|questi) ?{upto(3)}{_SOURCE}(?: \w+t[oiea])? )?(?:\w+ )?(?:solo|"
        r"soltanto|solamente|unicamente|esclusivamente)\b",
        r"(?:posso|rispondo|possiamo) (?:solo|soltanto|unicamente)",
        r"(?:per favore|si prega|la (?:invito|prego)|le (?:consiglio|suggerisco)|ti (?:consiglio|suggerisco)|si "
        r"consiglia|contatt[aie]|si rivolga|consulti|può (?:contattare|consultare|rivolgersi|chiedere|provare)|"
        r"dovrebbe (?:consultare|contattare))\b",
        r"se (?:mi|può|puoi|ha|hai|desidera)\b|(?:la domanda|lei chiede|chiedi)\b|(?:questo|ciò) (?:dipende|può)\b",
    ),
    report=pattern(
        rf"(?:(?:il|lo|la|i|gli|le|l'|questo|questi) ?{upto(3)}{_SOURCE})(?: \w+t[oiea])? (?:\w+ )?(?:menziona|"
        r"indica|parla|dic|spiega|descriv|tratta|afferma|conti|dà\b|danno\b|offr)"
    ),
)
