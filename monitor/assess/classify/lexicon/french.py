"""How French words refusals, courtesies and hedges."""

from __future__ import annotations

from monitor.assess.classify.lexicon.wording import Wording, pattern, upto, whole, words

_SOURCE = (
    r"(?:documents?|documentation|textes?|contexte|sources?|extraits?|passages?|informations?|manuel|pages?|articles?|"
    r"brochure|guide|base de connaissances|contenu|éléments|paragraphes?|notice|résultats)"
)
_NE = r"(?:ne |n')(?:\w+ |l'|s'|m'|y |en ){0,2}?"
_NOT = r"(?:pas|aucune?|rien|nulle part|jamais|ni|point)"
_SAY = (
    r"(?:contien|mentionn|précis|fourni|indiqu|parl|dit\b|dise|donn|répond|couvr|figur|traite|permet|expliqu|abord|"
    r"évoqu|spécifi|décri|détaill|comport|apport|font (?:pas )?mention|fait (?:pas )?(?:mention|référence)|a pas|"
    r"ont pas|offr|clarifi|détermin)"
)
_INFORMATION = (
    r"(?:informations?|mention|réponse|indications?|précisions?|détails?|données|renseignements?|références?|"
    r"éléments?|idée)"
)
_STATED = (
    r"(?:mentionné|précisé|indiqué|spécifié|fourni|disponible|donné|abordé|décrit|clair|connu|évoqué|détaillé|"
    r"inclus|trouvé|présent|couvert)e?s?"
)

FRENCH = Wording(
    code="fr",
    cues=words(
        "ne n aucun aucune rien dehors delà impossible ignore incapable non sans inconnu inconnue muet muette regret "
        "dépasse hors"
    ),
    limit_cues=words("que qu seulement uniquement limitent limite"),
    openers=words(
        "bien bonjour bonsoir merci excellente bonne c très je nous désolé désolée désolés toutes mes excusez "
        "pardon n si faites dites avez puis y souhaitez pourriez pouvez est veuillez contactez cordialement j en "
        "espérant veillez notez à cela ces les ce cette selon d sur voici ci résumé pour il vérifiez pensez "
        "gardez sauf avec oui absolument ok salut ravi ravie de la le vos dans tout bon autre dépend"
    ),
    refusing=pattern(
        r"\b(?:je|nous|on) (?:ne |n')(?:\w+ |l'|m'|y |en ){0,3}?(?:peux|puis|pouvons|peut|suis|sommes|dispos\w+|"
        r"trouv\w+|sais|sait|savons|connais\w*|ai|avons|vois|parviens|possèd\w+|saurais|pourrais|détien\w*) "
        r"(?!que\b|besoin)(?:[\w'-]+ ){0,4}?(?:pas|aucune?|rien|malheureusement|point)\b(?! (?:besoin|de problème|"
        r"d'inconvénient))",
        r"\bje (?:ne |n')(?:peux|puis|saurais|suis) (?!que\b)(?:pas )?(?:vous |te |y )?(?:répondre|dire|aider|en "
        r"mesure)|\bje l'ignore\b|\bj'ignore\b|\b(?:il m'est |il est )?impossible (?:\w+ )?(?:de|d'|à) ?(?:vous "
        r")?(?:répondre|dire|savoir|déterminer|donner)|^aucune idée|\bje (?:suis|reste) (?:\w+ )?incapable\b",
        rf"\b{_SOURCE}\b[^.;]{{0,80}}?\b{_NE}{_SAY}",
        rf"\b{_SOURCE}\b[^.;]{{0,80}}?\b(?:n'est|ne sont|n'était|n'a été|n'ont été) (?:\w+ ){{0,2}}?(?:pas|nulle "
        rf"part) (?:\w+ ){{0,2}}?{_STATED}",
        rf"\b(?:aucune?|aucun) (?:\w+ ){{0,2}}{_SOURCE}\b[^.;]{{0,40}}?\b(?:ne |n')|\brien\b[^.;]{{0,40}}?\b(?:ne |"
        rf"n')\w+[^.;]{{0,40}}{_SOURCE}?|\brien (?:dans|sur|à ce sujet|à propos)\b",
        rf"\b(?:aucune?|pas d'|pas de|sans) ?(?:\w+ ){{0,2}}?{_INFORMATION}\b(?! (?:n'est|n'a) (?:attendu|requis|"
        r"nécess|demand))(?:[^.;]{0,60}(?:disponible|trouvé|sur|concernant|à ce sujet|dans|relati|permettant|à "
        r"propos)|$|[.!])",
        r"\b(?:ce|cela|ça|ceci|il|elle|qui|réponse|information|point)\b[^.;,]{0,40}?\b(?:n'est|ne sont|"
        rf"n'apparaît|ne figure|n'a) (?:\w+ )?(?:pas|nulle part)\b[^.;]{{0,60}}?(?:{_STATED}|dans (?:le|les|ces|mes|"
        r"l'))",
        r"\bn(?:'est|e sont|'a pas été) ?(?:pas|nulle part) (?:\w+ )?(?:mentionné|précisé|indiqué|"
        r"spécifié)e?s?\b(?:[^.;,]{0,60}(?:dans|par) (?:le|les|ces|mes|l'|ce)|$|[.!])",
        r"\b(?:il )?n'est (?:\w+ )?pas possible (?:de|d')[^.;]{0,50}(?:répondre|dire|déterminer|savoir)|^non "
        r"(?:précisé|mentionné|spécifié|indiqué|disponible|communiqué|renseigné)e?s?\b[^,:]{0,30}$|^(?:inconnu|"
        r"réponse inconnue)",
        r"\b(?:ne relève|ne fait|n'entre) pas (?:partie )?d(?:e|ans) (?:mon|mes|notre|nos)\b|\b(?:en dehors|hors|"
        r"au-delà) d(?:e|u) (?:mon|mes|notre domaine|nos compétences|cadre de mes|champ de mes)|\bdépasse (?:mes|"
        r"mon) ",
        rf"\b{_SOURCE} (?:\w+ )?(?:est|sont|reste|restent) (?:\w+ )?(?:mue[tf]\w*|silencieu\w+|vague|"
        r"insuffisant\w*)\b|\bje (?:préfère|dois) (?:\w+ )?(?:ne pas|refuser|décliner)",
        r"^(?:malheureusement,? )?(?:l'|cette |les |ces )informations? (?:\w+ )?(?:n'est|ne sont) pas\b "
        r"(?:disponible|fourni|précis|dans|accessible|incluse)",
        r"^(?:la |cette |l'|les )?(?:réponses?|informations?) [^.;]{0,50}?ne (?:se trouvent?|figurent?|sont|est) pas "
        r"(?:dans|parmi)\b|"
        r"^la réponse ne (?:se trouve|figure) pas\b",
    ),
    limit=pattern(
        r"^je ne (?:peux|suis en mesure de) (?:vous )?(?:aider|répondre|renseigner|assister|informer|fournir "
        r"d)[^.;:]{0,40}?(?:que |qu')",
        r"^je (?:peux|suis en mesure de) (?:seulement |uniquement )?(?:vous )?(?:seulement |uniquement )?(?:aider|"
        r"répondre|renseigner) "
        r"(?:\w+ ){0,2}?(?:seulement|uniquement)\b|^je peux (?:seulement|uniquement) (?:vous )?(?:aider|répondre|"
        r"renseigner)\b",
        rf"^je n'ai (?:accès |d'|des )?(?:{_INFORMATION} )?(?:que|qu')[^.;:]{{0,20}}(?:{_INFORMATION}|sur|aux?)\b|^je "
        r"(?:dispose|ai accès) "
        rf"(?:seulement|uniquement) (?:d'|de |des |à |aux? )?(?:l')?(?:{_INFORMATION}|documents)\b|\bmes connaissances "
        r"se limitent\b",
    ),
    fact=pattern(
        r"^(?!.*\b(?:je|nous|j')\b).*\b(?:données?|informations?) (?:à caractère personnel|personnelles?|"
        r"confidentielles?|sensibles?|privées?)"
        r"\b(?! (?:sur|concernant|de|des|du|relatives)\b)",
        r"\bne (?:peux|pouvons|peut) que\b|\baucune (?:réponse|information) n'est (?:attendue|requise|nécessaire|"
        r"demandée)|\bn(?:e|')\w* ?(?:doit|doivent|devez) (?:pas|contenir)",
        r"^(?:si|lorsque|quand|tant que)\b(?:(?!, (?:je|nous)\b).)*$|\bje n'ai (?:pas|aucun) (?:besoin|problème|"
        r"inconvénient)",
    ),
    courtesy=whole(
        r"(?:bien sûr|certainement|absolument|avec plaisir|d'accord|très bien|tout à fait|ok|volontiers)(?:[,!.]? "
        r"(?:je|voici|voilà)[^.;:]{0,40}(?:aider|aide|réponse))?",
        r"(?:bonjour|bonsoir|salut)(?: (?:à vous|madame|monsieur|et merci[^.;:]{0,50}))?|(?:je vous remercie|"
        r"merci)(?: (?:beaucoup|bien|infiniment))?(?: (?:pour|de|d'|à)[^.;:]{0,80})?",
        r"(?:c'est (?:une )?)?(?:très )?(?:bonne|excellente|intéressante) question",
        r"(?:je suis |nous sommes )?(?:vraiment |sincèrement )?désolée?s?(?: (?:pour|de|d')[^.;:,]{0,70})?|"
        r"(?:toutes )?mes excuses(?: pour[^.;:,]{0,60})?|(?:je vous prie de m'|veuillez m')?excusez(?:-moi)?(?: "
        r"pour[^.;:,]{0,60})?|pardon(?: pour[^.;:,]{0,40})?",
        r"(?:n'hésitez pas|n'hésite pas)[^.;]{0,110}|(?:faites|dites)-(?:le-)?(?:moi|nous)[^.;]{0,90}|je (?:reste|"
        r"suis) (?:\w+ )?(?:à votre disposition|là pour|disponible|ravie? de|heureu\w+ de)[^.;]{0,80}",
        r"si (?:vous|tu) (?:avez|as|souhaitez|désirez|voulez|pouvez|me|nous)[^.;:]{0,110}(?:question|aide|"
        r"informations?|précision|détails?|savoir|contact|aider)[^.;:]{0,80}",
        r"(?:puis-je|est-ce que je peux|en quoi puis-je)[^.;]{0,60}(?:aider|autre|faire)[^.;]{0,40}|(?:avez-vous|y "
        r"a-t-il|souhaitez-vous|voulez-vous)[^.;]{0,100}|(?:pourriez|pouvez)-vous [^.;]{0,110}",
        r"(?:veuillez|merci de) (?:contacter|préciser|reformuler|fournir|vous adresser)[^.;]{0,90}|"
        r"contactez[^.;]{0,60}(?:service|support|nous|équipe|conseiller)[^.;]{0,40}",
        r"(?:bien )?cordialement|bonne (?:journée|soirée|chance|continuation)[^.;:]{0,20}|bien à vous|de rien|je "
        r"vous en prie",
    ),
    hedge=whole(
        r"(?:j'espère|nous espérons|en espérant) (?:que )?[^.;:]{0,80}",
        r"(?:veuillez )?(?:noter|notez|gardez à l'esprit|attention|à noter|sachez)(?: bien| toutefois| "
        r"cependant)?,? (?:que )?[^.;:]{0,60}(?:peut|peuvent|pourrai\w+|varier|changer|général\w*|"
        r"dépend)\w*[^.;:]{0,60}",
        r"(?:cela|ces|les|ce|cette|ceci|la|le|vos)(?: \w+){0,4} (?:peut|peuvent|pourrait|pourraient) (?:\w+ "
        r")?(?:varier|changer|différer|être (?:incomplet|obsolète|différent|erroné)\w*|évoluer)[^.;:]{0,60}|"
        r"(?:cela|ça|tout cela) dépend[^.;:]{0,50}",
        r"(?:je peux|il se peut que je|je pourrais) (?:me |m')?(?:tromp\w+)[^.;:]{0,20}|sauf erreur(?: de ma "
        r"part)?|(?:à ma connaissance|autant que je sache|d'après ce que je sais)(?:,? (?:c'est|cela est) (?:exact|"
        r"correct|le cas))?",
        r"(?:ceci|cela|ce|cette \w+) (?:ne constitue|n'est|ne remplace) (?:\w+ )?pas [^.;:]{0,60}(?:conseil|avis|"
        r"substitu)\w*[^.;:]{0,40}|(?:ceci|il) (?:est|s'agit)[^.;:]{0,20}(?:résumé|aperçu|information "
        r"générale)[^.;:]{0,40}",
        r"(?:veuillez |pensez à |il est (?:\w+ )?(?:conseillé|recommandé|préférable) de |n'oubliez pas de "
        r")?(?:vérifiez|vérifier|consulter|consultez)[^.;:]{0,60}(?:professionnel|médecin|avocat|expert|"
        r"officiel\w*|sources?|spécialiste|informations?|conseiller|site)[^.;:]{0,50}",
        r"(?:selon|d'après|sur la base de|sur la base des|à partir des|à partir de|en me basant sur|compte tenu "
        rf"des?) ?(?:l[ea]s? |l'|vos |mes |ces |ce )?{upto(2)}{_SOURCE}(?: \w+)?(?:,? ?(?:voici|j'ai "
        r"trouvé)[^.;:]{0,60})?",
        r"(?:voici|ci-dessous|vous trouverez)[^.;]{0,50}(?:résumé|réponse|aperçu|points?|étapes?|informations?|"
        r"liste|trouvé|sais|explication|détails|éléments)[^.;:]{0,50}",
        r"(?:en )?(?:résumé|bref|conclusion)|pour résumer|réponse|remarque|points clés|note",
    ),
    apology=whole(r"(?:je suis |nous sommes )?(?:vraiment |sincèrement )?désolée?s?|pardon|(?:toutes )?mes excuses"),
    lead=pattern(
        r"[\W_]*(?:(?:je suis |nous sommes )?(?:vraiment |sincèrement )?désolée?s?|pardon|malheureusement|hélas|"
        r"toutefois|cependant|mais|donc|or|non(?=,)|oui|et|ainsi|par conséquent|de plus|en revanche|néanmoins|je "
        r"regrette|je crains que|bonjour|actuellement|honnêtement|ça|eh bien)\b[\W_]*"
    ),
    border=pattern(
        r"[,;:–—-]+ (?:mais|cependant|toutefois|alors que|tandis que|néanmoins|en revanche|bien que|or)\b ?",
        r" ?; |[–—] | - | mais ",
        r", (?:et|donc|si bien que) ",
    ),
    concessive=pattern(r"[\W_]*(?:bien que|quoique|même si|alors que|tandis que|si)\b"),
    aside=pattern(
        rf"(?:ils?|elles?|(?:le|la|les|ces|mes|nos|ce|l')(?: )?{upto(3)}{_SOURCE})(?: (?:fourni|disponible)\w*)? "
        r"(?:ne |n')?\w+ (?:\w+ )?(?:que|qu'|seulement|uniquement|principalement)",
        r"je (?:peux|réponds|suis|ne peux|ne réponds) (?:\w+ ){0,2}(?:seulement|uniquement|qu'|que)",
        r"(?:veuillez|je vous (?:invite|conseille|suggère|recommande)|contactez|il est (?:conseillé|recommandé|"
        r"préférable)|vous (?:pouvez|devriez|pourriez) (?:contacter|consulter|vous adresser|demander|essayer)|"
        r"essayez|consultez)\b",
        r"si vous (?:me |m'|pouvez|avez|souhaitez)|(?:la question|vous (?:demandez|avez demandé))\b|(?:cela|ça) "
        r"(?:dépend|peut)\b",
    ),
    report=pattern(
        rf"(?:ils?|elles?|(?:le|la|les|ces|ce|l') ?{upto(3)}{_SOURCE})(?: \w+)? (?:mentionn|indiqu|parl|expliqu|"
        r"précis|décri|trait|évoqu|donn|dis|contien|abord)"
    ),
)
