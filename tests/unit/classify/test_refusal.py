from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.classify.refusal import LONGEST, refusal_kind
from monitor.model import RefusalKind

FULL = {
    "en": [
        "I don't know.",
        "I'm sorry, but I can't help with that.",
        "Sorry, I couldn’t find anything about parental leave in the handbook.",
        "The provided context does not contain any information about the delivery times to Norway.",
        "There is no mention of a student discount in the documents I have access to.",
        "Unfortunately, the documents do not specify the maximum load of the roof rack.",
        "Based on the available sources, it is not possible to say who signed the contract.",
        "I am unable to answer this question with the information provided.",
        "I do not have enough information to answer your question. Could you tell me which model you own?",
        "That question falls outside the scope of what I can help with. Please contact our sales team.",
        "None of the articles mentions a warranty for the battery.",
        "As an AI assistant for the town library, I cannot provide medical advice.",
        "I have no information on that.",
        "N/A",
        "Not specified in the documents.",
        "I looked through the release notes, but I did not find any reference to dark mode.",
        "I'm not able to share details about other customers' orders.",
        "The answer cannot be determined from the given passages.",
        "Hmm, I can't seem to find that.",
        "Sorry, that's not something I can help with.",
        "The manual only describes the winter mode. It does not say how to switch on the summer mode.",
        "This information isn't available in the knowledge base.",
        "The docs don't say.",
        "No idea.",
        "I cannot comply with this request.",
    ],
    "de": [
        "Ich kann diese Frage anhand der vorliegenden Unterlagen nicht beantworten.",
        "Es tut mir leid, aber dazu habe ich keine Informationen.",
        "In den bereitgestellten Dokumenten wird die Lieferzeit nach Norwegen nicht erwähnt.",
        "Der Kontext enthält keine Angaben zur maximalen Dachlast.",
        "Hierzu liegen mir keine Informationen vor. Bitte wenden Sie sich an unseren Kundendienst.",
        "Leider geht aus den Texten nicht hervor, wer den Vertrag unterschrieben hat.",
        "Diese Frage liegt außerhalb meines Aufgabenbereichs.",
        "Zu diesem Thema konnte ich im Handbuch nichts finden.",
        "Dazu kann ich nichts sagen.",
        "Dazu liegen mir keine Daten vor.",
        "Die Frage lässt sich anhand der Unterlagen nicht beantworten.",
        "Das kann ich Ihnen nicht sagen.",
        "Ich darf dazu keine Auskunft geben.",
        "Hierzu finde ich in der Wissensdatenbank nichts.",
        "Diese Information ist in den Dokumenten nicht enthalten.",
        "Die Dachlast wird im Text nicht genannt.",
        "Das weiß ich leider nicht.",
        "Das weiß ich nicht.",
        "Weiß ich leider nicht.",
        "Keine Ahnung.",
        "Mir ist dazu nichts bekannt.",
        "Ich bin nicht in der Lage, diese Frage zu beantworten.",
    ],
    "fr": [
        "Je ne sais pas.",
        "Je suis désolé, mais je ne peux pas répondre à cette question.",
        "Les documents fournis ne mentionnent pas les délais de livraison en Norvège.",
        "Je n'ai trouvé aucune information à ce sujet dans les sources disponibles.",
        "Malheureusement, le contexte ne précise pas la charge maximale du toit.",
        "Cette question est en dehors de mon domaine de compétence.",
        "Aucun des documents ne parle de la garantie de la batterie. Veuillez contacter le service client.",
        "Rien dans le manuel n'indique comment activer le mode été.",
        "Je n'en sais rien.",
        "Je ne dispose pas de cette information.",
        "Je n'ai pas accès à ces données.",
        "Les sources ne disent rien à ce sujet.",
        "Cela n'est pas précisé dans le document.",
        "Aucune information disponible.",
        "L'information demandée n'est pas disponible.",
        "Je n'ai malheureusement rien trouvé à ce sujet.",
        "Ça, je l'ignore.",
        "Je l'ignore malheureusement.",
        "Impossible de répondre à partir des documents fournis.",
        "Aucune idée.",
    ],
    "es": [
        "Lo siento, pero no puedo responder a esa pregunta.",
        "Los documentos proporcionados no mencionan los plazos de entrega a Noruega.",
        "No tengo información sobre ese tema.",
        "No se especifica en el contexto la carga máxima del techo.",
        "Esa consulta está fuera de mi ámbito. Por favor, contacte con el servicio de atención al cliente.",
        "Ninguno de los documentos habla de la garantía de la batería.",
        "Lamentablemente, no he encontrado nada al respecto en el manual.",
        "No tengo ni idea.",
        "No dispongo de esa información.",
        "No consta en los documentos.",
        "La respuesta no se encuentra en el texto.",
        "Me temo que no puedo ayudarle con eso.",
        "El contexto no lo menciona.",
        "Lo siento, no tengo acceso a esos datos.",
        "No lo sé.",
        "Lo desconozco.",
        "No lo sé, lo siento.",
        "Esa información no está disponible.",
    ],
    "it": [
        "Mi dispiace, ma non posso rispondere a questa domanda.",
        "I documenti forniti non menzionano i tempi di consegna in Norvegia.",
        "Non ho informazioni su questo argomento.",
        "Nel contesto non viene specificato il carico massimo del tetto.",
        "Questa richiesta è fuori dal mio ambito. La invito a contattare il servizio clienti.",
        "Nessuno dei documenti parla della garanzia della batteria.",
        "Non dispongo di queste informazioni.",
        "Non è specificato nel documento.",
        "Il testo non lo dice.",
        "Non sono riuscito a trovare informazioni al riguardo.",
        "Nessuna informazione disponibile.",
        "Mi spiace, ma non posso aiutarti.",
        "Non lo so.",
        "Non saprei.",
        "Non lo so, mi spiace.",
        "Il contesto non contiene la risposta.",
    ],
    "pt": [
        "Não sei.",
        "Lamento, mas não posso responder a essa pergunta.",
        "Os documentos fornecidos não mencionam os prazos de entrega para a Noruega.",
        "Não tenho informações sobre esse assunto.",
        "O contexto não especifica a carga máxima do tejadilho.",
        "Essa pergunta está fora do meu âmbito. Por favor, contacte o apoio ao cliente.",
        "Nenhum dos documentos fala da garantia da bateria.",
        "Infelizmente, não encontrei nada a esse respeito no manual.",
        "Não sei dizer.",
        "Não disponho dessa informação.",
        "Não consta nos documentos.",
        "O texto não diz.",
        "Nenhuma informação disponível.",
        "Desculpe, mas não consigo responder.",
        "Não há informações sobre isso no contexto.",
        "Desconheço.",
        "Não faço ideia.",
        "Essa informação não está disponível.",
    ],
}

PARTIAL = {
    "en": [
        (
            "The documents do not say whether ski rental is paid. Ski accidents abroad are covered: winter sports"
            " accidents are covered worldwide, treatment costs abroad are paid without limit, and rescue from the"
            " slope is paid up to 15,000 euros."
        ),
        (
            "The museum opens at ten and closes at six, on Thursdays at nine in the evening. Children under "
            "twelve get in free. I have no information about parking."
        ),
        (
            "Standard delivery takes three working days and costs 4.90 euros; express delivery arrives the next "
            "day and costs 12 euros. The sources don't mention deliveries to Norway. Returns are free within 30 "
            "days."
        ),
        (
            "You can change your tariff once a month in the app, and the new one applies from the first of the "
            "next month. Unfortunately, I couldn't find the fee for doing so in the documents."
        ),
    ],
    "de": [
        (
            "Zu den Gebühren enthalten die Unterlagen keine Angaben. Den Tarif können Sie einmal im Monat in der "
            "App wechseln, und der neue Tarif gilt ab dem ersten Tag des folgenden Monats für alle Karten Ihres "
            "Vertrags."
        ),
        (
            "Das Museum öffnet um zehn Uhr und schließt um achtzehn Uhr, donnerstags um einundzwanzig Uhr. Kinder"
            " unter zwölf Jahren haben freien Eintritt. Zum Parken habe ich keine Informationen."
        ),
    ],
    "fr": [
        (
            "Le musée ouvre à dix heures et ferme à dix-huit heures, le jeudi à vingt et une heures. L'entrée est"
            " gratuite pour les enfants de moins de douze ans. Les documents ne précisent pas où se garer."
        ),
    ],
    "es": [
        (
            "El museo abre a las diez y cierra a las seis, los jueves a las nueve de la noche. La entrada es "
            "gratuita para los menores de doce años. No tengo información sobre el aparcamiento."
        ),
    ],
    "it": [
        (
            "Il museo apre alle dieci e chiude alle diciotto, il giovedì alle ventuno. L'ingresso è gratuito per "
            "i bambini sotto i dodici anni. I documenti non indicano dove parcheggiare."
        ),
    ],
    "pt": [
        (
            "O museu abre às dez e fecha às dezoito, à quinta-feira às vinte e uma. A entrada é gratuita para "
            "menores de doze anos. Os documentos não indicam onde estacionar."
        ),
    ],
}

NONE = {
    "en": [
        "The gate cannot be opened while the train is moving.",
        "Backups are not included in the free tier.",
        "No, the ticket is not transferable.",
        "I'm sorry for the misunderstanding! The monthly pass costs 79 euros and is valid for one calendar month.",
        "You're right, and I apologise for my earlier mistake. The gate closes 15 minutes before departure.",
        (
            "A visa application is refused when the passport is not valid for six more months; you then get a "
            "letter that says why, and can appeal within 28 days."
        ),
        (
            'The assistant answers "I don\'t know" when the knowledge base holds nothing on the subject; this is '
            "set under Behaviour."
        ),
        "Unfortunately, saver tickets cannot be refunded. You can change the date once for 10 euros.",
        "You do not need a separate account for the mobile app.",
        "The device will not start without a charged battery.",
        "If you have not received the parcel after ten days, ask for a replacement.",
        "Do not open the valve before the pressure has dropped below 2 bar.",
        "Dogs are not allowed in the dining car, except guide dogs.",
        "The fee is not charged for students under 26.",
        "It never takes longer than two days.",
        "There is no limit to the number of devices.",
        "There is no annual fee for the basic card.",
        "Without a reservation you cannot board the night train.",
        "Claims that are not reported within 12 months are not paid.",
        ('The error "document not found" means that the index has not been built yet; run the indexing job again.'),
        "Nothing needs to be done: the contract ends by itself after 24 months.",
        "The camera does not record sound.",
        "The file must not contain empty rows, and column names must be unique.",
        "We do not ship to islands outside the European Union.",
        "No notice is needed in the first month.",
        "We don't provide loan cars during a repair.",
        "If the answer is unknown, leave the field empty.",
        "The document must not be older than three months.",
        "This section does not apply to part-time employees.",
        "The note doesn't need to be signed.",
        "The contract does not specify a notice period, so the statutory one of four weeks applies.",
        "The exact figure is not fixed: it follows the market price every hour.",
        "No documents are needed for a domestic flight.",
        "No further information is needed.",
        "Your income is not part of this form.",
        "You cannot find the serial number on the box; it is on the back of the device.",
        "The clinic is unable to treat children under two; they go to the hospital.",
        "Anything outside the scope of your contract is billed by the hour.",
        "Bags left outside our office are removed.",
        "The warranty is not specified in years but in kilometres: 100,000.",
        "The policy does not cover damage caused by mice.",
        "The guide does not include meals, but the tour price does.",
        "Your policy does not cover damage caused by mice or rats.",
        "The file does not include a header row.",
        "The page never lists more than 50 results.",
        "The answer is not 42 but 43.",
        "The information is not shared with third parties.",
        "None of the documents need to be originals; copies are fine.",
        "Nothing in the policy changes when you move house.",
        "Not available in the app: use the web site.",
        "We cannot offer a refund after departure.",
        "We are not able to deliver on Sundays.",
    ],
    "de": [
        "Das Tor lässt sich nicht öffnen, solange der Zug fährt.",
        "Sicherungen sind im kostenlosen Tarif nicht enthalten.",
        "Nein, die Fahrkarte ist nicht übertragbar.",
        "Entschuldigen Sie das Missverständnis: Die Monatskarte kostet 79 Euro.",
        "Hunde sind im Speisewagen nicht erlaubt, ausgenommen Blindenhunde.",
        "Für Studierende unter 26 Jahren fällt keine Gebühr an.",
        "Ohne Reservierung können Sie nicht in den Nachtzug einsteigen.",
        "Leider können Sparpreise nicht erstattet werden; die Umbuchung kostet 10 Euro.",
        "Die Quelle ist nicht trinkbar.",
        "Das Dokument muss nicht unterschrieben werden; das Siegel wird automatisch angegeben.",
        "In der Rechnung steht nichts mehr aus, alles ist bezahlt.",
        "Wir haben sonntags nicht geöffnet.",
        "Das Gerät ist nicht im Lieferumfang enthalten.",
        "Der Rabatt wird nicht im Warenkorb angezeigt, sondern erst an der Kasse.",
    ],
    "fr": [
        "La porte ne peut pas être ouverte tant que le train roule.",
        "Les sauvegardes ne sont pas comprises dans l'offre gratuite.",
        "Non, le billet n'est pas cessible.",
        "Toutes mes excuses pour ce malentendu : l'abonnement mensuel coûte 79 euros.",
        "Les chiens ne sont pas admis dans la voiture-restaurant, sauf les chiens guides.",
        "Il n'y a pas de frais pour les étudiants de moins de 26 ans.",
        "Sans réservation, vous ne pouvez pas monter dans le train de nuit.",
        "Le texte ne doit pas dépasser 500 mots.",
        "Les informations ne sont pas partagées avec des tiers.",
        "La page n'est pas imprimable.",
    ],
    "es": [
        "La puerta no se puede abrir mientras el tren está en marcha.",
        "Las copias de seguridad no están incluidas en el plan gratuito.",
        "No, el billete no es transferible.",
        "Disculpe el malentendido: el abono mensual cuesta 79 euros.",
        "No se admiten perros en el coche restaurante, salvo perros guía.",
        "No hay comisión para los estudiantes menores de 26 años.",
        "Sin reserva no puede subir al tren nocturno.",
        "El documento no debe incluir tachaduras.",
        "La información no se comparte con terceros.",
        "No es posible cancelar un billete de tarifa reducida.",
        "No es posible abrir la puerta mientras el tren está en marcha.",
    ],
    "it": [
        "Il cancello non si può aprire mentre il treno è in movimento.",
        "I backup non sono inclusi nel piano gratuito.",
        "No, il biglietto non è cedibile.",
        "Mi scuso per il malinteso: l'abbonamento mensile costa 79 euro.",
        "I cani non sono ammessi nella carrozza ristorante, tranne i cani guida.",
        "Non ci sono costi per gli studenti sotto i 26 anni.",
        "Senza prenotazione non può salire sul treno notturno.",
        "Il testo non deve superare le 500 parole.",
        "Non è possibile rimborsare il biglietto dopo la partenza.",
    ],
    "pt": [
        "O portão não pode ser aberto enquanto o comboio está em andamento.",
        "As cópias de segurança não estão incluídas no plano gratuito.",
        "Não, o bilhete não é transmissível.",
        "Peço desculpa pelo mal-entendido: o passe mensal custa 79 euros.",
        "Não são admitidos cães na carruagem-restaurante, exceto cães-guia.",
        "Não há custos para estudantes com menos de 26 anos.",
        "Sem reserva não pode embarcar no comboio noturno.",
        "O documento não pode ter mais de três meses.",
        "As informações não são partilhadas com terceiros.",
        "Não é possível cancelar o bilhete depois da partida.",
        "Não foi possível ligar: verifique se o cabo está bem encaixado.",
    ],
}

# What the wording gets wrong today, kept so that a better lexicon shows. Who mends one moves it up.
REFUSALS_NOT_SEEN = [
    ("en", "Not sure, sorry."),
    ("en", "I'm not sure about that one."),
    ("en", "No relevant information found."),
    ("en", "Your question cannot be answered using the supplied material."),
    ("en", "My knowledge base has nothing on this."),
    ("en", "I haven't been given anything about refunds."),
    ("en", "Nothing I have covers this."),
    ("en", "This isn't something the manual talks about."),
    ("en", "There isn't any information on the price."),
    ("en", "There isn't enough context to tell."),
    ("en", "The context doesn't have it."),
    ("en", "I must decline to answer."),
    ("en", "I'd rather not comment on that."),
    ("en", "It's unclear from the text."),
    ("en", "The passage leaves open who won."),
    ("en", "The price? The brochure is silent on it."),
    ("en", "You'd have to ask the manufacturer; I don't have that."),
    ("en", "My training does not extend to legal matters."),
    ("en", "I only have access to the 2023 handbook and it is silent on this."),
    ("en", "I am not aware of any rule about that."),
    ("en", "I wish I could help, but the guide leaves this out."),
    ("en", "Sorry."),
    ("de", "Keine Angabe."),
    ("de", "Darüber ist mir nichts bekannt."),
    ("de", "Das lässt sich aus den Dokumenten nicht ableiten."),
    ("de", "Nicht angegeben."),
    ("fr", "Il n'est pas possible de répondre à partir du contexte."),
    ("fr", "Non précisé."),
    ("fr", "Je suis incapable de vous renseigner."),
    ("it", "Non ne ho idea."),
    ("es", "No sabría decirle."),
    ("es", "No está especificado."),
    ("es", "Imposible saberlo con estos documentos."),
    ("es", "Ni idea."),
    ("es", "Sin información al respecto."),
    ("it", "Purtroppo non sono riuscito a trovare nulla a riguardo nel manuale."),
    ("it", "Questa informazione non è disponibile."),
    ("it", "Impossibile rispondere in base ai documenti."),
    ("pt", "Não está especificado no texto."),
    ("pt", "Impossível responder com base nos documentos."),
    ("pt", "Não me é possível responder."),
]

# Negative statements of fact, each taken for a full refusal.
TAKEN_FOR_REFUSALS = [
    ("en", "The text cannot include emoji."),
    ("en", "The standard text does not mention the price on purpose."),
    ("en", "We do not have any record of late fees on your account, so nothing is due."),
    ("en", "We don't have data centres in Asia."),
    ("en", "I don't see any problem with that: your plan includes roaming in all EU countries."),
    ("en", "I can't recommend the blue trail enough: it takes two hours and has the best view."),
    ("en", "There is no information desk on the second floor; it is next to the main entrance."),
    ("en", "There are no details to fill in: the form is filled from your profile."),
    ("en", "No, that is not part of the policy: mice are excluded."),
    ("en", "It is not clear water that you need but distilled water."),
    ("en", "The allowance was not mentioned in the old policy, but it has applied since May."),
    ("en", "This is not included in the guide price."),
    ("en", "You can join without further information or documents."),
    ("en", "We could not find a fault in the pump, so it was returned to you without charge."),
    ("en", "We have no way of changing a booking after departure, but you can cancel it."),
    ("en", "This lies outside of our delivery area, so pick-up is the only way."),
    ("de", "Die Unterlagen dürfen keine Streichungen enthalten."),
    ("de", "Der Text darf keine personenbezogenen Angaben enthalten."),
    ("de", "Wir können vor 8 Uhr keine Auskunft geben, das Büro öffnet um 9 Uhr."),
    ("de", "Die Gebühr wird nicht erwähnt, weil sie entfallen ist."),
    ("de", "Es gibt keine Angaben, die Sie machen müssen."),
    ("fr", "Je ne peux que vous féliciter : votre dossier est complet et le versement partira lundi."),
    ("fr", "Aucune réponse n'est attendue de votre part."),
    ("es", "No hay información que enviar: el formulario se rellena solo."),
    ("it", "Le informazioni non sono condivise con terzi."),
    ("it", "Il manuale non è incluso nella confezione."),
    ("pt", "O texto não inclui as notas de rodapé."),
]
KNOWN_BLIND_SPOTS = [
    *((language, text, RefusalKind.NONE) for language, text in REFUSALS_NOT_SEEN),
    *((language, text, RefusalKind.FULL) for language, text in TAKEN_FOR_REFUSALS),
]


def flat(by_language):
    return [
        pytest.param(text, id=f"{language}-{n}") for language, ts in by_language.items() for n, text in enumerate(ts)
    ]


@pytest.mark.parametrize("answer", flat(FULL))
def test_a_refusal_is_seen_as_a_full_one(answer):
    assert refusal_kind(answer) is RefusalKind.FULL


@pytest.mark.parametrize("answer", flat(PARTIAL))
def test_an_answer_that_leaves_something_open_refuses_in_part(answer):
    assert refusal_kind(answer) is RefusalKind.PARTIAL


@pytest.mark.parametrize("answer", flat(NONE))
def test_a_negation_is_no_refusal(answer):
    assert refusal_kind(answer) is RefusalKind.NONE


@pytest.mark.parametrize(("language", "answer", "today"), KNOWN_BLIND_SPOTS)
def test_what_is_known_to_be_misread_is_still_misread_in_the_known_way(language, answer, today):
    assert refusal_kind(answer) is today, f"{language}: mended? then move it to FULL or NONE"


def test_no_text_stands_in_two_lists():
    every = [t for lists in (FULL, PARTIAL, NONE) for ts in lists.values() for t in ts]
    every += [text for _language, text, _today in KNOWN_BLIND_SPOTS]
    assert len(set(every)) == len(every)


@pytest.mark.parametrize("answer", ["", " ", "\n\n", "...", "?", "42", "\u200b", "\ud800"])
def test_what_says_nothing_is_no_refusal_by_wording(answer):
    assert refusal_kind(answer) is RefusalKind.NONE


@pytest.mark.parametrize(
    "answer",
    [
        "I’m sorry, but I can’t help with that.",
        "I'M SORRY, BUT I CAN'T HELP WITH THAT.",
        "  I'm sorry,   but I can't help with that.  \n",
        "**I'm sorry, but I can't help with that.**",
        "> I'm sorry, but I can't help with that.",
        "I'm sorry, but I can't help with that!!!",
    ],
)
def test_typography_makes_no_difference(answer):
    assert refusal_kind(answer) is RefusalKind.FULL


def test_courtesy_and_talk_about_the_documents_do_not_dilute_a_refusal():
    assert (
        refusal_kind(
            "Thank you for your question! I'm sorry, but I could not find this in the documents. The documents only "
            "discuss opening hours. Please contact our support team, who will be happy to help you further. Is there "
            "anything else I can help you with today?"
        )
        is RefusalKind.FULL
    )


def test_an_opening_refusal_becomes_partial_with_the_content_that_follows():
    opening = "The documents do not mention the price of the junior ticket."
    content = " The adult ticket costs 12 euros and is valid for two hours in all zones of the network."
    kinds = [refusal_kind(opening + content * n) for n in range(4)]
    assert kinds[0] is RefusalKind.FULL
    assert kinds[-1] is RefusalKind.PARTIAL
    turn = kinds.index(RefusalKind.PARTIAL)
    assert set(kinds[turn:]) == {RefusalKind.PARTIAL}


def test_a_late_refusal_after_much_content_is_not_looked_for():
    content = "The ticket costs 12 euros in all zones. "
    assert refusal_kind(content * (LONGEST // len(content) + 1) + "I don't know.") is RefusalKind.NONE
    assert refusal_kind(content * 5 + "I don't know.") is RefusalKind.PARTIAL


HOSTILE = [
    "not ",
    "(",
    "[",
    "文",
    "。",
    "不",
    ".",
    ".a",
    "?!",
    "…",
    "\n",
    " ",
    "\t",
    "'",
    "’",
    "i ",
    "i cannot ",
    "cannot be ",
    "the document ",
    "document not ",
    "documents do not ",
    "is not ",
    "not mentioned ",
    "not, ",
    "no information ",
    "none of ",
    "there is no ",
    "without ",
    "sorry ",
    "based on the document ",
    "lyly ",
    "un",
    "dokument nicht ",
    "ich kann nicht ",
    "steht nicht ",
    "enthalten keine ",
    "je ne ",
    "document ne ",
    "n'est pas ",
    "documento no ",
    "no se ",
    "documento non ",
    "non è ",
    "documento não ",
    "não é ",
    "ſ",
    "İ",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "\ud800",
    "\u202e",
    "🤷",
    "ด",
    "\x00",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_hundred_thousand_hostile_characters_are_judged(unit):
    assert refusal_kind((unit * (100_000 // len(unit) + 1))[:100_000] + "a") in RefusalKind


@given(st.lists(st.sampled_from([*HOSTILE, "I don't know. ", "It costs 5 euros. "]), max_size=40).map("".join))
def test_hostile_mixtures_are_judged_and_repeatably(answer):
    assert refusal_kind(answer) is refusal_kind(answer)


@given(st.text())
def test_any_text_is_judged(answer):
    assert refusal_kind(answer) in RefusalKind


@given(st.text(alphabet=st.characters(categories=["Nd", "Sm", "Zs"])))
def test_a_text_without_words_refuses_nothing(answer):
    assert refusal_kind(answer) is RefusalKind.NONE
