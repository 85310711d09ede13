r"""How refusals are worded, by language. A language is one `Wording`; add one and its tests.

Each pattern is looked for in one sentence, in lower case with straight apostrophes. Patterns are verbose regular
expressions: white space in them does not count, `\\s` does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """`refusing`: says that it does not answer, or that the documents do not. `courtesy`: carries no content.

    `cue` is cheap and stands in every refusing sentence, so that most sentences are done with after it.
    """

    cue: re.Pattern[str]
    refusing: re.Pattern[str]
    courtesy: re.Pattern[str]


def _compile(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{a})" for a in alternatives), re.VERBOSE)


_SOURCES = r"""(?:document|documentation|context|passage|text|source|article|material|excerpt|paragraph|page|manual|faq|
    guide|content|knowledge\sbase|information|result|prompt|record|handbook|section|file|note|policy|leaflet)s?"""
_TEXTS = (
    r"(?:documents?|documentation|contexts?|passages?|texts?|sources?|articles?|excerpts?|paragraphs?|knowledge\sbase|"
    r"manual|faqs?)"
)

ENGLISH = Wording(
    cue=_compile(
        r"""n't|\b(?:not|none|nothing|neither|nowhere|never|cannot|unable|unclear|unknown|unavailable|unspecified|
            unanswerable|unaware|insufficient|without|beyond|outside|fails?|n/?a|impossible|missing)\b|
            \bno\s(?!longer|more\b|matter|need\b|problem)"""  # "No, …" opens many a good answer
    ),
    refusing=_compile(
        # the assistant cannot
        r"\bi(?:\s(?:am|was)|'m)\s(?:\w+\s)?(?:unable\sto|not\sable\sto|not\sfamiliar\swith)\b|\bi\swasn't\sable\sto\b",
        r"\bwe\sare\s(?:\w+\s)?(?:unable|not\sable)\sto\s(?:answer|help|assist|find|say|tell|determine|respond|confirm)",
        r"""\b(?:i|we)\s(?:\w+\s)?(?:cannot|can't|can\snot|could\snot|couldn't)\s(?:\w+\s){0,2}
            (?:answer|help|assist|find|say|tell|determine|respond|comment|discuss|confirm|look\sup|fulfil|locate|comply)""",
        r"""\bi\s(?:\w+\s)?(?:cannot|can't|can\snot|could\snot|couldn't)\s(?:\w+\s){0,2}
            (?:provide|give|offer|share|access|generate|recommend|advise|predict)""",
        r"\bi\s(?:must|have\sto|will\shave\sto)\s(?:\w+\s)?decline|^(?:sorry,?\s)?(?:no\sidea|not\ssure)\b[^,;]{0,20}$",
        r"""\b(?:i|we)\s(?:do\snot|don't|did\snot|didn't|have\snot|haven't)\s(?:\w+\s){0,2}
            (?:have\s(?:\w+\s){0,4}(?:information|details?|data|access|answer|documents?|documentation|sources?|
            material|record|context|guidance)|know\sthe\sanswer|find\s(?:any|a|the)|see\sany|come\sacross)""",
        r"""\b(?:i|we)\shave\sno\s(?:\w+\s){0,3}(?:information|details?|data|record|documents?|documentation|answer|
            idea|knowledge|way)""",
        r"\b(?:is|are|that's|falls?|lies?|goes)\s(?:\w+\s){0,3}?(?:beyond|outside)\s(?:of\s)?(?:what\si|the\sscope|my|our)\b",
        r"(?:\bnot|n't)\s(?:something|a\stopic)\s(?:that\s)?(?:i|we)\s(?:can|could|am|are)\b",
        r"\b(?:i|we)\s(?:\w+\s){0,6}(?:found|find|see|have)\s(?:no|nothing)\s(?:\w+\s){0,2}(?:details?|information|mention|answer|on|about)\b",
        r"\bnot\spossible\s(?:for\sme\s)?to\s(?:answer|say|tell|determine)\s(?:this|that|your|the\s(?:question|answer))\b",
        r"\b(?:passages?|documents?|articles?|sources?|texts?)\b[^.;:,]{0,40}?\ssay(?:s)?\snothing\s(?:about|on|of)\b",
        r"^(?:sorry,?\s)?i\s(?:really\s)?(?:don't|do\snot)\sknow\b[^,;]{0,50}$",
        # the documents do not
        rf"""\b{_SOURCES}\b[^.;:,]{{0,40}}?\s(?:contain|provide|give|offer|hold|have|has|include|make)s?\sno\s(?:\w+\s){{0,2}}
            (?:information|mention|details?|data|answer|indication|instructions?|reference|guidance)""",
        rf"""\b{_SOURCES}\b(?:\s(?:i|we)\s\w+)?[^.;:,]{{0,40}}?\s(?:do(?:es)?\snot|do(?:es)?n't|did\snot|didn't|cannot|
            can't|fails?\sto|never)\s(?:\w+ly\s|seem\sto\s|appear\sto\s|even\s|yet\s)*
            (?:contain|mention|specif|state|say|provide\s(?:\w+\s){{0,3}}
            (?:information|details?|answer|instructions?|data|guidance)|answer|address|describe|discuss|indicate|explain|tell|reveal|clarify|speak|refer\sto|touch)""",
        rf"""\b(?:{_TEXTS})\b(?:\s(?:i|we)\s\w+)?[^.;:,]{{0,40}}?\s(?:do(?:es)?\snot|do(?:es)?n't|did\snot|didn't|cannot|
            can't|never)\s(?:\w+ly\s|(?:seem|appear)\sto\s)?(?:provide|include|cover|give|list|offer|name|hold|have\s(?:any|the|enough|specific))""",
        r"^(?:it|they|the\sdocs)\s(?:do(?:es)?\snot|do(?:es)?n't)\s(?:\w+ly\s)?(?:mention|say|specify|state)\b",
        r"""\b(?:but|and|however,?|though)\s(?:it|they|these|this)\s(?:do(?:es)?\snot|do(?:es)?n't)\s(?:\w+ly\s)?
            (?:contain|mention|specif|state|provid|say|include|cover|answer|address|give|describe|discuss|indicate)""",
        rf"""\b(?:none|nothing|neither|no\spart)\s(?:of|in|on)\s(?:\w+\s){{0,4}}{_TEXTS}\b[^.;]{{0,40}}?(?:$|\.|
            (?:mention|contain|deal|address|cover|provide|describe|discuss|answer|say|speak|refer|about|on\s|for\s))""",
        rf"""(?:\b(?:not|nowhere|never)|n't)\s(?:\w+ly\s)?(?:specified|mentioned|stated|provided|given|described|covered|included|
            addressed|available|disclosed|discussed|explained|listed|documented|found|indicated|defined|clear|part)\b
            (?:[^.;:,]|,\s){{0,60}}?\b(?:in|from|by|within|of)\s(?:the|any\sof\sthe|these|my|our|this|your)\s
            (?:\w+\s){{0,3}}{_SOURCES}\b""",
        rf"""\b(?:based\son|from|according\sto|in|within|with)\s(?:the|these|this|any\sof\sthe|what)\s(?:\w+\s){{0,2}}{_SOURCES}
            (?:\s\w+)?,?\s(?:[^.;]{{0,100}}?\s)?(?:(?:is|are|was)\s(?:\w+ly\s)?(?:not\s(?:\w+ly\s)?(?:specified|
            mentioned|stated|provided|given|clear|possible\sto\s(?:answer|determine|say|tell))|unclear|unknown|no\s(?:\w+\s){{0,2}}(?:mention|
            information|answer|indication|definitive|instruction|reference))|cannot\sbe\s(?:determined|answered))""",
        r"""\b(?:there's|is|are|was)\s(?:no|not\senough|insufficient|not\sany)\s(?:\w+\s){0,3}
            (?:information|mention|details?|data|indication|instructions?)\b(?!\sthat)""",
        r"\bthere\s(?:is|are)\sno\s[^.;]{0,60}?\b(?:mentioned|specified|provided|stated|given|described|listed)\b",
        r"""^(?:the|an?|this|that)?\s?(?:exact\s|specific\s)?(?:answer|information|details?)\s(?:[^.;]{0,60}?\s)?(?:is|are|was|
            cannot\sbe)\s(?:\w+ly\s)?(?:not\s(?:\w+ly\s)?(?:available|provided|given|included|contained|mentioned|
            specified|stated|part\sof|in\s)|unclear|unknown|unavailable|determined|answered|missing)""",
        r"\bcannot\sbe\s(?:determined|answered)\sfrom\b|\bcannot\sbe\s(?:determined|answered)\sbased\b",
        r"^(?:it|this|that)\s(?:is|was|remains?)\s(?:\w+ly\s)?(?:unclear|unknown|not\s(?:\w+ly\s)?(?:clear|known|stated|specified|mentioned|provided))[^,;]*$",
        r"^(?:unknown|unclear|n/?a|no\sanswer|not\s(?:specified|mentioned|stated|known|available|answerable))\b[^:,]{0,20}[.!]?$|^unknown\b",
        r"\bno\s(?:information|mention|details?|relevant\s\w+|documents?)\s(?:\w+\s){0,6}(?:is|was|were|are)\s(?:found|available|provided|given|mentioned)",
        r"\bwithout\s(?:further|more|additional)\s(?:context|information|details?)\b",
    ),
    courtesy=_compile(
        r"^(?:i'm|i\sam|we're|we\sare)?\s?(?:very\s|so\s|terribly\s)?(?:sorry|apologi[sz]e|my\sapologies)[\s,.!]*(?:for\s(?:the|any)\s[\w\s]+)?[.!]?$",
        r"^(?:sure|certainly|of\scourse|hello|hi|thank(?:s|\syou)|great\squestion|you're\swelcome)\b[^.]{0,60}[.!]?$",
        r"\?$|^(?:if|once)\syou\s(?:have|need|could|can|would|provide|share|give)\b",
        r"^(?:i|we)\s(?:can\s)?only\s(?:help|answer|assist|deal|cover)|^(?:please|you\s(?:can|may|should|could)\s(?:refer|contact|consult|retry|check\swith))\b",
        r"""\b(?:let\sme\sknow|feel\sfree|happy\sto\s(?:help|assist)|glad\sto\s(?:help|assist)|please\s(?:contact|reach|
            refer|consult|provide|rephrase|try\sasking|get\sin\stouch)|(?:could|can|would)\syou\s(?:please\s)?(?:provide|
            clarify|share|rephrase|specify|be\sthinking)|(?:recommend(?:ed)?|suggest|best)\s(?:to\s|that\syou\s)?(?:contact|
            consult|check\swith|refer|reach)|anything\selse|hope\s(?:this|that)\shelps|further\s(?:assistance|help))""",
        rf"^(?:it|they|the|instead,?\sthe|these|(?:the\s)?others?)\s(?:\w+\s)?(?:{_SOURCES}\s)?(?:\w+\s)?only\s(?:\w+\s)?(?:mention|provid|cover|talk|explain|contain|describ|discuss|deal|address|state|refer|list|give)",
        rf"^(?:however,?\s|instead,?\s)?(?:the|these|this|some)\s(?:\w+\s)?{_SOURCES}\s(?:\w+\s)?(?:only\s|also\s|instead\s|do(?:es)?\s)?(?:talks?|discuss|mentions?|focus|deals?|cover|provides?|describes?|suggests?)",
    ),
)

GERMAN = Wording(
    cue=_compile(r"\b(?:nicht|nichts|nirgends|keine?[nrms]?|außerhalb)\b"),
    refusing=_compile(
        r"\b(?:ich|wir)\s(?:kann|können|konnte|konnten)\s[^.;]{0,80}?\b(?:nicht|keine?n?)\b[^.;]{0,60}?\b(?:beantworten|helfen|weiterhelfen|sagen|finden|geben|machen|nennen|auskunft|mitteilen|beurteilen)",
        r"\b(?:kann|können|konnte)\s(?:ich|wir)\s[^.;]{0,80}?\b(?:nicht|keine?n?|leider\snicht)\b[^.;]{0,60}?\b(?:beantworten|helfen|weiterhelfen|sagen|finden|geben|machen|nennen|auskunft|mitteilen|beurteilen)",
        r"\b(?:ich|wir)\s(?:habe|haben|finde|finden|verfüge|verfügen)\b[^.;]{0,60}?\b(?:keine?n?|nicht|nichts)\b[^.;]{0,40}?(?:information|angabe|antwort|auskunft|daten|kenntnis|zugriff|dokument|unterlage|hinweis|gefunden)",
        r"\b(?:ich|wir)\s(?:weiß|wissen)\b[^.;]{0,40}?\bnicht|\bweiß\sich\s(?:leider\s)?nicht|^(?:leider\s)?keine\sahnung|\b(?:mir|uns)\sist\s[^.;]{0,30}?\bnichts?\s(?:dazu\s)?bekannt|\bich\sbin\snicht\sin\sder\slage",
        r"\b(?:dazu|darüber|hierzu|hierüber)\s(?:habe|haben|liegen|gibt|finde|steht|findet|enthalten|kann)\b[^.;]{0,60}?\b(?:keine?n?|nicht|nichts)\b",
        r"\b(?:dokument|dokumente|dokumenten|unterlage|unterlagen|text|texte|texten|kontext|quelle|quellen|handbuch|informationen|abschnitt|seite|seiten|auszug|auszüge|auszügen)\b[^.;]{0,80}?\b(?:keine?n?r?|nicht|nichts|nirgends)\b[^.;]{0,80}?(?:enthalten|erwähn|genannt|hervor|angegeben|angaben|informationen|information|auskunft|beschrieben|erklär|steht|finden|beantwort|erläuter|hinweis)",
        r"\b(?:enthalten|enthält|erwähnen|nennen|nennt|erwähnt|beschreiben|geben|gibt|sagen)\b[^.;]{0,40}?\b(?:keine?n?|nichts|nicht)\b[^.;]{0,60}?(?:information|angabe|auskunft|hinweis|darüber|dazu|antwort|aussage)",
        r"\b(?:keine?n?)\s(?:\w+\s){0,2}(?:information|informationen|angaben|auskunft|antwort|hinweis|hinweise)\b",
        r"\b(?:steht|findet\ssich|ist|wird|sind|werden|geht)\b[^.;]{0,80}?\b(?:nicht|nichts|nirgends)\b[^.;]{0,40}?(?:(?:in\sden|aus\sden|im|aus\sdem|in\sder)\s(?:\w+\s){0,2}(?:dokument|unterlage|text|kontext|quelle|handbuch|wissens|dokumentation)|erwähnt|angegeben|genannt|hervor)",
        r"\baußerhalb\s(?:meines|unseres)\b|\bgehört\snicht\szu\smeine[nm]\b",
    ),
    courtesy=_compile(
        r"^(?:es\s)?tut\s(?:mir|uns)\sleid[.,!]?$|^ich\s(?:beantworte|helfe|kann)\s(?:\w+\s)?nur\b",
        r"\b(?:bitte\s(?:wenden|kontaktieren|fragen|rufen|schauen|geben)|wenden\ssie\ssich|gerne?\s(?:helfe|weiter)|melden\ssie\ssich)",
    ),
)

FRENCH = Wording(
    cue=_compile(r"\b(?:ne|aucune?|rien|en\sdehors|au-delà|impossible|l'ignore)\b|\bn'"),
    refusing=_compile(
        r"\b(?:je|nous|on)\s(?:ne|n')\s?(?:\w+\s){0,3}?(?:peux|puis|pouvons|peut|suis|sommes|dispos|trouv|sais|sait|savons|connais|ai|avons|vois|parviens)\w*\b[^.;]{0,40}?\b(?:pas|aucune?|rien|malheureusement)\b",
        r"^(?:malheureusement,?\s)?(?:l'|cette\s|les\s|ces\s)informations?\s(?:\w+\s)?(?:n'est|ne\ssont)\spas\s(?:disponible|fourni|précis)",
        r"\bje\sne\s(?:peux|puis|suis)\b|\bje\sl'ignore\b|^(?:malheureusement,?\s)?(?:il\sm'est\s)?impossible\sde\s(?:répondre|dire|savoir)|^aucune\sidée",
        r"\b(?:document|documents|texte|textes|contexte|source|sources|extrait|extraits|passage|passages|informations?|manuel|page|pages|rien)\b[^.;]{0,80}?\b(?:ne|n')\s?(?:\w+\s){0,2}?(?:contien|mentionn|précis|fourni|indiqu|parl|dit|disent|donn|répond|couvr|figur|traite|permet|explique|abord|évoqu|(?:est|sont)\s(?:pas|nulle)\s(?:mentionn|précis|indiqu))",
        r"\b(?:aucune?)\s(?:\w+\s){0,2}(?:information|informations|mention|réponse|document|indication|précision|détail)\b",
        r"\b(?:n'est|ne\ssont|n'apparaît|ne\sfigure|n'a)\s(?:pas|nulle\spart|aucun)\b[^.;]{0,60}?(?:mentionn|précis|indiqu|document|fourni|dans\sles)",
        r"\bne\srelève\spas\sde\s(?:mon|mes|notre|nos)\b",
        r"\b(?:en\sdehors|au-delà)\sde\s(?:mon|mes|notre|nos)\b",
    ),
    courtesy=_compile(
        r"^(?:je\ssuis\s|nous\ssommes\s)?(?:vraiment\s)?désolée?s?[.,!]?$",
        r"\b(?:veuillez|n'hésitez|je\svous\s(?:invite|conseille|suggère)|contactez|merci\sde\s(?:contacter|préciser))\b",
    ),
)

SPANISH = Wording(
    cue=_compile(
        r"""\bno\s(?:\w+mente|pued|podemos|pude|logr|teng|tenemos|dispon|disponemos|sé\b|sabemos|encuentr|encontr|cuent|he\b|
            me\b|es\b|está|estoy|soy|se\b|l[aeo]s?\b|menciona|contien|especific|indica|proporciona|dice|incluy|habla|ofrece|
            aclara|explica|aparec|figura|hay|existe|consta|detalla|recog|trata|responde|cubr|hace)|\bno\slo\b|\bdesconozco\b|\bningun|\bningún|\bfuera\sde"""
    ),
    refusing=_compile(
        r"\bno\s(?:puedo|podemos\s(?:responder|ayudar|contestar|decir)|pude|logro|tengo|tenemos\s(?:\w+\s){0,2}(?:información|datos|respuesta)|dispongo|disponemos\sde\s(?:\w+\s)?(?:información|datos)|(?:lo\s)?sé|sabemos|encuentro|encontré|encontramos|cuento|he\s(?:podido|encontrado)|(?:me\s)?es\sposible\s(?:responder|saber|determinar|contestar|decir)|estoy\s(?:seguro|en\scondiciones)|soy\scapaz)\b",
        r"\b(?:documento|documentos|texto|textos|contexto|fuente|fuentes|pasaje|pasajes|información|manual|fragmento|fragmentos|página|páginas|documentación)\b[^.;]{0,80}?\bno\s(?:\w+\s){0,2}?(?:contien|menciona|especific|indica|proporciona|dice|incluy|habla|ofrece|aclara|explica|aparec|figura|recog|trata|responde|cubre|detalla|hace)",
        r"\bno\s(?:se\s)?(?:menciona|especifica|indica|aparece|figura|hay|existe|consta|detalla|dispone|encuentra|proporciona)\b[^.;]{0,60}?(?:información|document|contexto|texto|mención|dato|respuesta|fuente|pasaje|manual)",
        r"\b(?:ningun[oa]?|ningún)\s(?:de\s)?(?:\w+\s){0,3}(?:document|información|pasaje|texto|fuente|dato|mención)",
        r"\blo\sdesconozco\b|\binformación\sno\sestá\sdisponible",
        r"\bfuera\sde\s(?:mi|nuestro|mis)\b",
    ),
    courtesy=_compile(
        r"^(?:lo\ssiento|lo\ssentimos|disculpe|perdón|lamentablemente)(?:\smucho)?[.,!]?$",
        r"\b(?:por\sfavor|póngase|ponte|contact[ea]|le\s(?:recomiendo|sugiero|aconsejo)|te\s(?:recomiendo|sugiero)|no\sdude)\b",
    ),
)

ITALIAN = Wording(
    cue=_compile(r"\b(?:non|nessun[oa]?|fuori)\b"),
    refusing=_compile(
        r"\bnon\s(?:posso|possiamo\s(?:rispondere|aiutar|dire)|riesco|ho|abbiamo\s(?:\w+\s){0,2}(?:informazion|dati|risposta)|dispongo|disponiamo\sdi\s(?:\w+\s)?(?:informazion|dati)|(?:lo\s)?so|saprei|sappiamo|trovo|sono\s(?:in\sgrado|a\sconoscenza|sicur)|(?:mi\s)?è\spossibile\s(?:rispondere|sapere|determinare|dire|stabilire)|conosco)\b",
        r"\b(?:documento|documenti|testo|testi|contesto|fonte|fonti|passaggio|passaggi|brano|brani|informazioni|manuale|pagina|pagine|documentazione|estratti|materiale)\b[^.;]{0,80}?\bnon\s(?:\w+\s){0,2}?(?:conti?en|menzion|specific|indica|fornisc|dic|inclu|parla|offr|spiega|compa|tratta|rispond|copr|riporta|cita|preved|dà|danno|è\s|sono\s)",
        r"\bnon\s(?:viene|vengono|è|sono|c'è|ci\ssono|si\s(?:parla|fa|trova|dice))\b[^.;]{0,60}?(?:menzion|specific|indicat|informazion|document|contesto|testo|riportat|fornit)",
        r"\b(?:nessun[oa]?)\s(?:dei\s|delle\s|degli\s)?(?:\w+\s){0,2}(?:document|informazion|passagg|test|font|dato|riferiment)",
        r"\b(?:al\sdi\s)?fuori\sd(?:al|ai|alle|elle|el)\s(?:mi|nostr)",
    ),
    courtesy=_compile(
        r"^(?:mi\sdispiace|ci\sdispiace|spiacente|purtroppo)(?:\smolto)?[.,!]?$",
        r"\b(?:per\sfavore|si\sprega|la\sinvito|le\s(?:consiglio|suggerisco)|ti\s(?:consiglio|suggerisco)|contatt[ia]|si\srivolga|rivolgersi|non\sesiti)\b",
    ),
)

PORTUGUESE = Wording(
    cue=_compile(r"\b(?:não|nenhuma?|fora|desconheço)\b"),
    refusing=_compile(
        r"\bnão\s(?:posso|podemos\s(?:responder|ajudar|dizer)|consigo|conseguimos\s(?:responder|encontrar)|tenho|temos\s(?:\w+\s){0,2}(?:informaç|dados|resposta)|disponho|dispomos\sde\s(?:\w+\s)?(?:informaç|dados)|sei|sabemos|faço\sideia|encontrei|encontramos|encontro|(?:é|foi)\spossível\s(?:responder|saber|determinar|dizer|encontrar)|estou\s(?:em\scondições|cert|apto)|sou\scapaz)\b",
        r"\b(?:documento|documentos|texto|textos|contexto|fonte|fontes|passagem|passagens|trecho|trechos|informação|informações|manual|página|páginas|documentação)\b[^.;]{0,80}?\bnão\s(?:\w+\s){0,2}?(?:cont[êé]m|mencion|especific|indica|fornec|diz|inclu|fala|oferec|explic|aparec|trata|respond|cobre|detalh|refere|traz)",
        r"\bnão\s(?:é|são|há|consta|constam|existe|aparece|foi)\b[^.;]{0,60}?(?:mencionad|especificad|indicad|informaç|document|contexto|texto|fornecid|menção)",
        r"\bnenhum[a]?\s(?:d[oa]s\s)?(?:\w+\s){0,2}(?:document|informaç|passage|trecho|texto|fonte|dado|menção)",
        r"\bdesconheço\b|\binformação\snão\sestá\sdisponível",
        r"\bfora\sd[oae]\s(?:meu|nosso|minha|âmbito)",
    ),
    courtesy=_compile(
        r"^(?:lamento|desculpe|peço\sdesculpas?|sinto\smuito|infelizmente)[.,!]?$",
        r"\b(?:por\sfavor|entre\sem\scontacto|entre\sem\scontato|contacte|contate|recomendo|sugiro|não\shesite)\b",
    ),
)

WORDINGS = (ENGLISH, GERMAN, FRENCH, SPANISH, ITALIAN, PORTUGUESE)
ANY_CUE = re.compile("|".join(wording.cue.pattern for wording in WORDINGS), re.VERBOSE)
