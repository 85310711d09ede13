"""The words by which a Spanish question leans on earlier ones."""

from __future__ import annotations

from monitor.assess.conversation.lexicon.leaning_words import LeaningWords, found, listed

SPANISH = LeaningWords(
    code="es",
    asking=listed(
        "qué que quién quiénes cuál cuáles cuándo dónde adónde cómo cuánto cuánta cuántos cuántas quien cual "
        "cuando donde "
        "como cuanto cuantos cuantas porqué"
    ),
    auxiliary=listed(
        "es son era eran fue fueron será ser está están estaba hay había puede pueden puedo podemos podría debe "
        "deben debo "
        "tiene tienen tengo ha han he hace hacen va van voy"
    ),
    function=listed(
        "el la los las lo un una unos unas de del al a yo tú usted ustedes nosotros me te se nos mi mis tu tus "
        "nuestro "
        "nuestra y e o u pero si no ni muy más menos también sólo solo ya aún aquí otro otra otros otras mismo "
        "misma todo "
        "toda todos todas le les sí gracias entonces"
    ),
    generic=listed(
        "significa explica explicar explicame decir dice pasa funciona funcionan cuesta cuestan vale valen dura "
        "tarda "
        "tiempo ejemplo ejemplos detalles información posible diferencia razón siguiente mejor peor barato "
        "rápido grande "
        "seguro necesario disponible gratis"
    ),
    speaker=listed("yo tú usted nosotros puedo podemos puede quiero debo hay que para se"),
    pronouns=listed("él ella ellos ellas ello eso esto aquello allí ahí allá"),
    possessives=listed("suyo suya suyos suyas"),
    before=listed("en para con sin desde hasta por durante tras ante bajo entre sobre según contra dentro fuera"),
    address=listed("tú tu ti eres puedes"),
    pointing=found(
        r"\b(?:ese|esa|esos|esas|este|estos|estas|esta|aquel|aquella|aquellos|aquellas) "
        r"(?!(?:año|semana|mes|noche|tarde|mañana|verano|invierno)s?\b)\w+",
        r"\b\w{2,}[aeiáéí]r(?:lo|la|los|las|le|les)\b",
    ),
    setting_aside=found(r"\ba ?parte de eso\b|\bpor eso\b|\besto es\b"),
    opener=found(
        r"(?:y |pero |¿?y )?(?:qué (?:tal|pasa con|hay de|ocurre con)|qué hay)\b",
        r"y (?:si|para|en|con|los|las|el|la|después|luego|entonces)\b",
        r"(?:qué|quién|dónde|algo) más\b",
    ),
    joining=found(r"(?:y|o|pero|también|solo|sólo|incluso)\b,?"),
    relative=listed("que quien donde"),
    linking=listed("y o pero si cuando porque"),
    whole=found(
        r"(?:y |pero |ok |entonces )*(?:por qué(?: no)?|cómo(?: así)?|cuánto(?: cuesta| vale| tiempo| dura| es)?|"
        r"cuántos|"
        r"cuántas|desde cuándo|hasta cuándo|de verdad|cuál|cuáles|por ejemplo|sí(?: por favor)?|no|"
        r"(?:dime|cuéntame) más|más (?:detalles|información))(?: por favor)?"
    ),
)
