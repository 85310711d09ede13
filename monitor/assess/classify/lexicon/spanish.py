"""How Spanish words refusals, courtesies and hedges."""

from __future__ import annotations

from monitor.assess.classify.lexicon.wording import Wording, pattern, upto, whole, words

_SOURCE = (
    r"(?:documentos?|documentación|textos?|contextos?|fuentes?|pasajes?|información|manual|fragmentos?|páginas?|"
    r"artículos?|folleto|base de conocimientos?|extractos?|párrafos?|guía|materiales?|contenido|resultados)"
)
_SAY = (
    r"(?:conti?en|mencion|especifi|indi(?:ca|que)|proporciona|dice|diga|incluye\w* (?:\w+ ){0,3}(?:información|"
    r"datos|detalles|instrucciones|menci)|habla|ofrece|aclara|expli|aparec|figura|recog|trata|responde|cubre|"
    r"detalla|hace|brinda|aborda|describe|señala|da\b|dan\b|precisa|refiere|aporta|establece|revela|contempla|"
    r"consta)"
)
_INFORMATION = (
    r"(?:información|datos|respuesta|menci(?:ón|ones)|detalles?|indicaci(?:ón|ones)|referencias?|constancia|"
    r"conocimiento|pistas?)"
)
_STATED = (
    r"(?:mencionad|especificad|indicad|proporcionad|disponible|detallad|clar|descrit|señalad|incluid|recogid|"
    r"explicad|precisad|conocid|contemplad|definid)\w*"
)

SPANISH = Wording(
    code="es",
    cues=words(
        "no desconozco ningún ninguna ninguno ningunos fuera imposible ni sin tampoco nada desconocido desconocida "
        "desconoce incapaz excede silencio insuficiente"
    ),
    limit_cues=words("solo sólo solamente únicamente limita"),
    openers=words(
        "claro por supuesto desde hola buenos buenas gracias muchas de excelente buena es lo disculpe disculpa "
        "perdón mis si no hágamelo avíseme dígame puedo hay tiene necesita desea quiere podría puede favor "
        "póngase contacte un saludos cordialmente espero esperamos tenga ten recuerde esto esta estos los las el "
        "la según basado basándome con a en aquí resumen para verifique consulte cabe sin salvo nota respuesta le "
        "te estoy encantado con todo sí vale quedo estaré depende puntos resumiendo compruebe siempre su "
        "cualquier que feliz ojalá lamento siento"
    ),
    refusing=pattern(
        r"\bno (?:te |le |os |se )?(?:lo )?(?:puedo|pude|logro|logré|consigo|tengo|dispongo|sé|sabría|encuentro|"
        r"encontré|encontramos|veo|cuento|conozco|poseo|he (?:podido|encontrado|logrado)|estoy (?:seguro|segura|en "
        r"condiciones|autorizado|capacitado)|soy capaz)\b(?! (?:ningún |ninguna )?(?:problema|inconveniente))",
        r"\bno (?:podemos (?:responder|ayudar|contestar|decir)|tenemos (?:\w+ ){0,2}(?:información|datos|"
        r"respuesta)|disponemos de (?:\w+ )?(?:información|datos)|sabemos|(?:me |nos )?(?:es|resulta|ha sido|fue) "
        r"posible (?:responder|saber|determinar|contestar|decir|encontrar|dar))",
        r"\b(?:me )?(?:es|resulta) imposible (?:responder|saber|determinar|decir|contestar|dar)\w*|^imposible "
        r"(?:saber|decir|responder|determinar)\w*|\bsoy incapaz de\b",
        rf"\b{_SOURCE}\b[^.;]{{0,80}}?\bno (?:[\w]+ ){{0,2}}?{_SAY}",
        rf"\b{_SOURCE}\b[^.;]{{0,80}}?\bno (?:está|es|son|están|queda|quedan|ha sido) (?:\w+ )?{_STATED}",
        r"\bno (?:se )?(?:menciona|especifica|indica|aparece|figura|hay|existe|existen|consta|constan|detalla|"
        rf"dispone|encuentra|proporciona|ofrece|da|habla|hace|dan|aclara)\w*\b[^.;]{{0,60}}?(?:{_INFORMATION}|"
        rf"{_SOURCE})",
        rf"\bno (?:está|es|son|están|queda|quedan|viene|ha sido) (?:\w+ )?{_STATED}(?:[^.;,]{{0,60}}{_SOURCE}|$|"
        r"[.!])|^no (?:especificad|mencionad|disponible|indicad)\w*\b[^,:]{0,30}$",
        rf"\b(?:ningun[oa]|ningún) (?:de )?(?:\w+ ){{0,3}}(?:{_SOURCE}|dato|mención|detalle)|\bnada (?:en|sobre|al "
        rf"respecto|acerca)\b[^.;]{{0,40}}(?:{_SOURCE}|$|[.!])|^sin (?:información|datos|respuesta)\b",
        r"\b(?:lo |la )?desconozco\b|\bse desconoce\b|^desconocid[oa]\b|^(?:no tengo )?ni idea\b|\binformación "
        r"(?:\w+ ){0,3}no (?:está|se encuentra) (?:\w+ )?(?:disponible|en|incluida)",
        r"\b(?:fuera|más allá) de (?:mi|mis|nuestro ámbito|lo que (?:puedo|sé))\b|\bno (?:forma parte|entra dentro|"
        r"está dentro) de (?:mi|mis)\b|\b(?:excede|sobrepasa) (?:mi|mis)\b",
        r"\bno (?:queda|está|es) (?:\w+ )?claro\b(?:$|[.!]| (?:si|quién|qué|cuál|cuándo|cómo|dónde|por|en|a partir|"
        rf"según))|\b{_SOURCE}\b[^.;,]{{0,30}} (?:guardan? silencio|es insuficiente|son insuficientes)",
        r"\bno me consta\b|^(?:tampoco )?no lo (?:menciona|dice|especifica|indica|aclara)n?\b|\btampoco (?:lo "
        r")?(?:menciona|dice|especifica|indica|aclara|se)",
    ),
    limit=pattern(
        r"^(?:yo )?(?:(?:solo|sólo|solamente|únicamente) (?:puedo|sé) (?:\w+ )?(?:ayudar|responder|contestar|asistir|"
        r"informar|proporcionar información|dar "
        r"información)|puedo (?:\w+ )?(?:ayudar|responder|contestar|asistir|informar)\w* (?:solo|sólo|solamente|"
        r"únicamente))",
        r"^(?:yo )?(?:(?:solo|sólo|solamente|únicamente) (?:tengo|dispongo de|cuento con|tenemos)|tengo (?:solo|sólo|"
        r"solamente|únicamente)) (?:\w+ )?"
        r"(?:información|datos|acceso|documentos|conocimientos?)\b|\bmis? conocimientos? se limitan? a\b",
    ),
    fact=pattern(
        r"^(?!.*\b(?:tengo|puedo|dispongo|cuento|encuentro|podemos|tenemos)\b).*\b(?:datos|información) "
        r"(?:personal(?:es)?|"
        r"confidencial(?:es)?|sensibles?|privad[oa]s?|de carácter personal)\b(?! (?:sobre|de|del|acerca)\b)",
        r"\bno (?:debe|deben|debería|puede|pueden|es necesari\w+|hace falta|necesita) |\binformación que (?:enviar|"
        r"rellenar|aportar|presentar|facilitar)|\bno he podido\b(?!)",
        r"^(?:si|cuando|mientras|en caso de que)\b(?:(?!, (?:no puedo|no tengo)\b).)*$",
    ),
    courtesy=whole(
        r"(?:claro(?: que sí)?|por supuesto|desde luego|con (?:mucho )?gusto|de acuerdo|vale|muy bien|cómo no|"
        r"encantad[oa])(?:[,!.]? (?:aquí|le|te|con|puedo)[^.;:]{0,40}(?:ayud\w*|respuesta|gusto))?",
        r"(?:hola|buen(?:os|as) (?:días|tardes|noches)|buen día)(?: de nuevo| a todos)?|hola,? \w+[,!]|(?:muchas |"
        r"mil )?gracias(?: (?:por|a)[^.;:]{0,80})?",
        r"(?:es una |qué )?(?:muy )?(?:buena|excelente|gran) pregunta",
        r"(?:lo siento|lo sentimos|lo lamento|lamento|siento|sentimos|disculpe|disculpa|perdón|perdone|mis "
        r"disculpas|le pido disculpas|pido disculpas)(?: (?:mucho|por|las?|los|el)[^.;:,]{0,70})?",
        r"(?:no dud[ea]s? en|si (?:tiene|tienes|necesita|necesitas|desea|quiere|quieres|hay|me|puede|"
        r"puedes))[^.;]{0,120}(?:pregunt\w*|ayud\w*|contact\w*|consult\w*|información|detalles|duda\w*|dec\w+|"
        r"saber|avis\w*|algo más)[^.;]{0,60}",
        r"(?:hágamelo saber|házmelo saber|avíseme|avísame|dígame|dime)[^.;]{0,70}|(?:hay|tiene|necesita|desea|"
        r"puedo|en qué puedo|quiere)[^.;]{0,60}(?:algo más|otra cosa|ayudar\w*|otra pregunta|más "
        r"información)[^.;]{0,40}",
        r"(?:podría|puede|podrías|puedes)[^.;]{0,110}(?:proporcionar|aclarar|reformular|dar|darme|especificar|"
        r"compartir|indicar\w*)[^.;]{0,70}|(?:estoy|estaré|quedo) (?:aquí|encantad[oa]|a su|a tu|"
        r"dispuest[oa])[^.;]{0,70}",
        r"(?:por favor,? )?(?:póngase|ponte|contacte|contacta|comuníquese)[^.;]{0,70}(?:contacto|soporte|servicio|"
        r"equipo|atención|nosotros)[^.;]{0,50}",
        r"(?:un )?(?:cordial )?saludos?(?: cordial\w*)?|que tenga[s]? (?:un )?[^.;:]{0,30}|buena suerte|de nada|no "
        r"hay de qué|atentamente|cordialmente",
    ),
    hedge=whole(
        r"(?:espero|esperamos|ojalá)(?: que)?[^.;:]{0,70}",
        r"(?:por favor,? )?(?:tenga en cuenta|ten en cuenta|tenga presente|recuerde|recuerda|cabe (?:señalar|"
        r"destacar)|note)(?: también)? que [^.;:]{0,60}(?:puede|pueden|podría|podrían|variar|cambiar|"
        r"depende)\w*[^.;:]{0,60}",
        r"(?:esto|esta|estos|los|las|el|la|su|cualquier)(?: \w+){0,4} (?:puede|pueden|podría|podrían) (?:\w+ "
        r")?(?:variar|cambiar|diferir|ser (?:distint\w+|incomplet\w+|diferente\w*)|estar "
        r"desactualizad\w+)[^.;:]{0,60}|(?:todo |esto |eso )?depende de[^.;:]{0,50}",
        r"(?:puedo|podría|puede que)(?: yo)? (?:estar equivocad[oa]|equivocarme|me equivoque)|salvo error|(?:hasta "
        r"donde|por lo que|que yo) (?:sé|sepa|puedo ver)(?:,? (?:es|esto es) (?:así|correcto))?",
        r"(?:esto|esta \w+) no (?:constituye|es|sustituye)[^.;:]{0,60}(?:asesoramiento|consejo|opinión|"
        r"consulta)[^.;:]{0,40}|(?:esto|este) es (?:solo |sólo )?un (?:resumen|esquema)[^.;:]{0,30}",
        r"(?:siempre |se recomienda |es recomendable |le recomiendo |te recomiendo )?(?:verifique|verificar|"
        r"consulte|consultar|compruebe|comprobar)[^.;:]{0,50}(?:profesional|médico|abogado|expert[oa]|oficial\w*|"
        r"fuentes?|especialista|información|datos)[^.;:]{0,50}",
        r"(?:según|basándome en|con base en|en base a|basado en|de acuerdo con|a partir de|con) (?:(?:el|la|los|"
        rf"las|sus?|mis?|estos?) )?{upto(2)}{_SOURCE}(?: \w+)?(?:,? ?(?:esto es lo que|aquí|he encontrado|"
        r"encontré)[^.;:]{0,60})?",
        r"(?:aquí|a continuación|estos son|estas son|este es)[^.;]{0,50}(?:resumen|respuesta|puntos?|pasos?|"
        r"información|lista|encontrado|encontré|explicación|detalles|presento|muestro)[^.;:]{0,50}",
        r"(?:en )?(?:resumen|conclusión|síntesis)|resumiendo|para resumir|respuesta|nota|puntos clave",
    ),
    apology=whole(r"(?:lo siento|lo sentimos|lo lamento|disculpe|disculpa|perdón|mis disculpas)(?: mucho)?"),
    lead=pattern(
        r"[\W_]*(?:lo siento|lo sentimos|lo lamento|disculpe|perdón|lamentablemente|desafortunadamente|por "
        r"desgracia|desgraciadamente|sin embargo|pero|no obstante|por lo tanto|por tanto|así que|además|y|sí|me "
        r"temo que|hola|actualmente|sinceramente|no, |aunque)\b[\W_]*"
    ),
    border=pattern(
        r"[,;:–—-]+ (?:pero|sin embargo|no obstante|mientras que|aunque|si bien|en cambio)\b ?",
        r"; |[–—] | - | pero ",
        r", (?:y|así que|por lo que|por tanto) ",
    ),
    concessive=pattern(r"[\W_]*(?:aunque|si bien|mientras que|a pesar de que)\b"),
    aside=pattern(
        rf"(?:(?:el|la|los|las|mis?|nuestr\w+|este|estos) {upto(3)}{_SOURCE}(?: \w+d[oa]s?)? )?(?:solo|sólo|"
        rf"solamente|únicamente)\b|(?:el|la|los|las|este|estos) {upto(3)}{_SOURCE}(?: \w+d[oa]s?)? \w+ (?:solo|sólo|"
        r"solamente|únicamente)\b",
        r"(?:puedo|podemos) (?:\w+ )?(?:solo|sólo|únicamente)|(?:solo|sólo) (?:puedo|respondo)",
        r"(?:por favor|póngase|contacte|le (?:recomiendo|sugiero|aconsejo)|te (?:recomiendo|sugiero)|se recomienda|"
        r"consulte|puede (?:contactar|consultar|llamar|dirigirse|preguntar|intentar)|debería (?:consultar|"
        r"contactar))\b",
        r"si (?:me|puede|puedes|tiene|tienes|necesita|desea)\b|(?:la pregunta|usted pregunta|pregunta)\b|(?:esto|"
        r"eso) (?:depende|puede)\b",
    ),
    report=pattern(
        rf"(?:(?:el|la|los|las|este|estos|estas) {upto(3)}{_SOURCE})(?: \w+d[oa]s?)? (?:sí )?(?:menciona|indica|"
        r"habla|dice|explica|describe|trata|señala|contien|da\b|dan\b|ofrece)"
    ),
)
